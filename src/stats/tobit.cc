// With g = (intercept, slope) / sigma and t = 1 / sigma the log-likelihood is a sum of
//
//   exact      log t - (t y - g x)^2 / 2 - log(2 pi) / 2
//   at least   log Phi(g x - t y)        at most   log Phi(t y - g x)
//
// each concave in (g, t): log Phi is, and its argument is linear.
#include "stats/tobit.h"

#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "stats/distribution.h"
#include "stats/newton.h"

namespace unmask {
namespace {

constexpr double kTail = -30;  // further out the series below is exact to double precision

struct Rows {
  std::span<const double> x;
  std::span<const Bounded> y;
  std::size_t lines = 2;  // parameters of the line: 1 where it is level

  double regressor(std::size_t row, std::size_t j) const { return j == 0 ? 1.0 : x[row]; }
};

// What one row adds: its log-likelihood, and the derivatives along w = (x, -y) for a bound, or the
// exact form.
struct RowShape {
  double value = 0;
  std::vector<double> score;  // (lines + 1)
};

double fitted(const Rows& rows, std::size_t i, const std::vector<double>& at) {
  double sum = 0;
  for (std::size_t j = 0; j < rows.lines; ++j) sum += at[j] * rows.regressor(i, j);
  return sum;
}

// The regressors with -y behind them: the direction in which the argument of a bound moves.
std::vector<double> direction(const Rows& rows, std::size_t i) {
  std::vector<double> w(rows.lines + 1);
  for (std::size_t j = 0; j < rows.lines; ++j) w[j] = rows.regressor(i, j);
  w[rows.lines] = -rows.y[i].value;
  return w;
}

void add_outer(SmallMatrix& sum, const std::vector<double>& w, double weight) {
  for (std::size_t a = 0; a < w.size(); ++a)
    for (std::size_t b = 0; b < w.size(); ++b) sum(a, b) += weight * w[a] * w[b];
}

// Adds the row's curvature to `curvature` where one is wanted.
RowShape row_shape(const Rows& rows, std::size_t i, const std::vector<double>& at,
                   SmallMatrix* curvature) {
  const double t = at[rows.lines];
  const std::vector<double> w = direction(rows, i);
  const double r = fitted(rows, i, at) - t * rows.y[i].value;  // minus the residual, in sigmas
  RowShape row{0, w};
  if (rows.y[i].known == Known::Exactly) {
    row.value = std::log(t) - r * r / 2 - std::log(2 * std::numbers::pi) / 2;
    for (double& part : row.score) part *= -r;
    row.score[rows.lines] += 1 / t;
    if (curvature != nullptr) {
      add_outer(*curvature, w, 1);
      (*curvature)(rows.lines, rows.lines) += 1 / (t * t);
    }
    return row;
  }
  const double side = rows.y[i].known == Known::AtLeast ? 1 : -1;
  const double mills = inverse_mills(side * r);
  row.value = log_normal_cdf(side * r);
  for (double& part : row.score) part *= side * mills;
  if (curvature != nullptr) add_outer(*curvature, w, mills * (side * r + mills));
  return row;
}

LocalShape shape_at(const Rows& rows, const std::vector<double>& at) {
  LocalShape shape{0, std::vector<double>(at.size(), 0.0), SmallMatrix(at.size())};
  if (!(at[rows.lines] > 0)) {
    shape.value = -std::numeric_limits<double>::infinity();
    return shape;
  }
  for (std::size_t i = 0; i < rows.y.size(); ++i) {
    const RowShape row = row_shape(rows, i, at, &shape.curvature);
    shape.value += row.value;
    for (std::size_t j = 0; j < at.size(); ++j) shape.gradient[j] += row.score[j];
  }
  return shape;
}

// Cluster labels as 0 ... clusters - 1.
std::vector<int> dense(std::span<const int> cluster, int& clusters) {
  std::map<int, int> index;
  std::vector<int> out;
  for (const int label : cluster)
    out.push_back(index.emplace(label, static_cast<int>(index.size())).first->second);
  clusters = static_cast<int>(index.size());
  return out;
}

struct Spread {
  long exact = 0;
  double mean_x = 0;
  double mean_y = 0;
  double xx = 0;
  double xy = 0;
  double yy = 0;
};

Spread spread_of_exact(const Rows& rows) {
  Spread s;
  for (std::size_t i = 0; i < rows.y.size(); ++i) {
    if (rows.y[i].known != Known::Exactly) continue;
    s.exact += 1;
    s.mean_x += rows.x[i];
    s.mean_y += rows.y[i].value;
  }
  if (s.exact == 0) return s;
  s.mean_x /= static_cast<double>(s.exact);
  s.mean_y /= static_cast<double>(s.exact);
  for (std::size_t i = 0; i < rows.y.size(); ++i) {
    if (rows.y[i].known != Known::Exactly) continue;
    const double dx = rows.x[i] - s.mean_x;
    const double dy = rows.y[i].value - s.mean_y;
    s.xx += dx * dx;
    s.xy += dx * dy;
    s.yy += dy * dy;
  }
  return s;
}

Result<Done> check(const Rows& rows, std::span<const int> cluster) {
  if (rows.x.size() != rows.y.size() || rows.x.size() != cluster.size())
    return Error{ErrorKind::InvalidArgument, "a censored line needs x, y and cluster of every row",
                 ""};
  for (std::size_t i = 0; i < rows.x.size(); ++i)
    if (!std::isfinite(rows.x[i]) || !std::isfinite(rows.y[i].value))
      return Error{ErrorKind::InvalidArgument, "a censored line needs finite numbers", ""};
  return Done{};
}

// The least-squares line of the exact rows, in Olsen's parameters.
Result<std::vector<double>> start_of(const Rows& rows) {
  const Spread s = spread_of_exact(rows);
  if (s.exact < 3) return Error{ErrorKind::Undefined, "fewer than 3 points are known exactly", ""};
  const bool slopes = rows.lines == 2;
  if (slopes && s.xx <= 1e-24 * static_cast<double>(s.exact) * s.mean_x * s.mean_x)
    return Error{ErrorKind::Undefined, "all points have the same x", ""};
  const double slope = slopes ? s.xy / s.xx : 0;
  const double left = s.yy - slope * s.xy;
  if (left <= 1e-20 * (s.yy + s.mean_y * s.mean_y))
    return Error{ErrorKind::Undefined, "the points lie on an exact line", ""};
  const double t = std::sqrt(static_cast<double>(s.exact) / left);
  std::vector<double> at = {(s.mean_y - slope * s.mean_x) * t};
  if (slopes) at.push_back(slope * t);
  at.push_back(t);
  return at;
}

// From (g, t) to (line, sigma) = (g / t, 1 / t).
SmallMatrix jacobian_at(const std::vector<double>& at) {
  const std::size_t last = at.size() - 1;
  const double t = at[last];
  SmallMatrix j(at.size());
  for (std::size_t i = 0; i < last; ++i) {
    j(i, i) = 1 / t;
    j(i, last) = -at[i] / (t * t);
  }
  j(last, last) = -1 / (t * t);
  return j;
}

FittedParameter parameter(double value, std::size_t i, const Covariances& c, double reach) {
  FittedParameter out{value, std::sqrt(c.information(i, i)), std::sqrt(c.clustered(i, i)), {}};
  out.ci95 = {value - reach * out.se_clustered, value + reach * out.se_clustered};
  return out;
}

}  // namespace

double log_normal_cdf(double x) {
  if (x > 0) return std::log1p(-normal_cdf(-x));
  if (x > kTail) return std::log(normal_cdf(x));
  const double square = x * x;
  return -square / 2 - std::log(-x) - std::log(2 * std::numbers::pi) / 2 +
         std::log1p(-1 / square + 3 / (square * square));
}

double inverse_mills(double x) {
  if (x > kTail) return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi) / normal_cdf(x);
  return -x - 1 / x + 2 / (x * x * x);
}

Result<Tobit> tobit(std::span<const double> x, std::span<const Bounded> y,
                    std::span<const int> cluster, bool level) {
  const Rows rows{x, y, level ? std::size_t{1} : std::size_t{2}};
  const Result<Done> checked = check(rows, cluster);
  if (!checked) return checked.error();
  Tobit fit;
  const std::vector<int> clusters = dense(cluster, fit.clusters);
  if (fit.clusters < 2)
    return Error{ErrorKind::Undefined, "a censored line needs at least 2 tasks", ""};
  Result<std::vector<double>> start = start_of(rows);
  if (!start) return start.error();
  const Result<Maximum> maximum = newton_maximum(
      [&](const std::vector<double>& at) { return shape_at(rows, at); }, std::move(*start));
  if (!maximum) return maximum.error();

  std::vector<std::vector<double>> scores;
  for (std::size_t i = 0; i < y.size(); ++i) {
    RowShape row = row_shape(rows, i, maximum->at, nullptr);
    fit.row_log_likelihood.push_back(row.value);
    scores.push_back(std::move(row.score));
    ++(y[i].known == Known::Exactly ? fit.exact : fit.bounds);
  }
  const Result<Covariances> inner =
      covariances(maximum->shape.curvature, scores, clusters, fit.clusters);
  if (!inner) return inner.error();
  const SmallMatrix jacobian = jacobian_at(maximum->at);
  const Covariances outer{moved_covariance(jacobian, inner->information),
                          moved_covariance(jacobian, inner->clustered)};
  const double reach = t_quantile(0.975, fit.clusters - 1);
  const double t = maximum->at.back();
  fit.log_likelihood = maximum->shape.value;
  fit.intercept = parameter(maximum->at[0] / t, 0, outer, reach);
  if (!level) {
    fit.slope = parameter(maximum->at[1] / t, 1, outer, reach);
    fit.covariance_slope_sigma = outer.clustered(1, 2);
    fit.covariance_slope_sigma_information = outer.information(1, 2);
  }
  fit.sigma = parameter(1 / t, rows.lines, outer, reach);
  const double width = reach * fit.sigma.se_clustered / fit.sigma.value;
  fit.sigma.ci95 = {fit.sigma.value * std::exp(-width), fit.sigma.value * std::exp(width)};
  return fit;
}

}  // namespace unmask
