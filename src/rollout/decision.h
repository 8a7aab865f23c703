// The log-probabilities at the decisions METHOD 7 is about: to call or to talk, and which tool.
#pragma once

#include <span>
#include <string>

#include "environment/environment.h"
#include "llm/chat_model.h"

namespace unmask {

inline constexpr std::size_t kMostAlternatives = 20;

// A JSON object as text, natural logarithms, most likely alternatives first, at most
// kMostAlternatives of each:
//   {"first": {"token", "logprob", "top": [[token, logprob], ...]},
//    "name": {"name", "tokens": [{"token", "logprob", "top": [...]}, ...]}}
// "first" is the first token that is not blank, after a closing </think> where there is one.
// "name" are the tokens that overlap the name of the first call as the completion spells it;
// absent where there is no call, or where the name cannot be located: servers give the
// log-probabilities of all that was generated, of the text alone, or of nothing.
//
// Empty   no log-probabilities.
std::string decision_json(std::span<const TokenChoice> tokens, std::span<const ToolRequest> calls);

}  // namespace unmask
