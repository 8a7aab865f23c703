// Who plays: from the models a plan names to the two sides of an episode.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "environment/domain.h"
#include "environment/surface.h"
#include "environment/task.h"
#include "rollout/participant.h"
#include "rollout/run_plan.h"

namespace unmask {

class Judge;

// A domain as the episodes of a run share it.
struct StagedDomain {
  std::shared_ptr<const Domain> domain;
  Surface surface;
  std::string user_guidelines;  // empty where no user model needs them
  std::vector<Task> tasks;      // those of the plan
};

// What an episode's participants may need. Everything outlives the episode.
struct Casting {
  const ArmPlan& arm;
  const ModelPlan& user;
  const StagedDomain& stage;
  const Task& task;
  std::int64_t seed = 0;  // set_seed() is called with it by the turn loop as well
  std::stop_token stop;   // a stop: give up with an Error whose where is kStopped
};

struct Cast {
  std::unique_ptr<Agent> agent;
  std::unique_ptr<User> user;
};

// How the names of an arm's calls are constrained, as a probe of its server found.
struct FoundConstraint {
  std::string arm;
  std::string form;      // "strict tools": llm/constrain.h
  std::string sentence;  // what the probe saw
};

class ParticipantFactory {
 public:
  virtual ~ParticipantFactory() = default;

  // Before the first episode: reaches what the plan names and finds out whether it can do what is
  // asked of it; a stop gives it up.
  // Errors   one sentence that says which arm or server, and what is wrong.
  virtual Result<Done> prepare(const RunPlan& plan, const std::stop_token& stop) = 0;

  // Of the arms whose names are constrained, once they are prepared.
  virtual std::vector<FoundConstraint> constraints() const { return {}; }

  // The two sides of one episode.
  // Errors   those of a model that cannot be set up; they end the run.
  // Threads  may be called from several at once after prepare().
  virtual Result<Cast> cast(const Casting& casting) = 0;

  // Grades statements where the plan has a judge; nullptr: nobody does.
  virtual Judge* judge() { return nullptr; }
};

// One number a script can be given.
struct ScriptOption {
  std::string_view name;
  double least = 0;
  double most = 1;
};

// One kind of scripted model. It makes both sides, for they may share a plan of the solution: the
// agent's script where both are scripted. Where only one side is, the other is made elsewhere and
// this one's is thrown away.
struct ScriptKind {
  std::string_view kind;              // "reference"
  std::vector<ScriptOption> options;  // those it knows
  Result<Cast> (*cast)(const ScriptedModel& model, const Casting& casting);
};

// Every kind of scripted model: one row each.
const std::vector<ScriptKind>& script_kinds();

// The models named "scripted:...".
//
//   scripted:reference?delay_ms=N   plays the task's reference solution, pausing before each
//                                   message of the agent
//   scripted:stochastic?hallucinate=P&malformed=P&recover=P&repair=P&omit=P
//                                   the same with mistakes at these rates (stochastic.h)
//   scripted:pocket                 the customer of the pocket worlds, with an expert that never
//                                   errs as its agent
//   scripted:pocket_expert?mistake=P&wander=P&recover=P
//                                   the same with mistakes at these rates (pocket_expert.h)
class ScriptedFactory : public ParticipantFactory {
 public:
  // Errors   InvalidArgument: a model that is not scripted, an unknown kind or option.
  Result<Done> prepare(const RunPlan& plan, const std::stop_token& stop) override;
  Result<Cast> cast(const Casting& casting) override;
};

// Errors   InvalidArgument: as the parser says, a kind or option that does not exist, a value that
//          is out of its range.
Result<Done> check_scripted(std::string_view model);

// The value of a numeric option in [least, most], or `otherwise` where it is not given.
// Errors   InvalidArgument.
Result<double> number_option(const ScriptedModel& model, std::string_view name, double least,
                             double most, double otherwise);

}  // namespace unmask
