// OpenAI chat JSON Lines, whatever the bytes. An input whose first line is "map FIELD NAME" is read
// with that field map.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/ingest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  unmask::ReadOptions options;
  options.format = "openai";
  options.threads = 1;
  options.max_expanded_bytes = 1 << 20;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("map ")) {
    const std::string_view line = bytes.substr(4, bytes.find('\n') - 4);
    const std::size_t space = line.find(' ');
    if (space != line.npos)
      options.field_map[std::string(line.substr(0, space))] = line.substr(space + 1);
    bytes.remove_prefix(std::min(bytes.size(), line.size() + 5));
  }
  (void)unmask::ingest_bytes(bytes, "run.jsonl", options);
  return 0;
}
