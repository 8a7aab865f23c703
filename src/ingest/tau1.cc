// τ-bench v1 results: one list of {task_id, reward, info, traj, trial} (tau_bench/types.py,
// EnvRunResult), messages in OpenAI's shape.
//
// The log names neither model nor domain. The domain is inferred, and a warning says from what:
// the heading of the policy, else the names of the tools called in the first trajectories.
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "ingest/call_arguments.h"
#include "ingest/format.h"
#include "ingest/log_records.h"
#include "ingest/text_hash.h"
#include "trace/known_tools.h"

namespace unmask {
namespace {

constexpr std::string_view kTau1FailureRule =
    "A call failed when its tool message starts with \"Error\" or \"Unknown action\": "
    "the format has no flag.";

bool is_failure(std::string_view text) {
  return text.starts_with("Error") || text.starts_with("Unknown action");
}

void read_function(LazyValue value, const FieldReader& fields, ToolCall& call) {
  SeenFields seen;
  value.each_member([&](std::string_view key, LazyValue member) {
    if (key == "name" && seen.first(0, key, fields)) fields.text(member, key, call.name);
    if (key == "arguments" && seen.first(1, key, fields)) read_call_arguments(member, fields, call);
  });
}

void read_call(LazyValue value, const FieldReader& fields, std::vector<ToolCall>& calls) {
  ToolCall call;
  call.arguments_are_object = false;
  SeenFields seen;
  value.each_member([&](std::string_view key, LazyValue member) {
    if (key == "id" && seen.first(0, key, fields)) fields.text(member, key, call.id);
    if (key == "function" && seen.first(1, key, fields)) read_function(member, fields, call);
  });
  if (call.name.empty())
    fields.notes().warn("call_without_name", "a tool call has no name", fields.where());
  calls.push_back(std::move(call));
}

struct Tau1Message {
  std::string role;
  std::string call_id;
  Message message;
};

void read_message_member(std::string_view key, LazyValue value, const FieldReader& fields,
                         SeenFields& seen, Tau1Message& raw) {
  if (key == "role" && seen.first(0, key, fields)) {
    fields.text(value, key, raw.role);
  } else if (key == "content" && seen.first(1, key, fields)) {
    fields.content(value, key, raw.message.text);
  } else if (key == "tool_call_id" && seen.first(2, key, fields)) {
    fields.text(value, key, raw.call_id);
  } else if (key == "tool_calls" && seen.first(3, key, fields)) {
    if (fields.array(value, key))
      value.each_element([&](LazyValue call) { read_call(call, fields, raw.message.calls); });
  } else if (key == "function_call" && seen.first(4, key, fields)) {
    if (value.kind() != LazyKind::Object) return;
    ToolCall call;
    read_function(value, fields, call);
    raw.message.calls.push_back(std::move(call));
  }
}

void read_message(LazyValue value, const FieldReader& fields, std::vector<Message>& messages) {
  if (!fields.object(value, "traj")) return;
  Tau1Message raw;
  SeenFields seen;
  value.each_member([&](std::string_view key, LazyValue member) {
    read_message_member(key, member, fields, seen, raw);
  });
  Message& message = raw.message;
  if (raw.role == "assistant") {
    message.role = Role::Agent;
  } else if (raw.role == "user") {
    message.role = Role::User;
  } else if (raw.role == "system") {
    message.role = Role::System;
  } else if (raw.role == "tool" || raw.role == "function") {
    message.role = Role::Tool;
    ToolResult result;
    result.call_id = std::move(raw.call_id);
    result.failed = is_failure(message.text);
    result.text = std::move(message.text);
    message.text.clear();
    message.result = std::move(result);
  } else {
    fields.notes().warn("unknown_role", "a message has no known role, ignored", fields.where());
    return;
  }
  messages.push_back(std::move(message));
}

// info.error is what τ-bench writes when the run of the episode raised an exception.
void read_info(LazyValue value, const FieldReader& fields, Episode& episode) {
  if (!fields.object(value, "info")) return;
  value.each_member([&](std::string_view key, LazyValue member) {
    if (key == "user_cost") fields.number(member, key, episode.user_cost_usd);
    if (key == "error") {
      fields.text(member, "info error", episode.termination_text);
      episode.termination = Termination::InfrastructureError;
    }
  });
}

std::optional<Episode> parse_trajectory(std::string_view text, std::string where, LazyRecord& json,
                                        Notes& notes) {
  const FieldReader fields(notes, where);
  Episode episode;
  SeenFields seen;
  std::optional<int> trial;
  bool has_messages = false;
  const auto visit = [&](std::string_view key, LazyValue value) {
    if (key == "task_id" && seen.first(0, key, fields)) {
      fields.label(value, key, episode.task_id);
    } else if (key == "trial" && seen.first(1, key, fields)) {
      fields.small(value, key, trial);
    } else if (key == "reward" && seen.first(2, key, fields)) {
      fields.number(value, key, episode.reward);
    } else if (key == "info" && seen.first(3, key, fields)) {
      read_info(value, fields, episode);
    } else if (key == "traj" && seen.first(4, key, fields)) {
      has_messages = fields.array(value, key);
      value.each_element(
          [&](LazyValue message) { read_message(message, fields, episode.messages); });
    }
  };
  if (!visit_record(json, text, "trajectory", fields, visit)) return std::nullopt;
  if (episode.task_id.empty()) {
    notes.drop("missing_task_id", "the trajectory has no task_id", where);
    return std::nullopt;
  }
  if (!has_messages) notes.warn("missing_messages", "a trajectory has no messages", where);
  if (!trial) notes.warn("missing_trial", "a trajectory has no trial, read as 0", where);
  if (episode.termination == Termination::InfrastructureError)
    notes.warn(
        "crashed_episode",
        "an episode ended in an exception of the harness; it may have been the agent's doing "
        "(arguments that are not JSON raise)",
        where);
  for (const Message& message : episode.messages) {
    if (message.role != Role::System) continue;
    episode.policy_hash = text_hash(message.text);
    break;
  }
  episode.trial = trial.value_or(0);
  episode.success = success_of(episode.reward);
  episode.where = std::move(where);
  return episode;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

constexpr std::array<std::string_view, 2> kDomains = {"airline", "retail"};

// The domain named by the heading of the system prompt: "# Retail agent policy".
std::string_view domain_of_policy(const Episode& episode) {
  for (const Message& message : episode.messages) {
    if (message.role != Role::System) continue;
    const std::string heading = lower_case(message.text.substr(0, message.text.find('\n')));
    for (const std::string_view domain : kDomains)
      if (heading.find(std::string(domain) + " agent policy") != std::string::npos) return domain;
  }
  return "";
}

int calls_known_to(std::string_view domain, const Episode& episode) {
  int known = 0;
  for (const Message& message : episode.messages)
    for (const ToolCall& call : message.calls)
      for (const std::string_view name : known_tools(domain, Side::Agent))
        known += name == call.name;
  return known;
}

// Looks at the first trajectories only; "" when they do not tell.
std::string infer_domain(const Source& source, std::size_t begin, Notes& notes) {
  constexpr int kLookedAt = 20;
  ArrayRecords records(source, begin, "trajectory");
  std::array<int, kDomains.size()> known{};
  PipelineRecord record;
  LazyRecord json;
  for (int i = 0; i < kLookedAt && records.next(record); ++i) {
    Notes ignored;
    const std::optional<Episode> episode = parse_trajectory(record.text, "", json, ignored);
    if (!episode) continue;
    const std::string_view domain = domain_of_policy(*episode);
    if (!domain.empty()) {
      notes.warn("domain_inferred",
                 "the log does not name its domain; '" + std::string(domain) +
                     "' was inferred from the heading of its policy",
                 source.name());
      return std::string(domain);
    }
    for (std::size_t d = 0; d < kDomains.size(); ++d)
      known[d] += calls_known_to(kDomains[d], *episode);
  }
  if (known[0] == known[1]) {
    notes.warn("domain_unknown", "the log does not name its domain and nothing in it tells",
               source.name());
    return "";
  }
  const std::string domain(kDomains[known[0] > known[1] ? 0 : 1]);
  notes.warn("domain_inferred",
             "the log does not name its domain; '" + domain +
                 "' was inferred from the names of the tools called",
             source.name());
  return domain;
}

}  // namespace

bool looks_like_tau1(const Source&, std::string_view head) {
  const std::size_t begin = skip_space(head, 0);
  if (begin >= head.size() || head[begin] != '[') return false;
  return head.find("\"task_id\"") != std::string_view::npos &&
         (head.find("\"traj\"") != std::string_view::npos ||
          head.find("\"reward\"") != std::string_view::npos);
}

Result<IngestReport> read_tau1(const Source& source, const ReadOptions& options,
                               const EpisodeSink& sink) {
  const std::string_view bytes = source.bytes();
  const std::size_t begin = skip_space(bytes, 0);
  if (begin >= bytes.size())
    return Error{ErrorKind::Malformed,
                 source.is_directory() ? "is a folder, a tau1 log is a file" : "is empty",
                 source.name()};
  if (bytes[begin] != '[')
    return Error{ErrorKind::Malformed, "is not a JSON list, as tau1 results are",
                 source.place(begin)};
  Notes notes;
  IngestReport report;
  report.run.info.failure_rule = kTau1FailureRule;
  report.run.info.domain = infer_domain(source, begin, notes);
  ArrayRecords records(source, begin, "trajectory");
  RecordPipeline pipeline;
  pipeline.next = [&](PipelineRecord& record) { return records.next(record); };
  pipeline.parse = [&](const PipelineRecord& record, LazyRecord& json, Notes& found) {
    std::string where = source.name() + ": trajectory " + std::to_string(record.ordinal) +
                        " (byte " + std::to_string(record.offset + source.skipped()) + ")";
    return parse_trajectory(record.text, std::move(where), json, found);
  };
  report.episodes =
      read_log_records(source, options, report.run.info, sink, notes, std::move(pipeline));
  if (records.finish() && skip_space(bytes, records.position()) < bytes.size())
    records.notes().drop("trailing_bytes", "something follows the end of the list",
                         source.place(records.position()));
  notes.append(std::move(records.notes()));
  if (report.episodes == 0 && notes.dropped().empty())
    notes.warn("no_episodes", "the log has no trajectories", source.name());
  report.warnings = notes.take_warnings();
  report.dropped = notes.take_dropped();
  return report;
}

}  // namespace unmask
