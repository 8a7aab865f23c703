// How a model's template writes a call, and reading calls by it where the template's own parser
// gives up: names that were not offered, arguments that are no JSON, calls that were cut off.
// Internal to llm.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llm/chat_model.h"

namespace unmask {

// "<tool_call>\n{"name": "NAME", "arguments": ARGUMENTS}\n</tool_call>": what stands before the
// name, between name and arguments, and after them. In formats whose arguments are no JSON, `after`
// and `end` hold what all arguments have in common, `after` up to the first one's name.
struct CallMarkup {
  std::string before;
  std::string after;
  std::string end;
  bool json_arguments = false;
  std::string argument;  // what stands before each argument's name, "<parameter="; empty: unknown

  bool operator==(const CallMarkup&) const = default;
};

// A message of the assistant with `count` such calls as a template renders it, all of the
// conversation around it included. nullopt: the template refuses.
using RenderedCall = std::function<std::optional<std::string>(
    const std::string& content, const std::string& name, const std::string& arguments, int count)>;

// Learns the markup by rendering calls of a name that occurs nowhere else.
// nullopt: the template writes no calls, or not so that their beginning can be told.
std::optional<CallMarkup> learn_call_markup(const RenderedCall& render);

struct WrittenCalls {
  std::string content;          // what precedes the first call
  std::vector<ChatCall> calls;  // without ids; arguments as written, up to the call's end
  std::vector<std::string> argument_names;  // of all calls, where each has a tag of its own
};

// The calls in a completion, in order. Empty where it holds none whose name can be read.
WrittenCalls read_written_calls(std::string_view completion, const CallMarkup& markup);

}  // namespace unmask
