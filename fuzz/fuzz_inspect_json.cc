// Inspect's .json form, whatever the bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ingest/ingest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  unmask::ReadOptions options;
  options.format = "inspect";
  options.threads = 1;
  options.max_expanded_bytes = 1 << 20;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)unmask::ingest_bytes(bytes, "log.json", options);
  return 0;
}
