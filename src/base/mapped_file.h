// A file's bytes as one read-only view, mapped where the system can, read otherwise.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace unmask {

class MappedFile {
 public:
  // Maps a regular file; reads FIFOs and standard input ("-") into memory.
  // Errors   NotFound, Unavailable, InvalidArgument (a directory).
  // A file that another process shortens while mapped makes later reads fault: call still_whole()
  // before trusting what was read, and guard_reads() to turn the fault into zero bytes.
  static Result<MappedFile> open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return {data_, size_}; }

  // False once the file on disk is shorter than the mapping.
  bool still_whole() const;

  // Asks the system to map [offset, offset + length) at once: cheaper than a fault every few pages.
  // A hint: where it cannot, pages come as they are touched.
  void expect(std::size_t offset, std::size_t length) const;

  // Tells the system that [offset, offset + length) will not be read again.
  void forget(std::size_t offset, std::size_t length) const;

  // Installs, once per process, a SIGBUS handler that replaces a vanished page of any MappedFile by
  // zeroes; a fault elsewhere is passed on to the earlier handler. Idempotent.
  static void guard_reads();

 private:
  MappedFile() = default;
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  int fd_ = -1;          // kept open while mapped
  bool mapped_ = false;  // otherwise the bytes are in `owned_`
  std::string owned_;
};

}  // namespace unmask
