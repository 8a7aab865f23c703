#include "stats/mcnemar.h"

#include <algorithm>

#include "stats/distribution.h"

namespace unmask {

Result<McNemar> mcnemar(long only_first, long only_second) {
  if (only_first < 0 || only_second < 0)
    return Error{ErrorKind::InvalidArgument, "McNemar's test needs counts of 0 or more", ""};
  const long differing = only_first + only_second;
  if (differing == 0) return Error{ErrorKind::Undefined, "no pair differs", ""};
  const long fewer = std::min(only_first, only_second);
  const auto n = static_cast<double>(differing);
  const double tail = binomial_cdf(static_cast<double>(fewer), n, 0.5);
  const double below = fewer == 0 ? 0 : binomial_cdf(static_cast<double>(fewer) - 1, n, 0.5);
  return McNemar{std::min(1.0, 2 * tail), std::min(1.0, tail + below)};
}

}  // namespace unmask
