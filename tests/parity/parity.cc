#include "parity.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>

#include "base/file.h"
#include "environment/json.h"
#include "environment/python.h"

namespace unmask::parity {

namespace {

constexpr std::size_t kShown = 5;

std::string environment_or(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

}  // namespace

void Tally::expect(std::string_view what, const Value& ours, const Value& theirs) {
  if (python::equal(ours, theirs)) return;
  differences.push_back(std::string(what) + ": ours " + dump_json(ours) + ", theirs " +
                        dump_json(theirs));
}

void Tally::add(Tally other) {
  episodes += other.episodes;
  steps += other.steps;
  matched += other.matched;
  approximate += other.approximate;
  approximate_equal += other.approximate_equal;
  inherited += other.inherited;
  std::move(other.differences.begin(), other.differences.end(), std::back_inserter(differences));
  std::move(other.approximate_differences.begin(), other.approximate_differences.end(),
            std::back_inserter(approximate_differences));
}

const Task* LoadedDomain::find(std::string_view id) const {
  for (const Task& task : tasks)
    if (task.id == id) return &task;
  return nullptr;
}

std::vector<std::string> golden_folders(std::string& said) {
  std::istringstream names(environment_or("UNMASK_GOLDEN", UNMASK_SHARED "/tau2/golden"));
  std::vector<std::string> folders;
  for (std::string name; std::getline(names, name, ':');) {
    std::error_code ignored;
    if (std::filesystem::is_directory(name, ignored))
      folders.push_back(name);
    else
      said += (said.empty() ? "" : ", ") + name;
  }
  return folders;
}

std::string data_folder_path() {
  return environment_or("TAU2_DATA_DIR", UNMASK_SHARED "/tau2/data");
}

std::vector<GoldenFile> golden_files(const std::string& folder, std::string_view kind) {
  std::vector<GoldenFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jsonl") continue;
    const std::string stem = entry.path().stem().string();
    const std::size_t underscore = stem.find('_');
    GoldenFile file;
    file.path = entry.path().string();
    file.domain = stem.substr(0, underscore);
    file.kind = underscore == std::string::npos ? "" : stem.substr(underscore + 1);
    if (file.kind == kind) files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const GoldenFile& a, const GoldenFile& b) { return a.path < b.path; });
  for (GoldenFile& file : files) {
    std::istringstream lines(read_file(file.path).value_or(""));
    for (std::string line; std::getline(lines, line);) {
      Result<Value> value = parse_json(line);
      if (value) file.lines.push_back(std::move(*value));
    }
  }
  return files;
}

const LoadedDomain* loaded(const std::string& name) {
  static std::map<std::string, std::unique_ptr<LoadedDomain>> kept;
  if (kept.contains(name)) return kept[name].get();
  std::unique_ptr<LoadedDomain>& slot = kept[name];
  const Result<DataFolder> data = DataFolder::open(data_folder_path());
  if (!data || !find_domain(name)) return nullptr;
  const Result<std::shared_ptr<const Domain>> domain = load_domain(*data, name);
  if (!domain) {
    std::printf("%s\n", to_string(domain.error()).c_str());
    return nullptr;
  }
  const Result<std::vector<Task>> tasks = load_tasks(*data, *find_domain(name));
  if (!tasks) {
    std::printf("%s\n", to_string(tasks.error()).c_str());
    return nullptr;
  }
  slot = std::make_unique<LoadedDomain>(LoadedDomain{*domain, *tasks});
  return slot.get();
}

void print(const GoldenFile& file, const Tally& tally) {
  std::printf(
      "%s: %d episodes, %d steps, %d matched, %d approximate (%d of the steps so marked are "
      "equal), "
      "%zu differences\n",
      file.path.c_str(), tally.episodes, tally.steps, tally.matched, tally.approximate,
      tally.approximate_equal, tally.differences.size());
  if (tally.inherited > 0)
    std::printf("  %d episode(s) began with what one that is not in the file had left\n",
                tally.inherited);
  for (std::size_t i = 0; i < std::min(kShown, tally.differences.size()); ++i)
    std::printf("  DIFFERENCE %s\n", tally.differences[i].c_str());
  for (const std::string& line : tally.approximate_differences)
    std::printf("  approximate (validation text of another pydantic): %s\n", line.c_str());
}

}  // namespace unmask::parity
