#include "report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "report/display.h"
#include "report/numbers.h"

namespace unmask {
namespace {

constexpr std::size_t kLabel = 8;  // columns left of the axis
constexpr std::size_t kSlot = 6;   // columns of one K
constexpr std::size_t kMostColumns = 80;
constexpr int kRows = 12;

std::vector<ChartPoint> thinned(std::vector<ChartPoint> points, int k_tight, std::size_t most) {
  while (points.size() > std::max<std::size_t>(most, 3)) {
    const std::size_t before = points.size();
    std::vector<ChartPoint> kept;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool needed = i == 0 || i + 1 == points.size() || points[i].k == k_tight;
      if (needed || i % 2 == 0) kept.push_back(points[i]);
    }
    points = std::move(kept);
    if (points.size() == before) break;
  }
  return points;
}

struct Scale {
  double low = 0;   // proportions shown by the bottom and the top row
  double step = 0;  // per row

  int row(double value) const {
    return std::clamp(static_cast<int>(std::lround((value - low) / step)), 0, kRows - 1);
  }
};

// Rows of 2, 2.5, 5 or 10 points, the smallest that holds every value. Never finer: a difference
// of a point or two must look like one.
Scale scale_for(const std::vector<ChartPoint>& chart) {
  double least = 1;
  double most = 0;
  for (const ChartPoint& point : chart) {
    for (const std::optional<double>& value : {point.baseline, point.candidate}) {
      if (!value) continue;
      least = std::min(least, *value);
      most = std::max(most, *value);
    }
  }
  for (const double step : {0.02, 0.025, 0.05}) {
    const double low = std::max(0.0, std::floor(least / step) * step);
    if (low + step * (kRows - 1) >= most) return {low, step};
  }
  return {0, 0.1};
}

Span cell(const ChartPoint& point, const Scale& scale, int row) {
  const auto filled = [](const char* glyph) {
    std::string text;
    for (std::size_t i = 0; i < kSlot; ++i) text += glyph;
    return text;
  };
  const int base = point.baseline ? scale.row(*point.baseline) : -1;
  const int cand = point.candidate ? scale.row(*point.candidate) : -1;
  if (row == base && row == cand) return {filled("═"), Paint::Strong};
  if (row == base) return {filled("━"), Paint::Baseline};
  if (row == cand) return {filled("─"), Paint::Candidate};
  if (base >= 0 && cand >= 0 && row > std::min(base, cand) && row < std::max(base, cand))
    return {filled(base > cand ? "░" : "·"), base > cand ? Paint::Bad : Paint::Good};
  return {std::string(kSlot, ' ')};
}

std::string centred(const std::string& text) {
  const std::size_t width = std::min(display_width(text), kSlot);
  const std::size_t left = (kSlot - width) / 2;
  return std::string(left, ' ') + text + std::string(kSlot - width - left, ' ');
}

void draw_axis(Screen& screen, const std::vector<ChartPoint>& points, int k_tight) {
  std::string rule;
  std::vector<Span> labels = {{fmt::format("{:>{}}", "K ", kLabel + 1), Paint::Dim}};
  for (const ChartPoint& point : points) {
    rule += "──┴───";
    const bool tight = point.k == k_tight;
    labels.push_back({centred(tight ? fmt::format("▲{}", point.k) : std::to_string(point.k)),
                      tight ? Paint::Strong : Paint::Dim});
  }
  screen.line({{std::string(kLabel, ' ') + "└" + rule, Paint::Dim}});
  screen.line(labels);
  std::vector<Span> gaps = {{fmt::format("{:>{}}", "gap pts ", kLabel + 1), Paint::Dim}};
  for (const ChartPoint& point : points)
    gaps.push_back(
        {centred(in_points(point.gap)), point.k == k_tight ? Paint::Strong : Paint::Plain});
  screen.line(gaps);
}

}  // namespace

void draw_curves(Screen& screen, const std::vector<ChartPoint>& all, int k_tight) {
  const std::size_t room = std::min(screen.width(), kMostColumns);
  const std::size_t slots = room > kLabel + 1 ? (room - kLabel - 1) / kSlot : 1;
  const std::vector<ChartPoint> chart = thinned(all, k_tight, slots);
  if (chart.empty()) return;
  const Scale scale = scale_for(chart);
  for (int row = kRows - 1; row >= 0; --row) {
    const double at = points(scale.low + scale.step * row);
    const std::string label =
        row % 2 == 0 ? fmt::format("{:>{}.0f}% ┤", at, kLabel - 2) : std::string(kLabel, ' ') + "│";
    std::vector<Span> spans = {{label, Paint::Dim}};
    for (const ChartPoint& point : chart) spans.push_back(cell(point, scale, row));
    screen.line(spans);
  }
  draw_axis(screen, chart, k_tight);
}

std::string bar(double share, std::size_t columns) {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double clamped = std::clamp(share, 0.0, 1.0);
  const long eighths = std::lround(clamped * static_cast<double>(columns) * 8);
  std::string text;
  for (long i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths[eighths % 8];
}

}  // namespace unmask
