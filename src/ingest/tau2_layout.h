// Where a τ²-bench folder keeps what. Internal to ingest.
#pragma once

#include <optional>
#include <string>

namespace unmask {

// The results.json (or .json.gz, .json.zst) in `folder`; nullopt when there is none.
std::optional<std::string> tau2_results_in(const std::string& folder);

}  // namespace unmask
