#include "ingest/call_arguments.h"

#include <simdjson.h>

#include <utility>

#include "ingest/json_repair.h"

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
  if (call.arguments_are_object || call.arguments.find('{') == std::string::npos) return;
  JsonRepairs repairs;
  std::string mended = repair_json(call.arguments, repairs);
  if (is_json_object(mended)) {
    call.arguments = std::move(mended);
    call.arguments_are_object = true;
    fields.notes().warn("mended_arguments",
                        "the arguments of a call hold what JSON does not allow (NaN, a lone "
                        "surrogate), which was replaced",
                        fields.where());
  } else if (!as_text) {
    fields.notes().warn("unreadable_arguments", "the arguments of a call are not valid JSON",
                        fields.where());
  }
}

}  // namespace unmask
