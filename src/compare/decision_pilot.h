// A replay of decisions -> how often two arms differ in them, for a larger replay to be planned
// with.
#pragma once

#include <string>

#include "base/result.h"
#include "compare/power_model.h"
#include "trace/replay.h"

namespace unmask {

struct DecisionPilot {
  DecisionHabits decisions;
  std::string baseline, candidate;  // labels
  int tasks = 0;
  int most_decisions = 0;  // of one task
  long pairs = 0;          // decisions to which both arms replied; of those alike the first
  long only_baseline = 0;  // of these, the baseline alone fails
  long only_candidate = 0;
  bool correlated = false;  // the correlation is the pilot's; else kAssumedCorrelation
};

// Counted as `unmask margins` counts them: `channel` is one a replay classifies ("malformed",
// "tool_name", "schema"), a decision is a context and sample to which both arms replied, and of
// contexts with the same messages and tools the first stands for all. The correlation is that of
// being discordant, chance within a task taken off (stats/task_variance.h).
//
// `candidate` is a label; empty: the only arm that is neither the baseline nor repeats another.
//
// Errors   NotFound: no such candidate. InvalidArgument: several, and none is named; a channel that
//          no replay classifies. Undefined: no candidate; no reply of both arms in at least 2
//          tasks.
Result<DecisionPilot> pilot_of_decisions(const Replay& replay, const std::string& channel,
                                         const std::string& candidate);

}  // namespace unmask
