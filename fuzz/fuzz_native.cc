// unmask's own logs, whatever the bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ingest/ingest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  unmask::ReadOptions options;
  options.format = "native";
  options.threads = 1;
  options.max_expanded_bytes = 1 << 20;
  (void)unmask::ingest_bytes({reinterpret_cast<const char*>(data), size}, "log", options);
  return 0;
}
