// How many tasks would settle a question, in closed form.
#pragma once

#include "base/result.h"

namespace unmask {

// Smallest n of independent tasks such that a (1 - 2 alpha) t interval around `mean` with per-task
// standard deviation `sd` lies inside +-margin with the given power.
// Errors   Undefined: |mean| >= margin (no sample size can show it), sd <= 0.
Result<int> tasks_for_equivalence(double mean, double sd, double margin, double alpha, double power);

// Smallest n such that a one-sided upper (1 - alpha) limit of a mean lies below `limit`.
// Errors   Undefined: mean >= limit, sd <= 0.
Result<int> tasks_for_upper_limit(double mean, double sd, double limit, double alpha, double power);

// Smallest n such that a two-sided test at alpha detects a true `mean` with the given power.
// Errors   Undefined: mean == 0 or sd <= 0.
Result<int> tasks_to_detect(double mean, double sd, double alpha, double power);

}  // namespace unmask
