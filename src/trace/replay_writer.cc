#include "trace/replay_writer.h"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/json_writer.h"
#include "base/rng.h"

namespace unmask {
namespace {

void put_text(JsonWriter& json, std::string_view name, std::string_view text) {
  if (!text.empty()) json.field(name, text);
}

void put_count(JsonWriter& json, std::string_view name, long value) {
  if (value != 0) json.field(name, value);
}

// A JSON object kept as text.
void put_object(JsonWriter& json, std::string_view name, std::string_view text) {
  if (!text.empty()) json.key(name).raw(text);
}

void put_calls(JsonWriter& json, const std::vector<ToolCall>& calls) {
  if (calls.empty()) return;
  json.key("calls").begin_array();
  for (const ToolCall& call : calls) {
    json.begin_object().field("name", call.name).field("arguments", call.arguments);
    if (!call.arguments_are_object) json.field("arguments_are_object", false);
    json.end_object();
  }
  json.end_array();
}

void put_arm(JsonWriter& json, const ReplayArm& arm) {
  json.begin_object().field("label", arm.label);
  put_text(json, "precision", arm.precision);
  put_text(json, "model", arm.model);
  put_text(json, "settings", arm.settings);
  if (arm.baseline) json.field("baseline", true);
  put_text(json, "repeats", arm.repeats);
  json.end_object();
}

constexpr std::string_view kCheck = ", \"check\": \"";
constexpr std::size_t kDigits = 16;

std::string check_of(std::string_view text) {
  return fmt::format("{:016x}", Rng::hash(text));
}

std::string line_of(JsonWriter& json) {
  json.end_object();
  return json.take() + "\n";
}

}  // namespace

std::string replay_line(const ReplayHead& head) {
  JsonWriter json;
  json.begin_object().field("schema", kReplaySchema).field("kind", "replay");
  put_text(json, "log", head.log);
  put_text(json, "format", head.format);
  put_text(json, "domain", head.domain);
  json.field("seed", head.seed);
  put_text(json, "version", head.version);
  put_text(json, "command", head.command);
  json.field("samples", head.samples).field("greedy", head.greedy);
  json.field("eligible", head.eligible).field("selected", head.selected);
  json.key("arms").begin_array();
  for (const ReplayArm& arm : head.arms) put_arm(json, arm);
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
  put_text(json, "domain", context.domain);
  put_text(json, "task", context.task_id);
  put_count(json, "trial", context.trial);
  put_text(json, "episode", context.episode);
  put_count(json, "message", context.message);
  put_count(json, "attempt", context.attempt);
  put_count(json, "turn", context.turn);
  put_count(json, "turns", context.turns);
  put_count(json, "call_index", context.call_index);
  put_text(json, "tools", context.tools_id);
  put_text(json, "sha256", context.sha256);
  json.key("recorded").begin_object();
  put_text(json, "text", context.recorded_text);
  put_calls(json, context.recorded_calls);
  json.end_object();
  return line_of(json);
}

std::string unchecked_replay_line(const ReplayReply& reply) {
  JsonWriter json;
  json.begin_object().field("kind", "reply").field("context", reply.context_id);
  json.field("arm", reply.arm);
  put_count(json, "sample", reply.sample);
  put_text(json, "text", reply.text);
  put_calls(json, reply.calls);
  put_text(json, "channel", reply.channel);
  put_text(json, "sub_kind", reply.sub_kind);
  put_object(json, "decision", reply.decision);
  if (reply.usage) {
    json.field("prompt_tokens", reply.usage->prompt);
    json.field("completion_tokens", reply.usage->completion);
  }
  if (reply.seconds) json.field("seconds", *reply.seconds);
  put_text(json, "error", reply.error);
  return line_of(json);
}

std::string replay_line(const ReplayReply& reply) {
  std::string line = unchecked_replay_line(reply);
  line.resize(line.size() - 2);  // without "}\n", which come behind the check
  line += fmt::format("{}{}\"}}\n", kCheck, check_of(line));
  return line;
}

std::optional<bool> is_as_written(std::string_view reply_line) {
  constexpr std::string_view kEnd = "\"}";
  const std::size_t length = kCheck.size() + kDigits + kEnd.size();
  // No text can hold this: its quotes would be escaped.
  if (reply_line.find("\"check\":") == std::string_view::npos) return std::nullopt;
  if (reply_line.size() < length || !reply_line.ends_with(kEnd)) return false;
  const std::string_view body = reply_line.substr(0, reply_line.size() - length);
  const std::string_view rest = reply_line.substr(body.size());
  if (!rest.starts_with(kCheck)) return false;
  return rest.substr(kCheck.size(), kDigits) == check_of(body);
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
