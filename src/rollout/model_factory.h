// Participants from the models a plan names: servers behind HTTP, files played in this process,
// scripts, or any of each.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "environment/grading.h"
#include "llm/chat_model.h"
#include "llm/llama.h"
#include "rollout/participant_factory.h"

namespace unmask {

// The value of an environment variable; nullopt: it is not set.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;

class ModelFactory : public ParticipantFactory {
 public:
  // variables: where the keys are that api_key_env names.
  explicit ModelFactory(Variables variables) : variables_(std::move(variables)) {}

  // Opens the plan's servers, one connection pool for each model, and loads its files, once for
  // each file and settings. Arms whose names are to be constrained by a server are probed: a server
  // that does not keep to the offered names is an error, not a warning, or the arm would be
  // something else than its label says.
  //
  // Errors   InvalidArgument: a key's variable is not set, an option or script makes no sense.
  //          Unsupported: names cannot be constrained. Unavailable: a probe found nobody. Those of
  //          LlamaEngine::open.
  Result<Done> prepare(const RunPlan& plan) override;
  Result<Cast> cast(const Casting& casting) override;
  Judge* judge() override { return judge_.get(); }

 private:
  Result<ChatModel*> open(const ModelPlan& plan, bool constrain_names);
  Result<std::unique_ptr<ChatModel>> open_server(const ModelPlan& plan, bool constrain_names) const;
  Result<std::unique_ptr<ChatModel>> open_file(const ModelPlan& plan);
  ChatModel* opened(const ModelPlan& plan, bool constrain_names) const;
  Result<std::unique_ptr<Agent>> cast_agent(const Casting& casting, Cast& scripted) const;
  Result<std::unique_ptr<User>> cast_user(const Casting& casting, Cast& scripted) const;

  struct Opened {
    ModelPlan plan;
    bool constrain_names = false;
    std::unique_ptr<ChatModel> model;
  };
  Variables variables_;
  std::vector<Opened> models_;
  struct OpenedEngine {
    LlamaSettings asked;
    std::shared_ptr<LlamaEngine> engine;
  };
  std::vector<OpenedEngine> engines_;
  std::vector<LlamaSettings> roles_;  // of each role in the plan that has a file
  ScriptedFactory scripts_;
  std::unique_ptr<Judge> judge_;
};

}  // namespace unmask
