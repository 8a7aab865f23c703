#include "stats/logistic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "stats/distribution.h"
#include "stats/newton.h"

namespace unmask {
namespace {

double chance(double eta) {
  return eta >= 0 ? 1 / (1 + std::exp(-eta)) : std::exp(eta) / (1 + std::exp(eta));
}

// log(1 + exp(eta)) without overflow.
double softplus(double eta) {
  return eta > 0 ? eta + std::log1p(std::exp(-eta)) : std::log1p(std::exp(eta));
}

struct Range {
  double lo = std::numeric_limits<double>::infinity();
  double hi = -std::numeric_limits<double>::infinity();

  void add(double x) {
    lo = std::min(lo, x);
    hi = std::max(hi, x);
  }
};

Result<Done> check(std::span<const double> x, std::span<const int> event,
                   std::span<const int> cluster) {
  if (x.size() != event.size() || x.size() != cluster.size())
    return Error{ErrorKind::InvalidArgument, "a logistic line needs x, event and cluster of a row",
                 ""};
  Range with;
  Range without;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || (event[i] != 0 && event[i] != 1))
      return Error{ErrorKind::InvalidArgument, "a logistic line needs finite x, and events 0 or 1",
                   ""};
    (event[i] == 1 ? with : without).add(x[i]);
  }
  if (with.lo > with.hi || without.lo > without.hi)
    return Error{ErrorKind::Undefined,
                 with.lo > with.hi ? "no event happened" : "every row is an event", ""};
  if (std::min(with.lo, without.lo) == std::max(with.hi, without.hi))
    return Error{ErrorKind::Undefined, "all points have the same x", ""};
  if (with.hi <= without.lo || without.hi <= with.lo)
    return Error{ErrorKind::Undefined, "one value parts the events from the rest: no finite slope",
                 ""};
  return Done{};
}

}  // namespace

double Logistic::probability(double x) const {
  return chance(intercept.value + slope.value * x);
}

Result<Logistic> logistic(std::span<const double> x, std::span<const int> event,
                          std::span<const int> cluster) {
  const Result<Done> checked = check(x, event, cluster);
  if (!checked) return checked.error();
  Logistic fit;
  std::map<int, int> index;
  std::vector<int> clusters;
  for (const int label : cluster)
    clusters.push_back(index.emplace(label, static_cast<int>(index.size())).first->second);
  fit.clusters = static_cast<int>(index.size());
  if (fit.clusters < 2)
    return Error{ErrorKind::Undefined, "a logistic line needs at least 2 tasks", ""};
  fit.rows = static_cast<long>(x.size());
  fit.events = std::count(event.begin(), event.end(), 1);

  const auto shape = [&](const std::vector<double>& at) {
    LocalShape out{0, {0, 0}, SmallMatrix(2)};
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double eta = at[0] + at[1] * x[i];
      const double p = chance(eta);
      const double residual = event[i] - p;
      out.value += event[i] * eta - softplus(eta);
      out.gradient[0] += residual;
      out.gradient[1] += residual * x[i];
      const double weight = p * (1 - p);
      out.curvature(0, 0) += weight;
      out.curvature(0, 1) += weight * x[i];
      out.curvature(1, 0) += weight * x[i];
      out.curvature(1, 1) += weight * x[i] * x[i];
    }
    return out;
  };
  const double share = static_cast<double>(fit.events) / static_cast<double>(fit.rows);
  const Result<Maximum> maximum = newton_maximum(shape, {std::log(share / (1 - share)), 0});
  if (!maximum) return maximum.error();
  std::vector<std::vector<double>> scores;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double residual = event[i] - chance(maximum->at[0] + maximum->at[1] * x[i]);
    scores.push_back({residual, residual * x[i]});
  }
  const Result<Covariances> c =
      covariances(maximum->shape.curvature, scores, clusters, fit.clusters);
  if (!c) return c.error();
  const double df = fit.clusters - 1;
  const double reach = t_quantile(0.975, df);
  FittedParameter* const targets[] = {&fit.intercept, &fit.slope};
  for (std::size_t i = 0; i < 2; ++i) {
    FittedParameter& out = *targets[i];
    out = {maximum->at[i], std::sqrt(c->information(i, i)), std::sqrt(c->clustered(i, i)), {}};
    out.ci95 = {out.value - reach * out.se_clustered, out.value + reach * out.se_clustered};
  }
  fit.p_slope = two_sided_t_p(fit.slope.value / fit.slope.se_clustered, df);
  fit.log_likelihood = maximum->shape.value;
  return fit;
}

}  // namespace unmask
