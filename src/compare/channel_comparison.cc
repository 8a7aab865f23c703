// Failures enter their own denominator and damaged episodes are longer, hence three ratios. With
// the counts of the paper's dense telecom cell (METHOD 11), 649 of 3328 calls and 1646 of 4298:
//
//   A per call       (1646 / 4298) / (649 / 3328)  = 1.96   tested
//   volume           1646 / 649, per episode       = 2.54   the paper's "2.5x"; failures per
//   episode
//                                                           are a mean over tasks (METHOD 1)
//   per other call   (1646 / 2652) / (649 / 2679)  = 2.56

#include "compare/channel_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/parallel.h"
#include "base/rng.h"
#include "compare/estimates.h"
#include "stats/permutation.h"

namespace unmask {
namespace {

constexpr double kLeastMove = 0.01;  // 1 point

struct Totals {
  double failures = 0;
  double calls = 0;
  long failing_tasks = 0;
  std::optional<double> per_episode;  // failures, mean over tasks of task means
};

Totals totals(const TaskCounts& counts) {
  Totals out{sum(counts.failures), sum(counts.calls), 0, failures_per_episode(counts)};
  out.failing_tasks =
      std::count_if(counts.failures.begin(), counts.failures.end(), [](double n) { return n > 0; });
  return out;
}

std::optional<double> ratio(double numerator, double denominator) {
  if (denominator <= 0) return std::nullopt;
  return numerator / denominator;
}

std::optional<double> ratio_of_ratios(double a, double per_a, double b, double per_b) {
  const std::optional<double> x = ratio(a, per_a);
  const std::optional<double> y = ratio(b, per_b);
  if (!x || !y) return std::nullopt;
  return ratio(*x, *y);
}

void add_ratios(const TaskCounts& baseline, const TaskCounts& candidate, const Totals& b,
                const Totals& c, const TaskResamples& resamples, ChannelComparison& out) {
  out.amplification = ratio_of_ratios(c.failures, c.calls, b.failures, b.calls);
  if (b.per_episode && c.per_episode) out.volume = ratio(*c.per_episode, *b.per_episode);
  out.per_other_call =
      ratio_of_ratios(c.failures, c.calls - c.failures, b.failures, b.calls - b.failures);
  const Result<Interval> interval = ratio_interval(baseline.failures, baseline.calls,
                                                   candidate.failures, candidate.calls, resamples);
  if (interval) out.amplification_ci95 = *interval;
  out.amplification_upper95 = ratio_upper95(baseline.failures, baseline.calls, candidate.failures,
                                            candidate.calls, resamples);
}

void add_difference(const TaskCounts& baseline, const TaskCounts& candidate, const Units& units,
                    ChannelComparison& out) {
  out.difference = *out.candidate - *out.baseline;
  const Result<DifferenceInterval> interval =
      rate_difference_interval(baseline.failures, baseline.calls, candidate.failures,
                               candidate.calls, units.baseline, units.candidate);
  if (!interval) return;
  out.difference_ci95 = interval->ci95;
  out.difference_upper95 = interval->upper95;
}

// Leaked markup and repaired calls never reached the environment, so no budget was spent on them.
bool spent_nothing(const FailedCall& call) {
  const bool never_ran = call.kind == SubKind::LeakedMarkup || call.repair != Repair::None;
  return never_ran && !call.in_budget;
}

bool counts_in_budget(const Arm& candidate, Channel channel) {
  long free = 0;
  long all = 0;
  for (const EpisodeFacts& episode : candidate.episodes) {
    if (episode.excluded) continue;
    for (const FailedCall& call : episode.failures) {
      if (call.side != Side::Agent || call.channel != channel) continue;
      ++all;
      if (spent_nothing(call)) ++free;
    }
  }
  return all == 0 || free < all;
}

}  // namespace

ChannelComparison compare_channel(const TaskCounts& baseline, const TaskCounts& candidate,
                                  const Units& units, const TaskResamples& resamples,
                                  const CompareOptions& options, Tested tested) {
  const Totals b = totals(baseline);
  const Totals c = totals(candidate);
  ChannelComparison out;
  out.baseline = ratio(b.failures, b.calls);
  out.candidate = ratio(c.failures, c.calls);
  out.baseline_count = std::lround(b.failures);
  out.candidate_count = std::lround(c.failures);
  out.no_propensity = out.baseline_count < kFewestFailuresForRatio;
  if (!out.baseline || !out.candidate) return out;
  add_difference(baseline, candidate, units, out);
  const long sparser = std::min(b.failing_tasks, c.failing_tasks);
  if (!out.no_propensity && static_cast<double>(sparser) >= kFewestFailingTasks) {
    add_ratios(baseline, candidate, b, c, resamples, out);
  }
  out.sparse_in_candidate = !out.no_propensity && !out.amplification &&
                            static_cast<double>(b.failing_tasks) >= kFewestFailingTasks;
  if (tested == Tested::No || b.failures + c.failures == 0) return out;
  const Result<PermutationTest> test = block_swap_test(
      baseline.failures, baseline.calls, candidate.failures, candidate.calls, out.no_propensity,
      options.resamples, Rng(options.seed, "compare/permutation").next(), options.threads);
  if (test) out.p = test->p;
  return out;
}

namespace {

ChannelComparison compare_channel_of(const PairedArms& arms, Channel channel, const Units& units,
                                     const TaskResamples& resamples,
                                     const CompareOptions& options) {
  return compare_channel(task_channel_counts(arms.baseline, channel),
                         task_channel_counts(arms.candidate, channel), units, resamples, options,
                         Tested::Yes);
}

// Undefined where either is: what only one comparison shows is not shown.
std::optional<double> larger(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return std::nullopt;
  return std::max(*a, *b);
}

void hold_against(const ChannelComparison& weighed, ChannelComparison& out) {
  out.weighed_difference = weighed.difference;
  if (!out.no_propensity && weighed.baseline && weighed.candidate)
    out.weighed_amplification = ratio(*weighed.candidate, *weighed.baseline);
  out.pooled_amplification_upper95 = out.amplification_upper95;
  out.pooled_difference_upper95 = out.difference_upper95;
  out.weighed_amplification_upper95 = weighed.amplification_upper95;
  out.weighed_difference_upper95 = weighed.difference_upper95;
  out.p = larger(out.p, weighed.p);
  out.amplification_upper95 = larger(out.amplification_upper95, weighed.amplification_upper95);
  out.difference_upper95 = larger(out.difference_upper95, weighed.difference_upper95);
}

}  // namespace

std::map<Channel, ChannelComparison> compare_channels(const PairedArms& arms,
                                                      const PairedArms* weighed, const Units& units,
                                                      const TaskResamples& resamples,
                                                      const CompareOptions& options) {
  std::map<Channel, ChannelComparison> channels;
  for (const Channel channel : kFailureChannels) {
    ChannelComparison& comparison = channels[channel];
    comparison = compare_channel_of(arms, channel, units, resamples, options);
    if (weighed)
      hold_against(compare_channel_of(*weighed, channel, units, resamples, options), comparison);
    comparison.counts_in_budget = counts_in_budget(arms.candidate, channel);
  }
  return channels;
}

ChannelComparison compare_argument(const PairedArms& arms, const PairedArms* weighed,
                                   const Units& units, const TaskResamples& resamples,
                                   const CompareOptions& options) {
  const auto compare = [&](const PairedArms& pair) {
    return compare_channel(task_argument_counts(pair.baseline),
                           task_argument_counts(pair.candidate), units, resamples, options,
                           Tested::Yes);
  };
  ChannelComparison argument = compare(arms);
  if (weighed) hold_against(compare(*weighed), argument);
  return argument;
}

std::vector<PositionComparison> compare_positions(const PairedArms& arms,
                                                  const TaskResamples& resamples,
                                                  const CompareOptions& options) {
  std::vector<PositionComparison> positions;
  for (int bin = 0; bin < kPositionBins; ++bin) {
    PositionComparison position;
    position.bin = bin;
    for (const Channel channel : kFailureChannels) {
      position.channels[channel] =
          compare_channel(task_position_counts(arms.baseline, channel, bin),
                          task_position_counts(arms.candidate, channel, bin), Units{}, resamples,
                          options, Tested::No);
    }
    positions.push_back(position);
  }
  return positions;
}

std::optional<Warning> unequal_episodes_warning(
    const std::map<Channel, ChannelComparison>& channels) {
  constexpr double kOtherRatio = 0.05;
  constexpr double kOtherDifference = 0.005;
  std::vector<std::string> told;
  for (const auto& [channel, c] : channels) {
    if (!c.weighed_difference || !c.difference) continue;
    const bool ratios = c.amplification && c.weighed_amplification;
    const bool otherwise =
        std::abs(*c.weighed_difference - *c.difference) > kOtherDifference ||
        (ratios && std::abs(*c.weighed_amplification / *c.amplification - 1) > kOtherRatio);
    if (!otherwise) continue;
    told.push_back(ratios ? fmt::format("{} A {:.2f} as pooled, {:.2f} weighed", to_string(channel),
                                        *c.amplification, *c.weighed_amplification)
                          : fmt::format("{} {:+.1f} points as pooled, {:+.1f} weighed",
                                        to_string(channel), 100 * *c.difference,
                                        100 * *c.weighed_difference));
  }
  if (told.empty()) return std::nullopt;
  return Warning{"unequal_episodes",
                 fmt::format("The arms have different numbers of episodes of the same tasks, and "
                             "pooled rates also reflect which tasks have more of them: {}. A "
                             "channel counts as amplified, or as free of it, only where both say "
                             "so.",
                             fmt::join(told, "; ")),
                 "", static_cast<std::int64_t>(told.size())};
}

std::optional<Warning> substitution_warning(const std::map<Channel, ChannelComparison>& channels) {
  std::vector<std::string> fallen;
  std::vector<std::string> risen;
  for (const auto& [channel, c] : channels) {
    if (!c.difference || !c.p) continue;
    const std::string change =
        fmt::format("{} {:+.1f} points", to_string(channel), 100 * *c.difference);
    if (*c.difference <= -kLeastMove) fallen.push_back(change);
    const bool surely = c.difference_ci95 && c.difference_ci95->lo > 0;
    if (*c.difference >= kLeastMove && surely) risen.push_back(change);
  }
  if (fallen.empty() || risen.empty()) return std::nullopt;
  return Warning{"substitution",
                 fmt::format("Failures moved between channels ({}, but {}): what one channel lost "
                             "is no gain where another took it up.",
                             fmt::join(fallen, ", "), fmt::join(risen, ", ")),
                 "", static_cast<std::int64_t>(risen.size())};
}

RecoveryComparison compare_recovery(const PairedArms& arms) {
  constexpr double kMargin = 0.10;  // METHOD 4
  const TaskRecovery b = task_recovery(arms.baseline);
  const TaskRecovery c = task_recovery(arms.candidate);
  RecoveryComparison out;
  out.baseline = ratio(sum(b.recovered), sum(b.failures));
  out.candidate = ratio(sum(c.recovered), sum(c.failures));
  if (!out.baseline || !out.candidate) return out;
  out.difference = *out.candidate - *out.baseline;
  const Result<DifferenceInterval> interval =
      rate_difference_interval(b.recovered, b.failures, c.recovered, c.failures);
  if (!interval) return out;
  out.difference_ci95 = interval->ci95;
  out.equivalent = interval->ci90.lo > -kMargin && interval->ci90.hi < kMargin;
  return out;
}

}  // namespace unmask
