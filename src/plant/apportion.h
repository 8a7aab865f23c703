// Integers with a given sum: the arithmetic of exact mode.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"

namespace unmask {

// A whole number still to be settled, within [lo, hi].
struct Share {
  int value = 0;
  int lo = 0;
  int hi = 0;
};

// Moves values by single steps, in a random order round after round, until they sum to `total`.
// Errors   InvalidArgument: the bounds do not allow it; the message names `what` and the bounds'
// sums.
Result<Done> settle(std::vector<Share>& shares, long total, const std::string& what, Rng& rng);

// `total` in proportion to `weights` by largest remainders; every share is at least 1 where total
// allows it. Weights are positive.
std::vector<int> largest_remainders(int total, const std::vector<double>& weights);

// `total` in `parts` positive parts, all compositions alike; 1 <= parts <= total.
std::vector<int> composition(int total, int parts, Rng& rng);

// Fisher-Yates.
template <typename T>
void shuffle(std::vector<T>& values, Rng& rng) {
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[rng.below(static_cast<std::uint32_t>(i))]);
}

}  // namespace unmask
