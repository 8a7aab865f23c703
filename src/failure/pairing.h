// Which result answers which call.
#pragma once

#include <vector>

#include "trace/episode.h"

namespace unmask {

// One call of an episode with its answer. Pointers go into the episode.
struct PairedCall {
  const ToolCall* call = nullptr;
  const ToolResult* result = nullptr;  // nullptr: unanswered
  int message = 0;                     // index of the message that made the call
};

struct Pairing {
  std::vector<PairedCall> calls;           // in the order they were made
  std::vector<const ToolResult*> orphans;  // results that answer no call, in order
};

// Pairs each call with at most one result of its own side, and each result with at most one call.
// Results are looked for in the tool messages that follow the message with the calls: first by id,
// then, where one of the two has no id, by order. What is left over answers an open call of the
// same id made earlier; and last, in order, calls of that message whose results carry ids unknown
// to the whole episode (formats that number results anew).
Pairing pair_calls(const Episode& episode);

}  // namespace unmask
