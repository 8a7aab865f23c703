// A straight line through points: ordinary least squares.
#pragma once

#include <span>

#include "base/result.h"
#include "stats/interval.h"

namespace unmask {

struct Slope {
  double slope = 0;
  double intercept = 0;
  double se = 0;  // of the slope, robust to unequal spread (HC3)
  double df = 0;  // n - 2
  double p = 1;   // two-sided, H0: slope = 0
  Interval ci95;  // t
};

// y = intercept + slope x. The standard error is HC3: failure counts spread more where rates are
// higher, which the textbook formula takes for a better fit than it is.
//
// Shape    x[i], y[i] of the same point.
// Errors   InvalidArgument: lengths differ. Undefined: fewer than 3 points, x constant, or points
// on
//          an exact line (no residual to judge the slope by).
// Source   MacKinnon & White (1985) for HC3.
Result<Slope> ols_slope(std::span<const double> x, std::span<const double> y);

}  // namespace unmask
