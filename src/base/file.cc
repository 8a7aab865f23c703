#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace unmask {
namespace {

Error system_error(const std::string& path, std::string_view doing) {
  const int code = errno;
  const ErrorKind kind = code == ENOENT ? ErrorKind::NotFound : ErrorKind::Unavailable;
  return Error{kind, std::string(doing) + ": " + std::strerror(code), path};
}

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// A name of its own beside `path`, no longer than names may be.
std::string temporary_beside(const std::string& path) {
  constexpr std::size_t kLongestKept = 200;
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(0, std::min(path.size(), name + kLongestKept)) + ".tmp" +
         std::to_string(::getpid());
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::uint64_t max_bytes) {
  const int fd = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return system_error(path, "cannot open");
  struct stat status {};
  if (::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(fd);
    return Error{ErrorKind::InvalidArgument, "is a directory, a file was expected", path};
  }
  std::string content;
  constexpr std::size_t kStep = std::size_t{1} << 18;
  while (true) {
    const std::size_t used = content.size();
    if (used > max_bytes) {
      ::close(fd);
      return Error{ErrorKind::InvalidArgument,
                   "is longer than the " + std::to_string(max_bytes) + " bytes allowed", path};
    }
    content.resize(used + kStep);
    const ssize_t n = ::read(fd, content.data() + used, kStep);
    if (n < 0 && errno == EINTR) {
      content.resize(used);
      continue;
    }
    if (n < 0) {
      const Error error = system_error(path, "cannot read");
      ::close(fd);
      return error;
    }
    content.resize(used + static_cast<std::size_t>(n));
    if (n == 0) break;
  }
  ::close(fd);
  return content;
}

Result<Done> write_file(const std::string& path, std::string_view content) {
  if (path == "-") {
    if (!write_all(STDOUT_FILENO, content)) return system_error("standard output", "cannot write");
    return Done{};
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {  // /dev/null, a FIFO
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return system_error(path, "cannot open for writing");
    const bool ok = write_all(fd, content);
    const Error error = system_error(path, "cannot write");
    ::close(fd);
    if (!ok) return error;
    return Done{};
  }
  const std::string temporary = temporary_beside(path);
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return system_error(path, "cannot create");
  if (!write_all(fd, content) || ::fsync(fd) != 0) {
    const Error error = system_error(path, "cannot write");
    ::close(fd);
    ::unlink(temporary.c_str());
    return error;
  }
  ::close(fd);
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const Error error = system_error(path, "cannot replace");
    ::unlink(temporary.c_str());
    return error;
  }
  return Done{};
}

}  // namespace unmask
