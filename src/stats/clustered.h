// A ratio of sums over clusters (failures over calls, by task) and its linearised standard error:
// what the intervals and tests of this room share.
#pragma once

#include <span>

namespace unmask {

struct ClusteredRatio {
  double numerator = 0;
  double denominator = 0;
  double rate = 0;  // numerator / denominator; 0 where the denominator is 0
  double se = 0;  // sqrt(n / (n - 1) * sum of (f - rate c)^2) / denominator, n clusters with calls
  double clusters = 0;  // with calls
  double failing = 0;   // with a failure
};

// Shape   failures[t], calls[t] of the same task; tasks without calls take no part.
// Source  Cochran (1977) ch. 6.
ClusteredRatio clustered_ratio(std::span<const double> failures, std::span<const double> calls);

}  // namespace unmask
