#include "app/output_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace unmask {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestFileName = 255;  // of every file system we know

Error refused(std::string_view option, const std::string& why, const std::string& place) {
  return Error{ErrorKind::InvalidArgument, fmt::format("{} cannot be written: {}", option, why),
               place};
}

// Root may write anywhere but in what is mounted read-only; access() knows both.
bool may_write(const fs::path& path) {
  return ::access(path.c_str(), W_OK) == 0;
}

// What keeps anything from being at `path`, which the sentence calls `called`, whatever its folder
// allows; empty: nothing.
std::string wrong_with_name(const fs::path& path, const std::string& called) {
  const std::size_t length = path.filename().native().size();
  if (length > kLongestFileName)
    return fmt::format("a name of {} bytes is too long, {} are allowed", length, kLongestFileName);
  struct stat status {};
  const bool there = ::lstat(path.c_str(), &status) == 0;
  if (there && (!S_ISLNK(status.st_mode) || ::stat(path.c_str(), &status) == 0)) return "";
  if (errno == ELOOP) return "symbolic links lead in a circle";
  if (errno == ENAMETOOLONG) return "the path is too long";
  if (!there) return "";
  std::error_code ignored;
  return fmt::format("{} is a symbolic link to {}, which is not there", called,
                     fs::read_symlink(path, ignored).string());
}

// /proc and /sys allow writing and hold no files of ours: only an attempt tells.
Result<Done> try_folder(std::string_view option, const fs::path& folder, const std::string& place) {
  const fs::path attempt = folder / fmt::format(".unmask-{}", ::getpid());
  const int fd = ::open(attempt.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 && errno == EEXIST) return Done{};
  if (fd < 0)
    return refused(option,
                   fmt::format("no file can be made in {} ({})", folder.string(),
                               errno == ENOENT ? "it takes none" : std::strerror(errno)),
                   place);
  ::close(fd);
  ::unlink(attempt.c_str());
  return Done{};
}

Result<Done> check_folder(std::string_view option, const fs::path& folder,
                          const std::string& place) {
  const std::string wrong = wrong_with_name(folder, folder.string());
  if (!wrong.empty()) return refused(option, wrong, place);
  std::error_code ignored;
  if (!fs::exists(folder, ignored))
    return refused(option, fmt::format("there is no folder {}", folder.string()), place);
  if (!fs::is_directory(folder, ignored))
    return refused(option, fmt::format("{} is not a folder", folder.string()), place);
  if (!may_write(folder))
    return refused(option, fmt::format("no permission to write into {}", folder.string()), place);
  return try_folder(option, folder, place);
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

Result<Done> check_output_file(std::string_view option, const std::string& place) {
  if (place.empty() || place == "-") return Done{};
  const std::string wrong = wrong_with_name(place, "it");
  if (!wrong.empty()) return refused(option, wrong, place);
  std::error_code ignored;
  const fs::file_status status = fs::status(place, ignored);
  if (fs::is_directory(status)) return refused(option, "it is a folder, not a file", place);
  // A device or a pipe is opened; a file is replaced by another of its folder.
  if (fs::exists(status) && !fs::is_regular_file(status))
    return may_write(place) ? Result<Done>(Done{})
                            : refused(option, "no permission to write to it", place);
  return check_folder(option, folder_of(place), place);
}

Result<Done> check_output_folder(std::string_view option, const std::string& place) {
  if (place.empty()) return Done{};
  std::error_code ignored;
  fs::path folder = place;
  while (!fs::exists(folder, ignored) && folder != folder_of(folder)) {
    const std::string wrong = wrong_with_name(folder, folder == place ? "it" : folder.string());
    if (!wrong.empty()) return refused(option, wrong, place);
    folder = folder_of(folder);
  }
  return check_folder(option, folder, place);
}

}  // namespace unmask
