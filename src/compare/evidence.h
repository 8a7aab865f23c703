// Evidence quality (METHOD 12) as warnings: of one arm, and between two.
#pragma once

#include <vector>

#include "metrics/arm.h"

namespace unmask {

// What of one arm's log weakens a conclusion. Codes, each at most once; `count` is what the
// sentence counts, `where` the first places (the caller adds the arm):
//   selection_window       tau2-bench between v1.0.0 and its fix: tool_name is understated
//   excluded_episodes      infrastructure errors, left out; they could hide failures
//   ungraded_episodes      ran, and were not graded
//   tool_evidence          offered tools known from error texts only, or from several sources
//   parser_loss            calls in the raw completion that the parsed message lacks
//   unknown_text           refusals whose text no rule knows, filed under `rejected`
//   unanswered_calls, system_calls, orphan_results, not_offered_accepted
//   missing_pairs          (task, trial) pairs of the grid without an episode
//   duplicate_pairs        (task, trial) pairs with several
//   seeds_by_task          one trial number, several seeds; not where each task's each trial has
//                          a seed that no other has
//   seeds_repeat           one task, the same seed in several trials
//   mixed_models, mixed_policies   within the arm, by episode
//   trials_are_copies      every task's trials are one trajectory
//   one_task, one_trial
//   budget_contradicted    successes with more failed calls than the budget in force lets any keep
// Differences between the headers of an arm's shards (commits among them) are seen where the shards
// are read.
std::vector<Warning> evidence_warnings(const Arm& arm);

// What differs between two arms beside the model. Codes:
//   same_episodes, same_text   the candidate is the baseline, surely or perhaps (same_text.h)
//   swapped                the baseline looks quantized and the candidate does not
//   user_model_differs, user_settings_differ, max_steps_differ, budget_differs, policy_differs,
//   commit_differs, agent_settings_differ, implementation_differs, formats_differ, seeds_differ
// A value only one of the logs has is no difference, but for max_errors and agent settings.
std::vector<Warning> pairing_warnings(const Arm& baseline, const Arm& candidate);

// The (task, trial) pairs of the arm's grid that no episode stands for. The grid: every task that
// was run, or that the header lists, x every trial number that occurs or that the header announces.
// A header speaks for its own file only, so it is asked only where the arm is one file.
std::vector<TaskTrial> missing_pairs(const Arm& arm);

// Those of them that leave the arm with less than `other`: of tasks that `other` has, and not
// missing there too. What neither arm has weighs nothing between them.
std::vector<TaskTrial> missing_beside(const Arm& arm, const Arm& other);

// Whether a label or a model's name speaks of quantization: "int4", "AWQ", "Q4_K_M", "w4a16", "fp8"
// ... as words of their own.
bool looks_quantized(std::string_view name);

}  // namespace unmask
