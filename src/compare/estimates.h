// Per-task numbers -> estimates with intervals: the few patterns every part of `compare` needs.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compare/arm_summary.h"
#include "metrics/arm.h"
#include "stats/mean_test.h"

namespace unmask {

// The values that are present, in order.
std::vector<double> present(std::span<const std::optional<double>> values);

// Mean and t interval of a proportion in [0, 1], one value a task; the interval is cut to [0, 1].
// Absent values take no part; one value has a mean and no interval.
Estimate proportion_estimate(std::span<const std::optional<double>> per_task);

// Ratio of sums with an interval clustered by task (METHOD 8). The interval is taken from the rarer
// of the outcome and its complement, which is where the information is: 40 of 40 recovered has an
// interval, as 0 of 40 not recovered has.
// `independent_units`: what the bound 3 / units counts when the rarer outcome never happened.
Estimate rate_estimate(std::span<const double> events, std::span<const double> chances,
                       double independent_units);

// What carries independent evidence where nothing failed (METHOD 8): episodes that ran and called,
// or tasks where the trials are copies of each other.
double independent_units(const Arm& arm, bool trials_are_copies);

// Per task, success with the budget k under a rule. Where k0 is given, k >= k0 is the final score:
// the harness itself enforced k0, and nothing beyond it is identified (METHOD 3).
std::vector<std::optional<double>> success_at(const Arm& arm, int k, std::optional<int> k0,
                                              BudgetRule rule, BudgetCount count);

// The budgets of a curve: first ... k0 with first = 0 (at_most) or 1 (live). Without a budget it
// ends at 10, tau2's default: a choice of the axis only. A budget beyond 100 has its first 100
// points and its last: what lies between could not be read off a chart, and a hostile log could ask
// for 2^31 points.
std::vector<int> curve_budgets(std::optional<int> k0, BudgetRule rule);

// mean_t_test of differences of two proportions, one value a task; nullopt below 2 tasks. The range
// of the zero-variance case is what one task can still differ by: 1 from a common value of 0. The
// limits are cut to [-1, 1].
std::optional<MeanTest> difference_test(std::span<const double> per_task);

double sum(std::span<const double> values);
// Sample standard deviation; nullopt below 2 values.
std::optional<double> standard_deviation(std::span<const double> values);

}  // namespace unmask
