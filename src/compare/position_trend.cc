// Example: failures per 100 calls in the four quarters, 5 5 5 5 in the baseline and 5 10 20 40 in
// the candidate: log A is 0, 0.69, 1.39, 2.08, its slope log 2 = 0.69 per quarter, and A in the
// last quarter is 8 times A in the first. Swapping arms or permuting quarters within tasks would
// test that nothing differs at all; here A may be anything as long as it stays, so the slope is
// compared with its own clustered standard error.

#include <algorithm>
#include <array>
#include <cmath>

#include "compare/channel_comparison.h"
#include "compare/estimates.h"
#include "stats/distribution.h"

namespace unmask {
namespace {

constexpr double kFewestFailuresInAQuarter = 5;

struct QuarterSums {
  std::array<double, kQuarters> failures{};
  std::array<double, kQuarters> calls{};
};

// One arm of one channel: totals, and each task's part of them.
struct ArmQuarters {
  QuarterSums total;
  std::vector<QuarterSums> tasks;
  std::vector<double> failures;  // (task), over all quarters
};

ArmQuarters quarters_of(const Arm& arm, Channel channel) {
  ArmQuarters out;
  out.tasks.resize(arm.tasks.size());
  out.failures.resize(arm.tasks.size());
  for (int quarter = 0; quarter < kQuarters; ++quarter) {
    const auto q = static_cast<std::size_t>(quarter);
    const TaskCounts counts = task_quarter_counts(arm, channel, quarter);
    for (std::size_t t = 0; t < out.tasks.size(); ++t) {
      out.tasks[t].failures[q] = counts.failures[t];
      out.tasks[t].calls[q] = counts.calls[t];
      out.failures[t] += counts.failures[t];
    }
    out.total.failures[q] = sum(counts.failures);
    out.total.calls[q] = sum(counts.calls);
  }
  return out;
}

bool enough_failures(const ArmQuarters& arm) {
  return std::all_of(arm.total.failures.begin(), arm.total.failures.end(),
                     [](double n) { return n >= kFewestFailuresInAQuarter; });
}

double failing_tasks(const ArmQuarters& arm) {
  return static_cast<double>(
      std::count_if(arm.failures.begin(), arm.failures.end(), [](double n) { return n > 0; }));
}

double log_rate(const QuarterSums& sums, const QuarterSums& left_out, std::size_t q) {
  return std::log(sums.failures[q] - left_out.failures[q] + 0.5) -
         std::log(sums.calls[q] - left_out.calls[q] + 0.5);
}

// Slope of log A over the quarters, with one task's part left out.
double slope_without(const ArmQuarters& baseline, const ArmQuarters& candidate,
                     const QuarterSums& left_out_baseline, const QuarterSums& left_out_candidate) {
  double slope = 0;
  for (std::size_t q = 0; q < kQuarters; ++q) {
    const double log_ratio = log_rate(candidate.total, left_out_candidate, q) -
                             log_rate(baseline.total, left_out_baseline, q);
    slope += (static_cast<double>(q) - 1.5) * log_ratio / 5;
  }
  return slope;
}

double jackknife_error_of_trend(const ArmQuarters& baseline, const ArmQuarters& candidate) {
  std::vector<double> slopes;
  for (std::size_t t = 0; t < baseline.tasks.size(); ++t)
    slopes.push_back(slope_without(baseline, candidate, baseline.tasks[t], candidate.tasks[t]));
  const auto n = static_cast<double>(slopes.size());
  const double mean = sum(slopes) / n;
  double squares = 0;
  for (const double slope : slopes) squares += (slope - mean) * (slope - mean);
  return std::sqrt(squares * (n - 1) / n);
}

std::optional<PositionTrend> trend_of(const PairedArms& arms, Channel channel) {
  const ArmQuarters b = quarters_of(arms.baseline, channel);
  const ArmQuarters c = quarters_of(arms.candidate, channel);
  const double failing = std::min(failing_tasks(b), failing_tasks(c));
  if (!enough_failures(b) || !enough_failures(c) || failing < kFewestFailingTasks)
    return std::nullopt;
  PositionTrend trend;
  trend.log_ratio_per_quarter = slope_without(b, c, {}, {});
  trend.se = jackknife_error_of_trend(b, c);
  trend.df = failing - 1;
  if (!(trend.se > 0)) return std::nullopt;
  trend.p = two_sided_t_p(trend.log_ratio_per_quarter / trend.se, trend.df);
  constexpr double kSpan = kQuarters - 1;
  const double reach = t_quantile(0.975, trend.df) * trend.se;
  trend.last_over_first = std::exp(kSpan * trend.log_ratio_per_quarter);
  trend.last_over_first_ci95 = {std::exp(kSpan * (trend.log_ratio_per_quarter - reach)),
                                std::exp(kSpan * (trend.log_ratio_per_quarter + reach))};
  return trend;
}

}  // namespace

std::map<Channel, PositionTrend> position_trends(const PairedArms& arms) {
  std::map<Channel, PositionTrend> trends;
  for (const Channel channel : kFailureChannels) {
    const std::optional<PositionTrend> trend = trend_of(arms, channel);
    if (trend) trends.emplace(channel, *trend);
  }
  return trends;
}

std::vector<QuarterComparison> compare_quarters(const PairedArms& arms,
                                                const TaskResamples& resamples,
                                                const CompareOptions& options) {
  std::vector<QuarterComparison> quarters;
  for (int quarter = 0; quarter < kQuarters; ++quarter) {
    QuarterComparison comparison;
    comparison.quarter = quarter;
    for (const Channel channel : kFailureChannels)
      comparison.channels[channel] =
          compare_channel(task_quarter_counts(arms.baseline, channel, quarter),
                          task_quarter_counts(arms.candidate, channel, quarter), Units{}, resamples,
                          options, Tested::No);
    quarters.push_back(std::move(comparison));
  }
  return quarters;
}

}  // namespace unmask
