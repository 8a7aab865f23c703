// The paired task bootstrap: tasks are drawn with replacement, both arms together, and every
// statistic of one comparison is recomputed on the same draws.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "stats/interval.h"
#include "stats/lane_sums.h"

namespace unmask {

// How often each of `tasks` tasks was drawn in each of `resamples` resamples.
class TaskResamples {
 public:
  // Same (tasks, resamples, seed): same draws, at any number of threads. tasks >= 1, resamples
  // >= 1.
  TaskResamples(int tasks, int resamples, std::uint64_t seed, int threads = 1);

  int tasks() const { return counts_.tasks(); }
  int resamples() const { return counts_.draws(); }
  int times_drawn(int resample, int task) const { return counts_.weight(resample, task); }

  // Sums over tasks of (times drawn x value), one row per column of numbers: result[c][b] for
  // column c in resample b. Every column has tasks() values. One pass over the draws serves all
  // columns. Equal to the plain double loop over tasks to the last bit.
  std::vector<std::vector<double>> sums(std::span<const std::vector<double>> columns) const;
  std::vector<std::vector<double>> sums(std::span<const std::span<const double>> columns) const;

  // Percentile interval of every column's sum over the resamples (divide by the tasks for a mean).
  std::vector<Interval> sum_intervals(std::span<const std::vector<double>> columns,
                                      double tail) const;

 private:
  LaneWeights counts_;
};

// Percentile interval with given tail probability on each side: of B draws in order, the k-th and
// the (B + 1 - k)-th, k = floor((B + 1) tail), at least 1. +-infinity in `draws` is allowed and
// sorts as such. At least 1 draw; 0 < tail < 0.5. Source   Davison & Hinkley (1997) sec. 5.2.
Interval percentile_interval(std::vector<double> draws, double tail);
// The same, reordering `draws` instead of copying them.
Interval percentile_interval_in_place(std::span<double> draws, double tail);

// The tail probability that replaces 0.025 when only F clusters carry information (METHOD 4):
// Phi(-sqrt(F / (F - 1)) * t_{F-1, 0.975}). F >= 2.
double expanded_tail(double failing_clusters, double confidence = 0.95);

// A ratio is not reported on fewer failing tasks in the sparser arm (METHOD 4).
inline constexpr double kFewestFailingTasks = 8;

// 95 % interval of log((fc/cc) / (fb/cb)) exponentiated, where f and c are sums over tasks.
//   draws with no failure in an arm count as +-infinity, 0/0 as +infinity.
// Errors   Undefined: fewer than 8 failing tasks in the sparser arm, or no calls.
Result<Interval> ratio_interval(std::span<const double> failures_baseline,
                                std::span<const double> calls_baseline,
                                std::span<const double> failures_candidate,
                                std::span<const double> calls_candidate,
                                const TaskResamples& resamples);

// Interval of fc/cc - fb/cb, paired by task. Never of zero width; inside [-1, 1].
//
// Each arm's clustered logit-t limits (proportion.h, on F - 1 degrees of freedom, F = tasks with a
// failure in either arm), combined by the square-and-add rule with the arms' correlation over
// tasks:
//   lo = d - sqrt(x^2 + y^2 - 2 r x y), x = rc - lo_c, y = hi_b - rb; hi likewise; r <= 1 - 1/F.
// Deterministic: draws nothing. Chosen by simulation (tests/calibration): 93-97 % two-sided at 1, 5
// and 20 % with and without bursts and task correlation, where the percentile bootstrap covers
// 87-95 %, the studentized one 84-96 %, and the linearised t misses on one side (up to 10 % below).
//   units_baseline, units_candidate: independent units of an arm, for the bound of one without
//   failures (proportion.h); 0: its tasks.
// Errors   InvalidArgument: lengths differ. Undefined: no calls in an arm; fewer than 2 tasks.
// Source   Zou & Donner (2008); Newcombe (1998) method 10.
struct DifferenceInterval {
  Interval ci95;
  Interval ci90;
  double upper95 = 0;  // one-sided
  double lower95 = 0;
};
Result<DifferenceInterval> rate_difference_interval(std::span<const double> failures_baseline,
                                                    std::span<const double> calls_baseline,
                                                    std::span<const double> failures_candidate,
                                                    std::span<const double> calls_candidate,
                                                    double units_baseline = 0,
                                                    double units_candidate = 0);
// As above; the resamples are not needed.
inline Result<DifferenceInterval> rate_difference_interval(
    std::span<const double> failures_baseline, std::span<const double> calls_baseline,
    std::span<const double> failures_candidate, std::span<const double> calls_candidate,
    const TaskResamples&) {
  return rate_difference_interval(failures_baseline, calls_baseline, failures_candidate,
                                  calls_candidate);
}

// Upper one-sided 95 % limit of the ratio, for the verdict `clean`; nullopt where undefined.
std::optional<double> ratio_upper95(std::span<const double> failures_baseline,
                                    std::span<const double> calls_baseline,
                                    std::span<const double> failures_candidate,
                                    std::span<const double> calls_candidate,
                                    const TaskResamples& resamples);

// A simultaneous 95 % band over the columns: mean[c] +- q * se[c], q the 95 % quantile of
// max_c |mean*_b[c] - mean[c]| / se[c], widened for few tasks as Student's t is against the normal.
// Where se is 0 the band is as wide as the widest neighbour's (never of zero width; all zero: as
// mean_t_test's zero-variance limits).
//   columns[c][t]: the per-task value of column c.
// Errors   Undefined: fewer than 2 tasks or no column.
// Source   Romano & Wolf (2005); METHOD 3.
struct Band {
  std::vector<double> mean;
  std::vector<Interval> band95;
  std::vector<Interval> ci95;   // pointwise, t
  std::vector<double> lower95;  // pointwise 2.5 % limit is ci95.lo; this is one-sided 95 %
};
Result<Band> simultaneous_band(std::span<const std::vector<double>> columns,
                               const TaskResamples& resamples);

}  // namespace unmask
