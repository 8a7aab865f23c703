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

// How much of a tool's schema a parser is to know.
enum class ArgumentRules {
  Typed,      // all
  Untyped,    // any JSON object
  NamedOnly,  // properties are texts, each optional
  Named,      // the properties of the schema, each optional, and other ones, which are texts
};

// The schema of `parameters` by these rules; `names` are arguments that were written.
std::string loosened(const std::string& parameters, ArgumentRules rules,
                     const std::vector<std::string>& names);

// tools: as ChatRequest::tools.
// Errors   InvalidArgument: it is not a JSON list of functions with names.
Result<std::vector<ChatTool>> read_chat_tools(std::string_view tools);

}  // namespace unmask
