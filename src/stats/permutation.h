// Permutation test that swaps whole task blocks between two arms.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"

namespace unmask {

struct PermutationTest {
  double statistic = 0;
  double p = 1;  // (b + 1) / (B + 1), two-sided
};

// H0: the arm labels are exchangeable within each task, once both arms are scaled to the same total
// of calls (equal rates do not mean equally many calls).
//   statistic: log of the ratio of rates, 1/2 added to each (scaled) count, over its task-clustered
//   standard error, recomputed for every permutation (use_difference: the difference of rates over
//   its SE). Swapping the arms turns its sign.
// Up to 2^tasks swaps; when 2^tasks <= permutations all are enumerated.
//
// Shape    four vectors of one value a task, same tasks in the same order.
// Errors   InvalidArgument: lengths differ. Undefined: fewer than 2 tasks, or no calls in an arm.
// Source   Janssen (1997) for studentizing; Phipson & Smyth (2010) for (b + 1) / (B + 1).
Result<PermutationTest> block_swap_test(std::span<const double> failures_baseline,
                                        std::span<const double> calls_baseline,
                                        std::span<const double> failures_candidate,
                                        std::span<const double> calls_candidate,
                                        bool use_difference, int permutations, std::uint64_t seed,
                                        int threads = 1);

}  // namespace unmask
