// Rank agreement of paired counts.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"

namespace unmask {

// Ranks 1 ... n, ties sharing the mean of theirs.
std::vector<double> mid_ranks(std::span<const double> values);

// Spearman's rho on mid ranks. Errors: InvalidArgument lengths differ; Undefined n < 2 or a side is
// constant. Source: Kendall & Gibbons (1990) ch. 3.
Result<double> spearman(std::span<const double> x, std::span<const double> y);

// Kendall's tau-b, O(n log n). Errors as spearman. Source: Knight (1966).
Result<double> kendall_tau_b(std::span<const double> x, std::span<const double> y);

}  // namespace unmask
