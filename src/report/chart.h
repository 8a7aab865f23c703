// S(K) of two arms drawn in text.
#pragma once

#include <optional>
#include <vector>

#include "report/screen.h"

namespace unmask {

struct ChartPoint {
  int k = 0;
  std::optional<double> baseline;  // proportions
  std::optional<double> candidate;
  std::optional<double> gap;  // baseline - candidate, as reported
};

// Two staircases over K, what lies between them shaded, the gap in points under each K and K_tight
// marked. Takes at most 80 columns; where the points are too many for the width, some K are left
// out, never K_tight or the last.
void draw_curves(Screen& screen, const std::vector<ChartPoint>& points, int k_tight);

// "█████▌", `share` of `columns`, in eighths of a column.
std::string bar(double share, std::size_t columns);

}  // namespace unmask
