#include "ingest/call_arguments.h"

#include <simdjson.h>

#include <optional>
#include <utility>

namespace unmask {

bool is_json_object(std::string_view text) {
  thread_local simdjson::dom::parser parser;
  simdjson::dom::element root;
  return parser.parse(text.data(), text.size()).get(root) == simdjson::SUCCESS && root.is_object();
}

void read_call_arguments(LazyValue value, const FieldReader& fields, ToolCall& call) {
  const bool as_text = value.kind() == LazyKind::String;
  if (as_text) {
    call.arguments = value.string().value_or("");
  } else {
    call.arguments = value.text();
  }
  call.arguments_are_object = is_json_object(call.arguments);
  if (!call.arguments_are_object && !as_text && value.kind() == LazyKind::Object)
    fields.notes().warn("unreadable_arguments", "the arguments of a call are not valid JSON",
                        fields.where());
}

}  // namespace unmask
