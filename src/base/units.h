// Proportions inside, points and percent only in text.
#pragma once

namespace unmask {

inline constexpr double kPointsPerUnit = 100.0;

constexpr double points(double proportion) {
  return proportion * kPointsPerUnit;
}
constexpr double from_points(double value) {
  return value / kPointsPerUnit;
}

}  // namespace unmask
