// Failure channels of two arms (METHOD 4): ratios, differences, their intervals and tests.
#pragma once

#include <map>
#include <vector>

#include "compare/comparison.h"
#include "compare/pairing.h"
#include "stats/resample.h"

namespace unmask {

// Below this many baseline failures there is no propensity to amplify: the difference is tested.
inline constexpr long kFewestFailuresForRatio = 5;

// What counts as amplified beside its test (METHOD 4).
inline constexpr double kLeastAmplifiedDifference = 0.01;  // 1 point
inline constexpr double kLeastAmplification = 1.25;

// The difference is at least 1 point, and A at least 1.25 or the baseline without a propensity. A
// is judged by its point estimate: that it exceeds 1 is the test's business, that it matters is the
// rule's. Where fewer than 8 tasks fail no ratio is reported, yet the rates have one.
bool large_enough_to_amplify(const ChannelComparison& channel);

// Independent units of each arm, for the bound on a channel without failures; 0: the tasks.
struct Units {
  double baseline = 0;
  double candidate = 0;
};

enum class Tested { No, Yes };

// One channel. Index t of all vectors is the same task in both arms.
//   A per call, volume and per other call are absent together: under 5 baseline failures, or where
//   fewer than 8 (kFewestFailingTasks) tasks have a failure in the sparser arm.
//   p is absent where neither arm failed once: such a test could never reject, and leaving it out
//   of the family costs nothing (Tarone 1990).
ChannelComparison compare_channel(const TaskCounts& baseline, const TaskCounts& candidate,
                                  const Units& units, const TaskResamples& resamples,
                                  const CompareOptions& options, Tested tested);

// The five failure channels; counts_in_budget is set from the candidate's failures.
std::map<Channel, ChannelComparison> compare_channels(const PairedArms& arms, const Units& units,
                                                      const TaskResamples& resamples,
                                                      const CompareOptions& options);

// schema + entity. Its p is its own: it is a union of two channels that are already in the family.
ChannelComparison compare_argument(const PairedArms& arms, const Units& units,
                                   const TaskResamples& resamples, const CompareOptions& options);

// Rates, A and difference by the agent's call index; nothing is tested.
std::vector<PositionComparison> compare_positions(const PairedArms& arms,
                                                  const TaskResamples& resamples,
                                                  const CompareOptions& options);

// Failures that move are not gains (METHOD 9): a tested channel falls by at least 1 point, and
// another rises by at least 1 point with its interval above 0. nullopt: no such pair.
std::optional<Warning> substitution_warning(const std::map<Channel, ChannelComparison>& channels);

RecoveryComparison compare_recovery(const PairedArms& arms);

// Slope of the increase of the tool_name rate over the baseline rate, by task. The two numbers come
// from different trials (by rank among the arm's trials: even, odd), or regression to the mean
// fakes a slope: baseline rate from the even trials against candidate - baseline of the odd ones,
// and the reverse; the two slopes are averaged. Noise of a rate from half the trials still pulls
// the slope towards 0.
//   Interval: t on n - 2 df with the jackknife over tasks, which knows that the halves share tasks.
//   Absent: fewer than 3 tasks with calls in all four halves, a constant baseline rate, or baseline
//   trials that are copies (then the halves are the same numbers).
TaskSlope task_slope(const PairedArms& arms, bool baseline_trials_are_copies);

}  // namespace unmask
