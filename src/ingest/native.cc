// unmask's own log, "unmask.log/1" (trace/native_writer.h): a header line, then an episode a line.
#include <array>
#include <utility>

#include "ingest/attempts.h"
#include "ingest/call_arguments.h"
#include "ingest/format.h"
#include "ingest/head_members.h"
#include "ingest/log_records.h"
#include "ingest/offered_tools.h"

namespace unmask {
namespace {

constexpr std::string_view kSchema = "unmask.log/1";
constexpr std::string_view kSchemaFamily = "unmask.log/";

constexpr std::array kNativeTerminations = {
    Termination::AgentStop,       Termination::UserStop,
    Termination::MaxSteps,        Termination::TooManyErrors,
    Termination::Timeout,         Termination::AgentError,
    Termination::UserError,       Termination::InfrastructureError,
    Termination::UnexpectedError, Termination::ContextWindowExceeded,
    Termination::Unknown,
};

template <typename Enum, std::size_t N>
void read_enumerator(LazyValue value, std::string_view field, const std::array<Enum, N>& known,
                     const FieldReader& fields, Enum& out) {
  std::string text;
  fields.text(value, field, text);
  for (const Enum candidate : known) {
    if (to_string(candidate) != text) continue;
    out = candidate;
    return;
  }
  if (!text.empty())
    fields.notes().warn("unknown_word",
                        "'" + std::string(field) + "' has an unknown value, ignored",
                        fields.where());
}

void read_side(LazyValue value, const FieldReader& fields, Side& side) {
  read_enumerator(value, "side", std::array{Side::Agent, Side::User}, fields, side);
}

ToolCall read_call(LazyValue value, const FieldReader& fields) {
  ToolCall call;
  SeenFields seen;
  value.each_member([&](std::string_view key, LazyValue member) {
    if (key == "id" && seen.first(0, key, fields)) fields.text(member, key, call.id);
    if (key == "name" && seen.first(1, key, fields)) fields.text(member, key, call.name);
    if (key == "arguments" && seen.first(2, key, fields)) fields.text(member, key, call.arguments);
    if (key == "arguments_are_object" && seen.first(3, key, fields))
      fields.boolean(member, key, call.arguments_are_object);
    if (key == "parse_error" && seen.first(4, key, fields))
      fields.text(member, key, call.parse_error);
    if (key == "side" && seen.first(5, key, fields)) read_side(member, fields, call.side);
  });
  if (call.arguments_are_object && !is_json_object(call.arguments)) {
    call.arguments_are_object = false;
    fields.notes().warn("unreadable_arguments", "the arguments of a call are not valid JSON",
                        fields.where());
  }
  return call;
}

ToolResult read_result(LazyValue value, const FieldReader& fields) {
  ToolResult result;
  SeenFields seen;
  value.each_member([&](std::string_view key, LazyValue member) {
    if (key == "call_id" && seen.first(0, key, fields)) fields.text(member, key, result.call_id);
    if (key == "text" && seen.first(1, key, fields)) fields.text(member, key, result.text);
    if (key == "failed" && seen.first(2, key, fields)) fields.boolean(member, key, result.failed);
    if (key == "error_type" && seen.first(3, key, fields))
      fields.text(member, key, result.error_type);
    if (key == "side" && seen.first(4, key, fields)) read_side(member, fields, result.side);
  });
  return result;
}

TokenUsage read_usage(LazyValue value, const FieldReader& fields) {
  std::optional<std::int64_t> prompt;
  std::optional<std::int64_t> completion;
  value.each_member([&](std::string_view key, LazyValue member) {
    if (key == "prompt") fields.integer(member, key, prompt);
    if (key == "completion") fields.integer(member, key, completion);
  });
  return {prompt.value_or(0), completion.value_or(0)};
}

void read_message_member(std::string_view key, LazyValue value, const FieldReader& fields,
                         SeenFields& seen, Message& message) {
  if (key == "role" && seen.first(0, key, fields)) {
    read_enumerator(value, key, std::array{Role::System, Role::Agent, Role::User, Role::Tool},
                    fields, message.role);
  } else if (key == "text" && seen.first(1, key, fields)) {
    fields.text(value, key, message.text);
  } else if (key == "calls" && seen.first(2, key, fields)) {
    if (fields.array(value, key))
      value.each_element([&](LazyValue call) { message.calls.push_back(read_call(call, fields)); });
  } else if (key == "result" && seen.first(3, key, fields)) {
    if (fields.object(value, key)) message.result = read_result(value, fields);
  } else if (key == "raw_text" && seen.first(4, key, fields)) {
    fields.text(value, key, message.raw_text);
  } else if (key == "raw_calls" && seen.first(5, key, fields)) {
    fields.small(value, key, message.raw_calls);
  } else if (key == "usage" && seen.first(6, key, fields)) {
    if (fields.object(value, key)) message.usage = read_usage(value, fields);
  } else if (key == "cost_usd" && seen.first(7, key, fields)) {
    fields.number(value, key, message.cost_usd);
  } else if (key == "seconds" && seen.first(8, key, fields)) {
    fields.number(value, key, message.seconds);
  } else if (key == "raw_data" && seen.first(9, key, fields)) {
    fields.text(value, key, message.raw_data);
  } else if (key == "attempts" && seen.first(10, key, fields)) {
    read_attempts(value, fields, message.attempts);
  } else if (key == "decision" && seen.first(11, key, fields)) {
    read_decision(value, fields, message.decision);
  } else if (key == "empty_text" && seen.first(12, key, fields)) {
    fields.boolean(value, key, message.empty_text);
  } else if (key == "reasoning" && seen.first(13, key, fields)) {
    fields.text(value, key, message.reasoning);
  }
}

void read_message(LazyValue value, const FieldReader& fields, std::vector<Message>& messages) {
  if (!fields.object(value, "messages")) return;
  Message message;
  SeenFields seen;
  value.each_member([&](std::string_view key, LazyValue member) {
    read_message_member(key, member, fields, seen, message);
  });
  const bool is_tool = message.role == Role::Tool;
  if (is_tool != message.result.has_value()) {
    fields.notes().warn("inconsistent_message",
                        "a message has a result without being the tool's, or the reverse, ignored",
                        fields.where());
    return;
  }
  messages.push_back(std::move(message));
}

struct EpisodeState {
  SeenFields seen;
  Episode episode;
  std::optional<int> trial;
  bool success_stated = false;
};

void read_outcome_member(std::string_view key, LazyValue value, const FieldReader& fields,
                         EpisodeState& state) {
  Episode& episode = state.episode;
  if (key == "termination" && state.seen.first(20, key, fields)) {
    read_enumerator(value, key, kNativeTerminations, fields, episode.termination);
  } else if (key == "termination_text" && state.seen.first(21, key, fields)) {
    fields.text(value, key, episode.termination_text);
  } else if (key == "reward" && state.seen.first(22, key, fields)) {
    fields.number(value, key, episode.reward);
  } else if (key == "success" && state.seen.first(23, key, fields)) {
    bool success = false;
    fields.boolean(value, key, success);
    if (value.kind() == LazyKind::Bool) episode.success = success;
  } else if (key == "duration_seconds" && state.seen.first(24, key, fields)) {
    fields.number(value, key, episode.duration_seconds);
  } else if (key == "agent_cost_usd" && state.seen.first(25, key, fields)) {
    fields.number(value, key, episode.agent_cost_usd);
  } else if (key == "user_cost_usd" && state.seen.first(26, key, fields)) {
    fields.number(value, key, episode.user_cost_usd);
  } else if (key == "reward_info" && state.seen.first(27, key, fields)) {
    fields.text(value, key, episode.reward_info);
  } else if (key == "grade_evidence" && state.seen.first(28, key, fields)) {
    fields.text(value, key, episode.grade_evidence);
  }
}

void read_episode_member(std::string_view key, LazyValue value, const FieldReader& fields,
                         EpisodeState& state) {
  Episode& episode = state.episode;
  if (key == "id" && state.seen.first(0, key, fields)) {
    fields.text(value, key, episode.id);
  } else if (key == "task_id" && state.seen.first(1, key, fields)) {
    fields.label(value, key, episode.task_id);
  } else if (key == "domain" && state.seen.first(2, key, fields)) {
    fields.text(value, key, episode.domain);
  } else if (key == "trial" && state.seen.first(3, key, fields)) {
    fields.small(value, key, state.trial);
  } else if (key == "seed" && state.seen.first(4, key, fields)) {
    fields.integer(value, key, episode.seed);
  } else if (key == "messages" && state.seen.first(5, key, fields)) {
    if (fields.array(value, key))
      value.each_element(
          [&](LazyValue message) { read_message(message, fields, episode.messages); });
  } else if (key == "agent_tools" && state.seen.first(6, key, fields)) {
    read_offered_tools(value, key, fields, episode.agent_tools);
  } else if (key == "user_tools" && state.seen.first(7, key, fields)) {
    read_offered_tools(value, key, fields, episode.user_tools);
  } else if (key == "model" && state.seen.first(8, key, fields)) {
    fields.text(value, key, episode.model);
  } else if (key == "policy_hash" && state.seen.first(9, key, fields)) {
    fields.text(value, key, episode.policy_hash);
  } else if (key == "where" && state.seen.first(10, key, fields)) {
    fields.text(value, key, episode.where);
  } else {
    read_outcome_member(key, value, fields, state);
  }
}

std::optional<Episode> parse_episode(const PipelineRecord& record, const std::string& where,
                                     LazyRecord& json, Notes& notes) {
  const FieldReader fields(notes, where);
  EpisodeState state;
  const auto visit = [&](std::string_view key, LazyValue value) {
    read_episode_member(key, value, fields, state);
  };
  if (!visit_record(json, record.text, "episode", fields, visit, record.cut)) return std::nullopt;
  if (state.episode.task_id.empty()) {
    notes.drop("missing_task_id", "the episode has no task_id", where);
    return std::nullopt;
  }
  state.episode.trial = state.trial.value_or(0);
  if (state.episode.where.empty()) state.episode.where = where;
  return std::move(state.episode);
}

void read_header_text(std::string_view key, LazyValue value, const FieldReader& fields,
                      SeenFields& seen, RunInfo& info) {
  const std::array<std::pair<std::string_view, std::string*>, 12> texts = {{
      {"format", &info.format},
      {"domain", &info.domain},
      {"model", &info.model},
      {"user_model", &info.user_model},
      {"agent_implementation", &info.agent_implementation},
      {"user_implementation", &info.user_implementation},
      {"agent_settings", &info.agent_settings},
      {"user_settings", &info.user_settings},
      {"git_commit", &info.git_commit},
      {"timestamp", &info.timestamp},
      {"policy_hash", &info.policy_hash},
      {"failure_rule", &info.failure_rule},
  }};
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (key == texts[i].first && seen.first(static_cast<int>(i), key, fields))
      fields.text(value, key, *texts[i].second);
}

void read_header_member(std::string_view key, LazyValue value, const FieldReader& fields,
                        SeenFields& seen, RunInfo& info) {
  if (key == "seed" && seen.first(20, key, fields)) {
    fields.integer(value, key, info.seed);
  } else if (key == "num_trials" && seen.first(21, key, fields)) {
    fields.small(value, key, info.num_trials);
  } else if (key == "max_steps" && seen.first(22, key, fields)) {
    fields.small(value, key, info.max_steps);
  } else if (key == "max_errors" && seen.first(23, key, fields)) {
    fields.small(value, key, info.max_errors);
  } else if (key == "task_ids" && seen.first(24, key, fields)) {
    if (fields.array(value, key))
      value.each_element([&](LazyValue id) {
        std::string text;
        fields.label(id, "task_ids", text);
        info.task_ids.push_back(std::move(text));
      });
  } else {
    read_header_text(key, value, fields, seen, info);
  }
}

// Reads the header line. The error, when it is none of ours.
std::optional<Error> read_header(const LineRecords::Line& line, const Source& source, RunInfo& info,
                                 Notes& notes) {
  const std::string where = source.name() + ":" + std::to_string(line.number);
  const FieldReader fields(notes, where);
  LazyRecord json;
  SeenFields seen;
  std::string schema;
  const bool read =
      visit_record(json, line.text, "header", fields, [&](std::string_view key, LazyValue value) {
        if (key == "schema") {
          fields.text(value, key, schema);
        } else {
          read_header_member(key, value, fields, seen, info);
        }
      });
  if (!read) return Error{ErrorKind::Malformed, notes.dropped().back().reason, where};
  if (schema == kSchema) return std::nullopt;
  if (schema.starts_with(kSchemaFamily))
    return Error{ErrorKind::Unsupported,
                 "is a log of schema '" + schema + "', this program reads " + std::string(kSchema),
                 where};
  return Error{ErrorKind::Malformed,
               "the first line has no \"schema\": \"" + std::string(kSchema) + "\"", where};
}

}  // namespace

bool looks_like_native(const Source&, std::string_view head) {
  const std::size_t begin = std::min(skip_space(head, 0), head.size());
  const std::string_view first = head.substr(begin, head.find('\n', begin) - begin);
  const std::optional<std::vector<HeadMember>> members = head_members(first);
  if (!members) return false;
  const HeadMember* const schema = find_member(*members, "schema");
  return schema != nullptr && schema->value.find(kSchemaFamily) != std::string_view::npos;
}

Result<IngestReport> read_native(const Source& source, const ReadOptions& options,
                                 const EpisodeSink& sink) {
  LineRecords lines(source);
  const std::optional<LineRecords::Line> header = lines.next();
  if (!header)
    return Error{ErrorKind::Malformed,
                 source.is_directory() ? "is a folder, a native log is a file" : "is empty",
                 source.name()};
  IngestReport report;
  Notes notes;
  if (std::optional<Error> error = read_header(*header, source, report.run.info, notes))
    return *error;
  RecordPipeline pipeline;
  pipeline.next = [&](PipelineRecord& record) {
    const std::optional<LineRecords::Line> line = lines.next();
    if (!line) return false;
    record.text = line->text;
    record.offset = line->offset;
    record.line = line->number;
    record.cut = line->last;
    return true;
  };
  pipeline.parse = [&](const PipelineRecord& record, LazyRecord& json, Notes& found) {
    return parse_episode(record, source.name() + ":" + std::to_string(record.line), json, found);
  };
  report.episodes =
      read_log_records(source, options, report.run.info, sink, notes, std::move(pipeline));
  report.warnings = notes.take_warnings();
  report.dropped = notes.take_dropped();
  return report;
}

}  // namespace unmask
