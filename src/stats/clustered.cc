#include "stats/clustered.h"

#include <algorithm>
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
  double call_squares = 0;
  for (std::size_t t = 0; t < calls.size(); ++t) {
    if (calls[t] <= 0) continue;
    const double residual = failures[t] - ratio.rate * calls[t];
    const double others = 1 - calls[t] / ratio.denominator;  // 0 only for a single cluster
    if (others > 0) squares += residual * residual / (others * others);
    call_squares += calls[t] * calls[t];
  }
  ratio.effective = ratio.denominator * ratio.denominator / call_squares;
  if (ratio.clusters > 1)
    ratio.se = std::sqrt((ratio.clusters - 1) / ratio.clusters * squares) / ratio.denominator;
  return ratio;
}

double degrees_of_freedom(const ClusteredRatio& ratio) {
  return std::max(1.0, std::min(ratio.failing, ratio.effective) - 1);
}

}  // namespace unmask
