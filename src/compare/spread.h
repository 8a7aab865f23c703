// How much of the spread of a comparison lies between tasks, where no number of trials reaches it.
#pragma once

#include <optional>

#include "compare/comparison.h"
#include "compare/pairing.h"
#include "stats/task_variance.h"

namespace unmask {

// (task, trial) of an arm. Excluded episodes are left out, ungraded ones where success counts.
TaskTrials failure_trials(const Arm& arm, Channel channel);
TaskTrials success_trials(const Arm& arm);
TaskTrials masked_trials(const Arm& arm, int k_tight, BudgetRule rule, BudgetCount count);

// Fills between_delta and between_unmasked of the cell, and between_difference and
// between_log_ratio of its channels. Nothing where trials are copies: they repeat nothing.
void add_spread_between_tasks(const PairedArms& arms, bool trials_are_copies, std::optional<int> k0,
                              const CompareOptions& options, CellComparison& cell);

}  // namespace unmask
