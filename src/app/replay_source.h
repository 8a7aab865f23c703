// The logs of a replay, and what their agents were told.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "app/world_flags.h"
#include "base/result.h"
#include "ingest/ingest.h"
#include "rollout/replay_set.h"

namespace unmask {

struct ReplaySourceFlags {
  std::string surface;  // --surface; empty: as find_surface
  std::string domain;   // --domain; empty: the log's
  std::string tools;    // --tools: a file of the agent's tools, where a log has none
  std::string format;   // --format; empty: sniffed
  WorldFlags world;
  int threads = 0;
};

struct ReplaySources {
  std::deque<Run> runs;
  std::vector<ReplaySource> sources;  // every episode, in the order of the logs
  std::string format;                 // of the logs; several: joined by commas
  std::string domain;
  // Why contexts of episodes cannot be rebuilt, with the number of those episodes.
  std::map<std::string, std::size_t> without;
  std::vector<Warning> warnings;
};

// Reads the logs and finds for each episode what its agent was told:
//   τ²-bench's form    the domain's prompt and tools, as a run shows them (--tau2, --surface)
//   any other          the log's own, where it lists its tools with their definitions; else the
//                      system message of the log and the tools of --tools
//
// Errors   those of reading the logs, the tools, or a domain's data.
Result<ReplaySources> read_replay_sources(const std::vector<std::string>& paths,
                                          const ReplaySourceFlags& flags, Progress& progress);

}  // namespace unmask
