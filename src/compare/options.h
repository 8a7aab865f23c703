// compare: two arms -> differences with uncertainty. Also one arm with its own uncertainty.
#pragma once

#include <cstdint>

#include "metrics/arm.h"

namespace unmask {

struct CompareOptions {
  int k_tight = 2;
  double equivalence_margin = 0.075;  // proportion
  BudgetCount count = BudgetCount::All;
  BudgetRule rule = BudgetRule::AtMost;
  int resamples = 10000;  // bootstrap and permutation
  std::uint64_t seed = 20260731;
  int threads = 0;
  // Thresholds of the risk screen (METHOD 8), proportions.
  double screen_low = 0.01;
  double screen_high = 0.05;
  // The budget to assume where the format has none; 0: none.
  int assumed_max_errors = 0;
};

}  // namespace unmask
