#include "stats/distribution.h"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "base/check.h"

namespace unmask {
namespace {

// Far tails underflow to 0 quietly; a domain error stays a bug of ours and is checked before.
using Policy = boost::math::policies::policy<
    boost::math::policies::domain_error<boost::math::policies::ignore_error>,
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::underflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::denorm_error<boost::math::policies::ignore_error>,
    boost::math::policies::evaluation_error<boost::math::policies::ignore_error>>;
using Normal = boost::math::normal_distribution<double, Policy>;
using StudentT = boost::math::students_t_distribution<double, Policy>;
using NoncentralT = boost::math::non_central_t_distribution<double, Policy>;
using Binomial = boost::math::binomial_distribution<double, Policy>;
using Beta = boost::math::beta_distribution<double, Policy>;

}  // namespace

double normal_cdf(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

double normal_quantile(double p) {
  UNMASK_CHECK(p > 0 && p < 1);
  return boost::math::quantile(Normal(), p);
}

double t_cdf(double x, double df) {
  UNMASK_CHECK(df > 0);
  if (std::isinf(x)) return x > 0 ? 1.0 : 0.0;
  return boost::math::cdf(StudentT(df), x);
}

double t_quantile(double p, double df) {
  UNMASK_CHECK(p > 0 && p < 1 && df > 0);
  return boost::math::quantile(StudentT(df), p);
}

double two_sided_t_p(double t, double df) {
  UNMASK_CHECK(df > 0);
  if (std::isinf(t)) return 0.0;
  return std::min(1.0, 2 * boost::math::cdf(boost::math::complement(StudentT(df), std::abs(t))));
}

double noncentral_t_cdf(double x, double df, double noncentrality) {
  UNMASK_CHECK(df > 0);
  // Beyond this Boost's series needs more terms than it allows; Johnson & Kotz's normal
  // approximation is then good to better than 1e-6.
  if (std::abs(noncentrality) > 37) {
    const double scale = std::sqrt(1 + x * x / (2 * df));
    return normal_cdf((x * (1 - 1 / (4 * df)) - noncentrality) / scale);
  }
  return boost::math::cdf(NoncentralT(df, noncentrality), x);
}

double beta_quantile(double p, double a, double b) {
  UNMASK_CHECK(p >= 0 && p <= 1 && a > 0 && b > 0);
  return boost::math::quantile(Beta(a, b), p);
}

double binomial_cdf(double k, double n, double p) {
  UNMASK_CHECK(k >= 0 && k <= n && p >= 0 && p <= 1);
  return boost::math::cdf(Binomial(n, p), k);
}

}  // namespace unmask
