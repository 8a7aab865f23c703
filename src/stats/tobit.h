// A straight line through points whose height is known only as a bound in places.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "stats/interval.h"

namespace unmask {

// A number, or the side of `value` on which it lies.
enum class Known { Exactly, AtLeast, AtMost };
struct Bounded {
  double value = 0;
  Known known = Known::Exactly;

  bool operator==(const Bounded&) const = default;
};

// A parameter with both standard errors; the interval is Student's on clusters - 1 degrees of
// freedom with the clustered one.
struct FittedParameter {
  double value = 0;
  double se_information = 0;
  double se_clustered = 0;
  Interval ci95;
};

struct Tobit {
  FittedParameter intercept;
  std::optional<FittedParameter> slope;  // absent: the line was level by demand
  FittedParameter sigma;                 // interval on the log scale: never below 0
  double covariance_slope_sigma = 0;     // clustered, of (slope, sigma)
  double covariance_slope_sigma_information = 0;
  double log_likelihood = 0;
  std::vector<double> row_log_likelihood;
  long exact = 0;
  long bounds = 0;
  int clusters = 0;
};

// y = intercept + slope x + e, e ~ N(0, sigma^2), by maximum likelihood; a bound contributes the
// probability of its side. `level`: without the slope. In Olsen's parameters, (intercept, slope) /
// sigma and 1 / sigma, the likelihood is concave, so the maximum is the only one.
//
// Shape    x[i], y[i], cluster[i] of the same row; clusters are any integers.
// Errors   InvalidArgument: lengths differ, a value is not finite. Undefined: fewer than 3 exact
//          rows, fewer than 2 tasks (clusters), all x equal, all exact points on one line.
// Source   Tobin (1958); Olsen (1978) for the parameters and the concavity.
Result<Tobit> tobit(std::span<const double> x, std::span<const Bounded> y,
                    std::span<const int> cluster, bool level = false);

// log of the standard normal distribution function, and density over distribution function, right
// far into the tail.
double log_normal_cdf(double x);
double inverse_mills(double x);

}  // namespace unmask
