#include "ingest/replay.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "ingest/call_arguments.h"
#include "ingest/decision.h"
#include "ingest/log_records.h"
#include "trace/replay_writer.h"

namespace unmask {
namespace {

constexpr std::string_view kFamily = "unmask.replay/";

using Member = std::pair<std::string_view, std::string*>;

// True when `key` is one of `members`, whose text is then read.
bool read_text_of(std::string_view key, LazyValue value, std::span<const Member> members,
                  const FieldReader& fields) {
  for (const Member& member : members) {
    if (member.first != key) continue;
    fields.text(value, key, *member.second);
    return true;
  }
  return false;
}

void read_int(std::string_view key, LazyValue value, const FieldReader& fields, int& out) {
  std::optional<int> number;
  fields.small(value, key, number);
  if (number) out = *number;
}

void read_count(std::string_view key, LazyValue value, const FieldReader& fields, long& out) {
  std::optional<std::int64_t> number;
  fields.integer(value, key, number);
  if (number) out = static_cast<long>(std::max<std::int64_t>(0, *number));
}

std::vector<ToolCall> read_calls(std::string_view key, LazyValue value, const FieldReader& fields) {
  std::vector<ToolCall> calls;
  if (!fields.array(value, key)) return calls;
  value.each_element([&](LazyValue element) {
    if (!fields.object(element, key)) return;
    ToolCall call;
    bool stated = true;
    element.each_member([&](std::string_view member, LazyValue field) {
      if (member == "name") fields.text(field, member, call.name);
      if (member == "arguments") read_call_arguments(field, fields, call);
      if (member == "arguments_are_object") fields.boolean(field, member, stated);
    });
    if (!stated) call.arguments_are_object = false;
    calls.push_back(std::move(call));
  });
  return calls;
}

ReplayArm read_arm(LazyValue value, const FieldReader& fields) {
  ReplayArm arm;
  if (!fields.object(value, "arms")) return arm;
  value.each_member([&](std::string_view key, LazyValue member) {
    if (key == "settings") {
      if (member.kind() == LazyKind::Object)
        arm.settings = member.text();
      else
        fields.text(member, key, arm.settings);
      return;
    }
    if (key == "baseline") return fields.boolean(member, key, arm.baseline);
    const std::array<Member, 4> texts = {{{"label", &arm.label},
                                          {"precision", &arm.precision},
                                          {"model", &arm.model},
                                          {"repeats", &arm.repeats}}};
    read_text_of(key, member, texts, fields);
  });
  return arm;
}

struct Line {
  std::string schema;
  std::string kind;
};

void read_head_member(std::string_view key, LazyValue value, const FieldReader& fields, Line& line,
                      ReplayHead& head) {
  const std::array<Member, 7> texts = {{{"schema", &line.schema},
                                        {"kind", &line.kind},
                                        {"log", &head.log},
                                        {"format", &head.format},
                                        {"domain", &head.domain},
                                        {"version", &head.version},
                                        {"command", &head.command}}};
  if (read_text_of(key, value, texts, fields)) return;
  if (key == "seed") {
    std::optional<std::int64_t> seed;
    fields.integer(value, key, seed);
    if (seed) head.seed = static_cast<std::uint64_t>(*seed);
  } else if (key == "samples") {
    read_int(key, value, fields, head.samples);
  } else if (key == "greedy") {
    fields.boolean(value, key, head.greedy);
  } else if (key == "eligible") {
    read_count(key, value, fields, head.eligible);
  } else if (key == "selected") {
    read_count(key, value, fields, head.selected);
  } else if (key == "arms" && fields.array(value, key)) {
    value.each_element([&](LazyValue element) { head.arms.push_back(read_arm(element, fields)); });
  }
}

std::optional<Error> check_head(const Line& line, const ReplayHead& head,
                                const std::string& where) {
  if (line.schema != kReplaySchema) {
    if (line.schema.starts_with(kFamily))
      return Error{ErrorKind::Unsupported,
                   "is a replay of schema '" + line.schema + "', this program reads " +
                       std::string(kReplaySchema),
                   where};
    return Error{ErrorKind::Malformed,
                 "the first line has no \"schema\": \"" + std::string(kReplaySchema) +
                     "\": it is no replay of decisions",
                 where};
  }
  if (head.arms.empty()) return Error{ErrorKind::Malformed, "the replay names no arm", where};
  std::set<std::string> labels;
  for (const ReplayArm& arm : head.arms)
    if (arm.label.empty() || !labels.insert(arm.label).second)
      return Error{ErrorKind::Malformed,
                   arm.label.empty() ? "an arm of the replay has no label"
                                     : "two arms of the replay are called '" + arm.label + "'",
                   where};
  const auto baselines = std::count_if(head.arms.begin(), head.arms.end(),
                                       [](const ReplayArm& arm) { return arm.baseline; });
  if (baselines != 1)
    return Error{ErrorKind::Malformed,
                 "the replay has " + std::to_string(baselines) + " baselines, not one", where};
  const auto baseline = std::find_if(head.arms.begin(), head.arms.end(),
                                     [](const ReplayArm& arm) { return arm.baseline; });
  for (const ReplayArm& arm : head.arms)
    if (!arm.repeats.empty() && (arm.baseline || arm.repeats != baseline->label))
      return Error{ErrorKind::Malformed,
                   "the arm '" + arm.label + "' says it repeats '" + arm.repeats +
                       "'; only the baseline is repeated, by another arm",
                   where};
  return std::nullopt;
}

// A line of any kind but the first: every member it may have, put where its kind wants it once it
// is whole.
struct Body {
  Line line;
  std::string id;
  ReplayTools tools;
  ReplayContext context;
  ReplayReply reply;
  std::optional<std::int64_t> prompt_tokens;
  std::optional<std::int64_t> completion_tokens;
};

void read_recorded(std::string_view key, LazyValue value, const FieldReader& fields,
                   ReplayContext& context) {
  if (!fields.object(value, key)) return;
  value.each_member([&](std::string_view member, LazyValue field) {
    if (member == "text") fields.text(field, member, context.recorded_text);
    if (member == "calls") context.recorded_calls = read_calls(member, field, fields);
  });
}

// Members of a context, but those that a reply has as well.
void read_context_member(std::string_view key, LazyValue value, const FieldReader& fields,
                         ReplayContext& context) {
  const std::array<Member, 4> texts = {{{"domain", &context.domain},
                                        {"episode", &context.episode},
                                        {"tools", &context.tools_id},
                                        {"sha256", &context.sha256}}};
  if (read_text_of(key, value, texts, fields)) return;
  if (key == "task") return fields.label(value, key, context.task_id);
  if (key == "trial") return read_int(key, value, fields, context.trial);
  if (key == "message") return read_int(key, value, fields, context.message);
  if (key == "attempt") return read_int(key, value, fields, context.attempt);
  if (key == "turn") return read_int(key, value, fields, context.turn);
  if (key == "turns") return read_int(key, value, fields, context.turns);
  if (key == "call_index") return read_int(key, value, fields, context.call_index);
  if (key == "recorded") read_recorded(key, value, fields, context);
}

void read_reply_member(std::string_view key, LazyValue value, const FieldReader& fields,
                       Body& body) {
  ReplayReply& reply = body.reply;
  const std::array<Member, 6> texts = {{{"context", &reply.context_id},
                                        {"arm", &reply.arm},
                                        {"text", &reply.text},
                                        {"channel", &reply.channel},
                                        {"sub_kind", &reply.sub_kind},
                                        {"error", &reply.error}}};
  if (read_text_of(key, value, texts, fields)) return;
  if (key == "sample") return read_int(key, value, fields, reply.sample);
  if (key == "seconds") return fields.number(value, key, reply.seconds);
  if (key == "prompt_tokens") return fields.integer(value, key, body.prompt_tokens);
  if (key == "completion_tokens") return fields.integer(value, key, body.completion_tokens);
  if (key == "calls") {
    reply.calls = read_calls(key, value, fields);
  } else if (key == "decision" && fields.object(value, key)) {
    reply.decision = value.text();
  }
}

void read_body_member(std::string_view key, LazyValue value, const FieldReader& fields,
                      Body& body) {
  if (key == "kind") return fields.text(value, key, body.line.kind);
  if (key == "id") return fields.label(value, key, body.id);
  if (key == "names" && fields.array(value, key))
    return value.each_element([&](LazyValue element) {
      std::string name;
      fields.text(element, "names", name);
      body.tools.names.push_back(std::move(name));
    });
  // "kind" stands first in what the program writes, so the members are known to be whose they are;
  // elsewhere a line of a context costs a look at the members of a reply.
  if (body.line.kind == "reply") return read_reply_member(key, value, fields, body);
  if (body.line.kind == "context") return read_context_member(key, value, fields, body.context);
}

using Names = std::unordered_set<std::string>;

// The channel that the calls alone show, by the rules of failure/call_check.h, which know the
// schemas as well. empty: none.
struct ShownFault {
  std::size_t call = 0;
  std::string_view channel;
};

ShownFault shown_fault(const std::vector<ToolCall>& calls, const Names& offered) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!calls[i].arguments_are_object) return {i, "malformed"};
    if (offered.count(calls[i].name) == 0) return {i, "tool_name"};
  }
  return {calls.size(), ""};
}

// Whether the channel of a reply can be, given its calls: the one they show, a schema that a call
// before that one breaks, or, where they show none, markup that leaked into the text.
bool channel_can_be(const ReplayReply& reply, const Names& offered) {
  const ShownFault shown = shown_fault(reply.calls, offered);
  if (reply.channel == shown.channel) return true;
  if (reply.channel == "schema") return shown.call > 0;
  return shown.channel.empty() && reply.channel == "malformed";
}

class ReplayReader {
 public:
  explicit ReplayReader(const Source& source) : source_(source), lines_(source) {}

  Result<ReplayReport> read() {
    const std::optional<LineRecords::Line> head = lines_.next();
    if (!head)
      return Error{ErrorKind::Malformed,
                   source_.is_directory() ? "is a folder, a replay is a file" : "is empty",
                   source_.name()};
    if (std::optional<Error> error = read_head(*head)) return *error;
    for (const ReplayArm& arm : report_.replay.head.arms) arms_.insert(arm.label);
    while (const std::optional<LineRecords::Line> line = lines_.next()) read_line(*line);
    note_replies_without_check();
    if (source_.damage())
      notes_.drop(source_.damage()->code, source_.damage()->reason, source_.damage()->where);
    report_.warnings = notes_.take_warnings();
    report_.dropped = notes_.take_dropped();
    return std::move(report_);
  }

 private:
  std::string where(const LineRecords::Line& line) const {
    return source_.name() + ":" + std::to_string(line.number);
  }

  std::optional<Error> read_head(const LineRecords::Line& line) {
    const std::string place = where(line);
    const FieldReader fields(notes_, place);
    Line head;
    const bool read =
        visit_record(json_, line.text, "head", fields, [&](std::string_view key, LazyValue value) {
          read_head_member(key, value, fields, head, report_.replay.head);
        });
    if (!read) return Error{ErrorKind::Malformed, notes_.dropped().back().reason, place};
    return check_head(head, report_.replay.head, place);
  }

  void read_line(const LineRecords::Line& line) {
    const std::string place = where(line);
    Notes notes;
    const FieldReader fields(notes, place);
    Body body;
    const auto visit = [&](std::string_view key, LazyValue value) {
      read_body_member(key, value, fields, body);
    };
    if (visit_record(json_, line.text, "line", fields, visit, line.last)) {
      if (body.line.kind == "reply") look_at_check(is_as_written(line.text), notes, place);
      const std::string problem = keep(std::move(body), notes, place);
      if (!problem.empty()) notes.drop("replay_line", "the line " + problem, place);
    }
    notes_.append(std::move(notes));
  }

  void look_at_check(std::optional<bool> as_written, Notes& notes, const std::string& place) {
    if (as_written)
      any_check_ = true;
    else
      without_check_.push_back(place);
    if (as_written == false)
      notes.warn("changed_reply",
                 "the reply's line is not as it was written: its check does not fit; it was read "
                 "as it stands",
                 place);
  }

  // Known at the end only: where no reply has a check, an earlier version wrote them.
  void note_replies_without_check() {
    if (!any_check_) return;
    for (const std::string& place : without_check_)
      notes_.warn("changed_reply",
                  "the reply's line has no check, as other replies of the file have: it is not as "
                  "it was written; it was read as it stands",
                  place);
  }

  // Takes the line in; else says why not.
  std::string keep(Body body, Notes& notes, const std::string& place) {
    if (body.line.kind == "tools") return keep_tools(std::move(body));
    if (body.line.kind == "context") return keep_context(std::move(body));
    if (body.line.kind == "reply") return keep_reply(std::move(body), notes, place);
    return "is a line of no known kind, or does not begin with its kind";
  }

  std::string keep_tools(Body body) {
    const Names names(body.tools.names.begin(), body.tools.names.end());
    if (!tools_.emplace(body.id, names).second) return "is a second list of tools of the same id";
    body.tools.id = std::move(body.id);
    report_.replay.tools.push_back(std::move(body.tools));
    return "";
  }

  std::string keep_context(Body body) {
    ReplayContext& context = body.context;
    if (context.task_id.empty()) return "is a context without its task";
    const auto offered = tools_.find(context.tools_id);
    if (offered == tools_.end()) return "is a context whose tools no earlier line lists";
    if (!contexts_.emplace(body.id, &offered->second).second)
      return "is a second context of the same id";
    context.id = std::move(body.id);
    report_.replay.contexts.push_back(std::move(context));
    return "";
  }

  std::string keep_reply(Body body, Notes& notes, const std::string& place) {
    ReplayReply& reply = body.reply;
    const auto context = contexts_.find(reply.context_id);
    if (context == contexts_.end()) return "is a reply to a context no earlier line has";
    if (arms_.count(reply.arm) == 0) return "is a reply of an arm the head does not name";
    if (reply.sample < 0) return "is a reply with a sample below 0";
    if (!reply.channel.empty() && reply.channel != "malformed" && reply.channel != "tool_name" &&
        reply.channel != "schema")
      return "is a reply of no known channel";
    if (!replies_.emplace(reply.context_id, reply.arm, reply.sample).second)
      return "is a second reply of the same arm to the same context";
    if (body.prompt_tokens || body.completion_tokens)
      reply.usage = TokenUsage{body.prompt_tokens.value_or(0), body.completion_tokens.value_or(0)};
    if (!channel_can_be(reply, *context->second))
      notes.warn("contradictory_reply",
                 "the reply's channel is not the one that its calls and the offered tools show; it "
                 "was read as it stands",
                 place);
    report_.decisions.push_back(decision_of(reply, notes, place));
    report_.replay.replies.push_back(std::move(reply));
    return "";
  }

  std::optional<Decision> decision_of(const ReplayReply& reply, Notes& notes,
                                      const std::string& place) {
    if (reply.decision.empty()) return std::nullopt;
    Result<Decision> decision = parse_decision(reply.decision);
    if (!decision) {
      notes.warn("unreadable_decision", decision.error().message + "; the decision was ignored",
                 place);
      return std::nullopt;
    }
    const std::string_view contradiction = contradiction_in(*decision);
    if (!contradiction.empty()) notes.warn("contradictory_logprobs", contradiction, place);
    if (decision->name && !reply.calls.empty() && decision->name->name != reply.calls[0].name)
      notes.warn("contradictory_reply",
                 "the reply's log-probabilities are of another name than that of its first call; "
                 "it was read as it stands",
                 place);
    return std::move(*decision);
  }

  const Source& source_;
  LineRecords lines_;
  LazyRecord json_;
  Notes notes_;
  ReplayReport report_;
  std::set<std::string> arms_;
  std::map<std::string, Names> tools_;
  std::map<std::string, const Names*> contexts_;  // what is offered there
  bool any_check_ = false;
  std::vector<std::string> without_check_;  // places of replies
  std::set<std::tuple<std::string, std::string, int>> replies_;
};

}  // namespace

std::optional<double> temperature_of(const ReplayArm& arm) {
  LazyRecord json;
  Notes unused;
  const FieldReader fields(unused, "settings");
  std::optional<double> temperature;
  visit_record(json, arm.settings, "settings", fields, [&](std::string_view key, LazyValue value) {
    if (key == "temperature") fields.number(value, key, temperature);
  });
  return temperature;
}

Result<ReplayReport> read_replay(const std::string& path, const ReadOptions& options) {
  const Result<Source> source = Source::open(path, options);
  if (!source) return source.error();
  return ReplayReader(*source).read();
}

Result<ReplayReport> read_replay_bytes(std::string_view bytes, const std::string& name,
                                       const ReadOptions& options) {
  const Result<Source> source = Source::over(bytes, name, options);
  if (!source) return source.error();
  return ReplayReader(*source).read();
}

}  // namespace unmask
