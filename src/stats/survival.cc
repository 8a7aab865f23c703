#include "stats/survival.h"

#include <algorithm>

namespace unmask {

std::vector<SurvivalStep> survival(std::span<const Bounded> values) {
  std::vector<Bounded> sorted(values.begin(), values.end());
  // At equal values the exact ones go first: a bound is still at risk at its value.
  std::sort(sorted.begin(), sorted.end(), [](const Bounded& a, const Bounded& b) {
    return a.value != b.value ? a.value < b.value
                              : a.known != Known::AtLeast && b.known == Known::AtLeast;
  });
  std::vector<SurvivalStep> steps;
  double beyond = 1;
  for (std::size_t i = 0; i < sorted.size();) {
    const double at_risk = static_cast<double>(sorted.size() - i);
    std::size_t end = i;
    std::size_t exact = 0;
    for (; end < sorted.size() && sorted[end].value == sorted[i].value; ++end)
      if (sorted[end].known != Known::AtLeast) ++exact;
    if (exact > 0) {
      beyond *= 1 - static_cast<double>(exact) / at_risk;
      steps.push_back({sorted[i].value, beyond});
    }
    i = end;
  }
  return steps;
}

std::optional<double> survival_quantile(std::span<const SurvivalStep> steps, double p) {
  constexpr double kRounding = 1e-12;
  for (const SurvivalStep& step : steps)
    if (1 - step.beyond >= p - kRounding) return step.at;
  return std::nullopt;
}

}  // namespace unmask
