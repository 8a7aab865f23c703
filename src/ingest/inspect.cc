// Inspect AI logs: recognised here, read by form in inspect_archive.cc and inspect_json.cc.
#include "ingest/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ingest/format.h"
#include "ingest/head_members.h"
#include "ingest/inspect_run.h"

namespace unmask {
namespace {

bool is_archive(std::string_view head) {
  // A local file header, or the end of a directory without entries.
  return head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06");
}

constexpr std::string_view kStatuses[] = {"\"started\"", "\"success\"", "\"cancelled\"",
                                          "\"error\""};

}  // namespace

bool looks_like_inspect(const Source&, std::string_view head) {
  if (is_archive(head)) return true;
  const std::optional<std::vector<HeadMember>> members = head_members(head);
  if (!members || find_member(*members, "messages") != nullptr ||
      find_member(*members, "simulations") != nullptr)
    return false;
  const HeadMember* const eval = find_member(*members, "eval");
  if (eval != nullptr && eval->value.starts_with('{')) return true;
  const HeadMember* const status = find_member(*members, "status");
  return status != nullptr && find_member(*members, "version") != nullptr &&
         std::find(std::begin(kStatuses), std::end(kStatuses), status->value) !=
             std::end(kStatuses);
}

Result<IngestReport> read_inspect(const Source& source, const ReadOptions& options,
                                  const EpisodeSink& sink) {
  if (is_archive(source.head())) return read_inspect_archive(source, options, sink);
  return read_inspect_json(source, options, sink);
}

void note_repairs(const JsonRepairs& repairs, Notes& notes, const std::string& where) {
  if (repairs.invalid_utf8)
    notes.warn("invalid_utf8", "bytes that are not UTF-8 were replaced", where);
  if (repairs.lone_surrogate)
    notes.warn("lone_surrogate", "halves of surrogate pairs were replaced", where);
  if (repairs.control_character)
    notes.warn("control_character", "control characters in strings were kept as if escaped", where);
  if (repairs.wide_integer)
    notes.warn("wide_integer", "integers beyond 64 bits were rounded", where);
}

Result<LoadedSample> load_inspect_sample(std::string_view json, Notes& notes,
                                         const std::string& where) {
  JsonRepairs repairs;
  Result<JsonTree> tree = JsonTree::parse(json, &repairs);
  if (!tree) return tree.error();
  note_repairs(repairs, notes, where);
  LoadedSample loaded;
  const JsonNode root = tree->root();
  loaded.sample.fields = root;
  loaded.sample.messages = root["messages"].elements();
  // Logs of 2024 have "transcript": {"events", "content"}.
  const JsonNode older = root["transcript"];
  loaded.sample.events = (root["events"].missing() ? older["events"] : root["events"]).elements();
  loaded.sample.attachments =
      Attachments(root["attachments"].missing() ? older["content"] : root["attachments"]);
  loaded.trees.push_back(std::move(*tree));
  return loaded;
}

Result<InspectStart> start_inspect(const JsonNode& header, const ReadOptions& options,
                                   const std::vector<std::string>& first_scored, Notes& notes,
                                   const std::string& where) {
  if (!header["eval"].is_object())
    return Error{ErrorKind::Malformed, "is not an Inspect log: its header has no eval", where};
  InspectStart start;
  start.info = inspect_run_info(header, notes, where);
  std::vector<std::string> names = first_scored;
  for (std::string& name : header_scorers(header))
    if (first_scored.empty() || !options.scorer.empty()) names.push_back(std::move(name));
  Result<ScorerChoice> choice = choose_scorer(options.scorer, names, notes, where);
  if (!choice) return choice.error();
  start.reading.scorer = std::move(*choice);
  start.reading.pass_threshold = options.pass_threshold;
  start.reading.max_sample_bytes =
      std::min(start.reading.max_sample_bytes, options.max_expanded_bytes);
  return start;
}

Result<IngestReport> finish_inspect(const Source& source, const JsonNode& header, RunInfo info,
                                    std::size_t episodes, Notes notes) {
  const std::int64_t completed = header["results"]["completed_samples"].integer().value_or(0);
  if (episodes > 0 && completed > static_cast<std::int64_t>(episodes))
    notes.warn("missing_samples",
               fmt::format("the log's header counts {} completed samples, {} were read", completed,
                           episodes),
               source.name());
  IngestReport report;
  report.run.info = std::move(info);
  report.episodes = episodes;
  report.dropped = notes.take_dropped();
  report.warnings = notes.take_warnings();
  report.bytes = source.bytes().size();
  if (episodes > 0) return report;
  if (!report.dropped.empty())
    return Error{
        ErrorKind::Malformed,
        fmt::format("none of the samples can be read; the first {}", report.dropped[0].reason),
        report.dropped[0].where};
  return Error{ErrorKind::Malformed, "the log holds no samples", source.name()};
}

}  // namespace unmask
