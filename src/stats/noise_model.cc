#include "stats/noise_model.h"

#include <cmath>
#include <map>
#include <vector>

#include "stats/distribution.h"

namespace unmask {
namespace {

struct Calibration {
  double mean = 0;
  double variance = 0;  // of the measured x
  double reliability = 1;
};

Result<Calibration> calibration_of(std::span<const double> x, double noise_variance) {
  Calibration out;
  if (x.size() < 3) return Error{ErrorKind::Undefined, "fewer than 3 points", ""};
  const auto n = static_cast<double>(x.size());
  for (const double value : x) out.mean += value / n;
  for (const double value : x) out.variance += (value - out.mean) * (value - out.mean) / (n - 1);
  if (!(out.variance > noise_variance))
    return Error{ErrorKind::Undefined, "the noise of x is as large as its differences", ""};
  out.reliability = 1 - noise_variance / out.variance;
  return out;
}

// `se` grown by what is not known of the noise's variance, of which the parameter moves by
// `per_variance` a unit.
void widen(FittedParameter& parameter, double per_variance, const MeasurementNoise& noise,
           double reach) {
  if (noise.pairs == 0) return;
  const double more =
      per_variance * noise.variance * std::sqrt(2.0 / static_cast<double>(noise.pairs));
  parameter.se_information = std::hypot(parameter.se_information, more);
  parameter.se_clustered = std::hypot(parameter.se_clustered, more);
  parameter.ci95 = {parameter.value - reach * parameter.se_clustered,
                    parameter.value + reach * parameter.se_clustered};
}

double sigma_error(double omega_se, double slope_se, double covariance, double omega, double lambda,
                   double left_over, double sigma) {
  // sigma = sqrt(omega^2 - lambda^2 v): its derivatives along omega and lambda.
  const double by_omega = omega / sigma;
  const double by_lambda = -lambda * left_over / sigma;
  const double variance = by_omega * by_omega * omega_se * omega_se +
                          by_lambda * by_lambda * slope_se * slope_se +
                          2 * by_omega * by_lambda * covariance;
  return std::sqrt(std::max(0.0, variance));
}

std::optional<FittedParameter> sigma_of(const Tobit& fit, const Calibration& calibration,
                                        const MeasurementNoise& noise, double reach) {
  const FittedParameter slope = fit.slope.value_or(FittedParameter{1, 0, 0, {}});
  const double left_over = noise.variance * calibration.reliability;
  const double omega = fit.sigma.value;
  const double square = omega * omega - slope.value * slope.value * left_over;
  if (!(square > 0)) return std::nullopt;
  FittedParameter sigma;
  sigma.value = std::sqrt(square);
  sigma.se_information = sigma_error(fit.sigma.se_information, slope.se_information,
                                     fit.covariance_slope_sigma_information, omega, slope.value,
                                     left_over, sigma.value);
  sigma.se_clustered =
      sigma_error(fit.sigma.se_clustered, slope.se_clustered, fit.covariance_slope_sigma, omega,
                  slope.value, left_over, sigma.value);
  widen(sigma, slope.value * slope.value / (2 * sigma.value), noise, reach);
  const double width = reach * sigma.se_clustered / sigma.value;
  sigma.ci95 = {sigma.value * std::exp(-width), sigma.value * std::exp(width)};
  return sigma;
}

NoiseModel model_of(const Tobit& fit, const Calibration& calibration, const MeasurementNoise& noise,
                    double reach) {
  NoiseModel model;
  model.alpha = fit.intercept;
  model.lambda = fit.slope;
  if (model.lambda)
    widen(*model.lambda, model.lambda->value / (calibration.reliability * calibration.variance),
          noise, reach);
  model.sigma = sigma_of(fit, calibration, noise, reach);
  model.omega = fit.sigma.value;
  model.log_likelihood = fit.log_likelihood;
  model.parameters = fit.slope ? 3 : 2;
  model.aic = 2 * model.parameters - 2 * model.log_likelihood;
  model.mean = calibration.mean;
  model.reliability = calibration.reliability;
  return model;
}

std::optional<double> vuong_z(const Tobit& additive, const Tobit& multiplicative,
                              std::span<const int> cluster) {
  std::map<int, double> difference;
  for (std::size_t i = 0; i < cluster.size(); ++i)
    difference[cluster[i]] += multiplicative.row_log_likelihood[i] - additive.row_log_likelihood[i];
  const auto g = static_cast<double>(difference.size());
  double mean = 0;
  double squares = 0;
  for (const auto& [label, d] : difference) mean += d / g;
  for (const auto& [label, d] : difference) squares += (d - mean) * (d - mean);
  const double sd = std::sqrt(squares / (g - 1));
  if (!(sd > 1e-12)) return std::nullopt;
  return (mean * g - 1) / (std::sqrt(g) * sd);
}

}  // namespace

Result<MeasurementNoise> measurement_noise(std::span<const double> first,
                                           std::span<const double> second) {
  if (first.size() != second.size())
    return Error{ErrorKind::InvalidArgument, "measurements come in pairs", ""};
  if (first.size() < 2)
    return Error{ErrorKind::Undefined, "fewer than 2 numbers were measured twice", ""};
  MeasurementNoise noise{0, static_cast<long>(first.size())};
  for (std::size_t i = 0; i < first.size(); ++i)
    noise.variance += (first[i] - second[i]) * (first[i] - second[i]);
  noise.variance /= 2 * static_cast<double>(noise.pairs);
  return noise;
}

double NoiseModel::chance_below_zero(double x) const {
  const double calibrated = mean + reliability * (x - mean);
  const double slope = lambda ? lambda->value : 1;
  return normal_cdf(-(alpha.value + slope * calibrated) / omega);
}

Result<NoiseModels> fit_noise_models(std::span<const double> x, std::span<const Bounded> y,
                                     std::span<const int> cluster, const MeasurementNoise& noise) {
  if (x.size() != y.size() || x.size() != cluster.size())
    return Error{ErrorKind::InvalidArgument, "a noise model needs x, y and cluster of every row",
                 ""};
  const Result<Calibration> calibration = calibration_of(x, noise.variance);
  if (!calibration) return calibration.error();
  std::vector<double> calibrated;
  std::vector<Bounded> above;  // y less x*: what the additive model has to explain
  for (std::size_t i = 0; i < x.size(); ++i) {
    calibrated.push_back(calibration->mean + calibration->reliability * (x[i] - calibration->mean));
    above.push_back({y[i].value - calibrated.back(), y[i].known});
  }
  const Result<Tobit> multiplicative = tobit(calibrated, y, cluster);
  if (!multiplicative) return multiplicative.error();
  const Result<Tobit> additive = tobit(calibrated, above, cluster, true);
  if (!additive) return additive.error();

  const double df = multiplicative->clusters - 1;
  const double reach = t_quantile(0.975, df);
  NoiseModels out;
  out.additive = model_of(*additive, *calibration, noise, reach);
  out.multiplicative = model_of(*multiplicative, *calibration, noise, reach);
  const FittedParameter& lambda = *out.multiplicative.lambda;
  out.p_lambda = two_sided_t_p((lambda.value - 1) / lambda.se_clustered, df);
  out.vuong_z = vuong_z(*additive, *multiplicative, cluster);
  out.rows = multiplicative->exact + multiplicative->bounds;
  out.bounds = multiplicative->bounds;
  out.clusters = multiplicative->clusters;
  return out;
}

bool is_multiplicative(const NoiseModels& models) {
  return models.p_lambda < 0.05;
}

}  // namespace unmask
