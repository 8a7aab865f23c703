#include "stats/proportion.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "stats/clustered.h"
#include "stats/distribution.h"

namespace unmask {
namespace {

double logit(double p) {
  return std::log(p / (1 - p));
}
double expit(double x) {
  return 1 / (1 + std::exp(-x));
}

// No failure in n independent units: 3/n at 95 %, -ln(1 - confidence)/n in general (scaled so that
// the rule of three is exact at 95 %).
Interval rule_of_three(double units, double confidence) {
  const double bound = 3 * std::log(1 - confidence) / std::log(0.05);
  return {0, units > 0 ? std::min(1.0, bound / units) : 1.0};
}

// One failing task of n: the exact interval for the share of failing tasks, each of which is taken
// to hold as many failures a call of the average task as the one that was seen. That one task is a
// thin basis, so the interval is at least that of one failure in `units` independent units, the
// next step after the rule of three.
Interval single_failing_task(const ClusteredRatio& ratio, double units, double confidence) {
  const Interval share = *clopper_pearson(1, ratio.clusters, confidence);
  const Interval unit = *clopper_pearson(1, std::max(1.0, units), confidence);
  const double scale = ratio.rate * ratio.clusters;
  return {std::min(ratio.rate, share.lo * scale),
          std::min(1.0, std::max(share.hi * scale, unit.hi))};
}

Interval logit_t(const ClusteredRatio& ratio, double confidence, double degrees) {
  const double p = ratio.rate;
  // Every task has exactly the same rate: fall back on independent calls, never zero width.
  const double floor_se = std::sqrt(p * (1 - p) / ratio.denominator);
  const double se = ratio.se > 1e-12 * p ? ratio.se : floor_se;
  const double reach = t_quantile(0.5 + confidence / 2, degrees) * se / (p * (1 - p));
  return {expit(logit(p) - reach), expit(logit(p) + reach)};
}

Interval between(const Interval& a, const Interval& b, double share) {
  return {std::lerp(a.lo, b.lo, share), std::lerp(a.hi, b.hi, share)};
}

// Rates of at most one half. F tasks fail, a whole number where failures were counted; between 0,
// 1 and 2, which have intervals of their own, the limits go in a straight line.
Interval limits(const ClusteredRatio& ratio, double units, double confidence, double degrees) {
  const double failing = ratio.failing;
  if (failing <= 0) return rule_of_three(units, confidence);
  if (failing >= 2)
    return logit_t(ratio, confidence, degrees > 0 ? degrees : degrees_of_freedom(ratio));
  const Interval one = single_failing_task(ratio, units, confidence);
  if (failing <= 1) return between(rule_of_three(units, confidence), one, failing);
  return between(one, logit_t(ratio, confidence, 1), failing - 1);
}

// The chance that a task fails at all, of k equal chances p with the sum e = k p and the variance
// v = k p (1 - p): 1 - (1 - p)^k. Counted failures have v = 0, and the chance is 1.
double chance_to_fail(double e, double v) {
  if (!(e > 0)) return 0;
  const double spared = v / e;  // 1 - p
  if (spared <= 0) return std::min(1.0, e);
  const double p = 1 - spared;
  return p < 1e-9 ? -std::expm1(-e) : -std::expm1(e / p * std::log(spared));
}

// What is counted, or foretold, of each task.
struct PerTask {
  std::span<const double> failures;
  std::span<const double> variance;  // empty: the failures were counted
  std::span<const double> calls;
};

ClusteredRatio ratio_of(const PerTask& tasks) {
  ClusteredRatio ratio = clustered_ratio(tasks.failures, tasks.calls);
  if (tasks.variance.empty() || !(ratio.denominator > 0)) return ratio;
  double scatter = 0;
  ratio.failing = 0;
  for (std::size_t t = 0; t < tasks.calls.size(); ++t) {
    scatter += tasks.variance[t];
    ratio.failing += chance_to_fail(tasks.failures[t], tasks.variance[t]);
  }
  ratio.se = std::sqrt(ratio.se * ratio.se + scatter / (ratio.denominator * ratio.denominator));
  return ratio;
}

Result<Interval> rate_interval(const PerTask& tasks, double independent_units, double confidence,
                               double degrees) {
  if (tasks.failures.size() != tasks.calls.size())
    return Error{ErrorKind::InvalidArgument, "failures and calls must list the same tasks", ""};
  if (!(confidence > 0 && confidence < 1))
    return Error{ErrorKind::InvalidArgument, "a confidence lies between 0 and 1", ""};
  const ClusteredRatio ratio = ratio_of(tasks);
  if (ratio.denominator <= 0)
    return Error{ErrorKind::Undefined, "a rate needs at least 1 call", ""};
  if (ratio.rate > 0.5) {  // the rarer outcome is what few tasks carry
    std::vector<double> others(tasks.failures.size());
    for (std::size_t t = 0; t < others.size(); ++t)
      others[t] = std::max(0.0, tasks.calls[t] - tasks.failures[t]);
    const Interval mirror = *rate_interval({others, tasks.variance, tasks.calls}, independent_units,
                                           confidence, degrees);
    return Interval{1 - mirror.hi, 1 - mirror.lo};
  }
  // A unit without a call (recovery: an episode without a failure) tells nothing.
  return limits(ratio, std::min(independent_units, ratio.denominator), confidence, degrees);
}

}  // namespace

Result<Interval> clopper_pearson(double successes, double trials, double confidence) {
  if (!(trials >= 1 && successes >= 0 && successes <= trials))
    return Error{ErrorKind::InvalidArgument,
                 "a proportion needs 0 <= successes <= trials and at least 1 trial", ""};
  if (!(confidence > 0 && confidence < 1))
    return Error{ErrorKind::InvalidArgument, "a confidence lies between 0 and 1", ""};
  const double tail = (1 - confidence) / 2;
  const double failures = trials - successes;
  Interval interval;
  interval.lo = successes > 0 ? beta_quantile(tail, successes, failures + 1) : 0.0;
  interval.hi = failures > 0 ? beta_quantile(1 - tail, successes + 1, failures) : 1.0;
  return interval;
}

Result<Interval> clustered_rate_interval_df(std::span<const double> failures,
                                            std::span<const double> calls, double independent_units,
                                            double confidence, double degrees) {
  return rate_interval({failures, {}, calls}, independent_units, confidence, degrees);
}

Result<Interval> clustered_rate_interval(std::span<const double> failures,
                                         std::span<const double> calls, double independent_units,
                                         double confidence) {
  return rate_interval({failures, {}, calls}, independent_units, confidence, 0);
}

Result<Interval> foretold_rate_interval(std::span<const double> expected,
                                        std::span<const double> variance,
                                        std::span<const double> calls, double independent_units,
                                        double confidence) {
  if (variance.size() != calls.size())
    return Error{ErrorKind::InvalidArgument, "variances and calls must list the same tasks", ""};
  return rate_interval({expected, variance, calls}, independent_units, confidence, 0);
}

}  // namespace unmask
