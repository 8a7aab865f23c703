// How many tasks would settle a question, in closed form.
#pragma once

#include "base/result.h"

namespace unmask {

// Powers at n tasks (n >= 2, sd > 0, |mean| < margin), exact for normal values.
//   detect:      two-sided t test at alpha.
//   upper_limit: the one-sided (1 - alpha) upper limit of the mean lies below `limit`.
//   equivalence: the (1 - 2 alpha) t interval lies inside +-margin.
// Source   noncentral t; Owen (1965) and Phillips (1990) for equivalence, integrated numerically.
double power_to_detect(double mean, double sd, double alpha, int n);
double power_of_upper_limit(double mean, double sd, double limit, double alpha, int n);
double power_of_equivalence(double mean, double sd, double margin, double alpha, int n);

// Smallest n of independent tasks such that a (1 - 2 alpha) t interval around `mean` with per-task
// standard deviation `sd` lies inside +-margin with the given power.
// Errors   Undefined: |mean| >= margin (no sample size can show it), sd <= 0.
Result<int> tasks_for_equivalence(double mean, double sd, double margin, double alpha,
                                  double power);

// Smallest n such that a one-sided upper (1 - alpha) limit of a mean lies below `limit`.
// Errors   Undefined: mean >= limit, sd <= 0.
Result<int> tasks_for_upper_limit(double mean, double sd, double limit, double alpha, double power);

// Smallest n such that a two-sided test at alpha detects a true `mean` with the given power.
// Errors   Undefined: mean == 0 or sd <= 0.
Result<int> tasks_to_detect(double mean, double sd, double alpha, double power);

}  // namespace unmask
