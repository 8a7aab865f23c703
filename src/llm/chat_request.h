// Writes the body of a request to /v1/chat/completions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "llm/chat_model.h"
#include "llm/openai.h"

namespace unmask {

// The key under which arguments that are no JSON object go back to a server: most parse the
// arguments of earlier calls and refuse the whole conversation where they cannot.
inline constexpr std::string_view kUnreadableArguments = "unreadable_arguments";

// The arguments of an earlier call as they go back to a model: JSON objects as they are, else one
// with the text under kUnreadableArguments; "{}" for blanks.
std::string sendable_arguments(const std::string& arguments);

// Checks extra_body.
// Errors   InvalidArgument: not a JSON object, or a member that has an option of its own.
Result<Done> check_extra_body(std::string_view extra_body);

// The sampling settings of `options` as compact JSON with sorted keys.
std::string sampling_settings(const EndpointOptions& options);

// Messages and tools as one JSON object, {"messages": [...], "tools": [...]}, as a server is sent
// them, earlier thoughts included. "tools" is absent where none are offered.
std::string chat_context_json(std::span<const ChatMessage> messages, std::string_view tools);

// The messages have the form litellm gives them; tool_choice is "auto" where tools are offered.
// Errors   InvalidArgument: `request.tools` is not a JSON list of objects. Unsupported:
//          constrain_names with NameConstraint::None.
Result<std::string> write_chat_request(const EndpointOptions& options, const ChatRequest& request,
                                       bool ask_logprobs);

}  // namespace unmask
