// Sample quantiles.
#pragma once

#include <span>

#include "base/result.h"

namespace unmask {

// Type 7 of Hyndman & Fan (1996), the default of R and numpy: linear between the order statistics
// at position (n - 1) p. Errors   Undefined: no value. InvalidArgument: p outside [0, 1].
Result<double> quantile(std::span<const double> values, double p);

}  // namespace unmask
