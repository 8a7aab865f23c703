#include "ingest/log_records.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace unmask {

ArrayRecords::ArrayRecords(const Source& source, std::size_t begin, std::string record)
    : source_(source), walk_(source.bytes(), begin), record_(std::move(record)) {}

bool ArrayRecords::next(PipelineRecord& record) {
  while (const std::optional<JsonWalk::Item> item = walk_.next()) {
    if (!item->whole) {
      notes_.drop("truncated_record", "the log ends within this " + record_,
                  source_.place(item->begin));
    } else if (item->depth > kMaxDepth) {
      notes_.drop("too_deep",
                  "the " + record_ + " nests deeper than " + std::to_string(kMaxDepth) + " levels",
                  source_.place(item->begin));
    } else {
      record.text = source_.bytes().substr(item->begin, item->end - item->begin);
      record.offset = item->begin;
      return true;
    }
  }
  return false;
}

bool ArrayRecords::finish() {
  switch (walk_.state()) {
    case JsonWalk::State::Malformed:
      notes_.drop("malformed_log", "what follows is not JSON and was not read",
                  source_.place(walk_.position()));
      return false;
    case JsonWalk::State::CutOff:
      notes_.warn("truncated_log", "the log ends before its list of " + record_ + "s does",
                  source_.place(walk_.position()));
      return false;
    case JsonWalk::State::Open:
      return false;
    case JsonWalk::State::Closed:
      break;
  }
  return true;
}

std::optional<LineRecords::Line> LineRecords::next() {
  const std::string_view bytes = source_.bytes();
  while (position_ < bytes.size()) {
    Line line;
    line.offset = position_;
    line.number = ++number_;
    const std::size_t end = bytes.find('\n', position_);
    line.last = end == std::string_view::npos;
    line.text = bytes.substr(position_, line.last ? end : end - position_);
    position_ = line.last ? bytes.size() : end + 1;
    const std::size_t begin = skip_space(line.text, 0);
    if (begin == line.text.size()) continue;
    line.text.remove_prefix(begin);
    line.text.remove_suffix(line.text.size() - line.text.find_last_not_of(" \r\t") - 1);
    line.offset += begin;
    return line;
  }
  return std::nullopt;
}

bool visit_record(LazyRecord& json, std::string_view text, std::string_view record,
                  const FieldReader& fields,
                  Visitor<void(std::string_view key, LazyValue value)> visit, bool cut) {
  if (text.empty() || text[0] != '{') {
    fields.notes().drop("malformed_record", "the " + std::string(record) + " is not a JSON object",
                        fields.where());
    return false;
  }
  if (!json.load(text) || !json.visit([&](LazyValue root) { root.each_member(visit); })) {
    fields.notes() = Notes();
    fields.notes().drop(
        cut ? "truncated_record" : "malformed_record",
        "the " + std::string(record) +
            (cut ? " is not whole, and the log ends with it: " : " is not readable JSON: ") +
            json.error(),
        fields.where());
    return false;
  }
  fields.repairs(json.repairs());
  return true;
}

std::size_t read_log_records(const Source& source, const ReadOptions& options, const RunInfo& info,
                             const EpisodeSink& sink, Notes& notes, RecordPipeline pipeline) {
  constexpr std::size_t kStep = std::size_t{4} << 20;
  const std::uint64_t total = source.bytes().size();
  // A window is read ahead of the scan by a worker about to parse, so that the scan goes on
  // meanwhile, and given back behind the oldest record in work.
  std::mutex expecting;
  std::size_t expected = 0;
  pipeline.taken = [&](const PipelineRecord& last) {
    const std::unique_lock lock(expecting, std::try_to_lock);
    if (!lock) return;
    const std::size_t wanted = last.offset + last.text.size() + kStep;
    for (; expected < std::min<std::size_t>(wanted, total); expected += kStep)
      source.expect(expected, kStep);
  };
  std::size_t forgotten = 0;
  pipeline.finished = [&](const PipelineRecord& last) {
    const std::size_t done = last.offset + last.text.size();
    if (done < forgotten + kStep) return;
    source.forget(forgotten, done - forgotten);
    forgotten = done;
    if (options.progress) options.progress(done, total);
  };
  const std::size_t episodes = pipeline.run(options.threads, info, sink, notes);
  if (options.progress) options.progress(total, total);
  return episodes;
}

}  // namespace unmask
