// One arm's episodes, ordered by task and trial, with the counts every report starts from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "metrics/episode_facts.h"
#include "metrics/episode_list.h"
#include "trace/episode.h"

namespace unmask {

// Which failures spend the budget.
enum class BudgetCount { All, Agent };
// at_most(K): success with E <= K. live(K): success with E < K (METHOD 3).
enum class BudgetRule { AtMost, Live };
std::string_view to_string(BudgetCount count);  // "all", "agent"
std::string_view to_string(BudgetRule rule);    // "at_most", "live"

// How episodes of unknown outcome (excluded, ungraded, missing) are scored when asking whether a
// verdict is fragile (METHOD 1).
enum class ReadAs { LeftOut, Failed, Passed };

struct TaskEpisodes {
  std::string domain;
  std::string id;
  std::size_t begin = 0;  // half-open range of Arm::episodes
  std::size_t end = 0;
  // What an episode counts in TaskCounts: 1, or less where weighed_alike brings the task to the
  // number of episodes that the other arm has of it; 0 where the other arm has none that ran.
  double weight = 1;
};

struct Arm {
  std::string label;
  std::vector<std::string> sources;
  RunInfo info;                     // of the first source
  EpisodeList episodes;             // sorted by (domain, task id in natural order, trial)
  std::vector<TaskEpisodes> tasks;  // every task with at least one episode, same order
};

// The natural order of task ids: "2" before "10", numbers before words, words by bytes.
bool comes_before(std::string_view a, std::string_view b);

// Sorts and groups. Duplicate (task, trial) pairs are kept and warned about by evidence_warnings.
Arm make_arm(std::string label, std::vector<std::string> sources, RunInfo info,
             std::vector<EpisodeFacts> episodes);
Arm make_arm(std::string label, std::vector<std::string> sources, RunInfo info,
             std::vector<EpisodeList::Shared> episodes);

// K0 - the budget in force; nullopt where the format has none.
std::optional<int> budget_in_force(const Arm& arm);

// Successful episodes that hold more failed calls than a budget of max_errors lets any keep: the
// harness ends an episode once E of both sides reaches it (METHOD 3), so with it in force there is
// none.
long successes_beyond(const Arm& arm, int max_errors);

// The arm with only these tasks (indices into arm.tasks).
Arm select_tasks(const Arm& arm, std::span<const std::size_t> tasks);

// The arm with excluded episodes turned into evaluated ones of the given outcome, with no calls.
Arm with_excluded_as(const Arm& arm, ReadAs outcome);

// The arm with episodes that ran without a grade given that outcome; their calls stay.
Arm with_ungraded_as(const Arm& arm, ReadAs outcome);

// An episode that a log should hold.
struct TaskTrial {
  std::string domain;
  std::string task;
  int trial = 0;  // 0-based

  auto operator<=>(const TaskTrial&) const = default;
};

// The arm with evaluated episodes of the given outcome, with no calls, for these, which it has not.
Arm with_missing_as(const Arm& arm, std::span<const TaskTrial> missing, ReadAs outcome);

// An episode that counts in means of success: not excluded, graded.
bool is_evaluated(const EpisodeFacts& episode);

}  // namespace unmask
