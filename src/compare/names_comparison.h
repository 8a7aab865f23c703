// Failure-set invariance (METHOD 6): do two arms fail with the same names?
#pragma once

#include "compare/comparison.h"
#include "compare/pairing.h"

namespace unmask {

// Hallucinated tool names. Ranks, tau and Jaccard are over the union of the arms' names and absent
// below 5 of them.
//
// Ceiling  Spearman between two halves of the baseline's trials, over the names of either half,
//          averaged over the ways to halve them (up to 8 trials; beyond, even against odd). Each
//          half has half the counts, so the ceiling is on the low side. Absent with one trial, or
//          copies.
//
// Novel beyond chance: any second sample has names the first lacks. For each trial j (by rank among
// the arm's trial numbers), R_j are the names of the baseline's trials other than j, over all
// tasks. A call of trial j is novel when its name is not in R_j, in the baseline (a sample held
// out) as in the candidate; both are scored against the same R_j, so under equal habits their novel
// shares have equal expectation. With x_t novel of n_t hallucinated calls per task, D = sum x'/sum
// n' - sum x/sum n; its SE linearises both ratios by task,
//   v_t = D + T [ (x'_t - r' n'_t) / N' - (x_t - r n_t) / N ],
// over the T tasks with a hallucinated call in either arm; D is tested by Student t on the v_t.
// Absent: one baseline trial, trials that are copies, an arm without hallucinated calls, T < 2.
NamesComparison compare_names(const PairedArms& arms, bool baseline_trials_are_copies);

// The same over (tool, channel) pairs of every failed call of the agent.
NamesComparison compare_pairs(const PairedArms& arms, bool baseline_trials_are_copies);

}  // namespace unmask
