#include "stats/reliability.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>

namespace unmask {
namespace {

Result<Done> check(std::span<const double> predicted, std::span<const int> event, int bins) {
  if (predicted.size() != event.size() || bins < 1)
    return Error{ErrorKind::InvalidArgument,
                 "a reliability table needs a prediction for every event, and a bin", ""};
  if (predicted.empty()) return Error{ErrorKind::Undefined, "nothing was predicted", ""};
  for (std::size_t i = 0; i < predicted.size(); ++i)
    if (!(predicted[i] >= 0 && predicted[i] <= 1) || (event[i] != 0 && event[i] != 1))
      return Error{ErrorKind::InvalidArgument, "predictions lie in [0, 1], events are 0 or 1", ""};
  return Done{};
}

}  // namespace

Result<Reliability> reliability(std::span<const double> predicted, std::span<const int> event,
                                int bins) {
  const Result<Done> checked = check(predicted, event, bins);
  if (!checked) return checked.error();
  std::vector<std::size_t> order(predicted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return predicted[a] < predicted[b]; });
  Reliability out;
  const std::size_t n = order.size();
  std::size_t begin = 0;
  for (std::size_t bin = 1; begin < n; ++bin) {
    std::size_t end = std::max(begin + 1, std::min(n, bin * n / static_cast<std::size_t>(bins)));
    while (end < n && predicted[order[end]] == predicted[order[end - 1]]) ++end;
    ReliabilityBin row{predicted[order[begin]], predicted[order[end - 1]],
                       static_cast<long>(end - begin), 0, 0};
    for (std::size_t i = begin; i < end; ++i) {
      row.predicted += predicted[order[i]];
      row.observed += event[order[i]];
    }
    const auto rows = static_cast<double>(row.rows);
    row.predicted /= rows;
    row.observed /= rows;
    out.expected_calibration_error +=
        rows / static_cast<double>(n) * std::abs(row.predicted - row.observed);
    out.error_of_chance +=
        rows / static_cast<double>(n) *
        std::sqrt(2 * row.predicted * (1 - row.predicted) / (std::numbers::pi * rows));
    out.bins.push_back(row);
    begin = end;
  }
  for (std::size_t i = 0; i < n; ++i)
    out.brier += (predicted[i] - event[i]) * (predicted[i] - event[i]) / static_cast<double>(n);
  return out;
}

}  // namespace unmask
