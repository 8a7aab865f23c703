// How long do 10,000 resamples of one 912-episode cell take?
//
// 114 tasks x 4 trials x 2 arms reduce to one number a task in each of 80 columns: failures and
// calls of every channel and position in both arms, recovery, and success within each budget.
// AllIntervals draws the resamples, sums every column in every resample and takes both percentiles;
// bench/peers/bootstrap_numpy.py does the same with numpy and prints the ratio.
#include <benchmark/benchmark.h>

#include <vector>

#include "base/rng.h"
#include "stats/permutation.h"
#include "stats/resample.h"

namespace unmask {
namespace {

constexpr int kTasks = 114;
constexpr int kResamples = 10000;
constexpr int kColumns = 80;

std::vector<std::vector<double>> cell_columns() {
  Rng rng(1);
  std::vector<std::vector<double>> columns(kColumns);
  for (std::vector<double>& column : columns)
    for (int t = 0; t < kTasks; ++t) column.push_back(rng.below(30));
  return columns;
}

// Argument: threads.
void AllIntervals(benchmark::State& state) {
  const std::vector<std::vector<double>> columns = cell_columns();
  std::uint64_t seed = 0;
  for (auto _ : state) {
    const TaskResamples resamples(kTasks, kResamples, ++seed, static_cast<int>(state.range(0)));
    benchmark::DoNotOptimize(resamples.sum_intervals(columns, 0.025));
  }
}
BENCHMARK(AllIntervals)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void Draws(benchmark::State& state) {
  std::uint64_t seed = 0;
  for (auto _ : state) benchmark::DoNotOptimize(TaskResamples(kTasks, kResamples, ++seed));
}
BENCHMARK(Draws)->Unit(benchmark::kMillisecond);

// One channel: the ratio and its one-sided limit.
void OneRatio(benchmark::State& state) {
  const std::vector<std::vector<double>> c = cell_columns();
  const TaskResamples resamples(kTasks, kResamples, 1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(ratio_interval(c[0], c[1], c[2], c[3], resamples));
    benchmark::DoNotOptimize(ratio_upper95(c[0], c[1], c[2], c[3], resamples));
  }
}
BENCHMARK(OneRatio)->Unit(benchmark::kMillisecond);

void GapBand(benchmark::State& state) {
  std::vector<std::vector<double>> columns = cell_columns();
  columns.resize(11);
  const TaskResamples resamples(kTasks, kResamples, 1);
  for (auto _ : state) benchmark::DoNotOptimize(simultaneous_band(columns, resamples));
}
BENCHMARK(GapBand)->Unit(benchmark::kMillisecond);

// One channel of one cell: 10,000 swaps of whole task blocks.
void BlockSwap(benchmark::State& state) {
  const std::vector<std::vector<double>> c = cell_columns();
  std::uint64_t seed = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(block_swap_test(c[0], c[1], c[2], c[3], false, kResamples, ++seed));
}
BENCHMARK(BlockSwap)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace unmask

BENCHMARK_MAIN();
