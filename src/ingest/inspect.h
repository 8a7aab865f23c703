// The two forms of an Inspect log, and what they share. Internal to ingest.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/ingest.h"
#include "ingest/inspect_sample.h"
#include "ingest/json_tree.h"
#include "ingest/notes.h"
#include "ingest/source.h"

namespace unmask {

Result<IngestReport> read_inspect_archive(const Source& source, const ReadOptions& options,
                                          const EpisodeSink& sink);
Result<IngestReport> read_inspect_json(const Source& source, const ReadOptions& options,
                                       const EpisodeSink& sink);

// A sample with the parsed texts it points into.
struct LoadedSample {
  std::vector<JsonTree> trees;
  InspectSample sample;
};

// A whole sample in one JSON object. What had to be mended is noted.
// Errors   Malformed, as JsonTree::parse.
Result<LoadedSample> load_inspect_sample(std::string_view json, Notes& notes,
                                         const std::string& where);

// Warns about what had to be mended to read a record at `where`.
void note_repairs(const JsonRepairs& repairs, Notes& notes, const std::string& where);

// The run and the scorer, found before any episode is handed on. `first_scored` gives the scorer
// names of the log's first sample that has scores; empty when none has.
struct InspectStart {
  RunInfo info;
  InspectReading reading;
};
Result<InspectStart> start_inspect(const JsonNode& header, const ReadOptions& options,
                                   const std::vector<std::string>& first_scored, Notes& notes,
                                   const std::string& where);

// The report of a log that was read, with a warning where the header counts more samples.
// Errors   Malformed: no episode was read.
Result<IngestReport> finish_inspect(const Source& source, const JsonNode& header, RunInfo info,
                                    std::size_t episodes, Notes notes);

}  // namespace unmask
