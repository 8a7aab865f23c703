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

// The five failure channels; counts_in_budget is set from the candidate's failures. `weighed`: the
// same arms as weighed_alike has them, null where it has none; a channel is then amplified, or free
// of it, only if it is so in both.
std::map<Channel, ChannelComparison> compare_channels(const PairedArms& arms,
                                                      const PairedArms* weighed, const Units& units,
                                                      const TaskResamples& resamples,
                                                      const CompareOptions& options);

// schema + entity. Its p is its own: it is a union of two channels that are already in the family.
ChannelComparison compare_argument(const PairedArms& arms, const PairedArms* weighed,
                                   const Units& units, const TaskResamples& resamples,
                                   const CompareOptions& options);

// Rates, A and difference by the agent's call index; nothing is tested.
std::vector<PositionComparison> compare_positions(const PairedArms& arms,
                                                  const TaskResamples& resamples,
                                                  const CompareOptions& options);

// The same by quarter of the episode's agent messages; nothing is tested.
std::vector<QuarterComparison> compare_quarters(const PairedArms& arms,
                                                const TaskResamples& resamples,
                                                const CompareOptions& options);

// Whether A changes along the episode, per channel. log A of quarter q (failures + 1/2 per call in
// each arm) has the slope
//   b = sum over q of (q - 3/2) log A_q / 5
// over the quarters 0 ... 3, which a baseline rate of any shape along the episode leaves at 0 where
// A is the same everywhere. SE: jackknife over tasks (each left out of all quarters of both arms);
// p and interval: Student's t, F - 1 df, F the tasks with a failure in the sparser arm. A slope is
// what context would do; a difference that rises and falls again may go unseen.
//   Absent: fewer than 5 failures of either arm in a quarter, or F < 8 (kFewestFailingTasks).
std::map<Channel, PositionTrend> position_trends(const PairedArms& arms);

// Which channels the pooled rates and the weighed ones tell differently: A by more than a
// twentieth, or the difference by more than half a point. nullopt: none.
std::optional<Warning> unequal_episodes_warning(
    const std::map<Channel, ChannelComparison>& channels);

// Failures that move are not gains (METHOD 9): a tested channel falls by at least 1 point, and
// another rises by at least 1 point with its interval above 0. nullopt: no such pair.
std::optional<Warning> substitution_warning(const std::map<Channel, ChannelComparison>& channels);

RecoveryComparison compare_recovery(const PairedArms& arms);

// Slope of the increase of the tool_name rate over the baseline rate, by task. The two numbers come
// from different trials (by rank among the arm's trials: even, odd), or regression to the mean
// fakes a slope: baseline rate from the even trials against candidate - baseline of the odd ones,
// and the reverse; the two slopes are averaged. Noise of a rate from half the trials still pulls
// the slope towards 0.
//   0: the increase is the same in all tasks; A - 1: every task's rate is multiplied by A.
//   Interval and p: t on n - 2 df with the jackknife over tasks, which knows that the halves share
//   tasks.
//   Absent: fewer than 3 tasks with calls in all four halves, a constant baseline rate, or baseline
//   trials that are copies (then the halves are the same numbers).
TaskSlope task_slope(const PairedArms& arms, bool baseline_trials_are_copies);

}  // namespace unmask
