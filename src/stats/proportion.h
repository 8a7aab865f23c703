// Intervals for proportions, simple and clustered.
#pragma once

#include <span>

#include "base/result.h"
#include "stats/interval.h"

namespace unmask {

// Exact binomial interval. Errors: InvalidArgument unless 0 <= successes <= trials, trials >= 1.
// Source: Clopper & Pearson (1934).
Result<Interval> clopper_pearson(double successes, double trials, double confidence);

// Interval for a ratio of sums, failures over calls, clustered by task, on the logit scale with a t
// quantile on F - 1 degrees of freedom, F = tasks with a failure (METHOD 8); where calls are so
// unequal that fewer tasks carry the denominator, on those (clustered.h).
//   F = 1: Clopper-Pearson over tasks, scaled to calls, reaching at least to the upper limit of 1
//   in `independent_units`.  F = 0: the upper bound is 3 / independent_units (episodes, or tasks
//   where trials are duplicates).
// Above one half it is the mirror image of the interval of the calls that did not fail.
// Never of zero width; inside [0, 1].
//
// Shape    failures[t] <= calls[t] of the same task; tasks without calls take no part.
// Errors   Undefined: no calls at all. InvalidArgument: lengths differ, confidence outside (0, 1).
Result<Interval> clustered_rate_interval(std::span<const double> failures,
                                         std::span<const double> calls, double independent_units,
                                         double confidence);

// The same with the degrees of freedom given, for a comparison whose failing tasks are spread over
// two arms. `degrees` 0: F - 1.
Result<Interval> clustered_rate_interval_df(std::span<const double> failures,
                                            std::span<const double> calls, double independent_units,
                                            double confidence, double degrees);

// The interval above for failures that are foretold and not counted: expected[t] is a sum of
// chances p, variance[t] of what would then be counted, the sum of p (1 - p). Chances spread over
// all tasks hold no more evidence than the failures they add up to, so F is the number of tasks
// that would fail,
//   sum over t of 1 - (v_t / e_t)^(e_t^2 / (e_t - v_t)),  of equal chances within a task,
// and the standard error holds the chance of the counting as well. F need not be whole: between
// the intervals of 0, 1 and 2 failing tasks the limits go in a straight line, beyond 2 the degrees
// of freedom do, so the interval jumps nowhere below one half. Where every chance is 0 or 1 it is
// the interval above.
//
// Shape, errors   as above; 0 <= variance[t] <= expected[t].
// Source   The law of total variance. Coverage by simulation: docs/calibration.md.
Result<Interval> foretold_rate_interval(std::span<const double> expected,
                                        std::span<const double> variance,
                                        std::span<const double> calls, double independent_units,
                                        double confidence);

}  // namespace unmask
