// The agent's decisions in an episode whose log keeps log-probabilities (METHOD 7), without the
// texts: what was said before each is a number, and two logs with the same number had the same
// context.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "failure/classify.h"
#include "trace/decision.h"
#include "trace/episode.h"

namespace unmask {

struct LoggedCall {
  std::string name;
  std::uint64_t arguments = 0;  // a hash of their text

  bool operator==(const LoggedCall&) const = default;
};

// One message of the agent, or one that was handed back before it (METHOD 9): each is a decision of
// its own, in the context that the ones before it made.
struct LoggedDecision {
  // Of the policy, the offered tools and everything that was said, called and answered before, by
  // either side. Ids of calls, times and thoughts have no part in it.
  std::uint64_t history = 0;
  // Of the message's own text and thoughts, which its calls' names depend on; 0: none.
  std::uint64_t said = 0;
  int message = 0;  // index into Episode::messages
  int attempt = 0;
  std::vector<LoggedCall> calls;
  // Of the first of its calls that fails without asking an environment: "malformed", "tool_name",
  // "schema"; empty: none does.
  std::string channel;
  std::optional<Decision> decision;  // absent: the log has none, as of every message handed back
};

struct EpisodeDecisions {
  std::optional<std::vector<std::string>> offered;  // nullopt: the agent's tools are not known
  std::vector<LoggedDecision> decisions;            // in order
  int unreadable = 0;                               // log-probabilities that could not be read
  int contradictory = 0;                            // of those read: contradiction_in says what
};

// nullopt: the text is no decision.
using ReadDecision = std::function<std::optional<Decision>(std::string_view json)>;

// `classified` must come from the same episode. A message before anything was said to the agent is
// a greeting of the harness and no decision.
//
// nullptr  no message of the episode has log-probabilities.
std::shared_ptr<const EpisodeDecisions> episode_decisions(const RunInfo& run,
                                                          const Episode& episode,
                                                          const ClassifiedEpisode& classified,
                                                          const Classifier& classifier,
                                                          const ReadDecision& read);

}  // namespace unmask
