// The log-probabilities of a reply, which are most of its bytes. Internal to llm.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llm/chat_model.h"

namespace unmask {

struct SplitReply {
  std::string rest;                  // the reply with null in the place of every "logprobs"
  std::vector<TokenChoice> choices;  // of the first choice, alternatives most likely first
};

// Takes well-formed log-probabilities out of a reply, so that a tree is made of the rest only.
// nullopt: there are none, or something about them or the reply is not as it should be.
std::optional<SplitReply> split_logprobs(std::string_view body);

}  // namespace unmask
