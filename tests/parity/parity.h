// Golden transcripts: JSON Lines made by running τ²-bench itself. Every folder named in
// UNMASK_GOLDEN (colon-separated; without it ../shared/tau2/golden) is read; the worlds come from
// TAU2_DATA_DIR (without it ../shared/tau2/data). What is absent is skipped with a line that says
// so.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "environment/domain.h"
#include "environment/task.h"
#include "environment/value.h"

namespace unmask::parity {

// What one file came to.
struct Tally {
  int episodes = 0;
  int steps = 0;
  int matched = 0;
  int approximate = 0;                   // differ, and are marked approximate
  int approximate_equal = 0;             // marked approximate, yet equal
  std::vector<std::string> differences;  // one line each
  std::vector<std::string> approximate_differences;
  int inherited = 0;  // episodes that began with what one outside the file had left

  void add(Tally other);
  void expect(std::string_view what, const Value& ours, const Value& theirs);
};

struct GoldenFile {
  std::string path;
  std::string domain;  // "retail"
  std::string kind;    // "", "fuzz", "eval", "orchestrator"
  std::vector<Value> lines;
};

// A domain with its tasks, loaded once.
struct LoadedDomain {
  std::shared_ptr<const Domain> domain;
  std::vector<Task> tasks;

  const Task* find(std::string_view id) const;
};

// Folders that exist among those asked for; empty: nothing to test, `said` tells where it looked.
std::vector<std::string> golden_folders(std::string& said);
std::string data_folder_path();
std::vector<GoldenFile> golden_files(const std::string& folder, std::string_view kind);
// nullptr: no such domain in this build or no data. Loaded domains are kept.
const LoadedDomain* loaded(const std::string& domain);
// The file's name, its counts and its first differences, on standard output.
void print(const GoldenFile& file, const Tally& tally);

}  // namespace unmask::parity
