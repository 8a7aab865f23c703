// τ²-bench results: one file, or a folder with results.json and simulations/.
//
// A single file is cut into its simulations by a scan of brackets, and each is parsed on its own.
// Where everything but the simulations stands before them, which is how τ²-bench writes it, the
// scan goes along with the parsing; otherwise the file is scanned once beforehand, because an
// episode is handed on only when the run's info is complete.
#include <algorithm>
#include <optional>
#include <utility>

#include "ingest/format.h"
#include "ingest/json_scan.h"
#include "ingest/record_pipeline.h"
#include "ingest/tau2_episode.h"
#include "ingest/tau2_layout.h"

namespace unmask {
namespace {

constexpr std::string_view kFailureRule =
    "A call failed when its tool message carries the flag \"error\": true.";

// Beyond this nothing a benchmark writes is nested; rooms further on may recurse.
constexpr std::size_t kMaxDepth = 512;

struct Extent {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool known() const { return end > begin; }
};

// The members of the top object, and the scan of its simulations.
class Tau2File {
 public:
  explicit Tau2File(const Source& source) : source_(source), bytes_(source.bytes()) {}

  // Scans up to the simulations, or everything when they do not come last.
  std::optional<Error> open();

  // The next simulation that is whole; false at the end.
  bool next(PipelineRecord& record);

  // Scans what comes after the simulations.
  void finish();

  RunInfo info();
  bool has_simulations() const { return simulations_.has_value(); }
  Notes& notes() { return notes_; }
  std::size_t position() const { return walk_ ? walk_->position() : bytes_.size(); }

 private:
  void scan_members(bool stop_at_simulations);
  void take(const JsonWalk::Item& item);
  void report_end(const JsonWalk& walk, std::string_view what);
  void read_timestamp(RunInfo& info);

  const Source& source_;
  std::string_view bytes_;
  Notes notes_;
  std::optional<JsonWalk> members_;
  std::optional<JsonWalk> walk_;            // over the simulations
  std::optional<std::size_t> simulations_;  // where their '[' is
  bool scanned_ = false;                    // the members after the simulations are known already
  Extent info_;
  Extent tasks_;
  Extent timestamp_;
};

std::optional<Error> Tau2File::open() {
  const std::size_t begin = skip_space(bytes_, 0);
  if (begin >= bytes_.size()) return Error{ErrorKind::Malformed, "is empty", source_.name()};
  if (bytes_[begin] != '{')
    return Error{ErrorKind::Malformed, "is not a JSON object, so no tau2 results",
                 source_.place(begin)};
  members_.emplace(bytes_, begin);
  scan_members(true);
  if (simulations_ && !(info_.known() && tasks_.known() && timestamp_.known())) {
    members_->resume(scan_value(bytes_, *simulations_).value_or(bytes_.size()));
    scan_members(false);
    scanned_ = true;
  }
  if (!simulations_ && !info_.known() && !tasks_.known())
    return Error{ErrorKind::Malformed, "has neither info nor simulations: no tau2 results",
                 source_.place(begin)};
  if (simulations_) walk_.emplace(bytes_, *simulations_);
  return std::nullopt;
}

void Tau2File::scan_members(bool stop_at_simulations) {
  while (std::optional<JsonWalk::Item> item = members_->next_unskipped()) {
    const bool list = bytes_[item->begin] == '[';
    if (item->key == "simulations" && list && !simulations_) {
      simulations_ = item->begin;
      if (stop_at_simulations) return;
    }
    const std::optional<std::size_t> end = scan_value(bytes_, item->begin);
    members_->resume(end.value_or(bytes_.size()));
    item->end = members_->position();
    item->whole = end.has_value();
    take(*item);
  }
  report_end(*members_, "the results");
}

void Tau2File::take(const JsonWalk::Item& item) {
  Extent* target = nullptr;
  if (item.key == "info") target = &info_;
  if (item.key == "tasks") target = &tasks_;
  if (item.key == "timestamp") target = &timestamp_;
  const bool repeated = (target != nullptr && target->known()) ||
                        (item.key == "simulations" && simulations_ && *simulations_ != item.begin);
  if (repeated) {
    notes_.warn("duplicate_key",
                "'" + std::string(item.key) + "' occurs more than once, the first one counts",
                source_.place(item.begin));
    return;
  }
  if (target != nullptr && item.whole) *target = {item.begin, item.end};
}

void Tau2File::report_end(const JsonWalk& walk, std::string_view what) {
  const std::string place = source_.place(walk.position());
  if (walk.state() == JsonWalk::State::CutOff) {
    notes_.warn("truncated_log", "the file ends before " + std::string(what) + " do", place);
  } else if (walk.state() == JsonWalk::State::Malformed) {
    notes_.drop("malformed_log", "what follows is not JSON and was not read", place);
  }
}

bool Tau2File::next(PipelineRecord& record) {
  while (walk_) {
    const std::optional<JsonWalk::Item> item = walk_->next();
    if (!item) return false;
    const std::string place = source_.place(item->begin);
    if (!item->whole) {
      notes_.drop("truncated_record", "the file ends within this simulation", place);
    } else if (item->depth > kMaxDepth) {
      notes_.drop("too_deep", "the simulation nests deeper than 512 levels", place);
    } else {
      record.text = bytes_.substr(item->begin, item->end - item->begin);
      record.offset = item->begin;
      return true;
    }
  }
  return false;
}

void Tau2File::finish() {
  if (!walk_) return;
  const bool lost = walk_->state() == JsonWalk::State::Open;
  if (walk_->state() != JsonWalk::State::Closed && !lost) report_end(*walk_, "the simulations");
  if (scanned_ || walk_->state() != JsonWalk::State::Closed) return;
  members_->resume(walk_->position());
  scan_members(false);
}

void Tau2File::read_timestamp(RunInfo& info) {
  if (!timestamp_.known() || bytes_[timestamp_.begin] != '"') return;
  info.timestamp =
      unescape_json(bytes_.substr(timestamp_.begin, timestamp_.end - timestamp_.begin));
}

RunInfo Tau2File::info() {
  RunInfo info;
  info.failure_rule = kFailureRule;
  read_timestamp(info);
  if (info_.known()) {
    parse_tau2_info(bytes_.substr(info_.begin, info_.end - info_.begin), source_.place(info_.begin),
                    info, notes_);
  } else {
    notes_.warn("missing_info", "the results have no readable 'info'", source_.name());
  }
  if (tasks_.known())
    parse_tau2_tasks(bytes_.substr(tasks_.begin, tasks_.end - tasks_.begin),
                     source_.place(tasks_.begin), info, notes_);
  return info;
}

}  // namespace

bool looks_like_tau2(const Source& source) {
  if (source.is_directory()) return tau2_results_in(source.path()).has_value();
  const std::string_view head = source.head();
  const std::size_t begin = skip_space(head, 0);
  if (begin >= head.size() || head[begin] != '{') return false;
  for (const std::string_view mark :
       {"\"simulations\"", "\"environment_info\"", "\"simulation_index\"", "\"user_scenario\""})
    if (head.find(mark) != std::string_view::npos) return true;
  return false;
}

Result<IngestReport> read_tau2(const Source& source, const ReadOptions& options,
                               const EpisodeSink& sink) {
  Tau2File file(source);
  if (std::optional<Error> error = file.open()) return *error;
  IngestReport report;
  report.run.info = file.info();
  RecordPipeline pipeline;
  const std::uint64_t total = source.bytes().size();
  pipeline.next = [&](PipelineRecord& record) { return file.next(record); };
  pipeline.parse = [&](const PipelineRecord& record, LazyRecord& json, Notes& notes) {
    return parse_tau2_simulation(record.text,
                                 source.name() + ": simulation " + std::to_string(record.ordinal) +
                                     " (byte " + std::to_string(record.offset + source.skipped()) +
                                     ")",
                                 json, notes);
  };
  std::size_t forgotten = 0;
  pipeline.finished = [&](const PipelineRecord& record) {
    constexpr std::size_t kStep = std::size_t{4} << 20;
    const std::size_t done = record.offset + record.text.size();
    if (done - forgotten < kStep) return;
    source.forget(forgotten, done - forgotten);
    forgotten = done;
    if (options.progress) options.progress(done, total);
  };
  Notes notes;
  report.episodes = pipeline.run(options.threads, report.run.info, sink, notes);
  file.finish();
  Notes all = std::move(file.notes());
  all.append(std::move(notes));
  report.warnings = all.take_warnings();
  report.dropped = all.take_dropped();
  if (options.progress) options.progress(total, total);
  return report;
}

}  // namespace unmask
