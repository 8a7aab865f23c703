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
  if (failures.size() != calls.size())
    return Error{ErrorKind::InvalidArgument, "failures and calls must list the same tasks", ""};
  if (!(confidence > 0 && confidence < 1))
    return Error{ErrorKind::InvalidArgument, "a confidence lies between 0 and 1", ""};
  const ClusteredRatio ratio = clustered_ratio(failures, calls);
  if (ratio.denominator <= 0)
    return Error{ErrorKind::Undefined, "a rate needs at least 1 call", ""};
  if (ratio.rate > 0.5) {  // the rarer outcome is what few tasks carry
    std::vector<double> others(failures.size());
    for (std::size_t t = 0; t < others.size(); ++t)
      others[t] = std::max(0.0, calls[t] - failures[t]);
    const Interval mirror =
        *clustered_rate_interval_df(others, calls, independent_units, confidence, degrees);
    return Interval{1 - mirror.hi, 1 - mirror.lo};
  }
  // A unit without a call (recovery: an episode without a failure) tells nothing.
  const double units = std::min(independent_units, ratio.denominator);
  if (ratio.failing == 0) return rule_of_three(units, confidence);
  if (ratio.failing < 2) return single_failing_task(ratio, units, confidence);
  return logit_t(ratio, confidence, degrees > 0 ? degrees : degrees_of_freedom(ratio));
}

Result<Interval> clustered_rate_interval(std::span<const double> failures,
                                         std::span<const double> calls, double independent_units,
                                         double confidence) {
  return clustered_rate_interval_df(failures, calls, independent_units, confidence, 0);
}

Result<Interval> foretold_rate_interval(std::span<const double> expected,
                                        std::span<const double> variance,
                                        std::span<const double> calls, double independent_units,
                                        double confidence) {
  if (expected.size() != calls.size() || variance.size() != calls.size())
    return Error{ErrorKind::InvalidArgument,
                 "expected failures, variances and calls must list the same tasks", ""};
  if (!(confidence > 0 && confidence < 1))
    return Error{ErrorKind::InvalidArgument, "a confidence lies between 0 and 1", ""};
  ClusteredRatio ratio = clustered_ratio(expected, calls);
  if (ratio.denominator <= 0)
    return Error{ErrorKind::Undefined, "a rate needs at least 1 call", ""};
  if (ratio.rate > 0.5) {
    std::vector<double> others(expected.size());
    for (std::size_t t = 0; t < others.size(); ++t)
      others[t] = std::max(0.0, calls[t] - expected[t]);
    const Interval mirror =
        *foretold_rate_interval(others, variance, calls, independent_units, confidence);
    return Interval{1 - mirror.hi, 1 - mirror.lo};
  }
  const double units = std::min(independent_units, ratio.denominator);
  if (ratio.numerator < 0.5) return rule_of_three(units, confidence);
  double squares = 0;
  double scatter = 0;
  double failing = 0;
  for (std::size_t t = 0; t < calls.size(); ++t) {
    squares += expected[t] * expected[t];
    scatter += variance[t];
    failing += std::min(1.0, expected[t]);
  }
  ratio.failing = std::min(failing, ratio.numerator * ratio.numerator / squares);
  if (ratio.failing < 2) return single_failing_task(ratio, units, confidence);
  ratio.se = std::sqrt(ratio.se * ratio.se + scatter / (ratio.denominator * ratio.denominator));
  return logit_t(ratio, confidence, degrees_of_freedom(ratio));
}

}  // namespace unmask
