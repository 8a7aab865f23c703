// A pilot run -> the PowerModel a larger run is planned with.
#pragma once

#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "compare/options.h"
#include "compare/pairing.h"
#include "compare/power_model.h"

namespace unmask {

// What the user states instead of what a pilot shows, or beside it where there is no pilot.
struct StatedEffects {
  std::optional<double> amplification;  // A
  std::optional<double> delta;          // of success, proportion
  std::optional<double> unmasked_gap;   // U, proportion
  std::optional<double> pairing;
  // Intra-task correlation of failures and of success.
  std::optional<double> task_correlation;
  std::optional<double> success_correlation;
  // An effect that is neither stated nor a goal is none: nothing is assumed of it.
  std::vector<PowerGoal> goals = {std::begin(kPowerGoals), std::end(kPowerGoals)};
};

inline constexpr double kAssumedAmplification = 2.0;
inline constexpr double kAssumedUnmaskedGap = 0.10;
inline constexpr double kAssumedPairing = 0.9;
inline constexpr double kAssumedCorrelation = 0.2;  // where trials show none

struct Pilot {
  PowerModel model;
  int tasks = 0;
  int trials = 0;     // the most a task has
  long failures = 0;  // the baseline's, in the channel
  bool graded = true;
  bool budget = true;              // U is defined: k_tight below the budget in force
  std::vector<std::string> notes;  // sentences: what was assumed, cut or left out
};

// One arm: the candidate is the baseline with the stated (or assumed) effects, Delta 0 unless
// stated. A pair: the candidate is as its own pilot shows it, its means replaced where an effect is
// stated, and pairing is estimated.
//
// Tasks are taken as drawn at random from a population of which the pilot's are a sample
// (exchangeable): only so does a pilot of T tasks say something about others. The population is a
// Beta distribution with the pilot's mean and its variance between tasks, chance within them taken
// off (stats/task_variance.h); tasks are not drawn again from the pilot's own, whose observed rates
// hold the chance of their few trials a second time.
//
// Errors   Undefined: fewer than 2 tasks, or no calls. InvalidArgument: a stated effect that no
//          model has.
Result<Pilot> pilot_of(const Arm& baseline, Channel channel, const StatedEffects& effects,
                       const CompareOptions& options);
Result<Pilot> pilot_of(const PairedArms& arms, Channel channel, const StatedEffects& effects,
                       const CompareOptions& options);

// The candidate's means from the baseline's and the effects (assumed where not stated but a goal).
// Errors   InvalidArgument: a mean outside its range. Its `where` is the effect ("amplification",
//          "change in success", "unmasked gap"), of which the message says what it would do.
Result<Done> apply_effects(const StatedEffects& effects, PowerModel& model);

}  // namespace unmask
