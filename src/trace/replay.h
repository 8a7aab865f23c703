// What came of giving recorded contexts to arms: one call of a model a decision, no environment.
//
// On disk "unmask.replay/1", JSON Lines, appended and never changed; a reply follows its context,
// which follows its tools, and a line that is torn at the end is no line:
//   {"schema": "unmask.replay/1", "kind": "replay", "log", "format", "domain", "seed", "version",
//    "command", "samples", "greedy", "eligible", "selected",
//    "arms": [{"label", "precision", "model", "settings", "baseline", "repeats"}, ...]}
//   {"kind": "tools", "id", "names": [...]}
//   {"kind": "context", "id", "domain", "task", "trial", "episode", "message", "attempt",
//    "turn", "turns", "call_index", "tools", "sha256", "recorded": {"text", "calls"}}
//   {"kind": "reply", "context", "arm", "sample", "text",
//    "calls": [{"name", "arguments", "arguments_are_object"}, ...], "channel", "sub_kind",
//    "decision": {...}, "prompt_tokens", "completion_tokens", "seconds", "error", "check"}
// "check" is a hash of the reply's line before it, to see that the line is as it was written. All
// replies of a file have one, or none has (a file that an earlier version began).
// Arguments and settings are text; a decision is an object as rollout/decision.h says.
// What is empty, absent or at its default is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/episode.h"

namespace unmask {

inline constexpr std::string_view kReplaySchema = "unmask.replay/1";

struct ReplayArm {
  std::string label;  // unique in the replay
  std::string precision;
  std::string model;
  std::string settings;   // of sampling, a JSON object as text
  bool baseline = false;  // of exactly one arm
  // The label of the arm that this one is asked once more, to know its replay noise; else empty.
  std::string repeats;

  bool operator==(const ReplayArm&) const = default;
};

struct ReplayHead {
  std::string log;     // whose decisions these are, as given
  std::string format;  // of that log
  std::string domain;
  std::uint64_t seed = 0;  // of the choice of decisions, and of sampling
  std::string version;
  std::string command;
  int samples = 1;     // replies asked of each arm to each context
  bool greedy = true;  // the most likely token always
  long eligible = 0;   // decisions of the log whose context could be rebuilt
  long selected = 0;   // of those, the ones that were asked for
  std::vector<ReplayArm> arms;

  bool operator==(const ReplayHead&) const = default;
};

// Names offered to the agent in some contexts.
struct ReplayTools {
  std::string id;
  std::vector<std::string> names;

  bool operator==(const ReplayTools&) const = default;
};

// One decision of the log's agent: what it saw before a message of its own.
struct ReplayContext {
  std::string id;  // unique in the replay
  std::string domain;
  std::string task_id;
  int trial = 0;
  std::string episode;  // the log's id of it; may be empty
  int message = 0;      // index of the agent's message in the episode, 0-based
  // How often that message had been handed back (METHOD 9): each attempt is a decision of its own.
  int attempt = 0;
  int turn = 0;  // which of the agent's messages it is, 0-based, and how many there are
  int turns = 0;
  int call_index = 0;    // calls of the agent that had reached the environment before it
  std::string tools_id;  // ReplayTools::id
  std::string sha256;    // of the request's messages and tools as JSON
  // What the log's agent did there.
  std::string recorded_text;
  std::vector<ToolCall> recorded_calls;

  bool operator==(const ReplayContext&) const = default;
};

struct ReplayReply {
  std::string context_id;
  std::string arm;  // ReplayArm::label
  int sample = 0;   // 0-based
  std::string text;
  std::vector<ToolCall> calls;
  // Of its first call that fails without asking an environment: "malformed", "tool_name", "schema";
  // empty: none does.
  std::string channel;
  std::string sub_kind;
  std::string decision;  // log-probabilities, rollout/decision.h; empty: none were given
  std::optional<TokenUsage> usage;
  std::optional<double> seconds;
  // One sentence where there is no reply, "its context window is full"; such a decision is counted
  // and left out.
  std::string error;

  bool operator==(const ReplayReply&) const = default;
};

struct Replay {
  ReplayHead head;
  std::vector<ReplayTools> tools;
  std::vector<ReplayContext> contexts;
  std::vector<ReplayReply> replies;  // in the file's order; at most one a context, arm and sample

  bool operator==(const Replay&) const = default;
};

}  // namespace unmask
