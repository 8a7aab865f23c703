// A τ²-bench folder: the input is cut at NUL bytes into results.json and the files of simulations/.
// On disk, because that is what the reader of folders reads.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "ingest/ingest.h"

namespace {

// One folder for the process; its files are rewritten for every input.
const std::string& folder() {
  static const std::string path = [] {
    std::string name = (std::filesystem::temp_directory_path() / "unmask-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    return name;
  }();
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string simulations = folder() + "/simulations";
  std::filesystem::remove_all(simulations);
  std::filesystem::create_directory(simulations);
  std::string_view left(reinterpret_cast<const char*>(data), size);
  for (int number = -1; number < 8; ++number) {
    const std::size_t end = left.find('\0');
    const std::string name = number < 0 ? folder() + "/results.json"
                                        : simulations + "/s" + std::to_string(number) + ".json";
    std::ofstream(name, std::ios::binary) << left.substr(0, end);
    if (end == std::string_view::npos) break;
    left.remove_prefix(end + 1);
  }
  unmask::ReadOptions options;
  options.format = "tau2";
  options.threads = 1;
  options.max_expanded_bytes = 1 << 20;
  (void)unmask::ingest(folder(), options);
  return 0;
}
