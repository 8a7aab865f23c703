// A file's bytes as one read-only view, mapped where the system can, read otherwise.
#pragma once

#include <cstddef>
#include <memory>
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

  // Says that [offset, offset + length) is read next. Of a large file whole windows are read into
  // huge pages and put in the mapping's place, where the system has them: a page table entry for
  // every 4 KB costs more than copying, above all in virtual machines. A hint; one thread at a
  // time, other threads may read meanwhile.
  void expect(std::size_t offset, std::size_t length) const;

  // Says that [offset, offset + length) will not be read again, so that its memory may be had
  // back. Pieces told in order leave nothing behind. One thread at a time.
  void forget(std::size_t offset, std::size_t length) const;

  // Installs, once per process, a SIGBUS handler that replaces a vanished page of any MappedFile by
  // zeroes; a fault elsewhere is passed on to the earlier handler. Idempotent.
  static void guard_reads();

 private:
  class HugeWindows;
  MappedFile();
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  int fd_ = -1;          // kept open while mapped
  bool mapped_ = false;  // otherwise the bytes are in `owned_`
  std::string owned_;
  std::unique_ptr<HugeWindows> windows_;  // of large files
};

}  // namespace unmask
