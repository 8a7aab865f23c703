// How the chance of an event moves with one number.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "stats/tobit.h"

namespace unmask {

// P(event) = 1 / (1 + exp(-(intercept + slope x))).
struct Logistic {
  FittedParameter intercept;
  FittedParameter slope;
  double log_likelihood = 0;
  double p_slope = 1;  // two-sided, H0: slope = 0; Student's t, clustered, clusters - 1 df
  long rows = 0;
  long events = 0;
  int clusters = 0;

  double probability(double x) const;
};

// By maximum likelihood, standard errors as in tobit.h.
//
// Shape    x[i], event[i] (0 or 1) and cluster[i] of the same row.
// Errors   InvalidArgument: lengths differ, a value is not finite or no 0 or 1. Undefined: fewer
//          than 2 tasks (clusters); all events or none; all x equal; a value of x that parts the
//          events from the rest (no finite slope is the best).
// Source   McCullagh & Nelder (1989) ch. 4; Albert & Anderson (1984) for separation.
Result<Logistic> logistic(std::span<const double> x, std::span<const int> event,
                          std::span<const int> cluster);

}  // namespace unmask
