// Do the intervals, bands and tests of `stats` keep their promises on the data this tool sees?
//
//   stats_coverage [--datasets N] [--resamples B] [--tasks T,T,...] [--threads N]
//
// Plants many datasets of known truth (planted_tasks.h) for every combination of tasks, base rate,
// intra-task correlation, bursts, and no or twofold amplification, and prints how often each
// nominal 95 % interval covers and each nominal 5 % error happens. Exits 1 when a promise of METHOD
// is broken by more than the simulation's own noise.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "base/parallel.h"
#include "planted_tasks.h"
#include "stats/mean_test.h"
#include "stats/permutation.h"
#include "stats/proportion.h"
#include "stats/resample.h"

namespace unmask::calibration {
namespace {

constexpr double kMargin = 0.075;

struct Options {
  int datasets = 4000;
  int resamples = 1000;
  int threads = 2;
  std::vector<int> tasks = {20, 50, 114};
};

struct Truth {
  double rate_baseline, rate_candidate, success_baseline, delta;
  std::vector<double> gap;  // K = 0 ... kBudget
};

// What is counted: an interval covers (nominal 95 %), or an error happens (nominal 5 %).
enum Check {
  Success,
  Delta,
  Rate,
  Ratio,
  Difference,
  Recovery,
  RecoveryDifference,
  Unmasked,
  Simultaneous,
  RatioUpper,
  DifferenceUpper,
  UnmaskedUpper,
  GapLower,
  TostSize,
  DeltaSize,
  SwapRatio,
  SwapDifference,
  kChecks
};

struct Promise {
  std::string_view name;
  bool is_coverage;    // else the share of errors
  double least, most;  // per cent, at 114 tasks
};

constexpr std::array<Promise, kChecks> kPromises = {{
    {"success", true, 93, 97.5},
    {"delta", true, 93, 97.5},
    {"rate", true, 93, 100},
    {"ratio", true, 93, 100},
    {"diff", true, 93, 97.5},
    {"recov", true, 93, 100},
    {"rec-diff", true, 93, 100},
    // METHOD 3 fixes T - 1 degrees of freedom, too many where few tasks have a masked success; the
    // misses are of an upper limit by under a point, and U>up, which the verdict reads, does not
    // share them.
    {"U", true, 86, 100},
    {"band", true, 93, 99},
    {"ratio>up", false, 0, 7},
    {"diff>up", false, 0, 7},
    {"U>up", false, 0, 7},
    {"gap<lo", false, 0, 7},
    {"tost", false, 0, 6},
    {"t-size", false, 0, 6.5},
    {"swap-A", false, 0, 6.5},
    {"swap-d", false, 0, 6.5},
}};

using Outcome = std::array<std::optional<bool>, kChecks>;

bool covers(const Interval& interval, double truth) {
  return interval.lo <= truth && truth <= interval.hi;
}

std::vector<double> minus(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> difference;
  for (std::size_t i = 0; i < a.size(); ++i) difference.push_back(a[i] - b[i]);
  return difference;
}

template <typename T>
std::optional<T> value_of(const Result<T>& result) {
  return result ? std::optional<T>(*result) : std::nullopt;
}

void check_outcome(const Dataset& data, const Truth& truth, bool null_delta, bool at_margin,
                   Outcome& outcome) {
  const std::vector<double> d = minus(data.candidate.success, data.baseline.success);
  const MeanTest delta = *mean_t_test(d);
  outcome[Success] = covers(mean_t_test(data.baseline.success)->ci95, truth.success_baseline);
  outcome[Delta] = covers(delta.ci95, truth.delta);
  if (null_delta) outcome[DeltaSize] = delta.p < 0.05;
  if (at_margin) outcome[TostSize] = tost(d, kMargin)->equivalent;
}

void check_rates(const Dataset& data, const Truth& truth, const Setting& setting,
                 const TaskResamples& resamples, Outcome& outcome) {
  const ArmNumbers& b = data.baseline;
  const ArmNumbers& c = data.candidate;
  const double episodes = setting.tasks * setting.trials;
  const double ratio = truth.rate_candidate / truth.rate_baseline;
  outcome[Rate] =
      covers(*clustered_rate_interval(b.failures, b.calls, episodes, 0.95), truth.rate_baseline);
  if (const std::optional<Interval> interval =
          value_of(ratio_interval(b.failures, b.calls, c.failures, c.calls, resamples))) {
    outcome[Ratio] = covers(*interval, ratio);
    outcome[RatioUpper] =
        ratio > *ratio_upper95(b.failures, b.calls, c.failures, c.calls, resamples);
  }
  const DifferenceInterval difference =
      *rate_difference_interval(b.failures, b.calls, c.failures, c.calls, episodes, episodes);
  outcome[Difference] = covers(difference.ci95, truth.rate_candidate - truth.rate_baseline);
  outcome[DifferenceUpper] = truth.rate_candidate - truth.rate_baseline > difference.upper95;

  // A ratio of sums whose denominators are the failures: its units are the tasks that have one.
  const double failing = static_cast<double>(
      std::count_if(b.failures.begin(), b.failures.end(), [](double x) { return x > 0; }));
  if (const std::optional<Interval> recovery =
          value_of(clustered_rate_interval(b.recovered, b.failures, failing, 0.95)))
    outcome[Recovery] = covers(*recovery, Planter::kRecovery);
  if (const std::optional<DifferenceInterval> both =
          value_of(rate_difference_interval(b.recovered, b.failures, c.recovered, c.failures)))
    outcome[RecoveryDifference] = covers(both->ci95, 0);
}

void check_gap(const Dataset& data, const Truth& truth, const TaskResamples& resamples,
               Outcome& outcome) {
  std::vector<std::vector<double>> columns;
  for (int k = 0; k <= Planter::kBudget; ++k)
    columns.push_back(minus(data.baseline.curve[k], data.candidate.curve[k]));
  const Band band = *simultaneous_band(columns, resamples);
  bool all = true;
  for (std::size_t k = 0; k < columns.size(); ++k)
    all = all && covers(band.band95[k], truth.gap[k]);
  outcome[Simultaneous] = all;
  outcome[GapLower] = truth.gap[2] < band.lower95[2];
  const std::vector<double> unmasked = minus(columns[2], columns[Planter::kBudget]);
  const MeanTest test = *mean_t_test(unmasked);
  const double truth_unmasked = truth.gap[2] - truth.gap[Planter::kBudget];
  outcome[Unmasked] = covers(test.ci95, truth_unmasked);
  outcome[UnmaskedUpper] = truth_unmasked > test.upper95;
}

void check_swaps(const Dataset& data, const Options& options, std::uint64_t seed,
                 Outcome& outcome) {
  const ArmNumbers& b = data.baseline;
  const ArmNumbers& c = data.candidate;
  outcome[SwapRatio] =
      block_swap_test(b.failures, b.calls, c.failures, c.calls, false, options.resamples - 1, seed)
          ->p < 0.05;
  outcome[SwapDifference] =
      block_swap_test(b.failures, b.calls, c.failures, c.calls, true, options.resamples - 1, seed)
          ->p < 0.05;
}

// The gap of a setting has no closed form: the mean over very many tasks.
Truth truth_of(const Planter& planter, const Setting& setting, int threads) {
  constexpr int kChunks = 64;
  constexpr int kDatasets = 40;
  std::vector<std::vector<double>> sums(kChunks, std::vector<double>(Planter::kBudget + 1, 0.0));
  parallel_for(kChunks, threads, [&](std::size_t chunk) {
    Rng rng(0x6a9, chunk);
    for (int i = 0; i < kDatasets; ++i) {
      const Dataset data = planter.draw(rng);
      for (int k = 0; k <= Planter::kBudget; ++k)
        for (int t = 0; t < setting.tasks; ++t)
          sums[chunk][k] += data.baseline.curve[k][t] - data.candidate.curve[k][t];
    }
  });
  Truth truth{planter.rate_baseline(),
              planter.rate_candidate(),
              planter.success_baseline(),
              planter.success_candidate() - planter.success_baseline(),
              {}};
  for (int k = 0; k <= Planter::kBudget; ++k) {
    double sum = 0;
    for (const std::vector<double>& chunk : sums) sum += chunk[k];
    truth.gap.push_back(sum / (kChunks * kDatasets * setting.tasks));
  }
  return truth;
}

struct Tally {
  int asked = 0;
  int yes = 0;
  double percent() const { return 100.0 * yes / asked; }
  double noise() const { return 100 * std::sqrt(0.05 * 0.95 / asked); }
};

std::array<Tally, kChecks> simulate(const Setting& setting, const Options& options) {
  const Planter planter(setting);
  const Truth truth = truth_of(planter, setting, options.threads);
  const bool null = setting.amplification == 1;
  std::vector<Outcome> outcomes(static_cast<std::size_t>(options.datasets));
  parallel_for(outcomes.size(), options.threads, [&](std::size_t i) {
    Rng rng(0x51a75, i);
    const Dataset data = planter.draw(rng);
    const TaskResamples resamples(setting.tasks, options.resamples, rng.next());
    check_outcome(data, truth, null, !null, outcomes[i]);
    check_rates(data, truth, setting, resamples, outcomes[i]);
    check_gap(data, truth, resamples, outcomes[i]);
    if (null) check_swaps(data, options, rng.next(), outcomes[i]);
  });
  std::array<Tally, kChecks> tallies{};
  for (const Outcome& outcome : outcomes) {
    for (int c = 0; c < kChecks; ++c) {
      tallies[c].asked += outcome[c].has_value();
      tallies[c].yes += outcome[c].value_or(false);
    }
  }
  return tallies;
}

void print_header() {
  fmt::print("{:<30}", "tasks rate  corr burst  A");
  for (const Promise& promise : kPromises) fmt::print("{:>9}", promise.name);
  fmt::print("\n");
}

// Prints the row and returns the broken promises. A check answered in under a quarter of the
// datasets (a ratio at 1 %) is selected by its own noise and only shown.
int report(const Setting& setting, const std::array<Tally, kChecks>& tallies,
           const Options& options) {
  fmt::print("{:5} {:4.2f} {:5.1f} {:5.2f} {:3.0f}      ", setting.tasks, setting.base_rate,
             setting.correlation, setting.burst, setting.amplification);
  int broken = 0;
  for (int c = 0; c < kChecks; ++c) {
    const Tally& tally = tallies[c];
    if (tally.asked == 0) {
      fmt::print("{:>9}", "-");
      continue;
    }
    const Promise& promise = kPromises[c];
    const bool judged = setting.tasks >= 100 && 4 * tally.asked >= options.datasets;
    const bool out = judged && (tally.percent() < promise.least - 3 * tally.noise() ||
                                tally.percent() > promise.most + 3 * tally.noise());
    broken += out;
    fmt::print("{:>8.1f}{}", tally.percent(),
               out                                  ? '!'
               : 4 * tally.asked < options.datasets ? '*'
                                                    : ' ');
  }
  fmt::print("\n");
  std::fflush(stdout);
  return broken;
}

std::vector<Setting> settings_of(const Options& options) {
  std::vector<Setting> settings;
  for (const int tasks : options.tasks)
    for (const double rate : {0.01, 0.05, 0.20})
      for (const double correlation : {0.0, 0.2, 0.5})
        for (const double burst : {0.0, 0.75})
          for (const double amplification : {1.0, 2.0}) {
            Setting setting;
            setting.tasks = tasks;
            setting.base_rate = rate;
            setting.correlation = correlation;
            setting.burst = burst;
            setting.amplification = amplification;
            if (amplification > 1) setting.success_candidate = setting.success_baseline - kMargin;
            settings.push_back(setting);
          }
  return settings;
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const std::from_chars_result parsed =
      std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return whole && value > 0 ? std::optional<int>(value) : std::nullopt;
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    std::string_view rest = argv[i + 1];
    if (name == "--tasks") {
      options.tasks.clear();
      while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        const std::optional<int> tasks = number(rest.substr(0, comma));
        if (!tasks || *tasks < 2) return false;
        options.tasks.push_back(*tasks);
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
      }
      continue;
    }
    const std::optional<int> value = number(rest);
    if (!value) return false;
    if (name == "--datasets")
      options.datasets = *value;
    else if (name == "--resamples")
      options.resamples = *value;
    else if (name == "--threads")
      options.threads = *value;
    else
      return false;
  }
  return argc % 2 == 1;
}

}  // namespace

int run(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    fmt::print(
        stderr,
        "usage: stats_coverage [--datasets N] [--resamples B] [--tasks T,T,...] [--threads N]\n");
    return 2;
  }
  fmt::print(
      "{} datasets, {} resamples; per cent covered, or in error from {} on; 95 % noise about "
      "+-{:.1f}\n",
      options.datasets, options.resamples, kPromises[RatioUpper].name,
      196 * std::sqrt(0.05 * 0.95 / options.datasets));
  print_header();
  int broken = 0;
  for (const Setting& setting : settings_of(options))
    broken += report(setting, simulate(setting, options), options);
  fmt::print("{} promises broken\n", broken);
  return broken == 0 ? 0 : 1;
}

}  // namespace unmask::calibration

int main(int argc, char** argv) {
  return unmask::calibration::run(argc, argv);
}
