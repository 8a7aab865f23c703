// Re-grading: what the episodes of a log are worth here, beside what the log says they were worth.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "environment/grading.h"
#include "trace/episode.h"

namespace unmask {

enum class RegradeStatus {
  Same,       // both have the same reward
  Different,  // they have not
  Unsettled,  // it depends on a part that only a judge can grade
  Ungraded,   // the log has no reward
  Failed,     // cannot be graded here: its calls cannot be replayed
  Skipped,    // nothing to grade: an infrastructure error, or no such task
};

std::string_view to_string(RegradeStatus status);  // "same", "different" ...

struct RegradedEpisode {
  std::size_t index = 0;  // of the run's episodes
  std::string task_id;
  int trial = 0;
  RegradeStatus status = RegradeStatus::Same;
  std::optional<double> recorded;
  std::optional<double> obtained;
  std::string reason;            // one sentence; empty where the rewards are the same
  std::optional<Grading> grade;  // what was found here
};

struct RegradeReport {
  std::vector<RegradedEpisode> episodes;  // one for each of the run, in its order

  std::size_t count(RegradeStatus status) const;
};

struct RegradeOptions {
  // A replayed call must be answered as recorded. Off, a difference is counted and the replay goes
  // on, so that logs of other versions can be graded.
  bool strict = false;
  Judge* judge = nullptr;  // must be safe to call from several threads
  int threads = 0;         // 0: one per processor
};

// Grades every episode of the run by its task. Solo mode is taken from the run's agent.
//
// Shape    `tasks` in any order; an episode whose task is not among them is skipped.
// Threads  uses options.threads.
RegradeReport regrade(const Run& run, const std::shared_ptr<const Domain>& domain,
                      std::span<const Task> tasks, const RegradeOptions& options = {});

// The tasks a τ²-bench results file carries: `path` is the file, or the folder of its directory
// form. Empty where it carries none or is no such file.
// Errors   Malformed: a task that cannot be read.
Result<std::vector<Task>> tasks_of_log(const std::string& path);

}  // namespace unmask
