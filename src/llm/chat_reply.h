// Reads the body of a reply from /v1/chat/completions, whatever its bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "llm/chat_model.h"

namespace unmask {

// A body that is a chat completion in some shape becomes a reply; what had to be mended is in its
// warnings (docs/faults.md lists them). Ids that the server left out become
// "call_<id_seed in hex>_<index>": the same for the same request.
//
// Errors   Malformed: not JSON, or no choice with a message in it. Another attempt may succeed.
Result<ChatReply> read_chat_reply(std::string_view body, std::uint64_t id_seed);

// The reply where a server says with an error that it cannot read what the model generated: a call
// without a name whose arguments are what the server quotes of it and no JSON object, so that it
// fails as the agent's own. Its warning is kUnreadOutput, its raw the error.
// nullopt: `body` is another error.
std::optional<ChatReply> read_unread_output(std::string_view body, std::uint64_t id_seed);

}  // namespace unmask
