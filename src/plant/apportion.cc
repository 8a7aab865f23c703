#include "plant/apportion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace unmask {

Result<Done> settle(std::vector<Share>& shares, long total, const std::string& what, Rng& rng) {
  long sum = 0;
  long lowest = 0;
  long highest = 0;
  for (Share& share : shares) {
    share.value = std::clamp(share.value, share.lo, std::max(share.lo, share.hi));
    sum += share.value;
    lowest += share.lo;
    highest += std::max(share.lo, share.hi);
  }
  if (total < lowest || total > highest)
    return Error{ErrorKind::InvalidArgument,
                 fmt::format("{} cannot be {}: the other counts allow {} to {}", what, total,
                             lowest, highest),
                 ""};
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  while (sum != total) {
    shuffle(order, rng);
    for (const std::size_t i : order) {
      Share& share = shares[i];
      if (sum < total && share.value < share.hi) {
        ++share.value;
        ++sum;
      } else if (sum > total && share.value > share.lo) {
        --share.value;
        --sum;
      }
    }
  }
  return Done{};
}

std::vector<int> largest_remainders(int total, const std::vector<double>& weights) {
  const int floor = total >= std::ssize(weights) ? 1 : 0;
  const int free = total - floor * static_cast<int>(weights.size());
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<int> counts(weights.size());
  std::vector<std::pair<double, std::size_t>> remainders;
  int given = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double quota = free * weights[i] / sum;
    counts[i] = floor + static_cast<int>(std::floor(quota));
    given += counts[i];
    remainders.emplace_back(std::floor(quota) - quota, i);  // largest remainder first
  }
  std::sort(remainders.begin(), remainders.end());
  for (std::size_t i = 0; given < total; ++i, ++given) ++counts[remainders[i].second];
  return counts;
}

std::vector<int> composition(int total, int parts, Rng& rng) {
  UNMASK_CHECK(parts >= 1 && parts <= total);
  // A composition is a choice of parts - 1 of the total - 1 places between units.
  std::vector<int> places(static_cast<std::size_t>(total - 1));
  std::iota(places.begin(), places.end(), 1);
  shuffle(places, rng);
  places.resize(static_cast<std::size_t>(parts - 1));
  std::sort(places.begin(), places.end());
  places.push_back(total);
  std::vector<int> result;
  int before = 0;
  for (const int place : places) {
    result.push_back(place - before);
    before = place;
  }
  return result;
}

}  // namespace unmask
