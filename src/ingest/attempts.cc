#include "ingest/attempts.h"

#include <algorithm>
#include <utility>

#include "ingest/call_arguments.h"

namespace unmask {
namespace {

std::optional<Side> side_of(std::string_view requestor) {
  if (requestor == "assistant") return Side::Agent;
  if (requestor == "user") return Side::User;
  return std::nullopt;
}

void read_attempt_member(std::string_view key, LazyValue value, const FieldReader& fields,
                         SeenFields& seen, Attempt& attempt) {
  if (key == "text" && seen.first(0, key, fields)) {
    fields.text(value, key, attempt.text);
  } else if (key == "calls" && seen.first(1, key, fields)) {
    if (!fields.array(value, key)) return;
    value.each_element([&](LazyValue call) {
      attempt.calls.emplace_back();
      read_tau2_call(call, fields, attempt.calls.back());
    });
  } else if (key == "refused" && seen.first(2, key, fields)) {
    std::optional<int> refused;
    fields.small(value, key, refused);
    attempt.refused = static_cast<std::size_t>(std::max(0, refused.value_or(0)));
  } else if (key == "channel" && seen.first(3, key, fields)) {
    fields.text(value, key, attempt.channel);
  } else if (key == "feedback" && seen.first(4, key, fields)) {
    fields.text(value, key, attempt.feedback);
  } else if (key == "spends_budget" && seen.first(5, key, fields)) {
    fields.boolean(value, key, attempt.spends_budget);
  } else if (key == "usage" && seen.first(6, key, fields)) {
    if (fields.object(value, key)) read_tau2_usage(value, fields, attempt.usage);
  } else if (key == "empty_text" && seen.first(7, key, fields)) {
    fields.boolean(value, key, attempt.empty_text);
  } else if (key == "reasoning" && seen.first(8, key, fields)) {
    fields.text(value, key, attempt.reasoning);
  }
}

}  // namespace

void read_tau2_side(LazyValue value, const FieldReader& fields, std::optional<Side>& side) {
  std::string text;
  fields.text(value, "requestor", text);
  side = side_of(text);
  if (!side && !text.empty())
    fields.notes().warn("unknown_requestor", "'requestor' is neither 'assistant' nor 'user'",
                        fields.where());
}

bool read_tau2_call(LazyValue value, const FieldReader& fields, ToolCall& call) {
  std::optional<Side> side;
  SeenFields seen;
  call.arguments_are_object = false;
  value.each_member([&](std::string_view key, LazyValue member) {
    if (key == "id") {
      if (seen.first(0, key, fields)) fields.text(member, key, call.id);
    } else if (key == "name") {
      if (seen.first(1, key, fields)) fields.text(member, key, call.name);
    } else if (key == "arguments") {
      if (seen.first(2, key, fields)) read_call_arguments(member, fields, call);
    } else if (key == "requestor") {
      if (seen.first(3, key, fields)) read_tau2_side(member, fields, side);
    }
  });
  if (!seen.has(1))
    fields.notes().warn("call_without_name", "a tool call has no name", fields.where());
  if (side) call.side = *side;
  return side.has_value();
}

void read_tau2_usage(LazyValue value, const FieldReader& fields, std::optional<TokenUsage>& usage) {
  std::optional<std::int64_t> prompt;
  std::optional<std::int64_t> completion;
  value.each_member([&](std::string_view key, LazyValue member) {
    if (key == "prompt_tokens") {
      fields.integer(member, key, prompt);
    } else if (key == "completion_tokens") {
      fields.integer(member, key, completion);
    }
  });
  if (prompt || completion) usage = TokenUsage{prompt.value_or(0), completion.value_or(0)};
}

void read_attempts(LazyValue value, const FieldReader& fields, std::vector<Attempt>& attempts) {
  if (!fields.array(value, "attempts")) return;
  value.each_element([&](LazyValue element) {
    Attempt attempt;
    SeenFields seen;
    element.each_member([&](std::string_view key, LazyValue member) {
      read_attempt_member(key, member, fields, seen, attempt);
    });
    if (!attempt.channel.empty()) {
      attempts.push_back(std::move(attempt));
      return;
    }
    fields.notes().warn("attempt_without_channel",
                        "a refused attempt does not say why it was refused, ignored",
                        fields.where());
  });
}

void read_decision(LazyValue value, const FieldReader& fields, std::string& decision) {
  if (!fields.object(value, "decision")) return;
  const std::string_view text = value.text();
  if (is_json_object(text)) {
    decision = text;
    return;
  }
  fields.notes().warn("unreadable_decision", "the decision of a message is not valid JSON, ignored",
                      fields.where());
}

}  // namespace unmask
