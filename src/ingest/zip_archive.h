// A zip archive in memory: its entries, and their contents one by one. Internal to ingest.
//
// Structure by libzip; contents are decoded here (stored, deflate by zlib, zstd by libzstd), so
// that every method has the same limits and checks. Nothing is ever written to disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unmask {

struct ZipEntry {
  std::string name;
  std::uint64_t index = 0;  // in the archive
  std::uint64_t stored_bytes = 0;
  std::uint64_t expanded_bytes = 0;  // as the central directory states
  std::uint32_t crc32 = 0;
  int method = 0;  // 0 stored, 8 deflate, 93 zstd
  bool encrypted = false;
};

class ZipArchive {
 public:
  // `bytes` must outlive the archive.
  // Errors   Malformed: not a zip, cut short (its directory is at the end), or entries without end.
  static Result<ZipArchive> open(std::string_view bytes);

  // In the order of the central directory; a name may occur more than once.
  const std::vector<ZipEntry>& entries() const { return entries_; }

  // The expanded contents.
  // Errors   Unsupported: encrypted, or another method. Malformed: damaged data, more or fewer
  // bytes
  //          than stated, wrong CRC-32.
  // Threads  safe to call concurrently.
  Result<std::string> read(const ZipEntry& entry) const;

  ZipArchive(ZipArchive&&) noexcept;
  ZipArchive& operator=(ZipArchive&&) noexcept;
  ~ZipArchive();

 private:
  struct State;
  explicit ZipArchive(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
  std::vector<ZipEntry> entries_;
};

}  // namespace unmask
