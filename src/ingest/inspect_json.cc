// Inspect's .json form: one object with the header's members and "samples", read a sample at a
// time.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "ingest/inspect.h"
#include "ingest/json_scan.h"
#include "ingest/record_pipeline.h"

namespace unmask {
namespace {

struct Layout {
  std::string header = "{";            // the log's object without its long members
  std::optional<std::size_t> samples;  // where the array begins
};

// Passes over the samples one by one, so that a mapped file need not stay in memory whole.
// Returns where the walk stopped: behind the array, or where the bytes end or stop being JSON.
std::size_t pass_over(const Source& source, std::size_t array) {
  constexpr std::size_t kStep = std::size_t{64} << 20;
  JsonWalk walk(source.bytes(), array);
  std::size_t forgotten = array;
  while (walk.next()) {
    if (walk.position() - forgotten < kStep) continue;
    source.forget(forgotten, walk.position() - forgotten);
    forgotten = walk.position();
  }
  source.forget(forgotten, walk.position() - forgotten);
  return walk.position();
}

Result<Layout> lay_out(const Source& source, Notes& notes) {
  const std::string_view bytes = source.bytes();
  const std::size_t begin = skip_space(bytes, 0);
  if (begin >= bytes.size() || bytes[begin] != '{')
    return Error{ErrorKind::Malformed, "is not an Inspect log: a JSON object is expected",
                 source.place(begin)};
  Layout layout;
  JsonWalk walk(bytes, begin);
  while (const std::optional<JsonWalk::Item> item = walk.next_unskipped()) {
    if (item->key == "samples" && bytes[item->begin] == '[') {
      layout.samples = item->begin;
      walk.resume(pass_over(source, item->begin));
      continue;
    }
    const std::optional<std::size_t> end = scan_value(bytes, item->begin);
    walk.resume(end.value_or(bytes.size()));
    if (item->key == "reductions" || !end) continue;
    if (layout.header.size() > 1) layout.header += ',';
    layout.header +=
        fmt::format("\"{}\":{}", item->key, bytes.substr(item->begin, *end - item->begin));
  }
  layout.header += '}';
  if (walk.state() == JsonWalk::State::CutOff)
    notes.warn("truncated_log", "the file is cut short", source.place(walk.position()));
  else if (walk.state() == JsonWalk::State::Malformed)
    notes.warn("damaged_log", "the file is not JSON from here on", source.place(walk.position()));
  return layout;
}

// Scorer names of the first sample that was scored.
std::vector<std::string> first_scored(std::string_view bytes, std::size_t samples) {
  JsonWalk walk(bytes, samples);
  while (const std::optional<JsonWalk::Item> item = walk.next()) {
    const std::string text(bytes.substr(item->begin, item->end - item->begin));
    const Result<JsonTree> tree = JsonTree::parse(text);
    if (!tree) continue;
    std::vector<std::string> names = scorer_names(tree->root());
    if (!names.empty()) return names;
  }
  return {};
}

class SampleStream {
 public:
  SampleStream(const Source& source, const ReadOptions& options, std::size_t samples,
               const InspectReading& reading)
      : source_(source), options_(options), reading_(reading), walk_(source.bytes(), samples) {}

  std::size_t run(const RunInfo& info, const EpisodeSink& sink, Notes& notes) {
    RecordPipeline pipeline;
    pipeline.next = [this](PipelineRecord& record) { return next(record); };
    pipeline.parse = [this](const PipelineRecord& record, LazyRecord&, Notes& own) {
      return parse(record, own);
    };
    pipeline.finished = [this](const PipelineRecord& last) {
      source_.forget(last.offset, last.text.size());
      if (options_.progress)
        options_.progress(last.offset + last.text.size(), source_.bytes().size());
    };
    const std::size_t episodes = pipeline.run(options_.threads, info, sink, notes);
    if (cut_off_)
      notes.drop("truncated_record", "the file ends within this sample", source_.place(*cut_off_));
    return episodes;
  }

 private:
  bool next(PipelineRecord& record) {
    const std::optional<JsonWalk::Item> item = walk_.next();
    if (!item) return false;
    if (!item->whole) {
      cut_off_ = item->begin;
      return false;
    }
    record.offset = item->begin;
    record.text = source_.bytes().substr(item->begin, item->end - item->begin);
    return true;
  }

  std::optional<Episode> parse(const PipelineRecord& record, Notes& notes) const {
    const std::string where = fmt::format("{}: sample {} (byte {})", source_.name(), record.ordinal,
                                          record.offset + source_.skipped());
    const std::string text(record.text);  // a mapped file may change while it is parsed
    Result<LoadedSample> loaded = load_inspect_sample(text, notes, where);
    if (!loaded) {
      notes.drop("malformed_record", loaded.error().message, where);
      return std::nullopt;
    }
    return read_inspect_sample(loaded->sample, reading_, where, notes);
  }

  const Source& source_;
  const ReadOptions& options_;
  const InspectReading& reading_;
  JsonWalk walk_;
  std::optional<std::size_t> cut_off_;
};

}  // namespace

Result<IngestReport> read_inspect_json(const Source& source, const ReadOptions& options,
                                       const EpisodeSink& sink) {
  Notes notes;
  const Result<Layout> layout = lay_out(source, notes);
  if (!layout) return layout.error();
  JsonRepairs repairs;
  const Result<JsonTree> header = JsonTree::parse(layout->header, &repairs);
  if (!header)
    return Error{ErrorKind::Malformed, "its header " + header.error().message, source.name()};
  note_repairs(repairs, notes, source.name());
  std::vector<std::string> names;
  if (layout->samples) names = first_scored(source.bytes(), *layout->samples);
  Result<InspectStart> start = start_inspect(header->root(), options, names, notes, source.name());
  if (!start) return start.error();
  std::size_t episodes = 0;
  if (layout->samples)
    episodes = SampleStream(source, options, *layout->samples, start->reading)
                   .run(start->info, sink, notes);
  return finish_inspect(source, header->root(), std::move(start->info), episodes, std::move(notes));
}

}  // namespace unmask
