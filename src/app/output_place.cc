#include "app/output_place.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

namespace unmask {
namespace {

namespace fs = std::filesystem;

Error refused(std::string_view option, const std::string& why, const std::string& place) {
  return Error{ErrorKind::InvalidArgument, fmt::format("{} cannot be written: {}", option, why),
               place};
}

// Root may write anywhere but in what is mounted read-only; access() knows both.
bool may_write(const fs::path& path) {
  return ::access(path.c_str(), W_OK) == 0;
}

Result<Done> check_folder(std::string_view option, const fs::path& folder,
                          const std::string& place) {
  std::error_code ignored;
  if (!fs::exists(folder, ignored))
    return refused(option, fmt::format("there is no folder {}", folder.string()), place);
  if (!fs::is_directory(folder, ignored))
    return refused(option, fmt::format("{} is not a folder", folder.string()), place);
  if (!may_write(folder))
    return refused(option, fmt::format("no permission to write into {}", folder.string()), place);
  return Done{};
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

Result<Done> check_output_file(std::string_view option, const std::string& place) {
  if (place.empty() || place == "-") return Done{};
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
  while (!fs::exists(folder, ignored) && folder != folder_of(folder)) folder = folder_of(folder);
  return check_folder(option, folder, place);
}

}  // namespace unmask
