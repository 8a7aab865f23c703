// τ²-bench's SimulationRun and Info, as plain values. Internal to ingest.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "ingest/lazy_json.h"
#include "ingest/notes.h"
#include "trace/episode.h"

namespace unmask {

// One simulation. nullopt: dropped, and `notes` says why.
std::optional<Episode> parse_tau2_simulation(std::string_view text, std::string where,
                                             LazyRecord& json, Notes& notes);

// The members of `info` into `info`.
void parse_tau2_info(std::string_view text, const std::string& where, RunInfo& info, Notes& notes);

// The ids of `tasks`.
void parse_tau2_tasks(std::string_view text, const std::string& where, RunInfo& info, Notes& notes);

// The ids in `simulation_index`.
std::set<std::string> parse_tau2_index(std::string_view text, const std::string& where,
                                       Notes& notes);

}  // namespace unmask
