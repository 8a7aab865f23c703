#include "stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace unmask {

Result<double> quantile(std::span<const double> values, double p) {
  if (values.empty()) return Error{ErrorKind::Undefined, "a quantile needs at least 1 value", ""};
  if (!(p >= 0 && p <= 1))
    return Error{ErrorKind::InvalidArgument, "a quantile lies at a share between 0 and 1", ""};
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double position = static_cast<double>(sorted.size() - 1) * p;
  const std::size_t below = static_cast<std::size_t>(std::floor(position));
  const double part = position - static_cast<double>(below);
  // Equal neighbours are returned as they are, so that infinities do not subtract to NaN.
  if (part == 0 || sorted[below] == sorted[below + 1]) return sorted[below];
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

}  // namespace unmask
