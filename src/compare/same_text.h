// Whether two arms are one: a log compared with its own copy passes every test, and a rerun that
// repeats its first run says nothing of chance.
#pragma once

#include <optional>
#include <string>

#include "metrics/arm.h"

namespace unmask {

// Episodes of the second arm that are, letter for letter, one of the first's of the same task: all
// roles' texts, calls and results. Each of the first's answers for one. Excluded episodes, and
// those in which the agent says nothing, take no part.
struct SameText {
  long episodes = 0;
  long of = 0;              // episodes of the second arm that take part
  long agent_messages = 0;  // in those that are the same: how much was drawn alike
  long timed_apart = 0;     // of them, have durations in both arms, and not the same ones
  long timed_alike = 0;     // of them, have one duration in both arms, not in whole seconds
  bool ids = false;         // all of them have ids, the same in both arms
  bool costs = false;       // likewise, more than 0

  // Nearly all of it and enough to be no coincidence of short episodes.
  bool is_one_run() const;
};
SameText same_text(const Arm& first, const Arm& second);

// Episodes of `second` that are surely the first's: id, seed, duration and messages are the same,
// or all but the ids in nearly all of it. Two runs may well have the same ids and messages, where a
// seed or the temperature leaves nothing to chance; that they took the same time to the last digit
// is what a copy has and a run has not.
long copied_episodes(const Arm& first, const Arm& second);

// "same_episodes" where the candidate holds copies of the baseline's; "same_text" where it repeats
// the baseline and nothing tells whether it is a copy or a deterministic agent.
std::optional<Warning> same_run_warning(const Arm& baseline, const Arm& candidate);

// "rerun_repeats": a noise floor of these two would be 0 for no reason of the agent's; `which` arm
// was run again, "baseline".
std::optional<Warning> rerun_warning(const std::string& which, const Arm& first, const Arm& rerun);

}  // namespace unmask
