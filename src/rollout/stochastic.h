// A scripted agent that makes mistakes at known rates: the reference solution, with invented tool
// names, unreadable arguments and left-out actions drawn at random. What it does depends on its
// seed and on what it is answered, never on the error budget, so that runs under different budgets
// are the same up to where one of them stops.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "environment/task.h"
#include "rollout/participant.h"
#include "rollout/reference.h"

namespace unmask {

struct StochasticRates {     // all in [0, 1]
  double hallucinate = 0.0;  // a call is first tried under a name that does not exist
  double malformed = 0.0;    // else: with arguments that are no JSON object
  double recover = 0.55;     // after a failed call, the next is right; else it fails again
  double repair = 0.7;       // the same after a call that was handed back (rollout/repair.h)
  double omit = 0.0;         // an action of the reference solution is left out
  // Names that do not exist with their weights, at least one where hallucinate > 0.
  std::vector<std::pair<std::string, double>> names = {
      {"lookup_account", 3.0}, {"verify_identity", 2.0}, {"close_ticket", 1.0}};
};

// Errors   InvalidArgument: a rate outside [0, 1], a weight below 0, no name of positive weight.
Result<Done> check(const StochasticRates& rates);

// Plays the agent's part of a plan. Without set_seed() the seed is 0.
//
// Threads  one.
class StochasticAgent : public Agent {
 public:
  StochasticAgent(std::shared_ptr<ReferencePlan> plan, StochasticRates rates);

  void set_seed(std::int64_t seed) override;
  Result<Done> begin(std::span<const TurnMessage> history) override;
  Result<TurnMessage> next(std::span<const TurnMessage> incoming) override;

 private:
  bool fails(std::span<const TurnMessage> incoming);
  TurnMessage failing_call();
  std::string drawn_name();

  std::shared_ptr<ReferencePlan> plan_;
  StochasticRates rates_;
  Rng rng_;
  std::optional<TurnMessage> pending_;  // the plan's call that has yet to be made
  bool failing_ = false;                // its last try was made to fail
  int calls_ = 0;
};

struct ScriptedPair {
  std::unique_ptr<Agent> agent;
  std::unique_ptr<User> user;
};

// A stochastic agent and the reference user, for one episode of the task.
ScriptedPair scripted_pair(const Task& task, const StochasticRates& rates);

}  // namespace unmask
