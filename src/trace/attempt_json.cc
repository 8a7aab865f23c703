#include "trace/attempt_json.h"

#include "base/json_writer.h"

namespace unmask {
namespace {

void write_attempted_call(JsonWriter& json, const ToolCall& call) {
  json.begin_object().field("id", call.id).field("name", call.name).key("arguments");
  if (call.arguments_are_object)
    json.raw(call.arguments);
  else
    json.value(call.arguments);
  json.field("requestor", call.side == Side::Agent ? "assistant" : "user").end_object();
}

void write_attempt(JsonWriter& json, const Attempt& attempt) {
  json.begin_object().field("text", attempt.text);
  if (attempt.empty_text) json.field("empty_text", true);
  if (!attempt.reasoning.empty()) json.field("reasoning", attempt.reasoning);
  json.key("calls").begin_array();
  for (const ToolCall& call : attempt.calls) write_attempted_call(json, call);
  json.end_array();
  json.field("refused", attempt.refused).field("channel", attempt.channel);
  json.field("feedback", attempt.feedback).field("spends_budget", attempt.spends_budget);
  json.key("usage");
  if (attempt.usage) {
    json.begin_object().field("completion_tokens", attempt.usage->completion);
    json.field("prompt_tokens", attempt.usage->prompt).end_object();
  } else {
    json.null();
  }
  json.end_object();
}

}  // namespace

std::string attempts_json(std::span<const Attempt> attempts) {
  JsonWriter json;
  json.begin_array();
  for (const Attempt& attempt : attempts) write_attempt(json, attempt);
  json.end_array();
  return json.take();
}

}  // namespace unmask
