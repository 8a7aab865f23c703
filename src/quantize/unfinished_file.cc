#include "quantize/unfinished_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace unmask {
namespace {

Error system_error(const std::string& path, std::string_view doing, int code) {
  const ErrorKind kind = code == ENOENT ? ErrorKind::NotFound : ErrorKind::Unavailable;
  return Error{kind, std::string(doing) + ": " + std::strerror(code), path};
}

// 0, or errno. Where the file system cannot rename without replacing, it is looked up first.
int rename_without_replacing(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (::access(to.c_str(), F_OK) == 0) return EEXIST;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

// So that the name survives a loss of power too. Not every file system lets a folder be synced.
void sync_folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

Result<UnfinishedFile> UnfinishedFile::create(const std::string& place) {
  std::string temporary = place + ".tmp" + std::to_string(::getpid());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return system_error(place, "cannot create", errno);
  return UnfinishedFile(place, std::move(temporary), fd);
}

UnfinishedFile::UnfinishedFile(UnfinishedFile&& other) noexcept
    : place_(std::move(other.place_)),
      temporary_(std::exchange(other.temporary_, "")),
      fd_(std::exchange(other.fd_, -1)) {}

UnfinishedFile::~UnfinishedFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<Done> UnfinishedFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(place_, "cannot write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return Done{};
}

Result<Done> UnfinishedFile::publish() {
  if (::fsync(fd_) != 0) return system_error(place_, "cannot write", errno);
  const int code = rename_without_replacing(temporary_, place_);
  if (code == EEXIST)
    return Error{ErrorKind::InvalidArgument, "is there already and is never overwritten", place_};
  if (code != 0) return system_error(place_, "cannot name the finished file", code);
  temporary_.clear();
  sync_folder_of(place_);
  return Done{};
}

}  // namespace unmask
