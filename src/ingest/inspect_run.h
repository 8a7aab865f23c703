// What an Inspect log says about the whole run. Internal to ingest.
#pragma once

#include <string>
#include <vector>

#include "ingest/json_tree.h"
#include "ingest/notes.h"
#include "trace/episode.h"

namespace unmask {

// `header` has version, status, eval, plan, results: header.json, or a .json log without its
// samples; _journal/start.json has the same but no status. Warns about runs that did not finish.
RunInfo inspect_run_info(const JsonNode& header, Notes& notes, const std::string& where);

// Names of scorers in the header, in its order; may be empty.
std::vector<std::string> header_scorers(const JsonNode& header);

// The domain a task name stands for: airline, retail, telecom or mock where it names one of
// τ-bench's, else the name without its package prefix.
std::string inspect_domain(std::string_view task);

}  // namespace unmask
