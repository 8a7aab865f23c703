// Kendall's tau-b in O(n log n) after Knight: sort by x (then y), count by merge sort how many
// pairs are out of order in y; ties are counted on the way. With n0 = n (n - 1) / 2 pairs, n1 tied
// in x, n2 tied in y, n3 tied in both and d discordant:
//   tau_b = (n0 - n1 - n2 + n3 - 2 d) / sqrt((n0 - n1) (n0 - n2)).
#include "stats/rank.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>

namespace unmask {
namespace {

std::optional<Error> refuse(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size())
    return Error{ErrorKind::InvalidArgument, "rank agreement needs two lists of the same length",
                 ""};
  if (x.size() < 2) return Error{ErrorKind::Undefined, "rank agreement needs at least 2 pairs", ""};
  for (const std::span<const double>& side : {x, y}) {
    const bool constant =
        std::all_of(side.begin(), side.end(), [&](double value) { return value == side[0]; });
    if (constant)
      return Error{ErrorKind::Undefined, "rank agreement is undefined where one side is constant",
                   ""};
  }
  return std::nullopt;
}

// Sorts values[begin, end) and returns the number of inversions there were.
double sort_counting_inversions(std::vector<double>& values, std::vector<double>& scratch,
                                std::size_t begin, std::size_t end) {
  if (end - begin < 2) return 0;
  const std::size_t middle = begin + (end - begin) / 2;
  double inversions = sort_counting_inversions(values, scratch, begin, middle) +
                      sort_counting_inversions(values, scratch, middle, end);
  std::size_t left = begin;
  std::size_t right = middle;
  for (std::size_t out = begin; out < end; ++out) {
    const bool take_right = left == middle || (right < end && values[right] < values[left]);
    if (take_right) inversions += static_cast<double>(middle - left);
    scratch[out] = take_right ? values[right++] : values[left++];
  }
  std::copy(scratch.begin() + static_cast<std::ptrdiff_t>(begin),
            scratch.begin() + static_cast<std::ptrdiff_t>(end),
            values.begin() + static_cast<std::ptrdiff_t>(begin));
  return inversions;
}

// Pairs of equal neighbours in a sorted sequence: sum over runs of r (r - 1) / 2.
template <typename Same>
double tied_pairs(std::size_t n, Same same) {
  double pairs = 0;
  double run = 0;
  for (std::size_t i = 1; i < n; ++i) {
    run = same(i - 1, i) ? run + 1 : 0;
    pairs += run;
  }
  return pairs;
}

}  // namespace

std::vector<double> mid_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double mean_rank = static_cast<double>(begin + 1 + end) / 2;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = mean_rank;
    begin = end;
  }
  return ranks;
}

Result<double> spearman(std::span<const double> x, std::span<const double> y) {
  if (std::optional<Error> error = refuse(x, y)) return *error;
  const std::vector<double> rank_x = mid_ranks(x);
  const std::vector<double> rank_y = mid_ranks(y);
  const double mean = (static_cast<double>(x.size()) + 1) / 2;
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = rank_x[i] - mean;
    const double dy = rank_y[i] - mean;
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  }
  return std::clamp(xy / std::sqrt(xx * yy), -1.0, 1.0);
}

Result<double> kendall_tau_b(std::span<const double> x, std::span<const double> y) {
  if (std::optional<Error> error = refuse(x, y)) return *error;
  const std::size_t n = x.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return x[a] != x[b] ? x[a] < x[b] : y[a] < y[b]; });
  std::vector<double> sorted_y(n);
  for (std::size_t i = 0; i < n; ++i) sorted_y[i] = y[order[i]];

  const double tied_x =
      tied_pairs(n, [&](std::size_t i, std::size_t j) { return x[order[i]] == x[order[j]]; });
  const double tied_both = tied_pairs(n, [&](std::size_t i, std::size_t j) {
    return x[order[i]] == x[order[j]] && sorted_y[i] == sorted_y[j];
  });
  std::vector<double> scratch(n);
  const double discordant = sort_counting_inversions(sorted_y, scratch, 0, n);
  const double tied_y =
      tied_pairs(n, [&](std::size_t i, std::size_t j) { return sorted_y[i] == sorted_y[j]; });

  const double pairs = static_cast<double>(n) * (static_cast<double>(n) - 1) / 2;
  const double agreement = pairs - tied_x - tied_y + tied_both - 2 * discordant;
  const double tau = agreement / (std::sqrt(pairs - tied_x) * std::sqrt(pairs - tied_y));
  return std::clamp(tau, -1.0, 1.0);
}

}  // namespace unmask
