// A file that nobody sees under its name until it is whole.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace unmask {

// Lives beside its place under a temporary name, and vanishes with this value unless it was
// published. Threads  one at a time.
class UnfinishedFile {
 public:
  // Errors   NotFound, Unavailable: the folder is not there or not writable.
  static Result<UnfinishedFile> create(const std::string& place);

  UnfinishedFile(UnfinishedFile&& other) noexcept;
  UnfinishedFile& operator=(UnfinishedFile&&) = delete;
  ~UnfinishedFile();

  // Where it lies now; another library may write it by this name.
  const std::string& temporary() const { return temporary_; }

  // Appends. Errors   Unavailable: disk full, file too large.
  Result<Done> write(std::string_view bytes);

  // Hands what was written to the disk and gives it its name. It never replaces a file.
  // Errors   InvalidArgument: there is a file of that name. Unavailable: the disk.
  Result<Done> publish();

 private:
  UnfinishedFile(std::string place, std::string temporary, int fd)
      : place_(std::move(place)), temporary_(std::move(temporary)), fd_(fd) {}

  std::string place_;
  std::string temporary_;  // empty: published, or moved from
  int fd_ = -1;
};

}  // namespace unmask
