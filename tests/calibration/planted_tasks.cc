#include "planted_tasks.h"

#include <cmath>

#include "stats/distribution.h"

namespace unmask::calibration {
namespace {

constexpr int kTable = 4096;

// Mid-point quantiles of a beta distribution with this mean and intra-class correlation
// 1 / (a + b + 1): tasks draw an entry each, so the table's mean is the truth.
std::vector<double> propensities(double mean, double correlation) {
  if (correlation <= 0) return std::vector<double>(kTable, mean);
  const double size = 1 / correlation - 1;
  std::vector<double> table;
  for (int i = 0; i < kTable; ++i)
    table.push_back(beta_quantile((i + 0.5) / kTable, mean * size, (1 - mean) * size));
  return table;
}

double mean_of(const std::vector<double>& table) {
  double sum = 0;
  for (const double value : table) sum += value;
  return sum / static_cast<double>(table.size());
}

int poisson(Rng& rng, double mean) {
  const double limit = std::exp(-mean);
  int count = 0;
  for (double product = rng.uniform(); product > limit; product *= rng.uniform()) ++count;
  return count;
}

// One arm's task: `rate` of failing a call, `pass` of success, `length` scales its calls.
void add_task(Rng& rng, const Setting& setting, double mean_calls, double length, double rate,
              double pass, std::size_t task, ArmNumbers& arm) {
  double failures = 0;
  double total_calls = 0;
  double successes = 0;
  double recovered = 0;
  for (int trial = 0; trial < setting.trials; ++trial) {
    const int calls = 1 + poisson(rng, (mean_calls - 1) * length);
    int failed = 0;
    bool previous = rng.bernoulli(rate);
    for (int i = 0; i < calls; ++i) {
      // A stationary two-state chain: every call fails with probability `rate`, neighbours
      // correlate.
      const double p = previous ? rate + (1 - rate) * setting.burst : rate * (1 - setting.burst);
      previous = rng.bernoulli(p);
      if (!previous) continue;
      ++failed;
      if (rng.bernoulli(Planter::kRecovery)) recovered += 1;
    }
    const bool success = rng.bernoulli(pass);
    failures += failed;
    total_calls += calls;
    successes += success;
    for (int k = 0; k <= Planter::kBudget; ++k) {
      if (success && (k == Planter::kBudget || failed <= k))
        arm.curve[k][task] += 1.0 / setting.trials;
    }
  }
  arm.failures[task] = failures;
  arm.calls[task] = total_calls;
  arm.recovered[task] = recovered;
  arm.success[task] = successes / setting.trials;
}

ArmNumbers empty_arm(int tasks) {
  const std::vector<double> zeros(static_cast<std::size_t>(tasks), 0.0);
  return {zeros, zeros, zeros, zeros,
          std::vector<std::vector<double>>(Planter::kBudget + 1, zeros)};
}

}  // namespace

Planter::Planter(const Setting& setting)
    : setting_(setting),
      rates_baseline_(propensities(setting.base_rate, setting.correlation)),
      rates_candidate_(
          propensities(setting.base_rate * setting.amplification, setting.correlation)),
      passes_baseline_(propensities(setting.success_baseline, setting.correlation)),
      passes_candidate_(propensities(setting.success_candidate, setting.correlation)),
      rate_baseline_(mean_of(rates_baseline_)),
      rate_candidate_(mean_of(rates_candidate_)),
      success_baseline_(mean_of(passes_baseline_)),
      success_candidate_(mean_of(passes_candidate_)) {}

Dataset Planter::draw(Rng& rng) const {
  Dataset data{empty_arm(setting_.tasks), empty_arm(setting_.tasks)};
  for (int t = 0; t < setting_.tasks; ++t) {
    // Seven tasks of ten are as hard for one arm as for the other; the rest are unrelated.
    const bool related = rng.bernoulli(0.7);
    const std::uint32_t failing_b = rng.below(kTable);
    const std::uint32_t passing_b = rng.below(kTable);
    const std::uint32_t failing_c = related ? failing_b : rng.below(kTable);
    const std::uint32_t passing_c = related ? passing_b : rng.below(kTable);
    const double length = 0.5 + 0.5 * rng.below(3);  // 0.5, 1 or 1.5, the same task in both arms
    const std::size_t task = static_cast<std::size_t>(t);
    add_task(rng, setting_, setting_.calls_baseline, length, rates_baseline_[failing_b],
             passes_baseline_[passing_b], task, data.baseline);
    add_task(rng, setting_, setting_.calls_candidate, length, rates_candidate_[failing_c],
             passes_candidate_[passing_c], task, data.candidate);
  }
  return data;
}

}  // namespace unmask::calibration
