#include "compare/estimates.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "metrics/task_numbers.h"
#include "stats/proportion.h"

namespace unmask {
double sum(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

std::optional<double> standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const double n = static_cast<double>(values.size());
  const double mean = sum(values) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (n - 1));
}

std::vector<double> present(std::span<const std::optional<double>> values) {
  std::vector<double> out;
  out.reserve(values.size());
  for (const std::optional<double>& value : values) {
    if (value) out.push_back(*value);
  }
  return out;
}

Estimate proportion_estimate(std::span<const std::optional<double>> per_task) {
  const std::vector<double> values = present(per_task);
  Estimate estimate;
  if (values.empty()) return estimate;
  estimate.value = sum(values) / static_cast<double>(values.size());
  const Result<MeanTest> test = mean_t_test(values, 1.0);
  if (test) estimate.ci95 = cut_to(test->ci95, 0, 1);
  return estimate;
}

Estimate rate_estimate(std::span<const double> events, std::span<const double> chances,
                       double independent_units) {
  const double total = sum(chances);
  Estimate estimate;
  if (total <= 0) return estimate;
  estimate.value = sum(events) / total;
  const bool complement = *estimate.value > 0.5;
  std::vector<double> rarer(events.begin(), events.end());
  if (complement) {
    for (std::size_t t = 0; t < rarer.size(); ++t) rarer[t] = chances[t] - events[t];
  }
  const Result<Interval> interval =
      clustered_rate_interval(rarer, chances, std::max(1.0, independent_units), 0.95);
  if (!interval) return estimate;
  estimate.ci95 = complement ? Interval{1 - interval->hi, 1 - interval->lo} : *interval;
  return estimate;
}

std::vector<std::optional<double>> success_at(const Arm& arm, int k, std::optional<int> k0,
                                              BudgetRule rule, BudgetCount count) {
  if (k0 && k >= *k0) return task_success(arm);
  return task_success_under_budget(arm, k, rule, count);
}

double independent_units(const Arm& arm, bool trials_are_copies) {
  double episodes = 0;
  double tasks = 0;
  for (const TaskEpisodes& task : arm.tasks) {
    if (task.weight <= 0) continue;
    double calling = 0;
    for (std::size_t e = task.begin; e < task.end; ++e) {
      if (!arm.episodes[e].excluded && arm.episodes[e].agent_calls > 0) ++calling;
    }
    episodes += calling;
    if (calling > 0) ++tasks;
  }
  return trials_are_copies ? tasks : episodes;
}

std::vector<int> curve_budgets(std::optional<int> k0, BudgetRule rule) {
  constexpr int kEndWithoutBudget = 10;
  constexpr int kMostPoints = 100;
  const int last = k0.value_or(kEndWithoutBudget);
  std::vector<int> budgets;
  for (int k = rule == BudgetRule::AtMost ? 0 : 1; k < std::min(last, kMostPoints); ++k) {
    budgets.push_back(k);
  }
  if (last > 0 || rule == BudgetRule::AtMost) budgets.push_back(last);
  return budgets;
}

std::optional<MeanTest> difference_test(std::span<const double> per_task) {
  if (per_task.empty()) return std::nullopt;
  Result<MeanTest> test = mean_t_test(per_task);
  if (!test) return std::nullopt;
  test->ci95 = cut_to(test->ci95, -1, 1);
  test->ci90 = cut_to(test->ci90, -1, 1);
  test->upper95 = std::clamp(test->upper95, -1.0, 1.0);
  test->lower95 = std::clamp(test->lower95, -1.0, 1.0);
  return *test;
}

}  // namespace unmask
