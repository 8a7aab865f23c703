// Tests and intervals for the mean of independent numbers: here, one number a task.
#pragma once

#include <span>

#include "base/result.h"
#include "stats/interval.h"

namespace unmask {

struct MeanTest {
  double mean = 0;
  double se = 0;  // sd / sqrt(n); 0 when all values are equal
  double df = 0;  // n - 1
  double p = 1;   // two-sided, H0: mean = 0
  Interval ci95;  // on fewer degrees of freedom where few values differ from the rest
  Interval ci90;
  double upper95 = 0;  // one-sided 95 % limits, on fewer degrees of freedom where values are sparse
  double lower95 = 0;
};

// Student t. When every value is equal the t interval would have zero width, which no finite sample
// justifies: then p is the exact sign test's (1 where the common value is 0), and the limits allow
// for a share of unseen tasks of up to 1 - (alpha/2)^(1/n) (one-sided: 1 - alpha^(1/n)) lying
// as far away as a value can.
//
// Where more than half of the values are equal (most tasks have no masked success), the SE rests on
// the k others alone, and the one-sided limits take k degrees of freedom: on n - 1 the limit of a
// small mean falls short of it in 9-13 % of samples instead of 5 % (tests/calibration, U at rates
// of 1 %). They also allow for unseen tasks as above, so that a few differences never make limits
// narrower than none would. ci95 and ci90 do the same where k < 20: on n - 1 ci95 covered 87-92 %
// at 2-6 such values. p stays Student's, on n - 1; where it is under 0.05 ci95 ends at 0, which
// the test excludes.
//
// Shape    n >= 2 values.
// Unit     that of the values, which lie in [-bound, bound].
// Errors   Undefined: fewer than 2 values.
// Source   Student (1908); the zero-variance case is Clopper-Pearson's bound for 0 of n.
Result<MeanTest> mean_t_test(std::span<const double> values, double bound = 1.0);

struct Equivalence {
  double margin = 0;
  double p = 1;  // the larger of the two one-sided p values
  bool equivalent = false;
  Interval ci90;  // the (1 - 2 alpha) interval
};

// Two one-sided tests: equivalent iff the (1 - 2 alpha) interval, drawn as ci90 above, lies inside
// (-margin, margin). On n - 1 degrees of freedom, and without unseen tasks, arms of 10 to 60 tasks
// of which few differ were called equivalent in 9-22 % of samples at the margin itself. Errors   as
// mean_t_test; InvalidArgument: margin <= 0. Source   Schuirmann (1987).
Result<Equivalence> tost(std::span<const double> values, double margin, double alpha = 0.05,
                         double bound = 1.0);

}  // namespace unmask
