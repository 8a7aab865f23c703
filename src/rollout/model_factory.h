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
#include "llm/constrain.h"
#include "llm/llama.h"
#include "llm/openai.h"
#include "rollout/participant_factory.h"

namespace unmask {

// The value of an environment variable; nullopt: it is not set.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;

class ModelFactory : public ParticipantFactory {
 public:
  // variables: where the keys are that api_key_env names.
  explicit ModelFactory(Variables variables) : variables_(std::move(variables)) {}

  // Opens the plan's servers, one connection pool for each model, and loads its files, once for
  // each file and settings. Arms whose names are to be constrained are probed: a server that does
  // not keep to the offered names in any form is an error, not a warning, or the arm would be
  // something else than its label says.
  //
  // Errors   InvalidArgument: a key's variable is not set, an option or script makes no sense.
  //          Unsupported: names cannot be constrained. Unavailable: a probe found nobody, or a
  //          stop was asked for. Those of LlamaEngine::open.
  Result<Done> prepare(const RunPlan& plan, const std::stop_token& stop) override;
  std::vector<FoundConstraint> constraints() const override { return constraints_; }
  Result<Cast> cast(const Casting& casting) override;
  Judge* judge() override { return judge_.get(); }

  // The model of an arm's agent, once it is prepared; nullptr: a script, or not prepared. It lives
  // as long as the factory.
  ChatModel* agent_model(const ArmPlan& arm) const {
    return opened(arm.agent, arm.constrain_names);
  }

 private:
  Result<ChatModel*> open(const ModelPlan& plan);
  Result<ChatModel*> open_constrained(const ArmPlan& arm, const std::stop_token& stop);
  Result<ConstrainedModel> constrained(const ModelPlan& plan, const std::stop_token& stop);
  Result<std::unique_ptr<ChatModel>> open_file(const ModelPlan& plan);
  Result<std::unique_ptr<ChatModel>> open_server(const ModelPlan& plan) const;
  Result<EndpointOptions> options_of(const ModelPlan& plan) const;
  ChatModel* opened(const ModelPlan& plan, bool constrain_names) const;
  Result<std::unique_ptr<Agent>> cast_agent(const Casting& casting, const Surface& surface,
                                            Cast& scripted) const;
  Result<std::unique_ptr<User>> cast_user(const Casting& casting, const Surface& surface,
                                          Cast& scripted) const;

  struct Opened {
    ModelPlan plan;
    bool constrain_names = false;
    std::unique_ptr<ChatModel> model;
    std::string form = {};  // of the constraint, and what its probe saw
    std::string seen = {};
  };
  Variables variables_;
  std::vector<Opened> models_;
  struct OpenedEngine {
    LlamaSettings asked;
    std::shared_ptr<LlamaEngine> engine;
  };
  std::vector<OpenedEngine> engines_;
  std::vector<LlamaSettings> roles_;  // of each role in the plan that has a file
  std::vector<FoundConstraint> constraints_;
  ScriptedFactory scripts_;
  std::unique_ptr<Judge> judge_;
};

}  // namespace unmask
