// The scripted expert of the pocket worlds: it solves every task from what the conversation shows,
// and errs at known rates, in the ways that small models do, so that a model trained on its
// episodes has the same habits.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "environment/pocket/scene.h"
#include "rollout/participant.h"
#include "rollout/pocket_plan.h"

namespace unmask {

struct PocketRates {      // all in [0, 1]
  double mistake = 0.0;   // of the calls and requests that are due
  double wander = 0.0;    // before one of the others: a call that only reads, and was not needed
  double recover = 0.95;  // after a mistake the next try is right; else the mistake is repeated
};

// Errors   InvalidArgument: a rate outside [0, 1].
Result<Done> check(const PocketRates& rates);

enum class PocketMove { Right, Mistake, Wander };

std::string_view to_string(PocketMove move);  // "right", "mistake", "wander"

// Each message is the noun of the topic it is about, in retail with the good, and a call, or "NOUN
// ask NAME" for a tool of the user's; at the end "done". Every mistake is a call that fails:
//   the agent's tools   the usual name where the task has another, or another verb
//   the user's tools    called instead of asked for
//   ids (retail)        half of the mistakes: a digit changed, or an id that belongs elsewhere
//
// Threads  one; the world must outlive it. Without set_seed() the seed is 0.
class PocketExpert : public Agent {
 public:
  PocketExpert(const pocket::PocketWorld& world, pocket::Scene scene, PocketRates rates);

  void set_seed(std::int64_t seed) override;
  Result<Done> begin(std::span<const TurnMessage> history) override;
  Result<TurnMessage> next(std::span<const TurnMessage> incoming) override;

  std::span<const PocketMove> moves() const { return moves_; }  // one for each message

 private:
  void hear(std::span<const TurnMessage> incoming);
  TurnMessage right(const PocketStep& step);
  TurnMessage wrong(const PocketStep& step);
  TurnMessage call(const PocketStep& step, std::string name);
  std::string wrong_name(const pocket::NamedTool& tool);
  std::string wrong_id(const PocketStep& step, std::size_t argument);

  const pocket::PocketWorld& world_;
  pocket::Scene scene_;
  std::string ids_;  // the scene's state as text: an id that is not in it does not exist
  PocketRates rates_;
  Rng rng_;
  std::unique_ptr<PocketPlan> plan_;    // once the user has spoken
  std::optional<PocketStep> awaited_;   // whose reply is to come
  std::optional<TurnMessage> mistake_;  // the last message, where it was one
  std::vector<PocketMove> moves_;
  int calls_ = 0;
};

}  // namespace unmask
