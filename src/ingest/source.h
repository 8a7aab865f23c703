// Where the bytes of a log come from: a mapped file, standard input, memory, or a folder.
// Internal to ingest. Compressed bytes (gzip, zstd) are expanded before a format sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ingest/ingest.h"

namespace unmask {

class Source {
 public:
  // Opens a file ("-" is standard input), FIFO or directory.
  // Errors   NotFound, Unavailable: cannot be opened or read. Malformed: compressed and nothing of
  //          it can be expanded. InvalidArgument: expands beyond options.max_expanded_bytes.
  static Result<Source> open(const std::string& path, const ReadOptions& options);

  // The same over bytes that outlive the source.
  static Result<Source> over(std::string_view bytes, const std::string& name,
                             const ReadOptions& options);

  Source(Source&&) noexcept;
  Source& operator=(Source&&) noexcept;
  ~Source();

  // The log's bytes, expanded, without a UTF-8 byte order mark; empty for a directory. Valid while
  // the source lives. Copy a piece before parsing it: another process may change a mapped file, and
  // then the copy is merely wrong, where a parser's own index into the file would run out of it.
  std::string_view bytes() const;

  // The first 64 KiB of bytes(): what sniffing looks at, and where that tells nothing, because long
  // settings stand before every name that does, the first 64 MiB.
  std::string_view head() const { return bytes().substr(0, std::size_t{64} << 10); }
  std::string_view wide_head() const { return bytes().substr(0, std::size_t{64} << 20); }

  // Number of bytes removed in front of bytes()[0] (3 for a byte order mark), so that a place in
  // bytes() can be told as a place in the file.
  std::size_t skipped() const;

  const std::string& name() const;  // what errors call it: the path, "standard input", or `name`
  const std::string& path() const;  // in the file system; empty for memory and standard input
  bool is_directory() const;

  // "run.json: byte 812", with `offset` counted in bytes().
  std::string place(std::size_t offset) const;

  // What was lost before the format saw anything: a compressed stream cut short, for instance.
  const std::optional<Dropped>& damage() const;

  // False once a mapped file is shorter than it was when it was opened.
  bool still_whole() const;

  // Tells the system that bytes()[offset, offset + length) will not be read again.
  void forget(std::size_t offset, std::size_t length) const;
  // [offset, offset + length) will be read next. A hint.
  void expect(std::size_t offset, std::size_t length) const;

 private:
  struct State;
  explicit Source(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace unmask
