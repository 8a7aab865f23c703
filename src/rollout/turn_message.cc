#include "rollout/turn_message.h"

#include "environment/json.h"
#include "environment/python.h"

namespace unmask {

namespace {

using Speaker = ReplayMessage::Speaker;

std::optional<std::int64_t> integer(const Value* v) {
  if (!v || v->kind() != Kind::Int) return std::nullopt;
  return v->as_int();
}

std::optional<double> number(const Value* v) {
  if (!v || (v->kind() != Kind::Int && v->kind() != Kind::Float)) return std::nullopt;
  return python::to_float(*v);
}

void read_costs(const Value& json, TurnMessage& message) {
  message.cost_usd = number(json.find("cost"));
  message.seconds = number(json.find("generation_time_seconds"));
  const Value* usage = json.find("usage");
  if (!usage || !usage->is_dict()) return;
  message.usage = TokenUsage{integer(usage->find("prompt_tokens")).value_or(0),
                             integer(usage->find("completion_tokens")).value_or(0)};
}

Value calls_json(const std::vector<ToolRequest>& calls) {
  std::vector<Value> items;
  for (const ToolRequest& call : calls)
    items.push_back(
        Value::dict({{"id", call.id},
                     {"name", call.name},
                     {"arguments", call.unreadable ? Value(*call.unreadable) : call.arguments},
                     {"requestor", requestor(call.side)}}));
  return Value::list(std::move(items));
}

}  // namespace

TurnMessage text_message(Speaker speaker, std::string text) {
  TurnMessage message;
  message.speaker = speaker;
  message.content = std::move(text);
  return message;
}

TurnMessage calls_message(Speaker speaker, std::vector<ToolRequest> calls) {
  TurnMessage message;
  message.speaker = speaker;
  message.has_calls = true;
  message.calls = std::move(calls);
  return message;
}

bool has_text(const TurnMessage& message) {
  return message.content && !python::is_blank(*message.content);
}

std::string described(const TurnMessage& message) {
  std::string out = message.speaker == Speaker::User ? "UserMessage" : "AssistantMessage";
  if (has_text(message)) out += "\ncontent: " + *message.content;
  if (message.has_calls) {
    out += "\nToolCalls:";
    for (const ToolRequest& call : message.calls) out += "\n" + described(call);
  }
  return out + "\nis_final_chunk: True";
}

Result<std::vector<TurnMessage>> turn_messages(const Value& json_list) {
  const Result<std::vector<ReplayMessage>> replayed = replay_messages(json_list);
  if (!replayed) return replayed.error();
  std::vector<TurnMessage> messages;
  for (const ReplayMessage& each : *replayed) {
    messages.emplace_back();
    static_cast<ReplayMessage&>(messages.back()) = each;
  }
  // Messages of several results have become several: then costs have no place of their own.
  if (messages.size() == json_list.size())
    for (std::size_t i = 0; i < messages.size(); ++i) read_costs(json_list[i], messages[i]);
  return messages;
}

Value message_json(const TurnMessage& message) {
  Value json = Value::dict();
  const auto set = [&](std::string_view key, Value value) { json.set(key, std::move(value)); };
  const bool reply = message.speaker == Speaker::Tool;
  if (reply) set("id", message.call_id);
  set("role", reply                               ? "tool"
              : message.speaker == Speaker::Agent ? "assistant"
              : message.speaker == Speaker::User  ? "user"
                                                  : "system");
  if (message.content) set("content", *message.content);
  if (reply) {
    set("requestor", requestor(message.side));
    set("error", message.error);
  }
  if (message.has_calls) set("tool_calls", calls_json(message.calls));
  if (message.turn_index) set("turn_idx", *message.turn_index);
  if (message.cost_usd) set("cost", *message.cost_usd);
  if (message.usage)
    set("usage", Value::dict({{"completion_tokens", message.usage->completion},
                              {"prompt_tokens", message.usage->prompt}}));
  if (message.seconds) set("generation_time_seconds", *message.seconds);
  return json;
}

Message trace_message(const TurnMessage& message) {
  Message out;
  out.role = message.speaker == Speaker::Agent  ? Role::Agent
             : message.speaker == Speaker::User ? Role::User
             : message.speaker == Speaker::Tool ? Role::Tool
                                                : Role::System;
  out.cost_usd = message.cost_usd;
  out.usage = message.usage;
  out.seconds = message.seconds;
  out.raw_text = message.raw_text;
  out.raw_calls = message.raw_calls;
  out.raw_data = message.raw_data;
  out.attempts = message.attempts;
  out.decision = message.decision;
  out.reasoning = message.reasoning;
  if (message.speaker == Speaker::Tool) {
    out.result =
        ToolResult{message.call_id, message.content.value_or(""), message.error, "", message.side};
    return out;
  }
  out.text = message.content.value_or("");
  for (const ToolRequest& call : message.calls) out.calls.push_back(trace_call(call));
  out.empty_text = !out.calls.empty() && message.content && message.content->empty();
  return out;
}

TurnMessage turn_message(const Message& message) {
  TurnMessage out;
  static_cast<ReplayMessage&>(out) = replay_messages(std::span<const Message>(&message, 1)).front();
  if (out.has_calls && message.text.empty() && !message.empty_text) out.content.reset();
  out.cost_usd = message.cost_usd;
  out.usage = message.usage;
  out.seconds = message.seconds;
  out.raw_text = message.raw_text;
  out.raw_calls = message.raw_calls;
  out.raw_data = message.raw_data;
  out.attempts = message.attempts;
  out.decision = message.decision;
  out.reasoning = message.reasoning;
  return out;
}

ToolCall trace_call(const ToolRequest& call) {
  ToolCall out;
  out.id = call.id;
  out.name = call.name;
  out.arguments = call.unreadable ? *call.unreadable : dump_json(call.arguments);
  out.arguments_are_object = !call.unreadable;
  out.side = call.side;
  return out;
}

}  // namespace unmask
