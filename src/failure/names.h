// Tool names: is a name offered, and if not, which offered name does it resemble.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace unmask {

// The names offered to one side, in the order they were offered. The views must outlive the list.
class NameList {
 public:
  NameList() = default;
  explicit NameList(std::vector<std::string_view> names);

  bool contains(std::string_view name) const;

  // The offered name that `name` is a near miss of (METHOD 2): equal after folding case,
  // punctuation and wrappers, or within a normalized edit distance of 0.25; empty when there is
  // none. Names over kLongestComparedName bytes resemble nothing: the work per call is bounded.
  std::string_view near_miss(std::string_view name) const;

  const std::vector<std::string_view>& names() const { return names_; }

 private:
  std::vector<std::string_view> names_;
  std::unordered_set<std::string_view> index_;  // filled for long lists only
};

inline constexpr std::size_t kLongestComparedName = 256;

// `name` in lower case without anything but letters, digits and bytes beyond ASCII.
std::string folded_name(std::string_view name);

// Levenshtein distance in bytes / length of the longer; 0 for two empty names, and 1 as soon as it
// is known to be over `limit`. In [0, 1].
double normalized_edit_distance(std::string_view a, std::string_view b, double limit = 1.0);

}  // namespace unmask
