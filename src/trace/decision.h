// The log-probabilities a model gave where it chose to call or to talk, and which tool. Read from
// the JSON of a message's `decision` or a reply's (rollout/decision.h) by ingest/decision.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace unmask {

struct TokenAlternative {
  std::string token;
  double logprob = 0;  // natural logarithm

  bool operator==(const TokenAlternative&) const = default;
};

// One token of a completion, and what else might have stood there.
struct TokenDecision {
  std::string token;
  double logprob = 0;
  std::vector<TokenAlternative> top;  // most likely first; may or may not hold `token`

  bool operator==(const TokenDecision&) const = default;
};

// The name of a completion's first call: the tokens that overlap it, so that the first may begin
// before the name (` "get`) and the last end behind it (`user"`).
struct NameDecision {
  std::string name;
  std::vector<TokenDecision> tokens;  // at least one

  bool operator==(const NameDecision&) const = default;
};

struct Decision {
  std::optional<TokenDecision> first;  // the completion's first token: call or talk
  std::optional<NameDecision> name;    // absent: no call, or its name was not found in the text

  bool operator==(const Decision&) const = default;
};

}  // namespace unmask
