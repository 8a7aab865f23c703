// What the error budget forgives in each arm (METHOD 3): the gap curve and the unmasked gap.
#pragma once

#include "compare/comparison.h"
#include "compare/pairing.h"
#include "stats/resample.h"

namespace unmask {

// Per task, u_t: candidate - baseline of the mean over evaluated episodes of Y * 1[beyond the
// budget k_tight], over the tasks evaluated in both arms. Needs k_tight < k0.
std::vector<double> unmasked_by_task(const PairedArms& arms, int k_tight, int k0, BudgetRule rule,
                                     BudgetCount count);

// The budget both arms are held to, the smaller one (nullopt: neither has one); where
// they differ, each arm is recounted at it by the `live` rule, from its own failed calls.
std::optional<int> settle_budget(PairedArms& arms, const CompareOptions& options);

// Shape    `resamples` draws the tasks evaluated in both arms. `delta`: the outcome, for G(k0) =
// -Delta. Absent   U: no budget, or k_tight >= k0 (then `warnings` gets "k_tight_not_identified").
//          Masking factor: as U, or |G(k0)| < 1 point.
//          The curve: fewer than 2 tasks.
BudgetComparison compare_budgets(const PairedArms& arms, std::optional<int> k0,
                                 const std::optional<MeanTest>& delta,
                                 const TaskResamples& resamples, const CompareOptions& options,
                                 std::vector<Warning>& warnings);

}  // namespace unmask
