#include "ingest/tau2_layout.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace unmask {
namespace {

constexpr std::string_view kSuffixes[] = {".json", ".json.gz", ".json.zst"};

}  // namespace

bool is_regular_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

std::optional<std::string> tau2_results_in(const std::string& folder) {
  for (const std::string_view suffix : kSuffixes) {
    std::string path = folder + "/results" + std::string(suffix);
    if (is_regular_file(path)) return path;
  }
  return std::nullopt;
}

std::optional<std::vector<SimulationFile>> tau2_simulations_in(const std::string& folder) {
  namespace fs = std::filesystem;
  const std::string inner = folder + "/simulations";
  std::error_code failed;
  if (!fs::is_directory(inner, failed)) return std::nullopt;
  std::vector<SimulationFile> files;
  for (fs::directory_iterator entry(inner, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    for (const std::string_view suffix : kSuffixes) {
      if (name.size() <= suffix.size() || !name.ends_with(suffix)) continue;
      files.push_back({name.substr(0, name.size() - suffix.size()), inner + "/" + name});
    }
  }
  std::sort(files.begin(), files.end(), [](const SimulationFile& a, const SimulationFile& b) {
    return a.id != b.id ? a.id < b.id : a.path < b.path;
  });
  return files;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace unmask
