// Inspect's .eval form, whatever the bytes.
//
// An input that starts with "PK" is the archive. Checksums stop almost every change of such an
// input, so any other input describes a sound archive of stored entries instead:
//
//   === samples/1_epoch_1.json
//   {...}
//   === header.json
//   {...}
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <zlib.h>

#include "ingest/ingest.h"

namespace {

void put(std::string& out, std::uint32_t value, int bytes) {
  for (; bytes > 0; --bytes, value >>= 8) out += static_cast<char>(value & 0xFF);
}

// The fields that a local header and the directory share.
std::string shared_header(std::string_view name, std::string_view data) {
  const uLong crc =
      crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
  std::string out;
  put(out, 20, 2);  // version
  put(out, 0, 8);   // flags, method, time
  put(out, static_cast<std::uint32_t>(crc), 4);
  put(out, static_cast<std::uint32_t>(data.size()), 4);
  put(out, static_cast<std::uint32_t>(data.size()), 4);
  put(out, static_cast<std::uint32_t>(name.size()), 2);
  put(out, 0, 2);  // extra
  return out;
}

std::string archive_of(std::string_view text) {
  std::string out;
  std::string directory;
  std::uint32_t count = 0;
  while (text.starts_with("=== ")) {
    text.remove_prefix(4);
    const std::string_view name = text.substr(0, std::min<std::size_t>(text.find('\n'), 60000));
    text.remove_prefix(std::min(text.size(), name.size() + 1));
    const std::string_view data = text.substr(0, text.find("\n=== "));
    text.remove_prefix(std::min(text.size(), data.size() + 1));
    const std::string header = shared_header(name, data);
    directory += "PK\x01\x02";
    put(directory, 20, 2);
    directory += header;
    put(directory, 0, 10);  // comment, disk, attributes
    put(directory, static_cast<std::uint32_t>(out.size()), 4);
    directory += name;
    out += "PK\x03\x04" + header;
    out += name;
    out += data;
    ++count;
  }
  const std::size_t start = out.size();
  out += directory + "PK\x05\x06";
  put(out, 0, 4);
  put(out, count, 2);
  put(out, count, 2);
  put(out, static_cast<std::uint32_t>(directory.size()), 4);
  put(out, static_cast<std::uint32_t>(start), 4);
  put(out, 0, 2);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  unmask::ReadOptions options;
  options.format = "inspect";
  options.threads = 1;
  options.max_expanded_bytes = 1 << 20;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("PK")) {
    (void)unmask::ingest_bytes(bytes, "log.eval", options);
  } else {
    (void)unmask::ingest_bytes(archive_of(bytes), "log.eval", options);
  }
  return 0;
}
