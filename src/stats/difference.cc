#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stats/clustered.h"
#include "stats/distribution.h"
#include "stats/proportion.h"
#include "stats/resample.h"

namespace unmask {
namespace {

// Square-and-add of the two arms' own distances, less what they share.
double combine(double here, double there, double correlation) {
  return std::sqrt(std::max(0.0, here * here + there * there - 2 * correlation * here * there));
}

struct Arms {
  ClusteredRatio baseline;
  ClusteredRatio candidate;
  double correlation = 0;  // of the arms' linearised rates over tasks
  double failing = 0;      // tasks with a failure in either arm
};

Arms summarize(std::span<const double> fb, std::span<const double> cb, std::span<const double> fc,
               std::span<const double> cc) {
  Arms arms{clustered_ratio(fb, cb), clustered_ratio(fc, cc), 0, 0};
  double bb = 0;
  double both = 0;
  double candidate_squares = 0;
  for (std::size_t t = 0; t < fb.size(); ++t) {
    const double rb = fb[t] - arms.baseline.rate * cb[t];
    const double rc = fc[t] - arms.candidate.rate * cc[t];
    bb += rb * rb;
    candidate_squares += rc * rc;
    both += rb * rc;
    if (fb[t] > 0 || fc[t] > 0) arms.failing += 1;
  }
  if (bb > 0 && candidate_squares > 0) arms.correlation = both / std::sqrt(bb * candidate_squares);
  // Arms that agree on every task seen need not agree on all: F tasks never show a correlation of
  // 1, which would make an interval of no width.
  arms.correlation = std::min(arms.correlation, std::max(0.0, 1 - 1 / arms.failing));
  return arms;
}

}  // namespace

Result<DifferenceInterval> rate_difference_interval(std::span<const double> failures_baseline,
                                                    std::span<const double> calls_baseline,
                                                    std::span<const double> failures_candidate,
                                                    std::span<const double> calls_candidate,
                                                    double units_baseline, double units_candidate) {
  const std::size_t tasks = failures_baseline.size();
  if (calls_baseline.size() != tasks || failures_candidate.size() != tasks ||
      calls_candidate.size() != tasks)
    return Error{ErrorKind::InvalidArgument,
                 "a difference of rates needs one number of each kind a task", ""};
  if (tasks < 2)
    return Error{ErrorKind::Undefined, "a difference of rates needs at least 2 tasks", ""};
  const Arms arms =
      summarize(failures_baseline, calls_baseline, failures_candidate, calls_candidate);
  const ClusteredRatio& b = arms.baseline;
  const ClusteredRatio& c = arms.candidate;
  if (b.denominator <= 0 || c.denominator <= 0)
    return Error{ErrorKind::Undefined, "a difference of rates needs calls in both arms", ""};
  const double degrees = std::max(1.0, std::min({arms.failing, b.effective, c.effective}) - 1);
  if (units_baseline <= 0) units_baseline = b.clusters;
  if (units_candidate <= 0) units_candidate = c.clusters;

  const double difference = c.rate - b.rate;
  const auto limits = [&](double confidence) {
    const Interval of_b = *clustered_rate_interval_df(failures_baseline, calls_baseline,
                                                      units_baseline, confidence, degrees);
    const Interval of_c = *clustered_rate_interval_df(failures_candidate, calls_candidate,
                                                      units_candidate, confidence, degrees);
    return Interval{difference - combine(c.rate - of_c.lo, of_b.hi - b.rate, arms.correlation),
                    difference + combine(of_c.hi - c.rate, b.rate - of_b.lo, arms.correlation)};
  };
  DifferenceInterval result;
  result.ci95 = limits(0.95);
  result.ci90 = limits(0.90);
  result.upper95 = result.ci90.hi;
  result.lower95 = result.ci90.lo;
  return result;
}

}  // namespace unmask
