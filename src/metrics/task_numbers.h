// Per-task numbers: the vectors that stats resamples. Index t is Arm::tasks[t] throughout.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "metrics/arm.h"

namespace unmask {

// A number of an episode; nullopt: it has none.
using EpisodeNumber = std::function<std::optional<double>(const EpisodeFacts&)>;

// What a mean over episodes is (METHOD 1): the mean over tasks of each task's mean over its
// episodes that have the number. nullopt: no episode has it.
std::optional<double> mean_of_task_means(const Arm& arm, const EpisodeNumber& number);

// Mean success over the task's evaluated episodes; nullopt where the task has none.
std::vector<std::optional<double>> task_success(const Arm& arm);

// Mean over the task's evaluated episodes of Y * 1[E within budget].
//   at_most: E <= k; live: E < k. E by `count`.
std::vector<std::optional<double>> task_success_under_budget(const Arm& arm, int k, BudgetRule rule,
                                                             BudgetCount count);

// Failures and calls per task over all episodes that ran (excluded ones have no calls), times the
// task's weight.
struct TaskCounts {
  std::vector<double> failures;  // (task)
  std::vector<double> calls;     // (task): the agent's calls
  std::vector<double> episodes;  // (task): episodes that ran
};
// Failures per episode: the mean over tasks of task means, as every mean over episodes (METHOD 1).
// nullopt: no episode ran.
std::optional<double> failures_per_episode(const TaskCounts& counts);
TaskCounts task_channel_counts(const Arm& arm, Channel channel);
// schema + entity, the paper's argument channel.
TaskCounts task_argument_counts(const Arm& arm);
TaskCounts task_position_counts(const Arm& arm, Channel channel, int bin);
// Of the episodes that ran and were not cut by the budget; quarter 0 ... 3.
TaskCounts task_quarter_counts(const Arm& arm, Channel channel, int quarter);

// Recovery per task: recovered, and failures not censored (METHOD 4).
struct TaskRecovery {
  std::vector<double> recovered;
  std::vector<double> failures;
  int censored = 0;  // total
};
TaskRecovery task_recovery(const Arm& arm);

// pass^k, k = 1 ... the smallest trial count: mean over tasks of C(s,k)/C(n,k). Empty: nothing
// graded.
std::map<int, double> pass_hat_k(const Arm& arm);

struct NameCount {
  std::string name;
  long count = 0;
  SubKind kind = SubKind::Invented;  // of the first occurrence
};
// One failed agent call, for halves and leave-one-trial-out.
struct NameOccurrence {
  std::size_t task = 0;
  int trial = 0;
  std::size_t name = 0;  // index into NamedFailures::names
};
struct NamedFailures {
  std::vector<NameCount> names;       // by count descending, then name
  std::vector<NameOccurrence> calls;  // by task, then episode, then position
};
// The names of tools that do not exist, as the agent called them.
NamedFailures hallucinated_names(const Arm& arm);
// The (tool, channel) pairs of every failed agent call, named "tool/channel".
NamedFailures failing_pairs(const Arm& arm);

struct LengthMeans {  // per episode that ran; nullopt where the log lacks the quantity everywhere
  std::optional<double> steps, agent_turns, agent_calls, user_calls, prompt_tokens,
      completion_tokens, seconds, agent_cost_usd;
};
LengthMeans length_means(const Arm& arm);

struct Bursts {
  std::map<int, long> lengths;        // run length -> how many runs
  std::optional<double> mean_length;  // nullopt: no failure
  long repeated_after_failure = 0;
};
Bursts bursts(const Arm& arm);

}  // namespace unmask
