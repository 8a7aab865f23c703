// Arms as they are named on the command line.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace unmask {

// A file, a folder, "-", or a comma list of them. An argument that names something existing is that
// one thing, commas included.
// Errors   InvalidArgument: an empty piece.
Result<std::vector<std::string>> arm_paths(const std::string& argument);

// A path and the name of the arm it belongs to.
using NamedPath = std::pair<std::string, std::string>;

// The same log must not stand in a comparison twice, under whatever name.
// Errors   InvalidArgument: two paths are one file, or one lies inside a folder that is given too,
//          or standard input is named twice.
Result<Done> check_distinct(const std::vector<NamedPath>& paths);

// One file or folder under two names; false where either is not there. "-" is itself only.
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace unmask
