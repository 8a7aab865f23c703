// Proportions inside, points and percent only in text; whole numbers in text, one way everywhere.
#pragma once

#include <string>

namespace unmask {

inline constexpr double kPointsPerUnit = 100.0;

constexpr double points(double proportion) {
  return proportion * kPointsPerUnit;
}
constexpr double from_points(double value) {
  return value / kPointsPerUnit;
}

// 12345 -> "12,345"; a negative number carries U+2212.
std::string count_text(long n);
// (1, "task") -> "1 task"; (2000, "task") -> "2,000 tasks".
std::string counted(long n, const std::string& noun);

}  // namespace unmask
