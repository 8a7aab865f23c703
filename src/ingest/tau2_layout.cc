#include "ingest/tau2_layout.h"

#include <sys/stat.h>

namespace unmask {

std::optional<std::string> tau2_results_in(const std::string& folder) {
  for (const char* name : {"results.json", "results.json.gz", "results.json.zst"}) {
    const std::string path = folder + "/" + name;
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) return path;
  }
  return std::nullopt;
}

}  // namespace unmask
