// τ²-bench results: one file, or a folder with results.json and simulations/.
//
// A single file is cut into its simulations by a scan of brackets, and each is parsed on its own.
// Where everything else that matters stands before the simulations, which is how τ²-bench writes
// it, the scan goes along with the parsing; otherwise the file is scanned once beforehand, because
// an episode is handed on only when the run's info is complete.
#include <atomic>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ingest/format.h"
#include "ingest/head_members.h"
#include "ingest/log_records.h"
#include "ingest/tau2_episode.h"
#include "ingest/tau2_file.h"
#include "ingest/tau2_layout.h"

namespace unmask {
namespace {

IngestReport finished(RunInfo info, std::size_t episodes, Notes notes, const Source& source) {
  IngestReport report;
  report.run.info = std::move(info);
  report.episodes = episodes;
  if (episodes == 0 && notes.dropped().empty())
    notes.warn("no_episodes", "the log has no simulations", source.name());
  report.warnings = notes.take_warnings();
  report.dropped = notes.take_dropped();
  return report;
}

IngestReport read_single(const Source& source, Tau2File& file, const ReadOptions& options,
                         const EpisodeSink& sink) {
  RunInfo info = file.info();
  RecordPipeline pipeline;
  pipeline.next = [&](PipelineRecord& record) { return file.next(record); };
  pipeline.parse = [&](const PipelineRecord& record, LazyRecord& json, Notes& notes) {
    std::string where = source.name() + ": simulation " + std::to_string(record.ordinal) +
                        " (byte " + std::to_string(record.offset + source.skipped()) + ")";
    return parse_tau2_simulation(record.text, std::move(where), json, notes);
  };
  Notes of_records;
  const std::size_t episodes =
      read_log_records(source, options, info, sink, of_records, std::move(pipeline));
  Notes notes = file.finish();
  // In the order of their places: the file's own notes on dropped records come last.
  of_records.append(std::move(notes));
  return finished(std::move(info), episodes, std::move(of_records), source);
}

// Compares simulation_index with the files that are there.
void check_index(const std::set<std::string>& index, const std::vector<SimulationFile>& files,
                 const std::string& folder, Notes& notes) {
  std::set<std::string> present;
  for (const SimulationFile& file : files) {
    present.insert(file.id);
    if (!index.contains(file.id))
      notes.warn("unlisted_simulation",
                 "a file in simulations/ is not in simulation_index; it was read", file.path);
  }
  for (const std::string& id : index)
    if (!present.contains(id))
      notes.drop("missing_simulation_file",
                 "simulation_index lists a simulation that has no file in simulations/",
                 folder + "/simulations/" + id + ".json");
}

std::optional<Episode> read_simulation_file(const SimulationFile& file, const ReadOptions& options,
                                            LazyRecord& json, Notes& notes, std::uint64_t& size) {
  if (!is_regular_file(file.path)) {
    notes.drop("unreadable_file", "is not a regular file", file.path);
    return std::nullopt;
  }
  const Result<Source> source = Source::open(file.path, options);
  if (!source) {
    notes.drop("unreadable_file", source.error().message, file.path);
    return std::nullopt;
  }
  if (source->damage())
    notes.warn("compressed_stream_damaged", "a simulation's file is damaged", file.path);
  const std::string_view bytes = source->bytes();
  size = bytes.size();
  const std::size_t begin = skip_space(bytes, 0);
  const ContainerEnd object =
      begin < bytes.size() && bytes[begin] == '{' ? scan_container(bytes, begin) : ContainerEnd{};
  if (bytes.size() == begin || (object.end > 0 && !object.closed)) {
    notes.drop("truncated_record",
               object.end > 0 ? "the file ends within its simulation" : "holds no simulation",
               file.path);
    return std::nullopt;
  }
  if (object.depth > kMaxDepth) {
    notes.drop("too_deep", "the simulation nests deeper than 512 levels", file.path);
    return std::nullopt;
  }
  const std::string_view text =
      object.closed ? bytes.substr(begin, object.end - begin) : bytes.substr(begin);
  std::optional<Episode> episode = parse_tau2_simulation(text, file.path, json, notes);
  if (object.closed && skip_space(bytes, object.end) < bytes.size())
    notes.warn("trailing_bytes", "something follows the simulation in its file", file.path);
  if (episode && episode->id != file.id)
    notes.warn("id_differs", "a simulation's id is not the name of its file", file.path);
  return episode;
}

IngestReport read_folder(const Source& results, Tau2File& file,
                         const std::vector<SimulationFile>& files, const std::string& folder,
                         const ReadOptions& options, const EpisodeSink& sink) {
  RunInfo info = file.info();
  Notes notes;
  if (const std::optional<std::set<std::string>> index = file.index())
    check_index(*index, files, folder, notes);
  std::atomic<std::uint64_t> bytes = results.bytes().size();
  RecordPipeline pipeline;
  pipeline.next = [&](PipelineRecord& record) { return record.ordinal < files.size(); };
  pipeline.parse = [&](const PipelineRecord& record, LazyRecord& json, Notes& found) {
    std::uint64_t size = 0;
    std::optional<Episode> episode =
        read_simulation_file(files[record.ordinal], options, json, found, size);
    bytes += size;
    return episode;
  };
  pipeline.finished = [&](const PipelineRecord& last) {
    if (options.progress) options.progress(last.ordinal + 1, files.size());
  };
  const std::size_t episodes = pipeline.run(options.threads, info, sink, notes);
  notes.append(file.finish());
  IngestReport report = finished(std::move(info), episodes, std::move(notes), results);
  report.bytes = bytes;
  return report;
}

// `source` is the results file, wherever it was named.
Result<IngestReport> read_results(const Source& source, const ReadOptions& options,
                                  const EpisodeSink& sink) {
  Tau2File file(source);
  if (std::optional<Error> error = file.open()) return *error;
  std::optional<std::vector<SimulationFile>> files;
  const std::string folder = folder_of(source.path());
  if (!source.path().empty()) files = tau2_simulations_in(folder);
  if (!file.has_simulations() && files)
    return read_folder(source, file, *files, folder, options, sink);
  Result<IngestReport> report = read_single(source, file, options, sink);
  if (report && files && !files->empty())
    report->warnings.push_back(
        {"ignored_simulations_folder",
         "the results hold their simulations themselves; the folder beside them was not read",
         folder + "/simulations", 1});
  return report;
}

}  // namespace

bool looks_like_tau2(const Source& source, std::string_view head) {
  if (source.is_directory()) return tau2_results_in(source.path()).has_value();
  // Top-level names only: texts of other formats may quote these words.
  const std::optional<std::vector<HeadMember>> members = head_members(head);
  if (!members || find_member(*members, "messages") != nullptr) return false;
  const auto holds = [&](std::string_view key, std::string_view mark) {
    const HeadMember* const member = find_member(*members, key);
    return member != nullptr && member->value.find(mark) != std::string_view::npos;
  };
  return find_member(*members, "simulations") != nullptr ||
         find_member(*members, "simulation_index") != nullptr ||
         holds("info", "\"environment_info\"") || holds("tasks", "\"user_scenario\"");
}

Result<IngestReport> read_tau2(const Source& source, const ReadOptions& options,
                               const EpisodeSink& sink) {
  if (!source.is_directory()) return read_results(source, options, sink);
  const std::optional<std::string> path = tau2_results_in(source.path());
  if (!path) return Error{ErrorKind::NotFound, "the folder has no results.json", source.name()};
  const Result<Source> results = Source::open(*path, options);
  if (!results) return results.error();
  Result<IngestReport> report = read_results(*results, options, sink);
  if (report && report->bytes == 0) report->bytes = results->bytes().size();
  if (report && results->damage())
    report->dropped.insert(report->dropped.begin(), *results->damage());
  return report;
}

}  // namespace unmask
