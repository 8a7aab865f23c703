// OpenAI chat messages, one episode a line, with whatever else the user keeps beside them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "ingest/format.h"
#include "ingest/head_members.h"
#include "ingest/inspect.h"
#include "ingest/openai_fields.h"
#include "ingest/openai_message.h"
#include "ingest/record_pipeline.h"
#include "ingest/text_hash.h"

namespace unmask {
namespace {

constexpr Termination kOpenaiTerminations[] = {
    Termination::AgentStop,       Termination::UserStop,
    Termination::MaxSteps,        Termination::TooManyErrors,
    Termination::Timeout,         Termination::AgentError,
    Termination::UserError,       Termination::InfrastructureError,
    Termination::UnexpectedError, Termination::ContextWindowExceeded,
    Termination::Unknown,
};

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == line.npos;
}

std::optional<std::string> label_of(const JsonNode& node) {
  if (const std::optional<std::string_view> text = node.text()) return std::string(*text);
  if (const std::optional<std::int64_t> number = node.integer()) return std::to_string(*number);
  if (node.number()) return node.to_json();
  return std::nullopt;
}

void set_termination(const JsonNode& node, Episode& episode) {
  const std::string_view word = node.text_or("");
  for (const Termination termination : kOpenaiTerminations) {
    if (to_string(termination) != word) continue;
    episode.termination = termination;
    return;
  }
  episode.termination_text = word;
}

std::optional<double> number_or_flag(const JsonNode& node) {
  if (const std::optional<bool> flag = node.boolean()) return *flag ? 1.0 : 0.0;
  return node.number();
}

class LineReader {
 public:
  LineReader(const OpenaiFields& fields, const ReadOptions& options, const std::string& name)
      : fields_(fields), options_(options), name_(name) {}

  // Episode::trial is -1 where the line does not say: it is counted in the log's order later.
  std::optional<Episode> read(std::string_view text, std::size_t line, bool last_line,
                              Notes& notes) const {
    const std::string where = fmt::format("{}:{}", name_, line);
    if (is_blank(text)) return std::nullopt;
    JsonRepairs repairs;
    const Result<JsonTree> tree = JsonTree::parse(text, &repairs);
    if (!tree) {
      notes.drop(
          last_line ? "truncated_record" : "malformed_record",
          (last_line ? "the last line, without a line end, " : "the line ") + tree.error().message,
          where);
      return std::nullopt;
    }
    note_repairs(repairs, notes, where);
    const JsonNode root = tree->root();
    if (const std::string fault = fault_of(root); !fault.empty()) {
      notes.drop("not_an_episode", fault, where);
      return std::nullopt;
    }
    return episode_of(root, line, notes, where);
  }

 private:
  std::string fault_of(const JsonNode& root) const {
    if (!root.is_object()) return "the line is not a JSON object";
    const JsonNode messages = fields_.find(root, "messages");
    if (messages.is_array()) return "";
    const std::string& name = fields_.name_of("messages");
    if (!messages.missing()) return fmt::format("'{}' is not a list of messages", name);
    std::vector<std::string_view> keys;
    for (const auto& [key, value] : root.members())
      if (keys.size() < 12) keys.push_back(key);
    return fmt::format("the line has no '{}'; it has {}", name,
                       keys.empty() ? "nothing" : fmt::format("{}", fmt::join(keys, ", ")));
  }

  Episode episode_of(const JsonNode& root, std::size_t line, Notes& notes,
                     const std::string& where) const {
    Episode episode;
    episode.where = where;
    episode.id = label_of(fields_.find(root, "id")).value_or("");
    episode.domain = label_of(fields_.find(root, "domain")).value_or("");
    episode.model = label_of(fields_.find(root, "model")).value_or("");
    episode.seed = fields_.find(root, "seed").integer();
    if (const std::optional<std::string> id = label_of(fields_.find(root, "task_id"))) {
      episode.task_id = *id;
    } else {
      episode.task_id = std::to_string(line);
      notes.warn(
          "missing_task_id",
          fmt::format("a line has no '{}': its line number is used, so its trials do not meet",
                      fields_.name_of("task_id")),
          where);
    }
    set_trial(fields_.find(root, "trial"), episode, notes);
    set_termination(fields_.find(root, "termination"), episode);
    set_grade(root, episode, notes);
    for (const JsonNode& node : fields_.find(root, "messages").elements())
      if (std::optional<Message> message = read_openai_message(node, notes, where))
        episode.messages.push_back(std::move(*message));
    episode.agent_tools = read_openai_tools(fields_.find(root, "tools"));
    episode.policy_hash = text_hash(policy_of(root, episode));
    return episode;
  }

  void set_trial(const JsonNode& node, Episode& episode, Notes& notes) const {
    episode.trial = -1;
    const std::optional<std::int64_t> trial = node.integer();
    if (trial && *trial >= 0 && *trial <= std::numeric_limits<int>::max())
      episode.trial = static_cast<int>(*trial);
    else if (!node.missing())
      notes.warn("wrong_type", "trial is not a number from 0; repeats are counted instead",
                 episode.where);
  }

  void set_grade(const JsonNode& root, Episode& episode, Notes& notes) const {
    const JsonNode reward = fields_.find(root, "reward");
    const JsonNode success = fields_.find(root, "success");
    episode.reward = number_or_flag(reward);
    episode.success = success_of(episode.reward);
    if (episode.reward && options_.pass_threshold) {
      episode.success = *episode.reward >= *options_.pass_threshold;
      episode.reward = *episode.success ? 1.0 : 0.0;
    }
    if (!reward.missing() && !episode.reward)
      notes.warn("wrong_type", "reward is not a number; it is left out", episode.where);
    const std::optional<double> passed = number_or_flag(success);
    const bool clear = passed && (*passed == 0 || *passed == 1);
    if (!success.missing() && !clear)
      notes.warn("wrong_type", "success is neither true nor false; it is left out", episode.where);
    if (!clear) return;
    const bool stated = *passed == 1;
    if (episode.success && *episode.success != stated)
      notes.warn("success_differs", "success and reward disagree; success counts", episode.where);
    if (episode.success != std::optional<bool>(stated)) episode.reward = *passed;
    episode.success = stated;
  }

  // The policy field, or what the system messages before the conversation say.
  std::string policy_of(const JsonNode& root, const Episode& episode) const {
    if (const std::optional<std::string_view> text = fields_.find(root, "policy").text())
      return std::string(*text);
    std::string policy;
    for (const Message& message : episode.messages) {
      if (message.role != Role::System) break;
      policy += message.text;
    }
    return policy;
  }

  const OpenaiFields& fields_;
  const ReadOptions& options_;
  const std::string& name_;
};

// Numbers the trials that the log does not number, in the log's order. Episodes may arrive out of
// order, but never further apart than the pipeline lets them.
class TrialCounter {
 public:
  explicit TrialCounter(const EpisodeSink& sink) : sink_(sink) {}

  void take(const RunInfo& info, std::size_t index, Episode&& episode) {
    std::vector<std::pair<std::size_t, Episode>> ready;
    {
      const std::lock_guard lock(mutex_);
      waiting_.emplace(index, std::move(episode));
      while (!waiting_.empty() && waiting_.begin()->first == next_) {
        Episode& first = waiting_.begin()->second;
        if (first.trial < 0) first.trial = counts_[{first.domain, first.task_id}]++;
        ready.emplace_back(next_++, std::move(first));
        waiting_.erase(waiting_.begin());
      }
    }
    for (auto& [at, numbered] : ready) sink_(info, at, std::move(numbered));
  }

 private:
  const EpisodeSink& sink_;
  std::mutex mutex_;
  std::map<std::size_t, Episode> waiting_;
  std::map<std::pair<std::string, std::string>, int> counts_;
  std::size_t next_ = 0;
};

// Every line is a record, so that a record's ordinal is its line.
class LineStream {
 public:
  explicit LineStream(std::string_view bytes) : bytes_(bytes) {}

  bool next(PipelineRecord& record) {
    if (at_ >= bytes_.size()) return false;
    const std::size_t end = std::min(bytes_.find('\n', at_), bytes_.size());
    record.offset = at_;
    record.text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return true;
  }

  // The bytes end within this line, which has no line end.
  static bool is_last(const PipelineRecord& record, std::string_view bytes) {
    return record.offset + record.text.size() == bytes.size();
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

RunInfo run_info(const Source& source, const LineReader& reader) {
  RunInfo info;
  info.format = "openai";
  info.failure_rule = kOpenaiFailureRule;
  LineStream lines(source.bytes());
  PipelineRecord record;
  Notes unused;
  while (lines.next(record)) {
    const std::string text(record.text);
    const std::optional<Episode> first = reader.read(text, 1, false, unused);
    if (!first) continue;
    info.domain = first->domain;
    info.model = first->model;
    info.policy_hash = first->policy_hash;
    break;
  }
  return info;
}

Result<IngestReport> report_of(const Source& source, RunInfo info, std::size_t episodes,
                               Notes notes) {
  IngestReport report;
  report.run.info = std::move(info);
  report.episodes = episodes;
  report.dropped = notes.take_dropped();
  report.warnings = notes.take_warnings();
  report.bytes = source.bytes().size();
  if (episodes > 0) return report;
  if (report.dropped.empty())
    return Error{ErrorKind::Malformed, "has no line with messages", source.name()};
  return Error{ErrorKind::Malformed, "no line can be read; the first: " + report.dropped[0].reason,
               report.dropped[0].where};
}

}  // namespace

bool looks_like_openai(const Source&, std::string_view head) {
  while (!head.empty()) {
    const std::size_t end = std::min(head.find('\n'), head.size());
    const std::string_view line = head.substr(0, end);
    if (!is_blank(line)) {
      const std::optional<std::vector<HeadMember>> members = head_members(line);
      if (!members) return false;
      const HeadMember* const messages = find_member(*members, "messages");
      return messages != nullptr && messages->value.starts_with('[') &&
             find_member(*members, "simulations") == nullptr;
    }
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  return false;
}

Result<IngestReport> read_openai(const Source& source, const ReadOptions& options,
                                 const EpisodeSink& sink) {
  const Result<OpenaiFields> fields = OpenaiFields::from(options.field_map);
  if (!fields) return fields.error();
  const std::string_view bytes = source.bytes();
  const LineReader reader(*fields, options, source.name());
  RunInfo info = run_info(source, reader);
  LineStream lines(bytes);
  TrialCounter counter(sink);
  RecordPipeline pipeline;
  pipeline.next = [&](PipelineRecord& record) { return lines.next(record); };
  pipeline.parse = [&](const PipelineRecord& record, LazyRecord&, Notes& notes) {
    const std::string text(record.text);  // a mapped file may change while it is parsed
    return reader.read(text, record.ordinal + 1, LineStream::is_last(record, bytes), notes);
  };
  pipeline.finished = [&](const PipelineRecord& last) {
    source.forget(last.offset, last.text.size());
    if (options.progress) options.progress(last.offset + last.text.size(), bytes.size());
  };
  Notes notes;
  const EpisodeSink counted = [&](const RunInfo& run, std::size_t index, Episode&& episode) {
    counter.take(run, index, std::move(episode));
  };
  const std::size_t episodes = pipeline.run(options.threads, info, counted, notes);
  return report_of(source, std::move(info), episodes, std::move(notes));
}

}  // namespace unmask
