// A replay of decisions, "unmask.replay/1" (trace/replay.h), as it was written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/ingest.h"
#include "trace/decision.h"
#include "trace/replay.h"

namespace unmask {

struct ReplayReport {
  Replay replay;
  std::vector<std::optional<Decision>> decisions;  // [i] of replay.replies[i]; nullopt: none given
  std::vector<Dropped> dropped;                    // lines, with the reason
  std::vector<Warning> warnings;
};

// Of the arm's settings; nullopt: they say none.
std::optional<double> temperature_of(const ReplayArm& arm);

// Reads a file ("-" is standard input; compressed ones are expanded), or bytes in memory, `name`
// being what errors call them. Dropped are lines that are no JSON, of another kind, without their
// key, or about a context, arm or list of tools that no earlier line has; a reply that comes a
// second time; a last line that is torn.
//
// Errors   NotFound, Unavailable: cannot be opened. Malformed: the first line is no head of a
//          replay, names no arm, or one twice. Unsupported: another version of the schema.
Result<ReplayReport> read_replay(const std::string& path, const ReadOptions& options = {});
Result<ReplayReport> read_replay_bytes(std::string_view bytes, const std::string& name,
                                       const ReadOptions& options = {});

}  // namespace unmask
