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
};

Arms summarize(std::span<const double> fb, std::span<const double> cb, std::span<const double> fc,
               std::span<const double> cc) {
  Arms arms{clustered_ratio(fb, cb), clustered_ratio(fc, cc), 0};
  double bb = 0;
  double both = 0;
  double candidate_squares = 0;
  for (std::size_t t = 0; t < fb.size(); ++t) {
    const double rb = fb[t] - arms.baseline.rate * cb[t];
    const double rc = fc[t] - arms.candidate.rate * cc[t];
    bb += rb * rb;
    candidate_squares += rc * rc;
    both += rb * rc;
  }
  if (bb > 0 && candidate_squares > 0) arms.correlation = both / std::sqrt(bb * candidate_squares);
  return arms;
}

}  // namespace

Result<DifferenceInterval> rate_difference_interval(std::span<const double> failures_baseline,
                                                    std::span<const double> calls_baseline,
                                                    std::span<const double> failures_candidate,
                                                    std::span<const double> calls_candidate,
                                                    const TaskResamples& resamples) {
  const std::size_t tasks = failures_baseline.size();
  if (calls_baseline.size() != tasks || failures_candidate.size() != tasks ||
      calls_candidate.size() != tasks || static_cast<std::size_t>(resamples.tasks()) != tasks)
    return Error{ErrorKind::InvalidArgument,
                 "a difference of rates needs one number of each kind a task", ""};
  if (tasks < 2)
    return Error{ErrorKind::Undefined, "a difference of rates needs at least 2 tasks", ""};
  const Arms arms =
      summarize(failures_baseline, calls_baseline, failures_candidate, calls_candidate);
  if (arms.baseline.denominator <= 0 || arms.candidate.denominator <= 0)
    return Error{ErrorKind::Undefined, "a difference of rates needs calls in both arms", ""};
  const double difference = arms.candidate.rate - arms.baseline.rate;
  const auto limits = [&](double confidence) {
    const Interval b = *clustered_rate_interval(failures_baseline, calls_baseline,
                                                arms.baseline.clusters, confidence);
    const Interval c = *clustered_rate_interval(failures_candidate, calls_candidate,
                                                arms.candidate.clusters, confidence);
    return Interval{difference - combine(arms.candidate.rate - c.lo, b.hi - arms.baseline.rate,
                                         arms.correlation),
                    difference + combine(c.hi - arms.candidate.rate, arms.baseline.rate - b.lo,
                                         arms.correlation)};
  };
  DifferenceInterval result;
  result.ci95 = limits(0.95);
  result.ci90 = limits(0.90);
  result.upper95 = result.ci90.hi;
  result.lower95 = result.ci90.lo;
  return result;
}

}  // namespace unmask
