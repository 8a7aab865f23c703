#include "stats/clustered.h"

#include <cmath>
#include <cstddef>

#include "base/check.h"

namespace unmask {

ClusteredRatio clustered_ratio(std::span<const double> failures, std::span<const double> calls) {
  UNMASK_CHECK(failures.size() == calls.size());
  ClusteredRatio ratio;
  for (std::size_t t = 0; t < calls.size(); ++t) {
    if (calls[t] <= 0) continue;
    ratio.numerator += failures[t];
    ratio.denominator += calls[t];
    ratio.clusters += 1;
    if (failures[t] > 0) ratio.failing += 1;
  }
  if (ratio.denominator <= 0) return ratio;
  ratio.rate = ratio.numerator / ratio.denominator;
  double squares = 0;
  for (std::size_t t = 0; t < calls.size(); ++t) {
    if (calls[t] <= 0) continue;
    const double residual = failures[t] - ratio.rate * calls[t];
    squares += residual * residual;
  }
  if (ratio.clusters > 1)
    ratio.se = std::sqrt(ratio.clusters / (ratio.clusters - 1) * squares) / ratio.denominator;
  return ratio;
}

}  // namespace unmask
