#include "app/arm_argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace unmask {
namespace {

namespace fs = std::filesystem;

// Where the path leads in the end; empty for standard input and what does not exist.
std::string resolved(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? "" : real.string();
}

// `inner` lies somewhere below the folder `outer`.
bool lies_inside(const std::string& inner, const std::string& outer) {
  const std::string a = resolved(inner);
  const std::string b = resolved(outer);
  return !a.empty() && !b.empty() && a.size() > b.size() && a.rfind(b + "/", 0) == 0;
}

}  // namespace

bool is_same_file(const std::string& a, const std::string& b) {
  if (a == "-" || b == "-") return a == b;
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

Result<std::vector<std::string>> arm_paths(const std::string& argument) {
  std::error_code error;
  if (argument == "-" || fs::exists(argument, error)) return std::vector<std::string>{argument};
  std::vector<std::string> paths;
  std::size_t begin = 0;
  while (begin <= argument.size()) {
    const std::size_t end = std::min(argument.find(',', begin), argument.size());
    paths.push_back(argument.substr(begin, end - begin));
    if (paths.back().empty())
      return Error{ErrorKind::InvalidArgument,
                   fmt::format("'{}' names no log, or an empty piece of one", argument), ""};
    begin = end + 1;
  }
  return paths;
}

Result<Done> check_distinct(const std::vector<NamedPath>& paths) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (std::size_t j = i + 1; j < paths.size(); ++j) {
      const auto& [a, arm_a] = paths[i];
      const auto& [b, arm_b] = paths[j];
      const std::string as = arm_a == arm_b ? fmt::format("twice in {}", arm_a)
                                            : fmt::format("both as {} and as {}", arm_a, arm_b);
      if (is_same_file(a, b))
        return Error{ErrorKind::InvalidArgument,
                     a == b ? fmt::format("the same log is given {}", as)
                            : fmt::format("is the same log as {}, given {}", b, as),
                     a == "-" ? "standard input" : a};
      if (lies_inside(a, b) || lies_inside(b, a))
        return Error{ErrorKind::InvalidArgument, fmt::format("overlaps {}, given {}", b, as), a};
    }
  }
  return Done{};
}

}  // namespace unmask
