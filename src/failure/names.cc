#include "failure/names.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

namespace unmask {
namespace {

constexpr std::size_t kShortList = 48;  // up to here comparing lengths first beats hashing
constexpr double kNearMissDistance = 0.25;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Models wrap the name of a tool in what surrounds it in their training data: "functions.x",
// "default_api.x", "x()", "x{}", "x<|channel|>", "functions.x:0". What is behind the name goes
// first.
std::string_view without_tail(std::string_view name) {
  const std::size_t open = name.find_first_of("({<");
  if (open != std::string_view::npos && open > 0) name = name.substr(0, open);
  std::size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) --end;
  if (end > 1 && end < name.size() && name[end - 1] == ':') name = name.substr(0, end - 1);
  return name;
}

// Calls visit(rest) for `name` and for what follows each namespace separator in it.
template <typename Visit>
bool any_unwrapped(std::string_view name, const Visit& visit) {
  if (visit(name)) return true;
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    const char c = name[i];
    const bool dunder = c == '_' && name[i + 1] == '_' && i > 0;
    if (c != '.' && c != ':' && c != '/' && !dunder) continue;
    if (visit(name.substr(i + (dunder ? 2 : 1)))) return true;
  }
  return false;
}

// The byte as folded_name keeps it; 0 where it leaves it out.
char folded(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  if ((c >= 'a' && c <= 'z') || is_digit(c) || static_cast<unsigned char>(c) >= 0x80) return c;
  return 0;
}

// folded_name(name) == wanted, known at the first byte that differs.
bool folds_to(std::string_view name, std::string_view wanted) {
  std::size_t matched = 0;
  for (const char c : name) {
    const char kept = folded(c);
    if (kept == 0) continue;
    if (matched == wanted.size() || kept != wanted[matched]) return false;
    ++matched;
  }
  return matched == wanted.size();
}

}  // namespace

NameList::NameList(std::vector<std::string_view> names) : names_(std::move(names)) {
  if (names_.size() > kShortList) index_.insert(names_.begin(), names_.end());
}

bool NameList::contains(std::string_view name) const {
  if (!index_.empty()) return index_.contains(name);
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

std::string_view NameList::near_miss(std::string_view name) const {
  if (name.empty() || name.size() > kLongestComparedName) return {};
  std::string_view found;
  any_unwrapped(without_tail(name), [&](std::string_view rest) {
    const std::string wanted = folded_name(rest);
    if (wanted.empty()) return false;
    for (const std::string_view offered : names_) {
      if (offered.size() > kLongestComparedName || !folds_to(offered, wanted)) continue;
      found = offered;
      return true;
    }
    return false;
  });
  if (!found.empty()) return found;
  double best = kNearMissDistance;
  for (const std::string_view offered : names_) {
    if (offered.size() > kLongestComparedName) continue;
    const double distance = normalized_edit_distance(name, offered, best);
    // The first of equally close names wins, so the answer does not depend on anything but the
    // list.
    if (distance < best || (distance == best && found.empty())) {
      best = distance;
      found = offered;
    }
  }
  return found;
}

std::string folded_name(std::string_view name) {
  std::string kept;
  kept.reserve(name.size());
  for (const char c : name)
    if (const char k = folded(c)) kept.push_back(k);
  return kept;
}

double normalized_edit_distance(std::string_view a, std::string_view b, double limit) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.empty()) return 0.0;
  const double longest = static_cast<double>(b.size());
  // The distance is at least the difference in length, which settles most pairs.
  if (static_cast<double>(b.size() - a.size()) > limit * longest) return 1.0;

  std::array<std::size_t, kLongestComparedName + 1> few;
  std::vector<std::size_t> many(a.size() < few.size() ? 0 : a.size() + 1);
  std::size_t* const row = many.empty() ? few.data() : many.data();
  for (std::size_t i = 0; i <= a.size(); ++i) row[i] = i;
  for (std::size_t j = 1; j <= b.size(); ++j) {
    std::size_t diagonal = row[0];
    row[0] = j;
    std::size_t smallest = row[0];
    for (std::size_t i = 1; i <= a.size(); ++i) {
      const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[i];
      row[i] = std::min({substitute, row[i] + 1, row[i - 1] + 1});
      smallest = std::min(smallest, row[i]);
    }
    if (static_cast<double>(smallest) > limit * longest) return 1.0;  // rows never shrink below it
  }
  return static_cast<double>(row[a.size()]) / longest;
}

}  // namespace unmask
