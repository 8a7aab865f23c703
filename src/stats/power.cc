// Each question has a power that grows with n; the smallest n that reaches it is found by doubling
// and bisection. The powers:
//   detect:       P(|T| > t_{1 - alpha/2}), T noncentral t with n - 1 df and mean sqrt(n) / sd;
//   upper limit:  P(T > t_{1 - alpha}), noncentrality (limit - mean) sqrt(n) / sd;
//   equivalence:  the interval fits when s is small enough and the mean lies where it fits; given s
//                 the mean is normal, so the power is one integral over the chi density of s.
#include "stats/power.h"

#include <algorithm>
#include <cmath>

#include "stats/distribution.h"

namespace unmask {
namespace {

constexpr int kMostTasks = 100'000'000;

Error bad_level() {
  return Error{ErrorKind::InvalidArgument, "alpha and power lie between 0 and 1", ""};
}

bool is_level(double alpha, double power) {
  return alpha > 0 && alpha < 1 && power > 0 && power < 1;
}

template <typename Power>
Result<int> smallest_n(Power power_at, double wanted) {
  int high = 2;
  while (power_at(high) < wanted) {
    if (high > kMostTasks / 2)
      return Error{ErrorKind::Undefined, "no feasible number of tasks reaches the wanted power",
                   ""};
    high *= 2;
  }
  if (high == 2) return 2;
  int low = high / 2;  // not enough
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (power_at(middle) < wanted ? low : high) = middle;
  }
  return high;
}

}  // namespace

double power_to_detect(double mean, double sd, double alpha, int n) {
  const double df = n - 1;
  const double noncentrality = std::abs(mean) / sd * std::sqrt(static_cast<double>(n));
  const double critical = t_quantile(1 - alpha / 2, df);
  return 1 - noncentral_t_cdf(critical, df, noncentrality) +
         noncentral_t_cdf(-critical, df, noncentrality);
}

double power_of_upper_limit(double mean, double sd, double limit, double alpha, int n) {
  const double df = n - 1;
  const double noncentrality = (limit - mean) / sd * std::sqrt(static_cast<double>(n));
  return 1 - noncentral_t_cdf(t_quantile(1 - alpha, df), df, noncentrality);
}

double power_of_equivalence(double mean, double sd, double margin, double alpha, int n) {
  const double df = n - 1;
  const double root_n = std::sqrt(static_cast<double>(n));
  const double critical = t_quantile(1 - alpha, df);
  // In units of sd: u = s / sd, density 2 (df/2)^(df/2) / Gamma(df/2) u^(df-1) exp(-df u^2 / 2).
  const double log_constant = std::log(2.0) + df / 2 * std::log(df / 2) - std::lgamma(df / 2);
  const double upper = (margin - mean) / sd * root_n;
  const double lower = (margin + mean) / sd * root_n;
  const double widest = (upper + lower) / 2 / critical;  // beyond this s no mean fits
  const double from = std::max(0.0, 1 - 12 / std::sqrt(2 * df));
  const double to = std::min(widest, 1 + 12 / std::sqrt(2 * df));
  if (to <= from) return 0;
  constexpr int kSteps = 400;  // Simpson
  const double step = (to - from) / kSteps;
  double total = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double u = from + i * step;
    if (u <= 0 && df > 1) continue;
    const double density =
        std::exp(log_constant + (df - 1) * std::log(std::max(u, 1e-300)) - df * u * u / 2);
    const double fits = normal_cdf(upper - critical * u) - normal_cdf(critical * u - lower);
    total += (i == 0 || i == kSteps ? 1 : i % 2 == 1 ? 4 : 2) * density * std::max(0.0, fits);
  }
  return total * step / 3;
}

Result<int> tasks_for_equivalence(double mean, double sd, double margin, double alpha,
                                  double power) {
  if (!is_level(alpha, power) || alpha >= 0.5) return bad_level();
  if (!(sd > 0))
    return Error{ErrorKind::Undefined, "a sample size needs a positive standard deviation", ""};
  if (!(std::abs(mean) < margin))
    return Error{
        ErrorKind::Undefined,
        "a difference at or beyond the margin cannot be shown equivalent by any number of tasks",
        ""};
  return smallest_n([&](int n) { return power_of_equivalence(mean, sd, margin, alpha, n); }, power);
}

Result<int> tasks_for_upper_limit(double mean, double sd, double limit, double alpha,
                                  double power) {
  if (!is_level(alpha, power)) return bad_level();
  if (!(sd > 0))
    return Error{ErrorKind::Undefined, "a sample size needs a positive standard deviation", ""};
  if (!(mean < limit))
    return Error{ErrorKind::Undefined,
                 "a mean at or above the limit cannot be shown to lie below it", ""};
  return smallest_n([&](int n) { return power_of_upper_limit(mean, sd, limit, alpha, n); }, power);
}

Result<int> tasks_to_detect(double mean, double sd, double alpha, double power) {
  if (!is_level(alpha, power)) return bad_level();
  if (!(sd > 0))
    return Error{ErrorKind::Undefined, "a sample size needs a positive standard deviation", ""};
  if (mean == 0 || !std::isfinite(mean))
    return Error{ErrorKind::Undefined, "a difference of 0 cannot be detected", ""};
  return smallest_n([&](int n) { return power_to_detect(mean, sd, alpha, n); }, power);
}

}  // namespace unmask
