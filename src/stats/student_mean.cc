// (Not mean_test.cc: files of that ending are taken for test programs.)
#include "stats/mean_test.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "stats/distribution.h"

namespace unmask {
namespace {

struct Moments {
  double mean = 0;
  double se = 0;
  double df = 0;
};

// Two passes: the mean first, then squared deviations from it. Values that differ by rounding alone
// (1/3 reached on two ways) are equal: their spread would be an arbitrary, absurdly small SE.
Moments moments(std::span<const double> values) {
  const double n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  Moments m{sum / n, 0, n - 1};
  double squares = 0;
  double largest = 0;
  for (const double value : values) {
    squares += (value - m.mean) * (value - m.mean);
    largest = std::max(largest, std::abs(value));
  }
  const double sd = std::sqrt(squares / (n - 1));
  if (sd > 1e-13 * largest) m.se = sd / std::sqrt(n);
  return m;
}

// One-sided: how far the mean can lie from the common value when up to a share 1 - alpha^(1/n) of
// the tasks, none of which was seen, lies `range` away.
double unseen_reach(double n, double alpha, double range) {
  return range * (1 - std::pow(alpha, 1 / n));
}

double half_width(const Moments& m, double alpha, double range) {
  if (m.se == 0) return unseen_reach(m.df + 1, alpha, range);
  return t_quantile(1 - alpha, m.df) * m.se;
}

// Fewer values than this beside a majority of equal ones: too few for a two-sided t on n - 1.
constexpr std::size_t kSparse = 20;

// Means of a few trials that differ by less are the same mean, reached on two ways.
constexpr double kRounding = 1e-12;

// Degrees of freedom of the limits: n - 1, or the number of values outside the largest group of
// equal ones where that group holds more than half.
struct LimitDf {
  double one_sided = 0;
  double two_sided = 0;  // takes the smaller number only where it is below kSparse
};

LimitDf limit_df(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  std::size_t largest = 0;
  std::size_t run = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    run = i > 0 && sorted[i] - sorted[i - 1] <= kRounding ? run + 1 : 1;
    largest = std::max(largest, run);
  }
  const std::size_t others = sorted.size() - largest;
  const double full = static_cast<double>(sorted.size() - 1);
  if (2 * largest <= sorted.size()) return {full, full};
  const double few = static_cast<double>(others);
  return {few, others < kSparse ? few : full};
}

Error too_few() {
  return Error{ErrorKind::Undefined, "a mean needs at least 2 values to have an interval", ""};
}

}  // namespace

Result<MeanTest> mean_t_test(std::span<const double> values, double range) {
  if (values.size() < 2) return too_few();
  const Moments m = moments(values);
  MeanTest test;
  test.mean = m.mean;
  test.se = m.se;
  test.df = m.df;
  if (m.se > 0) {
    test.p = two_sided_t_p(m.mean / m.se, m.df);
  } else {
    test.p = m.mean == 0 ? 1.0 : std::pow(0.5, m.df);  // 2 * (1/2)^n
  }
  const LimitDf df = m.se > 0 ? limit_df(values) : LimitDf{m.df, m.df};
  const double reach95 =
      m.se > 0 ? t_quantile(0.975, df.two_sided) * m.se : half_width(m, 0.025, range);
  const double reach90 = half_width(m, 0.05, range);
  test.ci95 = {m.mean - reach95, m.mean + reach95};
  test.ci90 = {m.mean - reach90, m.mean + reach90};
  const double reach_one_sided = m.se > 0 ? t_quantile(0.95, df.one_sided) * m.se : reach90;
  test.upper95 = m.mean + reach_one_sided;
  test.lower95 = m.mean - reach_one_sided;
  return test;
}

Result<Equivalence> tost(std::span<const double> values, double margin, double alpha,
                         double range) {
  if (!(margin > 0))
    return Error{ErrorKind::InvalidArgument, "an equivalence margin must be positive", ""};
  if (!(alpha > 0 && alpha < 0.5))
    return Error{ErrorKind::InvalidArgument,
                 "the level of an equivalence test lies between 0 and 0.5", ""};
  if (values.size() < 2) return too_few();
  const Moments m = moments(values);
  Equivalence result;
  result.margin = margin;
  const double reach = half_width(m, alpha, range);
  result.ci90 = {m.mean - reach, m.mean + reach};
  result.equivalent = result.ci90.lo > -margin && result.ci90.hi < margin;
  const double room = margin - std::abs(m.mean);
  if (m.se > 0) {
    // The nearer margin gives the larger of the two p values.
    result.p = t_cdf(-room / m.se, m.df);
  } else {
    // The level at which unseen_reach just equals the room that is left.
    const double share = std::clamp(room / range, 0.0, 1.0);
    result.p = std::pow(1 - share, m.df + 1);
  }
  return result;
}

}  // namespace unmask
