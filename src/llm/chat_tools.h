// The tools of a request, read from their JSON. Internal to llm.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unmask {

struct ChatTool {
  std::string name;
  std::string description;
  std::string parameters;  // JSON Schema as text
};

// tools: as ChatRequest::tools.
// Errors   InvalidArgument: it is not a JSON list of functions with names.
Result<std::vector<ChatTool>> read_chat_tools(std::string_view tools);

}  // namespace unmask
