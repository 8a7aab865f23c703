// Which tasks two arms have in common, and both arms cut down to them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "metrics/arm.h"

namespace unmask {

struct PairedArms {
  Arm baseline;  // tasks[t] of both is the same task
  Arm candidate;
  std::vector<std::string> unpaired;  // "only in baseline: 17", in task order
};

// Pairs by (domain, task id). Where one arm's log names no domain at all and the other names
// exactly one, the two are taken to be the same. Errors   InvalidArgument: different domains; no
// common task.
Result<PairedArms> pair_tasks(const Arm& baseline, const Arm& candidate);

// Two vectors of one number a task, cut down to the tasks where both have it.
struct PairedNumbers {
  std::vector<double> baseline;
  std::vector<double> candidate;
  std::vector<std::size_t> tasks;  // index in the paired arms

  std::vector<double> differences() const;  // candidate - baseline
};
PairedNumbers pair_numbers(const std::vector<std::optional<double>>& baseline,
                           const std::vector<std::optional<double>>& candidate);

// The arm as it would have ended under `live` stopping at max_errors: an episode that reached
// E >= max_errors (both sides) has failed. Graded episodes only; calls stay as they are.
Arm recounted_at(const Arm& arm, int max_errors);

}  // namespace unmask
