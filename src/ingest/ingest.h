// ingest: the bytes of some log -> Run, and what was dropped on the way. One file and one row of
// the format table per format; nothing here judges what happened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/episode.h"

namespace unmask {

struct ReadOptions {
  std::string format;  // a name of log_formats(); empty: sniffed
  int threads = 0;     // 0: one per processor
  // Inspect: the scorer to take, and from which score on an episode passes. Without a threshold a
  // score strictly between 0 and 1 is ungraded.
  std::string scorer;
  std::optional<double> pass_threshold;
  // OpenAI chat JSONL: our field -> the user's field or JSON pointer ("task_id" -> "meta/id").
  std::map<std::string, std::string> field_map;
  // A compressed file may not expand beyond this; larger is refused as a decompression bomb.
  std::uint64_t max_expanded_bytes = std::uint64_t{64} << 30;
  std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)>
      progress;  // may be empty
};

// A record that was not read, and why.
struct Dropped {
  std::string code;    // "truncated_record"
  std::string reason;  // one sentence
  std::string where;   // "results.json: byte 8812"

  bool operator==(const Dropped&) const = default;
};

struct IngestReport {
  Run run;  // episodes in the log's order; empty when they went to a sink
  std::size_t episodes = 0;
  std::vector<Dropped> dropped;
  std::vector<Warning> warnings;
  std::uint64_t bytes = 0;
};

// Receives episode `index` (0-based, in the log's order, dense over what was read). Called from
// several threads at once, each index once, in no particular order; info is complete by then.
using EpisodeSink = std::function<void(const RunInfo& info, std::size_t index, Episode&& episode)>;

// Reads one log: a file ("-" is standard input), or a directory in one of the directory forms.
//
// Errors   NotFound, Unavailable: cannot be opened. Malformed: nothing usable, with byte or line.
//          Unsupported: no format recognises it, or `format` names none. InvalidArgument: options.
// Threads  uses options.threads; the sink must be safe to call concurrently.
// A log that is damaged in part yields what could be read, plus `dropped`.
Result<IngestReport> ingest(const std::string& path, const ReadOptions& options);
Result<IngestReport> ingest(const std::string& path, const ReadOptions& options,
                            const EpisodeSink& sink);

// The same over bytes already in memory; `name` is what errors call them.
Result<IngestReport> ingest_bytes(std::string_view bytes, const std::string& name,
                                  const ReadOptions& options);
Result<IngestReport> ingest_bytes(std::string_view bytes, const std::string& name,
                                  const ReadOptions& options, const EpisodeSink& sink);

// Names accepted by ReadOptions::format with one sentence each, for --help.
struct FormatDescription {
  std::string_view name;
  std::string_view description;
};
std::vector<FormatDescription> log_formats();
std::vector<std::string> log_format_names();

}  // namespace unmask
