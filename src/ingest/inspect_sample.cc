#include "ingest/inspect_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include "ingest/text_hash.h"

namespace unmask {
namespace {

constexpr std::array<std::string_view, 2> kReferences = {"attachment://", "tc://"};

struct LimitRow {
  std::string_view type;
  Termination termination;
  bool keep_word;  // the enumerator says less than the log
};

constexpr LimitRow kLimits[] = {
    {"message", Termination::MaxSteps, false},
    {"turn", Termination::MaxSteps, false},
    {"token", Termination::MaxSteps, true},
    {"cost", Termination::MaxSteps, true},
    {"time", Termination::Timeout, false},
    {"working", Termination::Timeout, true},
    {"context", Termination::ContextWindowExceeded, false},
};

// What a model event says about the message it produced.
struct Generation {
  JsonNode usage;
  JsonNode seconds;
  JsonNode raw;           // the server's own message, where its answer has OpenAI's shape
  std::size_t calls = 0;  // that were parsed from it
};

class SampleReader {
 public:
  SampleReader(InspectSample& sample, const std::string& where) : sample_(sample), where_(where) {
    read_events();
  }

  void read_into(Episode& episode, Notes& notes) {
    for (const JsonNode& node : sample_.messages)
      if (std::optional<Message> message = message_of(node, notes))
        episode.messages.push_back(std::move(*message));
    warn_unseen_failures(episode, notes);
    if (offered_) episode.agent_tools = std::move(tools_);
    for (const Message& message : episode.messages) {
      if (message.role != Role::System) break;
      episode.policy_hash = text_hash(message.text);
    }
    if (sample_.attachments.missing() > 0)
      notes.warn("missing_attachment",
                 "a message refers to an attachment that the log does not have", where_);
  }

 private:
  // The conversation is what was left at the end: agents drop messages to save context, and those
  // they hand work to have conversations of their own.
  void warn_unseen_failures(const Episode& episode, Notes& notes) const {
    std::set<std::string_view> unseen = failed_;
    for (const Message& message : episode.messages)
      if (message.result) unseen.erase(message.result->call_id);
    if (!unseen.empty())
      notes.warn(
          "failures_outside_conversation",
          "a sample's events hold failed tool calls that its conversation does not; they are "
          "not counted",
          where_);
  }

  void read_events() {
    for (const JsonNode& event : sample_.events) {
      const std::string_view kind = event["event"].text_or("");
      if (kind == "tool" && event["error"].is_object() && event["id"].is_text())
        failed_.insert(*event["id"].text());
      if (kind != "model" || !event["role"].missing()) continue;
      read_tools(event["tools"]);
      const JsonNode message = first(event["output"]["choices"])["message"];
      const std::optional<std::string_view> id = message["id"].text();
      if (!id) continue;
      const JsonNode seconds =
          event["working_time"].missing() ? event["output"]["time"] : event["working_time"];
      generations_[*id] = {event["output"]["usage"], seconds,
                           first(event["call"]["response"]["choices"])["message"],
                           message["tool_calls"].elements().size()};
    }
  }

  void read_tools(const JsonNode& tools) {
    if (!tools.is_array()) return;
    offered_ = true;
    for (const JsonNode& tool : tools.elements()) {
      const std::string_view name = tool["name"].text_or("");
      if (name.empty() || !tool_names_.insert(name).second) continue;
      tools_.push_back({std::string(name), json_of(tool["parameters"]),
                        R"({"type":"function","function":)" + json_of(tool) + "}"});
    }
  }

  std::optional<Message> message_of(const JsonNode& node, Notes& notes) {
    Message message;
    const std::string_view role = node["role"].text_or("");
    if (role == "assistant") {
      message.role = Role::Agent;
      message.text = text_of(node["content"]);
      for (const JsonNode& call : node["tool_calls"].elements())
        message.calls.push_back(call_of(call));
      add_generation(node, message);
    } else if (role == "tool") {
      message.role = Role::Tool;
      message.result = result_of(node);
    } else if (role == "user" || role == "system") {
      message.role = role == "user" ? Role::User : Role::System;
      message.text = text_of(node["content"]);
    } else {
      notes.warn("unknown_role", "a message whose role is not known was left out", where_);
      return std::nullopt;
    }
    return message;
  }

  ToolCall call_of(const JsonNode& node) const {
    ToolCall call;
    call.id = node["id"].text_or("");
    call.name = node["function"].text_or("");
    const JsonNode arguments = node["arguments"];
    call.arguments_are_object = arguments.is_object();
    if (const std::optional<std::string_view> text = arguments.text())
      call.arguments = resolve(*text);
    else
      call.arguments = json_of(arguments);
    call.parse_error = resolve(node["parse_error"].text_or(""));
    return call;
  }

  ToolResult result_of(const JsonNode& node) const {
    ToolResult result;
    result.call_id = node["tool_call_id"].text_or("");
    const std::string content = text_of(node["content"]);
    const JsonNode error = node["error"];
    const JsonNode older = node["tool_error"];  // a text without a type, before mid 2024
    if (error.is_object()) {
      result.failed = true;
      result.error_type = error["type"].text_or("unknown");
      result.text = resolve(error["message"].text_or(""));
    } else if (older.truthy()) {
      result.failed = true;
      result.error_type = "unknown";
      result.text = resolve(older.text_or(""));
    }
    if (result.text.empty())
      result.text = content;
    else if (!content.empty())
      result.text += "\n" + content;
    return result;
  }

  void add_generation(const JsonNode& node, Message& message) const {
    const std::optional<std::string_view> id = node["id"].text();
    if (!id) return;
    const auto found = generations_.find(*id);
    if (found == generations_.end()) return;
    const Generation& generation = found->second;
    const std::optional<std::int64_t> prompt = generation.usage["input_tokens"].integer();
    const std::optional<std::int64_t> completion = generation.usage["output_tokens"].integer();
    if (prompt && completion) {
      // Inspect counts cached prompt tokens apart.
      const std::int64_t cached =
          generation.usage["input_tokens_cache_read"].integer().value_or(0) +
          generation.usage["input_tokens_cache_write"].integer().value_or(0);
      message.usage = TokenUsage{*prompt + cached, *completion};
    }
    message.cost_usd = generation.usage["total_cost"].number();
    message.seconds = generation.seconds.number();
    add_raw(generation, message);
  }

  // Agents may take calls out of the conversation again (react does with "submit"): only a message
  // that still has the calls it was parsed with can be held against the server's answer.
  void add_raw(const Generation& generation, Message& message) const {
    if (!generation.raw.is_object() || generation.calls != message.calls.size()) return;
    const std::size_t raw_calls = generation.raw["tool_calls"].elements().size();
    // Fewer: Inspect read the calls from the text itself.
    if (raw_calls >= generation.calls) message.raw_calls = static_cast<int>(raw_calls);
    const std::string text(resolve(generation.raw["content"].text_or("")));
    if (text != message.text) message.raw_text = text;
  }

  std::string text_of(const JsonNode& content) const {
    if (const std::optional<std::string_view> text = content.text())
      return std::string(resolve(*text));
    std::string out;
    for (const JsonNode& part : content.elements()) {
      if (part["type"].text_or("") != "text") continue;
      if (!out.empty()) out += '\n';
      out += resolve(part["text"].text_or(""));
    }
    return out;
  }

  std::string json_of(const JsonNode& node) const {
    return node.to_json([this](std::string_view text) { return resolve(text); });
  }

  std::string_view resolve(std::string_view text) const {
    return sample_.attachments.resolve(text);
  }

  static JsonNode first(const JsonNode& list) {
    const std::vector<JsonNode> items = list.elements();
    return items.empty() ? JsonNode() : items[0];
  }

  InspectSample& sample_;
  const std::string& where_;
  std::map<std::string_view, Generation> generations_;
  std::vector<OfferedTool> tools_;
  std::set<std::string_view> tool_names_;
  std::set<std::string_view> failed_;  // ids of tool events with an error
  bool offered_ = false;               // a model event listed the tools, perhaps none
};

void set_limit(const JsonNode& limit, Episode& episode) {
  const std::string_view type = limit["type"].text_or("");
  for (const LimitRow& row : kLimits) {
    if (row.type != type) continue;
    episode.termination = row.termination;
    if (row.keep_word) episode.termination_text = fmt::format("{} limit", type);
    return;
  }
  episode.termination = Termination::Unknown;
  episode.termination_text = type.empty() ? "limit" : fmt::format("{} limit", type);
}

void set_termination(const JsonNode& fields, bool scored, Episode& episode, Notes& notes) {
  if (fields["invalidation"].is_object()) {
    episode.termination = Termination::InfrastructureError;
    episode.termination_text = "invalidated";
    notes.warn("invalidated_sample", "a sample was declared invalid in the log; it is excluded",
               episode.where);
  } else if (fields["error"].is_object()) {
    episode.termination = scored ? Termination::UnexpectedError : Termination::InfrastructureError;
    episode.termination_text = fields["error"]["message"].text_or("error");
  } else if (!fields["limit"].missing()) {
    set_limit(fields["limit"], episode);
  } else if (fields["output"]["stop_reason"].text_or("") == "model_length") {
    episode.termination = Termination::ContextWindowExceeded;
  } else {
    episode.termination = Termination::AgentStop;
  }
}

void set_grade(const JsonNode& fields, const InspectReading& reading, Episode& episode,
               Notes& notes) {
  if (reading.scorer.scorer.empty() || episode.termination == Termination::InfrastructureError)
    return;
  // Logs of 2024 have one "score" without a name.
  const JsonNode value = fields["scores"].missing()
                             ? fields["score"]["value"]
                             : chosen_value(fields["scores"], reading.scorer);
  const std::optional<double> score = inspect_score(value);
  const Grade grade = grade_of(score, reading.pass_threshold);
  episode.reward = grade.reward;
  episode.success = grade.success;
  if (grade.success) return;
  if (value.kind() == JsonNode::Kind::Absent)
    notes.warn("unscored_sample", "a sample has no score by the chosen scorer; it is ungraded",
               episode.where);
  else if (!score)
    notes.warn("unreadable_score",
               "a score is neither a number nor a word that means one; the "
               "sample is ungraded",
               episode.where);
  else
    notes.warn(
        "partial_score",
        "a score is neither 0 nor 1; the sample is ungraded unless a pass threshold is given",
        episode.where);
}

std::optional<std::string> task_id_of(const JsonNode& id) {
  if (const std::optional<std::string_view> text = id.text()) return std::string(*text);
  if (const std::optional<std::int64_t> number = id.integer()) return std::to_string(*number);
  return std::nullopt;
}

std::optional<double> total_cost(const JsonNode& model_usage) {
  std::optional<double> total;
  for (const auto& [model, usage] : model_usage.members())
    if (const std::optional<double> cost = usage["total_cost"].number())
      total = total.value_or(0) + *cost;
  return total;
}

}  // namespace

Attachments::Attachments(const JsonNode& by_hash) {
  for (const auto& [hash, text] : by_hash.members()) texts_.emplace(hash, text.text_or(""));
}

Attachments::Attachments(const std::vector<JsonNode>& by_index) {
  for (std::size_t i = 0; i < by_index.size(); ++i)
    texts_.emplace(std::to_string(i), by_index[i].text_or(""));
}

std::string_view Attachments::resolve(std::string_view text) {
  for (const std::string_view reference : kReferences) {
    if (!text.starts_with(reference)) continue;
    const auto found = texts_.find(text.substr(reference.size()));
    if (found == texts_.end())
      ++missing_;
    else
      text = found->second;
    break;
  }
  if (overspent_ || text.size() > left_) {
    overspent_ = true;
    return {};
  }
  left_ -= text.size();
  return text;
}

std::optional<Episode> read_inspect_sample(InspectSample& sample, const InspectReading& reading,
                                           const std::string& where, Notes& notes) {
  const std::optional<std::string> task_id = task_id_of(sample.fields["id"]);
  const JsonNode epoch_field = sample.fields["epoch"];
  const std::optional<std::int64_t> epoch = epoch_field.missing() ? 1 : epoch_field.integer();
  std::string_view fault;
  if (!sample.fields.is_object())
    fault = "is not a sample object";
  else if (!task_id)
    fault = "the sample has no id";
  else if (!epoch || *epoch < 1 || *epoch > std::numeric_limits<int>::max())
    fault = "the sample's epoch is not a number from 1";
  if (!fault.empty()) {
    notes.drop("not_a_sample", fault, where);
    return std::nullopt;
  }

  Episode episode;
  episode.where = where;
  episode.task_id = *task_id;
  episode.trial = static_cast<int>(*epoch - 1);
  episode.id = sample.fields["uuid"].text_or("");
  const bool scored = sample.fields["scores"].truthy() || sample.fields["score"].truthy();
  set_termination(sample.fields, scored, episode, notes);
  set_grade(sample.fields, reading, episode, notes);
  episode.duration_seconds = sample.fields["total_time"].number();
  episode.agent_cost_usd = total_cost(sample.fields["model_usage"]);
  sample.attachments.set_budget(reading.max_sample_bytes);
  SampleReader(sample, where).read_into(episode, notes);
  if (sample.attachments.overspent()) {
    notes.drop("sample_too_large",
               "the sample's messages, with their attachments, expand beyond the "
               "limit",
               where);
    return std::nullopt;
  }
  return episode;
}

}  // namespace unmask
