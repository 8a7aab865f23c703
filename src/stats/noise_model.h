// What one noisy measurement of a number says of another: y = alpha + lambda x + e, where x itself
// was measured with noise of known size.
//
// For margins of decisions x is the baseline's, y the candidate's, and the two models are
//   additive         lambda = 1: noise was added, nothing shrank
//   multiplicative   lambda is free: margins shrank (or grew) as well
//
// Noise of x. Were x = X + u taken for X, lambda would come out too small by the reliability rho =
// 1 - var(u) / var(x), and shrinkage would be seen where there is none. So the line is fitted to
// the calibrated x* = mean + rho (x - mean), of which the scatter around the line is
// omega^2 = sigma^2 + lambda^2 rho var(u); sigma is what remains. Exact for normal X; for another
// distribution of X the slope is still right where no y is a bound.
//
//   Example  var(x) = 9, var(u) = 0.36: rho = 0.96. A true lambda of 1 looks like 0.96 uncorrected.
//
// Where x has no noise any choice by x will do: it does not move the line of y given x.
// Source   Fuller (1987) sec. 1.2; Carroll et al. (2006) ch. 4 (regression calibration).
#pragma once

#include <optional>
#include <span>

#include "base/result.h"
#include "stats/tobit.h"

namespace unmask {

// Variance of one measurement's noise, from numbers measured twice.
struct MeasurementNoise {
  double variance = 0;
  long pairs = 0;  // numbers measured twice; 0: the variance is exact (or taken to be 0)
};

// sum of (first - second)^2 / (2 n). Errors   InvalidArgument: lengths differ. Undefined: fewer
// than 2 pairs.
Result<MeasurementNoise> measurement_noise(std::span<const double> first,
                                           std::span<const double> second);

struct NoiseModel {
  FittedParameter alpha;
  std::optional<FittedParameter> lambda;  // absent: 1 by demand
  std::optional<FittedParameter> sigma;   // of e; absent where the noise of x explains all scatter
  double omega = 0;                       // scatter of y around the line of a measured x
  double log_likelihood = 0;
  int parameters = 0;  // 2 or 3
  double aic = 0;      // 2 parameters - 2 log-likelihood

  // Of the calibration, x* = mean + reliability (x - mean).
  double mean = 0;
  double reliability = 1;

  // P(y < 0) of a measured x. In [0, 1].
  double chance_below_zero(double x) const;
};

struct NoiseModels {
  NoiseModel additive;
  NoiseModel multiplicative;
  double p_lambda = 1;  // two-sided, H0: lambda = 1; Student's t, clustered, clusters - 1 df
  // Vuong's z of clusters' differences in log-likelihood, multiplicative less additive, less the
  // one parameter it has more; positive favours multiplicative. The models are nested, so p_lambda
  // decides; z says whether the clusters agree. nullopt: all clusters differ alike.
  std::optional<double> vuong_z;
  long rows = 0;
  long bounds = 0;  // of y
  int clusters = 0;
};

// The models are nested, so the test of lambda decides: p_lambda < 0.05.
bool is_multiplicative(const NoiseModels& models);

// Errors   as tobit; Undefined: var(x) is not above the noise's.
// Source   Vuong (1989), summed by cluster.
Result<NoiseModels> fit_noise_models(std::span<const double> x, std::span<const Bounded> y,
                                     std::span<const int> cluster, const MeasurementNoise& noise);

}  // namespace unmask
