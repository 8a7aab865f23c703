// One episode from beginning to grade.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "environment/grading.h"
#include "rollout/turn_loop.h"
#include "trace/episode.h"

namespace unmask {

struct PlayedEpisode {
  Episode episode;               // without id and trial; reward and success where it was graded
  std::optional<Grading> grade;  // nullopt: it never ran, or could not be graded
  std::string failure;           // why it broke off, or could not be graded; empty: neither
  int step_count = 0;
  int error_count = 0;  // failed calls, as max_errors counts them
};

// Plays an episode of the task and grades it. A participant that fails ends the episode, not the
// program:
//   Unavailable                 infrastructure_error: the episode is not graded
//   where = kContextWindow      context_window_exceeded
//   an empty message or list    agent_error, user_error. Upstream raises here and, after retries,
//                               records an infrastructure error without messages, which would hide
//                               what the agent did
//   anything else               unexpected_error
//
// Errors   those of a task that cannot begin: unknown functions, a history that cannot be replayed.
// Threads  one; domain and task may be shared.
Result<PlayedEpisode> play_episode(const std::shared_ptr<const Domain>& domain, const Task& task,
                                   Agent& agent, User* user, const TurnOptions& options = {},
                                   Judge* judge = nullptr);

}  // namespace unmask
