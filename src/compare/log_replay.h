// Two logs of the same tasks as a replay of decisions (METHOD 7): as long as everything said before
// an agent's message is the same in both, both arms were in the same context and their messages are
// two replies to it. From where they part on, each has contexts of its own: they tell of that arm's
// margins and names, and are no pairs.
//
//   baseline   hello, A, result, B, result, C        the same until after A: hello -> A, A is a
//   candidate  hello, A, result, D, result, E        pair; so is B, D. C and E are one arm's.
//
// Pairs deep in an episode are of episodes in which the arms had agreed so far, and with sampling
// in which they happened to draw the same: fewer and easier than the log's own.
#pragma once

#include <optional>
#include <vector>

#include "compare/mechanism.h"
#include "compare/options.h"
#include "metrics/arm.h"
#include "trace/decision.h"
#include "trace/replay.h"

namespace unmask {

struct LogReplay {
  Replay replay;
  // Replies' texts and arguments are numbers that stand for them: equal where those are.
  // [i] of replay.replies[i]; null: it has none. They are the arms' own, which must outlive it.
  std::vector<const Decision*> decisions;
};

// Of the tasks that both arms have and the episodes that ran: by (domain, task, trial), of several
// episodes of one trial the first. Where the tools offered to the agent are not known, they are
// taken to be the names that either arm called without hallucinating.
//
// nullopt  an arm has no decisions (EpisodeFacts::decisions) in the common tasks, or there are
// none.
std::optional<LogReplay> replay_of_logs(const Arm& baseline, const Arm& candidate);

// What its analysis says: one candidate, whose `contexts` are the pairs (there may be none).
std::optional<Mechanism> mechanism_of_logs(const Arm& baseline, const Arm& candidate,
                                           const CompareOptions& options);

}  // namespace unmask
