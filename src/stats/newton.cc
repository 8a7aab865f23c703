#include "stats/newton.h"

#include <cmath>

#include "base/check.h"

namespace unmask {
namespace {

constexpr int kMostSteps = 100;
constexpr int kMostHalvings = 60;

// Lower triangle L with a = L L'. False: `a` is not positive definite to working precision.
bool cholesky(const SmallMatrix& a, SmallMatrix& lower) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a(i, j);
      for (std::size_t k = 0; k < j; ++k) sum -= lower(i, k) * lower(j, k);
      if (i != j) {
        lower(i, j) = sum / lower(j, j);
      } else if (sum > 1e-13 * std::abs(a(i, i)) && std::isfinite(sum)) {
        lower(i, i) = std::sqrt(sum);
      } else {
        return false;
      }
    }
  }
  return true;
}

std::vector<double> solved(const SmallMatrix& lower, std::vector<double> b) {
  const std::size_t n = lower.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= lower(i, k) * b[k];
    b[i] /= lower(i, i);
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= lower(k, i) * b[k];
    b[i] /= lower(i, i);
  }
  return b;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Error singular() {
  return Error{ErrorKind::Undefined, "the likelihood does not single out one set of parameters",
               ""};
}

}  // namespace

Result<SmallMatrix> positive_inverse(const SmallMatrix& a) {
  const std::size_t n = a.size();
  SmallMatrix lower(n);
  if (!cholesky(a, lower)) return singular();
  SmallMatrix inverse(n);
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<double> unit(n, 0.0);
    unit[j] = 1;
    const std::vector<double> column = solved(lower, std::move(unit));
    for (std::size_t i = 0; i < n; ++i) inverse(i, j) = column[i];
  }
  return inverse;
}

SmallMatrix product(const SmallMatrix& a, const SmallMatrix& b) {
  UNMASK_CHECK(a.size() == b.size());
  SmallMatrix out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j)
      for (std::size_t k = 0; k < a.size(); ++k) out(i, j) += a(i, k) * b(k, j);
  return out;
}

SmallMatrix transposed(const SmallMatrix& a) {
  SmallMatrix out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j) out(i, j) = a(j, i);
  return out;
}

Result<Maximum> newton_maximum(
    const std::function<LocalShape(const std::vector<double>& at)>& function,
    std::vector<double> start) {
  Maximum maximum{std::move(start), LocalShape{0, {}, SmallMatrix(0)}, 0};
  maximum.shape = function(maximum.at);
  for (; maximum.steps < kMostSteps; ++maximum.steps) {
    SmallMatrix lower(maximum.at.size());
    if (!cholesky(maximum.shape.curvature, lower)) return singular();
    const std::vector<double> step = solved(lower, maximum.shape.gradient);
    // What a full step can still gain, in units of the log-likelihood.
    if (dot(step, maximum.shape.gradient) < 1e-18 * (1 + std::abs(maximum.shape.value)))
      return maximum;
    double share = 1;
    bool climbed = false;
    for (int halving = 0; halving < kMostHalvings && !climbed; ++halving, share /= 2) {
      std::vector<double> next = maximum.at;
      for (std::size_t i = 0; i < next.size(); ++i) next[i] += share * step[i];
      LocalShape shape = function(next);
      climbed = shape.value > maximum.shape.value;
      if (!climbed) continue;
      maximum.at = std::move(next);
      maximum.shape = std::move(shape);
    }
    if (!climbed) return maximum;  // nothing higher to working precision
  }
  return Error{ErrorKind::Undefined, "the likelihood keeps rising: its maximum is at infinity", ""};
}

Result<Covariances> covariances(const SmallMatrix& information,
                                const std::vector<std::vector<double>>& scores,
                                const std::vector<int>& cluster, int clusters) {
  const std::size_t k = information.size();
  Result<SmallMatrix> inverse = positive_inverse(information);
  if (!inverse) return inverse.error();
  std::vector<std::vector<double>> sums(static_cast<std::size_t>(clusters),
                                        std::vector<double>(k, 0.0));
  for (std::size_t i = 0; i < scores.size(); ++i)
    for (std::size_t j = 0; j < k; ++j)
      sums[static_cast<std::size_t>(cluster[i])][j] += scores[i][j];
  SmallMatrix meat(k);
  for (const std::vector<double>& sum : sums)
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t j = 0; j < k; ++j) meat(i, j) += sum[i] * sum[j];
  const auto n = static_cast<double>(scores.size());
  const double g = clusters;
  const double factor = g / (g - 1) * (n - 1) / (n - static_cast<double>(k));
  SmallMatrix clustered = product(product(*inverse, meat), *inverse);
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t j = 0; j < k; ++j) clustered(i, j) *= factor;
  return Covariances{std::move(*inverse), std::move(clustered)};
}

SmallMatrix moved_covariance(const SmallMatrix& jacobian, const SmallMatrix& covariance) {
  return product(product(jacobian, covariance), transposed(jacobian));
}

}  // namespace unmask
