// One simulation of a τ²-bench results file (τ²-bench 1.0,
// tau2/data_model/{simulation,message}.py).
#include "ingest/tau2_episode.h"

#include <array>
#include <utility>

#include "ingest/attempts.h"
#include "ingest/log_records.h"
#include "ingest/offered_tools.h"
#include "ingest/text_hash.h"

namespace unmask {
namespace {

constexpr std::array kTau2Terminations = {
    Termination::AgentStop,       Termination::UserStop,
    Termination::MaxSteps,        Termination::TooManyErrors,
    Termination::Timeout,         Termination::AgentError,
    Termination::UserError,       Termination::InfrastructureError,
    Termination::UnexpectedError, Termination::ContextWindowExceeded,
};

void read_termination(std::string text, Episode& episode) {
  for (const Termination known : kTau2Terminations) {
    if (to_string(known) != text) continue;
    episode.termination = known;
    return;
  }
  episode.termination_text = std::move(text);
}

// Texts in which a call that was not extracted shows.
bool has_call_markup(std::string_view text) {
  if (text.find('<') == std::string_view::npos && text.find('[') == std::string_view::npos)
    return false;
  for (const std::string_view mark : {"<tool_call", "<function=", "<function_call", "[TOOL_CALLS]",
                                      "<|python_tag|>", "<|tool", "<\xEF\xBD\x9Ctool"})
    if (text.find(mark) != std::string_view::npos) return true;
  return false;
}

// A message as it is being read. Members come in any order, so what depends on the role waits.
struct RawMessage {
  std::string role;
  std::string id;
  std::string_view content_token;      // the text as written, within the record
  std::string_view raw_content_token;  // the same in raw_data
  std::string raw_content;             // where raw_data's content is a list of parts
  std::optional<Side> requestor;
  bool error = false;
  Message message;
  std::vector<Message> inner;  // of a MultiToolMessage
  bool is_multiple = false;
  std::vector<bool> sided;  // of message.calls: the call names its requestor
};

void read_call(LazyValue value, const FieldReader& fields, RawMessage& raw) {
  raw.message.calls.emplace_back();
  raw.sided.push_back(read_tau2_call(value, fields, raw.message.calls.back()));
}

// raw_data.choices[0].message, the server's parsed response.
void read_raw_choice(LazyValue choice, const FieldReader& fields, RawMessage& raw) {
  choice.each_member([&](std::string_view key, LazyValue value) {
    if (key != "message") return;
    value.each_member([&](std::string_view name, LazyValue member) {
      if (name == "content") {
        if (member.kind() == LazyKind::String) {
          raw.raw_content_token = member.token();
        } else {
          fields.content(member, "raw_data content", raw.raw_content);
        }
      } else if (name == "tool_calls") {
        int calls = 0;
        member.each_element([&](LazyValue) { ++calls; });
        raw.message.raw_calls = calls;
      }
    });
  });
}

// raw_data.unmask, what our own runs add.
void read_own_data(LazyValue value, const FieldReader& fields, Message& message) {
  if (!fields.object(value, "unmask")) return;
  SeenFields seen;
  value.each_member([&](std::string_view key, LazyValue member) {
    if (key == "attempts" && seen.first(0, key, fields)) {
      read_attempts(member, fields, message.attempts);
    } else if (key == "decision" && seen.first(1, key, fields)) {
      read_decision(member, fields, message.decision);
    } else if (key == "reasoning" && seen.first(2, key, fields)) {
      fields.text(member, key, message.reasoning);
    }
  });
}

void read_raw_data(LazyValue value, const FieldReader& fields, RawMessage& raw) {
  if (value.kind() != LazyKind::Object) return;
  bool own = false;
  value.each_member([&](std::string_view key, LazyValue member) {
    if (key == "unmask" && !own) {
      own = true;
      return read_own_data(member, fields, raw.message);
    }
    if (key != "choices") return;
    bool first = true;
    member.each_element([&](LazyValue choice) {
      if (first) read_raw_choice(choice, fields, raw);
      first = false;
    });
  });
}

void finish_raw_text(RawMessage& raw, Message& message) {
  std::string& text = raw.raw_content;
  if (!raw.raw_content_token.empty()) {
    if (raw.raw_content_token == raw.content_token) {
      if (has_call_markup(message.text)) message.raw_text = message.text;
      return;
    }
    text = unescape_json(raw.raw_content_token);
  }
  if (text != message.text || has_call_markup(text)) message.raw_text = std::move(text);
}

void read_message(LazyValue value, const FieldReader& fields, std::vector<Message>& messages,
                  bool within_multiple);

void read_message_member(std::string_view key, LazyValue value, const FieldReader& fields,
                         RawMessage& raw) {
  if (key == "content") {
    if (value.kind() == LazyKind::String) raw.content_token = value.token();
    fields.content(value, key, raw.message.text);
  } else if (key == "tool_calls") {
    if (fields.array(value, key))
      value.each_element([&](LazyValue call) { read_call(call, fields, raw); });
  } else if (key == "usage") {
    if (fields.object(value, key)) read_tau2_usage(value, fields, raw.message.usage);
  } else if (key == "cost") {
    fields.number(value, key, raw.message.cost_usd);
  } else if (key == "generation_time_seconds") {
    fields.number(value, key, raw.message.seconds);
  } else if (key == "raw_data") {
    read_raw_data(value, fields, raw);
  } else if (key == "role") {
    fields.text(value, key, raw.role);
  } else if (key == "id") {
    fields.text(value, key, raw.id);
  } else if (key == "requestor") {
    read_tau2_side(value, fields, raw.requestor);
  } else if (key == "error") {
    fields.boolean(value, key, raw.error);
  } else if (key == "tool_messages") {
    raw.is_multiple = value.kind() == LazyKind::Array;
    value.each_element([&](LazyValue inner) { read_message(inner, fields, raw.inner, true); });
  }
}

constexpr std::array<std::string_view, 11> kMessageFields = {
    "role",         "content", "tool_calls", "error", "id",
    "requestor",    "usage",   "raw_data",   "cost",  "generation_time_seconds",
    "tool_messages"};

int message_field(std::string_view key) {
  for (std::size_t i = 0; i < kMessageFields.size(); ++i)
    if (kMessageFields[i] == key) return static_cast<int>(i);
  return -1;
}

void add_message(RawMessage&& raw, const FieldReader& fields, std::vector<Message>& messages) {
  Message& message = raw.message;
  if (raw.role == "assistant" || raw.role == "user") {
    message.role = raw.role == "user" ? Role::User : Role::Agent;
    const Side side = raw.role == "user" ? Side::User : Side::Agent;
    for (std::size_t i = 0; i < raw.sided.size(); ++i)
      if (!raw.sided[i]) message.calls[i].side = side;
    message.empty_text = !message.calls.empty() && raw.content_token == "\"\"";
    finish_raw_text(raw, message);
  } else if (raw.role == "system") {
    message.role = Role::System;
  } else if (raw.role == "tool" && raw.is_multiple) {
    for (Message& inner : raw.inner) messages.push_back(std::move(inner));
    return;
  } else if (raw.role == "tool") {
    message.role = Role::Tool;
    ToolResult result;
    result.call_id = std::move(raw.id);
    result.text = std::move(message.text);
    message.text.clear();
    result.failed = raw.error;
    result.side = raw.requestor.value_or(Side::Agent);
    message.result = std::move(result);
  } else {
    fields.notes().warn("unknown_role", "a message has no known role, ignored", fields.where());
    return;
  }
  messages.push_back(std::move(message));
}

void read_message(LazyValue value, const FieldReader& fields, std::vector<Message>& messages,
                  bool within_multiple) {
  if (value.kind() != LazyKind::Object) {
    fields.wrong_type(value, within_multiple ? "tool_messages" : "messages", "a list of objects");
    return;
  }
  RawMessage raw;
  SeenFields seen;
  value.each_member([&](std::string_view key, LazyValue member) {
    const int field = message_field(key);
    if (field < 0 || (within_multiple && key == "tool_messages")) return;
    if (seen.first(field, key, fields)) read_message_member(key, member, fields, raw);
  });
  add_message(std::move(raw), fields, messages);
}

void read_reward(LazyValue value, const FieldReader& fields, Episode& episode) {
  if (!fields.object(value, "reward_info")) return;
  SeenFields seen;
  value.each_member([&](std::string_view key, LazyValue member) {
    if (key == "reward" && seen.first(0, key, fields))
      fields.number(member, "reward", episode.reward);
  });
}

struct SimulationState {
  explicit SimulationState(const LazyRecord& record) : json(&record) {}

  const LazyRecord* json;
  SeenFields seen;
  std::optional<int> trial;
  bool has_messages = false;
  bool has_ticks = false;
};

constexpr std::array<std::string_view, 14> kSimulationFields = {
    "id",          "task_id",  "trial",      "seed",       "termination_reason",
    "reward_info", "messages", "duration",   "agent_cost", "user_cost",
    "policy",      "ticks",    "start_time", "info"};

int simulation_field(std::string_view key) {
  for (std::size_t i = 0; i < kSimulationFields.size(); ++i)
    if (kSimulationFields[i] == key) return static_cast<int>(i);
  return -1;
}

// One policy of tens of kilobytes stands in most simulations of a log, so the last one is known by
// its written form and not decoded again, unless decoding it mended something that counts.
std::string hash_of_policy(LazyValue value, const LazyRecord& json, const FieldReader& fields) {
  thread_local std::string written;
  thread_local std::string hash;
  const bool is_text = value.kind() == LazyKind::String;
  const std::string_view token = is_text ? value.text() : std::string_view();
  if (is_text && token == written) return hash;
  const int mended = json.repairs().escapes;
  std::string policy;
  fields.text(value, "policy", policy);
  hash = text_hash(policy);
  written = json.repairs().escapes == mended ? token : std::string_view();
  return hash;
}

// info.unmask.tools, what our own runs add. Anybody may keep something of theirs in info.
void read_own_info(LazyValue value, const FieldReader& fields, Episode& episode) {
  if (value.kind() != LazyKind::Object) return;
  value.each_member([&](std::string_view owner, LazyValue own) {
    if (owner != "unmask" || own.kind() != LazyKind::Object) return;
    own.each_member([&](std::string_view key, LazyValue member) {
      if (key != "tools" || !fields.object(member, key)) return;
      SeenFields seen;
      member.each_member([&](std::string_view side, LazyValue tools) {
        if (side == "assistant" && seen.first(0, side, fields))
          read_offered_tools(tools, side, fields, episode.agent_tools);
        if (side == "user" && seen.first(1, side, fields))
          read_offered_tools(tools, side, fields, episode.user_tools);
      });
    });
  });
}

void read_member(std::string_view key, LazyValue value, const FieldReader& fields,
                 SimulationState& state, Episode& episode) {
  const int field = simulation_field(key);
  if (field < 0 || !state.seen.first(field, key, fields)) return;
  if (key == "id") {
    fields.label(value, key, episode.id);
  } else if (key == "task_id") {
    fields.label(value, key, episode.task_id);
  } else if (key == "trial") {
    fields.small(value, key, state.trial);
  } else if (key == "seed") {
    fields.integer(value, key, episode.seed);
  } else if (key == "termination_reason") {
    std::string text;
    fields.text(value, key, text);
    read_termination(std::move(text), episode);
  } else if (key == "reward_info") {
    read_reward(value, fields, episode);
  } else if (key == "messages") {
    state.has_messages = fields.array(value, key);
    value.each_element(
        [&](LazyValue message) { read_message(message, fields, episode.messages, false); });
  } else if (key == "duration") {
    fields.number(value, key, episode.duration_seconds);
  } else if (key == "agent_cost") {
    fields.number(value, key, episode.agent_cost_usd);
  } else if (key == "user_cost") {
    fields.number(value, key, episode.user_cost_usd);
  } else if (key == "policy") {
    episode.policy_hash = hash_of_policy(value, *state.json, fields);
  } else if (key == "ticks") {
    state.has_ticks = value.kind() == LazyKind::Array;
  } else if (key == "info") {
    read_own_info(value, fields, episode);
  }
}

}  // namespace

std::optional<Episode> parse_tau2_simulation(std::string_view text, std::string where,
                                             LazyRecord& json, Notes& notes) {
  const FieldReader fields(notes, where);
  Episode episode;
  SimulationState state(json);
  if (!visit_record(json, text, "simulation", fields, [&](std::string_view key, LazyValue value) {
        read_member(key, value, fields, state, episode);
      }))
    return std::nullopt;
  if (episode.task_id.empty()) {
    notes.drop("missing_task_id", "the simulation has no task_id", where);
    return std::nullopt;
  }
  if (!state.has_messages && state.has_ticks) {
    notes.drop(
        "unsupported_ticks",
        "a full-duplex (voice) simulation keeps ticks instead of messages, which are not read",
        where);
    return std::nullopt;
  }
  if (!state.has_messages) notes.warn("missing_messages", "a simulation has no messages", where);
  if (!state.trial) notes.warn("missing_trial", "a simulation has no trial, read as 0", where);
  episode.trial = state.trial.value_or(0);
  episode.success = success_of(episode.reward);
  episode.where = std::move(where);
  return episode;
}

}  // namespace unmask
