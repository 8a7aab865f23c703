// Failure-set invariance (METHOD 6): do two arms fail with the same names?
#pragma once

#include <cstdint>

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
// Novel beyond chance: any second sample has names the first lacks. For each trial j that both arms
// have (by rank among the arm's trial numbers), R_j are the names of the baseline's trials other
// than j, over all tasks. A call of trial j is novel when its name is not in R_j, in the baseline
// (a sample held out) as in the candidate. Both are scored against the same R_j, so under equal
// habits their novel shares have equal expectation; D = candidate's share - baseline's, calls
// pooled.
//   SE: root mean square of D over 1000 random swaps of whole task blocks between the arms, every
//   R_j recomputed; p and interval by Student t on T - 1 df, T = tasks with such a call in either
//   arm. Calls that share a name are not independent even across tasks, so the linearised SE that
//   holds the R_j fixed rejects true nulls up to 14 % of the time at 5 %, and the jackknife over
//   tasks, which counts that dependence twice, about 1 %.
// Absent: fewer than 2 common trials, trials that are copies, an arm without hallucinated calls, T
// < 2, or no swap that makes a difference.
NamesComparison compare_names(const PairedArms& arms, bool baseline_trials_are_copies,
                              std::uint64_t seed);

// The same over (tool, channel) pairs of every failed call of the agent.
NamesComparison compare_pairs(const PairedArms& arms, bool baseline_trials_are_copies,
                              std::uint64_t seed);

}  // namespace unmask
