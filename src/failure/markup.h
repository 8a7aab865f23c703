// Call markup that leaked into a message's text: a call that no parser extracted (METHOD 2).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace unmask {

struct LeakedCall {
  std::string marker;     // what was recognised: "<tool_call>"; "{" for a bare JSON object
  std::string name;       // the tool's name, empty where it cannot be read
  std::string_view body;  // the markup from its marker on, at most 4096 bytes; points into the text
};

// The first piece of call markup in `text`. Recognised is a marker of a model family's call format
// followed by what makes it a call (an object, a list, a name with its arguments): text that
// mentions a tool or a marker in prose is none. A message that is as a whole one JSON object with a
// name and arguments counts too.
std::optional<LeakedCall> find_leaked_call(std::string_view text);

}  // namespace unmask
