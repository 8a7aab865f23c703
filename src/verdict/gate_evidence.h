// The gate's criteria about the verdict and the evidence it rests on; gate.cc has those about
// numbers.
#pragma once

#include <vector>

#include "verdict/gate.h"

namespace unmask {

// In this order: the verdict ("fail"; and a second one, about the unmasked gap, where a verdict
// with masking fails and masking cannot be judged), "fragile", "ungraded", "incomplete",
// "min_tasks", "min_trials", "min_episodes".
//
// Threads  pure.
std::vector<GateFinding> evidence_findings(const CellComparison& cell, const Judgement& judgement,
                                           const GateCriteria& criteria);

}  // namespace unmask
