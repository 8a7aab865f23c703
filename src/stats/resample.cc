#include "stats/resample.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "base/check.h"
#include "base/rng.h"
#include "stats/distribution.h"

namespace unmask {
namespace {

constexpr int kLanes = LaneWeights::kLanes;
constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// Unbiased draws below n, four to a random word while n fits 12 bits: Lemire's multiply-and-reject
// on 16-bit pieces. (Above that, rejection would be frequent; 32-bit pieces, one to a word.)
class SmallDraws {
 public:
  SmallDraws(Rng& rng, std::uint32_t n)
      : rng_(rng), n_(n), threshold_(n <= kLargest ? 65536 % n : 0) {}

  std::uint32_t next() {
    if (n_ > kLargest) return rng_.below(n_);
    while (true) {
      if (pieces_ == 0) {
        word_ = rng_.next();
        pieces_ = 4;
      }
      const std::uint32_t product = static_cast<std::uint32_t>(word_ & 0xffff) * n_;
      word_ >>= 16;
      --pieces_;
      if ((product & 0xffff) >= threshold_) return product >> 16;
    }
  }

 private:
  static constexpr std::uint32_t kLargest = 4096;
  Rng& rng_;
  std::uint32_t n_;
  std::uint32_t threshold_;
  std::uint64_t word_ = 0;
  int pieces_ = 0;
};

void draw_block(int tasks, std::uint64_t seed, std::size_t block, int lanes,
                std::span<std::uint8_t> counts) {
  Rng rng(seed, block);
  SmallDraws draws(rng, static_cast<std::uint32_t>(tasks));
  for (int lane = 0; lane < lanes; ++lane) {
    for (int i = 0; i < tasks; ++i) {
      // 255 is out of reach: for a count to wrap, one task of hundreds would have to be drawn 256
      // times (probability below 1e-500 at every number of tasks).
      ++counts[static_cast<std::size_t>(draws.next()) * kLanes + static_cast<std::size_t>(lane)];
    }
  }
}

struct RatioDraws {
  std::vector<double> values;  // candidate rate over baseline rate in each resample
  double failing = 0;          // tasks with a failure in the sparser arm
};

Result<RatioDraws> ratio_draws(std::span<const double> failures_baseline,
                               std::span<const double> calls_baseline,
                               std::span<const double> failures_candidate,
                               std::span<const double> calls_candidate,
                               const TaskResamples& resamples) {
  const std::span<const double> columns[] = {failures_baseline, calls_baseline, failures_candidate,
                                             calls_candidate};
  for (const std::span<const double>& column : columns) {
    if (column.size() != static_cast<std::size_t>(resamples.tasks()))
      return Error{ErrorKind::InvalidArgument,
                   "a ratio needs one number of each kind a resampled task", ""};
  }
  const auto total = [](std::span<const double> v) {
    double sum = 0;
    for (const double x : v) sum += x;
    return sum;
  };
  if (total(calls_baseline) <= 0 || total(calls_candidate) <= 0)
    return Error{ErrorKind::Undefined, "a ratio of rates needs calls in both arms", ""};
  const auto failing = [](std::span<const double> v) {
    return static_cast<double>(std::count_if(v.begin(), v.end(), [](double x) { return x > 0; }));
  };
  RatioDraws draws;
  draws.failing = std::min(failing(failures_baseline), failing(failures_candidate));
  if (draws.failing < kFewestFailingTasks)
    return Error{ErrorKind::Undefined,
                 "a ratio of rates needs at least 8 tasks with a failure in each arm", ""};
  const std::vector<std::vector<double>> sums = resamples.sums(columns);
  draws.values.resize(sums[0].size());
  for (std::size_t b = 0; b < draws.values.size(); ++b) {
    // No failure in the baseline: +infinity, 0/0 as well; none in the candidate only: 0.
    const bool defined = sums[0][b] > 0 && sums[3][b] > 0;
    draws.values[b] = defined          ? sums[2][b] / sums[3][b] * sums[1][b] / sums[0][b]
                      : sums[0][b] > 0 ? 0.0
                                       : kUnbounded;
  }
  return draws;
}

// Moves the k-th smallest (1-based) to its place and returns it.
double order_statistic(std::span<double> values, std::size_t k) {
  const std::span<double>::iterator place = values.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

// The k-th smallest of many, k near an end, without moving them: a pivot a little beyond the k-th
// is guessed from every 16th value, the values up to it are copied out without a branch, and the
// k-th is among them. A wrong guess (one in thousands) falls back to a selection from all. `flip`
// -1 gives the k-th largest.
double end_statistic(std::span<const double> values, std::size_t k, double flip,
                     std::vector<double>& kept) {
  constexpr std::size_t kStride = 16;
  kept.clear();
  for (std::size_t i = 0; i < values.size(); i += kStride) kept.push_back(flip * values[i]);
  const double expected = static_cast<double>(k) / kStride;
  const std::size_t rank = static_cast<std::size_t>(expected + 4 * std::sqrt(expected) + 2);
  if (rank < kept.size()) {
    const double pivot = order_statistic(kept, rank);
    kept.resize(values.size());
    std::size_t count = 0;
    for (const double value : values) {
      kept[count] = flip * value;
      count += flip * value <= pivot;
    }
    if (count >= k) return flip * order_statistic(std::span(kept).first(count), k);
  }
  kept.assign(values.begin(), values.end());
  for (double& value : kept) value *= flip;
  return flip * order_statistic(kept, k);
}

std::size_t tail_rank(std::size_t draws, double tail) {
  const double k = std::floor((static_cast<double>(draws) + 1) * tail + 1e-9);
  return std::min(std::max<std::size_t>(1, static_cast<std::size_t>(k)), (draws + 1) / 2);
}

}  // namespace

TaskResamples::TaskResamples(int tasks, int resamples, std::uint64_t seed, int threads)
    : counts_(tasks, resamples, threads,
              [tasks, seed](std::size_t block, int lanes, std::span<std::uint8_t> counts) {
                draw_block(tasks, seed, block, lanes, counts);
              }) {}

std::vector<std::vector<double>> TaskResamples::sums(
    std::span<const std::span<const double>> columns) const {
  return counts_.sums(columns);
}

std::vector<std::vector<double>> TaskResamples::sums(
    std::span<const std::vector<double>> columns) const {
  const std::vector<std::span<const double>> views(columns.begin(), columns.end());
  return counts_.sums(views);
}

std::vector<Interval> TaskResamples::sum_intervals(std::span<const std::vector<double>> columns,
                                                   double tail) const {
  const std::vector<std::span<const double>> views(columns.begin(), columns.end());
  std::vector<Interval> intervals(columns.size());
  counts_.visit_sums(views, [&](std::size_t column, std::span<double> sums) {
    intervals[column] = percentile_interval_in_place(sums, tail);
  });
  return intervals;
}

Interval percentile_interval_in_place(std::span<double> draws, double tail) {
  UNMASK_CHECK(!draws.empty() && tail > 0 && tail < 0.5);
  const std::size_t k = tail_rank(draws.size(), tail);
  if (draws.size() >= 1000 && 8 * k < draws.size()) {
    std::vector<double> kept;
    const double lo = end_statistic(draws, k, 1, kept);
    return {lo, end_statistic(draws, k, -1, kept)};
  }
  const double lo = order_statistic(draws, k);
  return {lo, order_statistic(draws, draws.size() + 1 - k)};
}

Interval percentile_interval(std::vector<double> draws, double tail) {
  return percentile_interval_in_place(draws, tail);
}

double expanded_tail(double failing_clusters, double confidence) {
  UNMASK_CHECK(failing_clusters >= 2 && confidence > 0 && confidence < 1);
  const double t = t_quantile(0.5 + confidence / 2, failing_clusters - 1);
  return normal_cdf(-std::sqrt(failing_clusters / (failing_clusters - 1)) * t);
}

Result<Interval> ratio_interval(std::span<const double> failures_baseline,
                                std::span<const double> calls_baseline,
                                std::span<const double> failures_candidate,
                                std::span<const double> calls_candidate,
                                const TaskResamples& resamples) {
  Result<RatioDraws> draws = ratio_draws(failures_baseline, calls_baseline, failures_candidate,
                                         calls_candidate, resamples);
  if (!draws) return draws.error();
  return percentile_interval(std::move(draws->values), expanded_tail(draws->failing));
}

std::optional<double> ratio_upper95(std::span<const double> failures_baseline,
                                    std::span<const double> calls_baseline,
                                    std::span<const double> failures_candidate,
                                    std::span<const double> calls_candidate,
                                    const TaskResamples& resamples) {
  Result<RatioDraws> draws = ratio_draws(failures_baseline, calls_baseline, failures_candidate,
                                         calls_candidate, resamples);
  if (!draws) return std::nullopt;
  // The one-sided 95 % limit is the upper end of the two-sided 90 % interval.
  return percentile_interval(std::move(draws->values), expanded_tail(draws->failing, 0.90)).hi;
}

}  // namespace unmask
