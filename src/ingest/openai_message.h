// Messages and tools in OpenAI's chat shape. Internal to ingest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/json_tree.h"
#include "ingest/notes.h"
#include "trace/episode.h"

namespace unmask {

// One sentence for RunInfo::failure_rule; the rule of openai_result_failed().
extern const std::string_view kOpenaiFailureRule;

// Whether a message of role "tool" or "function" with this text says that the call failed.
bool openai_result_failed(const JsonNode& message, std::string_view text);

// nullopt, with a warning, when the role is not known or it is no object.
std::optional<Message> read_openai_message(const JsonNode& node, Notes& notes,
                                           const std::string& where);

// {"type": "function", "function": {"name", "parameters"}}, {"name", "parameters"} or a bare name;
// nullopt unless `node` is an array.
std::optional<std::vector<OfferedTool>> read_openai_tools(const JsonNode& node);

}  // namespace unmask
