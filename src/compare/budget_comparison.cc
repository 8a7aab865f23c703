// The budget hides damage when an arm's successes needed more forgiven failures than the other's:
//
//   K            0     1     2   ...   K0
//   S_baseline  .30   .45   .52        .66      G(2)  =  .52 - .35 = .17   what a strict budget
//   shows S_candidate .15   .26   .35        .65      G(K0) =  .66 - .65 = .01   what the benchmark
//   shows
//                                               U = G(2) - G(K0)   = .16   what the budget hid

#include "compare/budget_comparison.h"

#include <cmath>

#include "base/units.h"
#include "compare/estimates.h"

namespace unmask {
namespace {

constexpr double kLeastGapForFactor = 0.01;  // METHOD 3

// baseline - candidate per task with the budget k, over the tasks evaluated in both arms.
std::vector<double> gap_by_task(const PairedArms& arms, int k, std::optional<int> k0,
                                BudgetRule rule, BudgetCount count) {
  std::vector<double> gaps = pair_numbers(success_at(arms.baseline, k, k0, rule, count),
                                          success_at(arms.candidate, k, k0, rule, count))
                                 .differences();
  for (double& gap : gaps) gap = -gap;
  return gaps;
}

// False where a success of either arm holds more failed calls than k0 lets any keep: then the final
// scores are not success within k0.
bool is_kept(const PairedArms& arms, std::optional<int> k0) {
  return !k0 || successes_beyond(arms.baseline, *k0) + successes_beyond(arms.candidate, *k0) == 0;
}

void add_curve(const PairedArms& arms, const std::optional<MeanTest>& delta,
               const TaskResamples& resamples, const CompareOptions& options,
               BudgetComparison& out) {
  std::vector<int> budgets = curve_budgets(out.k0, options.rule);
  const bool in_force = is_kept(arms, out.k0);
  if (!in_force) std::erase_if(budgets, [&](int k) { return k >= *out.k0; });
  if (budgets.empty()) return;
  std::vector<std::vector<double>> columns;
  for (const int k : budgets) {
    columns.push_back(gap_by_task(arms, k, out.k0, options.rule, options.count));
  }
  const Result<Band> band = simultaneous_band(columns, resamples);
  if (!band) return;
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    out.gap.push_back(
        {budgets[i], band->mean[i], cut_to(band->band95[i], -1, 1), cut_to(band->ci95[i], -1, 1)});
  }
  if (out.k0 && in_force && delta && !out.gap.empty()) out.gap.back().gap = -delta->mean;
}

UnmaskedGap unmasked_gap(const PairedArms& arms, const BudgetComparison& budget, BudgetRule rule,
                         BudgetCount count) {
  return {difference_test(unmasked_by_task(arms, budget.k_tight, *budget.k0, rule, count)),
          std::nullopt};
}

void add_unmasked(const PairedArms& arms, const std::optional<MeanTest>& delta,
                  const CompareOptions& options, BudgetComparison& out) {
  out.agent_only = unmasked_gap(arms, out, options.rule, BudgetCount::Agent);
  out.all_sides = unmasked_gap(arms, out, options.rule, BudgetCount::All);
  out.unmasked = options.count == BudgetCount::All ? out.all_sides : out.agent_only;
  if (!out.gap_tight || !delta || std::abs(delta->mean) < kLeastGapForFactor) return;
  out.masking_factor = *out.gap_tight / -delta->mean;
}

Warning not_identified(const BudgetComparison& budget) {
  return {"k_tight_not_identified",
          "The tight budget of " + counted(budget.k_tight, "failed call") +
              " is not below the error budget, " + std::to_string(*budget.k0) +
              ", so whether the budget masks damage cannot be judged from these logs: no verdict "
              "can be masked or clean.",
          "", 1};
}

Warning below_live() {
  return {
      "k_tight_not_identified",
      "By the live rule an episode survives with fewer failed calls than K, and none has fewer "
      "than 0: there is no gap at K = 0, so masking cannot be judged, and no verdict can be masked "
      "or clean.",
      "", 1};
}

Warning no_budget() {
  return {
      "no_error_budget",
      "The logs name no error budget, so nothing was forgiven that could be taken back: the gap "
      "curve is shown, and the unmasked gap only where a budget is stated.",
      "", 1};
}

}  // namespace

std::vector<double> unmasked_by_task(const PairedArms& arms, int k_tight, int k0, BudgetRule rule,
                                     BudgetCount count) {
  const std::vector<double> tight = gap_by_task(arms, k_tight, k0, rule, count);
  const std::vector<double> final_score = gap_by_task(arms, k0, k0, rule, count);
  std::vector<double> u(tight.size());
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = tight[i] - final_score[i];
  return u;
}

BudgetComparison compare_budgets(const PairedArms& arms, std::optional<int> k0,
                                 const std::optional<MeanTest>& delta,
                                 const TaskResamples& resamples, const CompareOptions& options,
                                 std::vector<Warning>& warnings) {
  BudgetComparison out;
  out.k0 = k0;
  out.k_tight = options.k_tight;
  // live(3) is at_most(2): the paper's budget under either rule.
  out.k_tight_is_primary = options.k_tight == (options.rule == BudgetRule::AtMost ? 2 : 3);
  add_curve(arms, delta, resamples, options, out);
  if (k0 && options.k_tight >= *k0) {
    warnings.push_back(not_identified(out));
    return out;
  }
  if (options.rule == BudgetRule::Live && options.k_tight < 1) {
    warnings.push_back(below_live());
    return out;
  }
  const std::optional<MeanTest> tight =
      difference_test(gap_by_task(arms, options.k_tight, k0, options.rule, options.count));
  if (tight) {
    out.gap_tight = tight->mean;
    out.gap_tight_ci95 = tight->ci95;
  }
  if (k0) {
    add_unmasked(arms, delta, options, out);
  } else {
    warnings.push_back(no_budget());
  }
  return out;
}

}  // namespace unmask
