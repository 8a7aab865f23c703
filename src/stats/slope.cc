#include "stats/slope.h"

#include <cmath>
#include <cstddef>

#include "stats/distribution.h"

namespace unmask {
namespace {

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

Result<Slope> ols_slope(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size())
    return Error{ErrorKind::InvalidArgument, "a slope needs as many x as y values", ""};
  if (x.size() < 3) return Error{ErrorKind::Undefined, "a slope needs at least 3 points", ""};
  const double n = static_cast<double>(x.size());
  const double mean_x = mean_of(x);
  const double mean_y = mean_of(y);
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  if (xx <= 1e-24 * n * mean_x * mean_x || xx == 0)
    return Error{ErrorKind::Undefined, "a slope is undefined where all x are equal", ""};

  Slope line;
  line.slope = xy / xx;
  line.intercept = mean_y - line.slope * mean_x;
  line.df = n - 2;
  double residual_squares = 0;
  double weighted = 0;  // sum of ((x - mean) * residual / (1 - leverage))^2
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = x[i] - mean_x;
    const double residual = y[i] - line.intercept - line.slope * x[i];
    const double free_share = 1 - (1 / n + dx * dx / xx);
    residual_squares += residual * residual;
    // A point that alone fixes the line has leverage 1 and no residual.
    if (free_share > 1e-12) weighted += dx * dx * residual * residual / (free_share * free_share);
  }
  if (residual_squares <= 1e-24 * (yy + n * mean_y * mean_y))
    return Error{ErrorKind::Undefined,
                 "the points lie on an exact line, so the slope has no interval", ""};
  line.se = std::sqrt(weighted) / xx;
  line.p = two_sided_t_p(line.slope / line.se, line.df);
  const double reach = t_quantile(0.975, line.df) * line.se;
  line.ci95 = {line.slope - reach, line.slope + reach};
  return line;
}

}  // namespace unmask
