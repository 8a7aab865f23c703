#include "trace/native_writer.h"

#include "base/file.h"
#include "base/json_writer.h"
#include "trace/attempt_json.h"

namespace unmask {
namespace {

void write_text(JsonWriter& json, std::string_view name, std::string_view text) {
  if (!text.empty()) json.field(name, text);
}

template <typename T>
void write_optional(JsonWriter& json, std::string_view name, const std::optional<T>& value) {
  if (value) json.field(name, *value);
}

void write_tools(JsonWriter& json, std::string_view name,
                 const std::optional<std::vector<OfferedTool>>& tools) {
  if (!tools) return;
  json.key(name).begin_array();
  for (const OfferedTool& tool : *tools) {
    json.begin_object().field("name", tool.name);
    write_text(json, "schema", tool.schema);
    write_text(json, "definition", tool.definition);
    json.end_object();
  }
  json.end_array();
}

void write_call(JsonWriter& json, const ToolCall& call) {
  json.begin_object();
  write_text(json, "id", call.id);
  json.field("name", call.name).field("arguments", call.arguments);
  if (!call.arguments_are_object) json.field("arguments_are_object", false);
  write_text(json, "parse_error", call.parse_error);
  if (call.side != Side::Agent) json.field("side", to_string(call.side));
  json.end_object();
}

void write_result(JsonWriter& json, const ToolResult& result) {
  json.key("result").begin_object();
  write_text(json, "call_id", result.call_id);
  json.field("text", result.text);
  if (result.failed) json.field("failed", true);
  write_text(json, "error_type", result.error_type);
  if (result.side != Side::Agent) json.field("side", to_string(result.side));
  json.end_object();
}

void write_message(JsonWriter& json, const Message& message) {
  json.begin_object().field("role", to_string(message.role));
  write_text(json, "text", message.text);
  if (message.empty_text) json.field("empty_text", true);
  if (!message.calls.empty()) {
    json.key("calls").begin_array();
    for (const ToolCall& call : message.calls) write_call(json, call);
    json.end_array();
  }
  if (message.result) write_result(json, *message.result);
  write_text(json, "raw_text", message.raw_text);
  write_optional(json, "raw_calls", message.raw_calls);
  write_text(json, "raw_data", message.raw_data);
  write_text(json, "reasoning", message.reasoning);
  if (!message.attempts.empty()) json.key("attempts").raw(attempts_json(message.attempts));
  if (!message.decision.empty()) json.key("decision").raw(message.decision);
  if (message.usage) {
    json.key("usage").begin_object();
    json.field("prompt", message.usage->prompt).field("completion", message.usage->completion);
    json.end_object();
  }
  write_optional(json, "cost_usd", message.cost_usd);
  write_optional(json, "seconds", message.seconds);
  json.end_object();
}

}  // namespace

std::string native_header(const RunInfo& info) {
  JsonWriter json;
  json.begin_object().field("schema", kNativeSchema);
  write_text(json, "format", info.format);
  write_text(json, "domain", info.domain);
  write_text(json, "model", info.model);
  write_text(json, "user_model", info.user_model);
  write_text(json, "agent_implementation", info.agent_implementation);
  write_text(json, "user_implementation", info.user_implementation);
  write_text(json, "agent_settings", info.agent_settings);
  write_text(json, "user_settings", info.user_settings);
  write_text(json, "git_commit", info.git_commit);
  write_text(json, "timestamp", info.timestamp);
  write_text(json, "policy_hash", info.policy_hash);
  write_optional(json, "seed", info.seed);
  write_optional(json, "num_trials", info.num_trials);
  write_optional(json, "max_steps", info.max_steps);
  write_optional(json, "max_errors", info.max_errors);
  write_text(json, "failure_rule", info.failure_rule);
  if (!info.task_ids.empty()) {
    json.key("task_ids").begin_array();
    for (const std::string& id : info.task_ids) json.value(id);
    json.end_array();
  }
  json.end_object();
  return json.take() + "\n";
}

std::string native_episode(const Episode& episode) {
  JsonWriter json;
  json.begin_object();
  write_text(json, "id", episode.id);
  json.field("task_id", episode.task_id);
  write_text(json, "domain", episode.domain);
  json.field("trial", episode.trial);
  write_optional(json, "seed", episode.seed);
  json.field("termination", to_string(episode.termination));
  write_text(json, "termination_text", episode.termination_text);
  write_optional(json, "reward", episode.reward);
  write_optional(json, "success", episode.success);
  write_text(json, "reward_info", episode.reward_info);
  write_text(json, "grade_evidence", episode.grade_evidence);
  json.key("messages").begin_array();
  for (const Message& message : episode.messages) write_message(json, message);
  json.end_array();
  write_tools(json, "agent_tools", episode.agent_tools);
  write_tools(json, "user_tools", episode.user_tools);
  write_optional(json, "duration_seconds", episode.duration_seconds);
  write_optional(json, "agent_cost_usd", episode.agent_cost_usd);
  write_optional(json, "user_cost_usd", episode.user_cost_usd);
  write_text(json, "model", episode.model);
  write_text(json, "policy_hash", episode.policy_hash);
  write_text(json, "where", episode.where);
  json.end_object();
  return json.take() + "\n";
}

std::string write_native(const Run& run) {
  std::string out = native_header(run.info);
  for (const Episode& episode : run.episodes) out += native_episode(episode);
  return out;
}

Result<Done> write_native_file(const Run& run, const std::string& path) {
  return write_file(path, write_native(run));
}

}  // namespace unmask
