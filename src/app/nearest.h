// "Did you mean": the nearest of a list of names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace unmask {

// The name with the fewest single-character edits (a swap of neighbours is one) from `typed`, where
// they are at most a third of its length, and at least 1; the first of several. Otherwise nullopt.
std::optional<std::string> nearest(std::string_view typed, const std::vector<std::string>& names);

// " (did you mean 'audit'?)", or nothing.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& names);

}  // namespace unmask
