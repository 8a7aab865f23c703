// The table of log formats: one file and one row each. Internal to ingest.
#pragma once

#include <span>
#include <string_view>

#include "ingest/ingest.h"
#include "ingest/notes.h"
#include "ingest/source.h"

namespace unmask {

struct LogFormat {
  std::string_view name;         // as typed after --format
  std::string_view description;  // one sentence for --help

  // Cheap: looks at `head`, the log's first bytes, or at the names in a directory; parses nothing.
  bool (*sniff)(const Source& source, std::string_view head);

  // Reads everything. The episodes go to `sink` (never empty here), dense indices in the log's
  // order; the report comes back with run.info, episodes, dropped and warnings, and run.episodes
  // empty. Errors   as ingest(): Malformed when nothing usable is found. What was usable is no
  // error.
  Result<IngestReport> (*read)(const Source& source, const ReadOptions& options,
                               const EpisodeSink& sink);
};

// In the order in which they are sniffed.
std::span<const LogFormat> format_table();

// tau2: τ²-bench 1.0, one file or a directory.
bool looks_like_tau2(const Source& source, std::string_view head);
Result<IngestReport> read_tau2(const Source& source, const ReadOptions& options,
                               const EpisodeSink& sink);

// tau1: τ-bench v1, a list of trajectories.
bool looks_like_tau1(const Source& source, std::string_view head);
Result<IngestReport> read_tau1(const Source& source, const ReadOptions& options,
                               const EpisodeSink& sink);

// native: unmask's own JSON Lines, lossless.
bool looks_like_native(const Source& source, std::string_view head);
Result<IngestReport> read_native(const Source& source, const ReadOptions& options,
                                 const EpisodeSink& sink);

// inspect: Inspect AI's .eval archive or .json log.
bool looks_like_inspect(const Source& source, std::string_view head);
Result<IngestReport> read_inspect(const Source& source, const ReadOptions& options,
                                  const EpisodeSink& sink);

// openai: OpenAI chat messages, JSON Lines.
bool looks_like_openai(const Source& source, std::string_view head);
Result<IngestReport> read_openai(const Source& source, const ReadOptions& options,
                                 const EpisodeSink& sink);

}  // namespace unmask
