// Expands gzip and zstd streams, and collects bytes of unknown length. Internal to ingest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/mapped_file.h"
#include "base/result.h"

namespace unmask {

enum class Compression { None, Gzip, Zstd };

// By the first bytes, whatever the name says.
Compression compression_of(std::string_view first_bytes);

// Bytes of unknown number: in memory while they are few, in an unnamed temporary file, mapped, when
// they are more than kInMemory. Memory stays bounded however much comes.
class ByteStore {
 public:
  static constexpr std::size_t kInMemory = std::size_t{8} << 20;

  ByteStore();
  ~ByteStore();
  ByteStore(ByteStore&&) noexcept;
  ByteStore& operator=(ByteStore&&) noexcept;

  // Errors   Unavailable: no temporary file can be made, or its disk is full.
  Result<Done> append(std::string_view bytes);
  // Call once, after the last append().
  Result<Done> finish();

  std::uint64_t size() const { return size_; }
  std::string_view bytes() const;  // after finish()
  void forget(std::size_t offset, std::size_t length) const;

 private:
  Result<Done> spill();
  std::string memory_;
  std::uint64_t size_ = 0;
  int fd_ = -1;
  std::string temporary_;  // its path while it has one
  std::optional<MappedFile> mapped_;
};

// Takes compressed bytes in pieces and appends what they expand to to a store. Members (gzip) and
// frames (zstd) may follow one another.
class Expander {
 public:
  // Refuses to expand to more than max_bytes.
  Expander(Compression compression, std::uint64_t max_bytes, ByteStore& store);
  ~Expander();

  // False: no use in feeding more; see error() and damage().
  Result<bool> feed(std::string_view compressed);

  // After the last feed(): what was wrong with the stream, one sentence; empty when it was whole.
  // What was expanded before the damage is in the store.
  std::string finish();

 private:
  struct Decoder;
  Result<bool> feed_gzip(std::string_view compressed);
  Result<bool> feed_zstd(std::string_view compressed);
  std::optional<Error> keep(std::size_t produced);

  std::unique_ptr<Decoder> decoder_;
  Compression compression_;
  std::uint64_t max_bytes_;
  ByteStore* store_;
  std::uint64_t consumed_ = 0;
  std::string damage_;
  bool between_members_ = true;  // the stream may end here
};

}  // namespace unmask
