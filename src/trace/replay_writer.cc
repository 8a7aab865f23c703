#include "trace/replay_writer.h"

#include <map>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/json_writer.h"

namespace unmask {
namespace {

void write_text(JsonWriter& json, std::string_view name, std::string_view text) {
  if (!text.empty()) json.field(name, text);
}

void write_count(JsonWriter& json, std::string_view name, long value) {
  if (value != 0) json.field(name, value);
}

// A JSON object kept as text.
void write_object(JsonWriter& json, std::string_view name, std::string_view text) {
  if (!text.empty()) json.key(name).raw(text);
}

void write_calls(JsonWriter& json, const std::vector<ToolCall>& calls) {
  if (calls.empty()) return;
  json.key("calls").begin_array();
  for (const ToolCall& call : calls) {
    json.begin_object().field("name", call.name).field("arguments", call.arguments);
    if (!call.arguments_are_object) json.field("arguments_are_object", false);
    json.end_object();
  }
  json.end_array();
}

void write_arm(JsonWriter& json, const ReplayArm& arm) {
  json.begin_object().field("label", arm.label);
  write_text(json, "precision", arm.precision);
  write_text(json, "model", arm.model);
  write_text(json, "settings", arm.settings);
  if (arm.baseline) json.field("baseline", true);
  write_text(json, "repeats", arm.repeats);
  json.end_object();
}

std::string line_of(JsonWriter& json) {
  json.end_object();
  return json.take() + "\n";
}

}  // namespace

std::string replay_line(const ReplayHead& head) {
  JsonWriter json;
  json.begin_object().field("schema", kReplaySchema).field("kind", "replay");
  write_text(json, "log", head.log);
  write_text(json, "format", head.format);
  write_text(json, "domain", head.domain);
  json.field("seed", head.seed);
  write_text(json, "version", head.version);
  write_text(json, "command", head.command);
  json.field("samples", head.samples).field("greedy", head.greedy);
  json.field("eligible", head.eligible).field("selected", head.selected);
  json.key("arms").begin_array();
  for (const ReplayArm& arm : head.arms) write_arm(json, arm);
  json.end_array();
  return line_of(json);
}

std::string replay_line(const ReplayTools& tools) {
  JsonWriter json;
  json.begin_object().field("kind", "tools").field("id", tools.id);
  json.key("names").begin_array();
  for (const std::string& name : tools.names) json.value(name);
  json.end_array();
  return line_of(json);
}

std::string replay_line(const ReplayContext& context) {
  JsonWriter json;
  json.begin_object().field("kind", "context").field("id", context.id);
  write_text(json, "domain", context.domain);
  write_text(json, "task", context.task_id);
  write_count(json, "trial", context.trial);
  write_text(json, "episode", context.episode);
  write_count(json, "message", context.message);
  write_count(json, "attempt", context.attempt);
  write_count(json, "turn", context.turn);
  write_count(json, "turns", context.turns);
  write_count(json, "call_index", context.call_index);
  write_text(json, "tools", context.tools_id);
  write_text(json, "sha256", context.sha256);
  json.key("recorded").begin_object();
  write_text(json, "text", context.recorded_text);
  write_calls(json, context.recorded_calls);
  json.end_object();
  return line_of(json);
}

std::string replay_line(const ReplayReply& reply) {
  JsonWriter json;
  json.begin_object().field("kind", "reply").field("context", reply.context_id);
  json.field("arm", reply.arm);
  write_count(json, "sample", reply.sample);
  write_text(json, "text", reply.text);
  write_calls(json, reply.calls);
  write_text(json, "channel", reply.channel);
  write_text(json, "sub_kind", reply.sub_kind);
  write_object(json, "decision", reply.decision);
  if (reply.usage) {
    json.field("prompt_tokens", reply.usage->prompt);
    json.field("completion_tokens", reply.usage->completion);
  }
  if (reply.seconds) json.field("seconds", *reply.seconds);
  write_text(json, "error", reply.error);
  return line_of(json);
}

std::string write_replay(const Replay& replay) {
  std::map<std::string_view, std::string> tools;  // lines that are still to be written
  for (const ReplayTools& each : replay.tools) tools.emplace(each.id, replay_line(each));
  std::map<std::string_view, std::vector<const ReplayReply*>> replies;
  for (const ReplayReply& reply : replay.replies) replies[reply.context_id].push_back(&reply);
  std::string out = replay_line(replay.head);
  for (const ReplayContext& context : replay.contexts) {
    const auto offered = tools.find(context.tools_id);
    if (offered != tools.end()) {
      out += offered->second;
      tools.erase(offered);
    }
    out += replay_line(context);
    for (const ReplayReply* reply : replies[context.id]) out += replay_line(*reply);
  }
  return out;
}

Result<Done> write_replay_file(const Replay& replay, const std::string& path) {
  return write_file(path, write_replay(replay));
}

}  // namespace unmask
