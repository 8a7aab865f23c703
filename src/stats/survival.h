// Quantiles of numbers some of which are known only to be at least a value.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stats/tobit.h"

namespace unmask {

// The product-limit estimate of P(X > x), a step at every value known exactly.
struct SurvivalStep {
  double at = 0;
  double beyond = 1;  // P(X > at)
};

// AtMost counts as known exactly: callers keep such bounds where only order matters. Empty: no
// value. Source   Kaplan & Meier (1958).
std::vector<SurvivalStep> survival(std::span<const Bounded> values);

// The smallest value with P(X <= value) >= p; nullopt where the estimate does not come down that
// far, because what lies beyond is known as bounds only. 0 < p < 1.
std::optional<double> survival_quantile(std::span<const SurvivalStep> steps, double p);

}  // namespace unmask
