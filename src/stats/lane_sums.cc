// The loop is a small matrix product, weights (draw, task) x columns (task, column), blocked as
// such products are: 8 draws x 4 columns of running sums stay in registers while t runs over the
// tasks, so each loaded number serves several multiplications. Columns are packed four abreast
// beforehand, and the weights of one block are widened to double once and reused by every group of
// columns.
#include "stats/lane_sums.h"

#include <algorithm>

#include "base/check.h"
#include "base/parallel.h"

namespace unmask {
namespace {

constexpr int kLanes = LaneWeights::kLanes;
constexpr int kGroup = 4;   // columns summed together
constexpr int kVector = 4;  // doubles in a vector
constexpr int kPanel = 8;   // draws summed together

// Four doubles at any address a double may have.
using Vector = double
    __attribute__((vector_size(kVector * sizeof(double)), aligned(sizeof(double)), may_alias));

// sums[c][lane] for one panel of draws and one group of columns.
//   weights: element (task, lane) at task * kLanes + lane, already moved to the panel's first lane.
//   packed:  element (task, column) at task * kGroup + column.
__attribute__((always_inline)) inline void panel_sums(const double* weights, const double* packed,
                                                      int tasks, double (*sums)[kLanes]) {
  Vector low[kGroup] = {};
  Vector high[kGroup] = {};
  for (int t = 0; t < tasks; ++t) {
    const Vector w_low = *reinterpret_cast<const Vector*>(weights);
    const Vector w_high = *reinterpret_cast<const Vector*>(weights + kVector);
#pragma GCC unroll 4
    for (int c = 0; c < kGroup; ++c) {
      const double x = packed[c];
      const Vector value = {x, x, x, x};
      low[c] += w_low * value;
      high[c] += w_high * value;
    }
    weights += kLanes;
    packed += kGroup;
  }
  for (int c = 0; c < kGroup; ++c) {
    *reinterpret_cast<Vector*>(&sums[c][0]) = low[c];
    *reinterpret_cast<Vector*>(&sums[c][kVector]) = high[c];
  }
}

__attribute__((always_inline)) inline void block_sums(const double* weights, const double* packed,
                                                      int tasks, double (*sums)[kLanes]) {
  for (int lane = 0; lane < kLanes; lane += kPanel) {
    double panel[kGroup][kLanes];
    panel_sums(weights + lane, packed, tasks, panel);
    for (int c = 0; c < kGroup; ++c) std::copy_n(panel[c], kPanel, sums[c] + lane);
  }
}

using BlockSums = void (*)(const double*, const double*, int, double (*)[kLanes]);

void block_sums_portable(const double* weights, const double* packed, int tasks,
                         double (*sums)[kLanes]) {
  block_sums(weights, packed, tasks, sums);
}

#if defined(__x86_64__)
// AVX2 without FMA on purpose: a fused product would round differently from the portable loop.
__attribute__((target("avx2"))) void block_sums_avx2(const double* weights, const double* packed,
                                                     int tasks, double (*sums)[kLanes]) {
  block_sums(weights, packed, tasks, sums);
}
#endif

BlockSums fastest_block_sums() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return block_sums_avx2;
#endif
  return block_sums_portable;
}

// Groups of four columns side by side, the last group filled up with zeros.
std::vector<double> pack(std::span<const std::span<const double>> columns, int tasks) {
  const std::size_t groups = (columns.size() + kGroup - 1) / kGroup;
  std::vector<double> packed(groups * static_cast<std::size_t>(tasks) * kGroup, 0.0);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    double* group = packed.data() + c / kGroup * static_cast<std::size_t>(tasks) * kGroup;
    for (int t = 0; t < tasks; ++t)
      group[t * kGroup + static_cast<int>(c % kGroup)] = columns[c][t];
  }
  return packed;
}

}  // namespace

LaneWeights::LaneWeights(int tasks, int draws, int threads, const Fill& fill)
    : tasks_(tasks), draws_(draws), threads_(threads) {
  UNMASK_CHECK(tasks >= 1 && draws >= 1);
  const std::size_t blocks = static_cast<std::size_t>((draws + kLanes - 1) / kLanes);
  const std::size_t block_size = static_cast<std::size_t>(tasks) * kLanes;
  weights_.assign(blocks * block_size, 0);
  parallel_for(blocks, threads, [&](std::size_t block) {
    const int lanes = std::min(kLanes, draws - static_cast<int>(block) * kLanes);
    fill(block, lanes, std::span(weights_).subspan(block * block_size, block_size));
  });
}

// rows[c]: where the draws() sums of column c go.
void LaneWeights::sum_into(std::span<const std::span<const double>> columns,
                           std::span<double* const> rows) const {
  for (const std::span<const double>& column : columns)
    UNMASK_CHECK(column.size() == static_cast<std::size_t>(tasks_));
  const std::vector<double> packed = pack(columns, tasks_);
  const std::size_t group_size = static_cast<std::size_t>(tasks_) * kGroup;
  const std::size_t block_size = static_cast<std::size_t>(tasks_) * kLanes;
  const BlockSums sum_block = fastest_block_sums();

  parallel_for(weights_.size() / block_size, threads_, [&](std::size_t block) {
    const std::uint8_t* counts = weights_.data() + block * block_size;
    const std::vector<double> widened(counts, counts + block_size);
    const std::size_t first = block * kLanes;
    const std::size_t lanes =
        std::min<std::size_t>(kLanes, static_cast<std::size_t>(draws_) - first);
    for (std::size_t group = 0; group * kGroup < columns.size(); ++group) {
      double sums[kGroup][kLanes];
      sum_block(widened.data(), packed.data() + group * group_size, tasks_, sums);
      const std::size_t wanted = std::min<std::size_t>(kGroup, columns.size() - group * kGroup);
      for (std::size_t c = 0; c < wanted; ++c)
        std::copy_n(sums[c], lanes, rows[group * kGroup + c] + first);
    }
  });
}

std::vector<std::vector<double>> LaneWeights::sums(
    std::span<const std::span<const double>> columns) const {
  std::vector<std::vector<double>> result(columns.size(),
                                          std::vector<double>(static_cast<std::size_t>(draws_)));
  std::vector<double*> rows;
  for (std::vector<double>& row : result) rows.push_back(row.data());
  sum_into(columns, rows);
  return result;
}

void LaneWeights::visit_sums(std::span<const std::span<const double>> columns,
                             const Visit& visit) const {
  constexpr std::size_t kChunk = 16;  // 16 x 10,000 sums are 1.3 MB
  const std::size_t draws = static_cast<std::size_t>(draws_);
  std::vector<double> memory(std::min(kChunk, columns.size()) * draws);
  std::vector<double*> rows;
  for (std::size_t c = 0; c < std::min(kChunk, columns.size()); ++c)
    rows.push_back(memory.data() + c * draws);
  for (std::size_t first = 0; first < columns.size(); first += kChunk) {
    const std::size_t count = std::min(kChunk, columns.size() - first);
    sum_into(columns.subspan(first, count), rows);
    parallel_for(count, threads_,
                 [&](std::size_t c) { visit(first + c, std::span(rows[c], draws)); });
  }
}

}  // namespace unmask
