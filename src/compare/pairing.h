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

// Every episode of the task is excluded; `task` is an index into arm.tasks.
bool never_ran(const Arm& arm, std::size_t task);

// Leaves out the tasks of which an arm has only excluded episodes, and lists them in `unpaired` as
// "no episode that ran in candidate: 17" (kNeverRan). Where no task ran in both arms, nothing is
// left out. A task of which an arm has only assumed outcomes stays, for its outcome, and weighs 0.
//
// Returns  the tasks left out, indices into the arms as they were.
std::vector<std::size_t> drop_tasks_that_never_ran(PairedArms& arms);

// The arms with each task brought to the same number of episodes in both: its episodes weigh
// min(n, m) / n, n and m the episodes that ran in this arm and the other. Pooled rates also reflect
// which tasks have more episodes; these do not. nullopt where the numbers are equal everywhere,
// which is pooling.
std::optional<PairedArms> weighed_alike(const PairedArms& arms);

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
