// What our own logs keep of a message beyond τ²-bench's form: the attempts that were refused before
// it. The same JSON in every format we write.
#pragma once

#include <span>
#include <string>

#include "trace/episode.h"

namespace unmask {

// A JSON list, one object for each attempt:
//   {"text", "calls": [{"id", "name", "arguments", "requestor"}, ...], "refused", "channel",
//    "feedback", "spends_budget", "usage": {"completion_tokens", "prompt_tokens"} or null}
// Calls are written as τ²-bench writes them, unreadable arguments as the string they were;
// ToolCall::parse_error is lost. "empty_text" and "reasoning" are there where they are not at their
// default.
std::string attempts_json(std::span<const Attempt> attempts);

}  // namespace unmask
