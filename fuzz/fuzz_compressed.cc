// gzip and zstd streams in front of any reader, whatever the bytes: an input without the magic
// bytes of either is taken as what follows them, so that mutations stay inside the decoders.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/ingest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  unmask::ReadOptions options;
  options.format = "tau2";
  options.threads = 1;
  options.max_expanded_bytes = 1 << 18;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const std::string_view magic : {"", "\x1f\x8b\x08", "\x28\xb5\x2f\xfd"})
    (void)unmask::ingest_bytes(std::string(magic) + std::string(bytes), "log", options);
  return 0;
}
