// What two arms are like before they are run: the numbers a power analysis draws tasks, trials and
// calls from. Either stated, or estimated from a pilot (power_pilot.h).
#pragma once

#include <optional>
#include <span>

#include "base/result.h"

namespace unmask {

enum class PowerGoal {
  Amplification,  // the channel is called amplified (METHOD 4): the permutation test, and the size
  Equivalence,    // the 90 % interval of Delta lies inside the margin (TOST, METHOD 5)
  UnmaskedGap,    // U > 0, paired t with T - 1 df (METHOD 3)
  Decisions,      // replayed decisions fail more often: paired t over tasks
};
inline constexpr PowerGoal kPowerGoals[] = {PowerGoal::Amplification, PowerGoal::Equivalence,
                                            PowerGoal::UnmaskedGap, PowerGoal::Decisions};

// A proportion that differs between tasks: the task's own is Beta distributed with this mean.
struct Propensity {
  double mean = 0;         // in [0, 1]
  double correlation = 0;  // intra-task: variance between tasks / (mean (1 - mean)), in [0, 1)
};

struct PairedPropensity {
  Propensity baseline;
  Propensity candidate;
  double pairing = 0.9;  // correlation of the tasks' propensities between the arms, in [0, 1]
};

// How many calls an episode has, and how failures follow each other.
struct CallHabits {
  double baseline = 7.3;  // mean agent calls an episode, at least 1
  double candidate = 7.3;
  double task_spread = 0.32;     // standard deviation of the log of a task's mean further calls
  double episode_spread = 0.24;  // the same of an episode within its task
  // P(the next call does not fail in the channel | this one did); nullopt: calls of an episode fail
  // independently.
  std::optional<double> leave;
};

// Of episodes of so many calls: lengths spread as plant spreads them (0.8 of `spread` between
// tasks, 0.6 within), and `recovery` as METHOD 4 counts it: a last failure is not recovered.
CallHabits stated_calls(double calls, double spread, double recovery);

// Both arms asked for the same decisions (unmask replay): how often they differ, and which way.
struct DecisionHabits {
  double discordance = 0.10;  // decisions in which exactly one arm fails
  double difference = 0.02;   // candidate - baseline, of the share that fails; |.| <= discordance
  double correlation = 0.2;   // intra-task, of both
};

struct PowerModel {
  PairedPropensity failure;  // per agent call, in the channel
  CallHabits calls;
  PairedPropensity success;  // per episode
  PairedPropensity masked;   // per episode: success with E beyond the tight budget
  DecisionHabits decisions;
};

// The largest share of calls a task can fail in: failures that follow each other leave no room
// above 1 / (1 + leave) (docs/plant.md has the chain).
double largest_propensity(const std::optional<double>& leave);

// The largest intra-task correlation that a mean below `top` allows.
double largest_correlation(double mean, double top);

// Of the quantities that only some goals draw from, those of `goals`.
// Errors   InvalidArgument: what is out of range or cannot be together. Its `where` is the quantity
//          ("failure rate of the baseline"), of which the message says what it must be.
Result<Done> check_model(const PowerModel& model, std::span<const PowerGoal> goals = kPowerGoals);

}  // namespace unmask
