// Where a τ²-bench folder keeps what. Internal to ingest.
//
//   FOLDER/results.json         info, tasks and simulation_index
//   FOLDER/simulations/ID.json  one simulation each
// Any of the files may be compressed: results.json.gz, ID.json.zst.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace unmask {

// The results.json (or .json.gz, .json.zst) in `folder`; nullopt when there is none.
std::optional<std::string> tau2_results_in(const std::string& folder);

struct SimulationFile {
  std::string id;  // the file's name up to ".json"
  std::string path;
};

// The simulations in `folder`/simulations, sorted by id; nullopt when there
// is no such folder. Anything but *.json, *.json.gz and *.json.zst is passed over.
std::optional<std::vector<SimulationFile>> tau2_simulations_in(const std::string& folder);

// Follows symbolic links. What is found within a folder must be one: a FIFO there would block.
bool is_regular_file(const std::string& path);

// The folder a path lies in: "a/b.json" -> "a", "b.json" -> ".".
std::string folder_of(const std::string& path);

}  // namespace unmask
