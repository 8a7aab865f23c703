// What happens in a planted episode, before it is put into words.
#pragma once

#include <vector>

#include "trace/episode.h"

namespace unmask {

enum class CallKind { Ok, ToolName, Schema, Entity, Rejected, Malformed, LeakedMarkup };
inline constexpr int kCallKinds = 7;

constexpr bool is_planted_failure(CallKind kind) {
  return kind != CallKind::Ok;
}

// Whether the failure is a failed tool message, so that E counts it.
constexpr bool spends_budget(CallKind kind) {
  return kind != CallKind::Ok && kind != CallKind::LeakedMarkup;
}

struct ScriptedCall {
  Side side = Side::Agent;
  CallKind kind = CallKind::Ok;
  int name = -1;              // ToolName: index into the vocabulary; novel names come after `names`
  bool same_message = false;  // made in the same message as the call before it
};

enum class ScriptEnd { Completed, OutOfErrors, OutOfSteps, NeverRan };

struct ScriptedEpisode {
  std::vector<ScriptedCall> calls;
  ScriptEnd end = ScriptEnd::Completed;
  bool success = false;
};

// E: failed calls of both sides that count.
int budget_spent(const ScriptedEpisode& episode);

// Failed calls of the agent, leaked markup included.
int agent_failures(const ScriptedEpisode& episode);

}  // namespace unmask
