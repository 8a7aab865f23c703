// The address that chat completions are asked at.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unmask {

struct EndpointUrl {
  std::string full;                  // ".../chat/completions", with whatever the base held
  std::string printable;             // without user, password and query
  std::vector<std::string> secrets;  // password and values of the query, as written and decoded
};

// From a base with or without "/v1", "/chat/completions" and a slash at the end. A host alone gets
// "/v1/chat/completions"; any other path keeps its own version ("/v1beta/openai").
// Errors   InvalidArgument: not an http or https address with a host.
Result<EndpointUrl> chat_completions_url(std::string_view base);

}  // namespace unmask
