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
// the tasks, none of which was seen, lies `farthest` away.
double unseen_reach(double n, double alpha, double farthest) {
  return farthest * (1 - std::pow(alpha, 1 / n));
}

// Fewer values than this beside a majority of equal ones: too few for a two-sided t on n - 1.
constexpr double kSparse = 20;

// Means of a few trials that differ by less are the same mean, reached on two ways.
constexpr double kRounding = 1e-12;

// The values outside the largest group of equal ones, and how many there are in all.
struct Alike {
  double n = 0;
  double others = 0;
  bool mostly_equal = false;  // the group holds more than half
  double common = 0;          // the group's value
};

Alike alike_of(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  std::size_t largest = 0;
  std::size_t run = 0;
  double common = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    run = i > 0 && sorted[i] - sorted[i - 1] <= kRounding ? run + 1 : 1;
    if (run > largest) common = sorted[i];
    largest = std::max(largest, run);
  }
  return {static_cast<double>(sorted.size()), static_cast<double>(sorted.size() - largest),
          2 * largest > sorted.size(), common};
}

// How limits are drawn: degrees of freedom, and whether tasks that were not seen are allowed for.
struct LimitRule {
  double df = 0;
  bool unseen = false;
};

LimitRule one_sided(const Alike& alike) {
  return alike.mostly_equal ? LimitRule{alike.others, true} : LimitRule{alike.n - 1, false};
}

// Of two limits at once: takes the smaller number only where it is below kSparse.
LimitRule two_sided(const Alike& alike) {
  return alike.others < kSparse ? one_sided(alike) : LimitRule{alike.n - 1, false};
}

// `alpha`: outside the limit, on its side.
double reach(const Moments& m, const LimitRule& rule, double alpha, double farthest) {
  const double unseen = rule.unseen ? unseen_reach(m.df + 1, alpha, farthest) : 0;
  if (m.se == 0 || rule.df == 0) return unseen;
  return std::max(t_quantile(1 - alpha, rule.df) * m.se, unseen);
}

// The limit next to 0 of a mean that the test tells from 0.
double beyond_zero(double mean, const Interval& limits) {
  return mean > 0 ? std::max(limits.lo, 0.0) : std::min(limits.hi, 0.0);
}

Error too_few() {
  return Error{ErrorKind::Undefined, "a mean needs at least 2 values to have an interval", ""};
}

}  // namespace

Result<MeanTest> mean_t_test(std::span<const double> values, double bound) {
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
  const Alike alike = alike_of(values);
  const double farthest = bound + std::abs(alike.common);
  const double reach95 = reach(m, two_sided(alike), 0.025, farthest);
  const double reach90 = reach(m, two_sided(alike), 0.05, farthest);
  const double reach_one_sided = reach(m, one_sided(alike), 0.05, farthest);
  test.ci95 = {m.mean - reach95, m.mean + reach95};
  if (test.p < 0.05) (m.mean > 0 ? test.ci95.lo : test.ci95.hi) = beyond_zero(m.mean, test.ci95);
  test.ci90 = {m.mean - reach90, m.mean + reach90};
  test.upper95 = m.mean + reach_one_sided;
  test.lower95 = m.mean - reach_one_sided;
  return test;
}

Result<Equivalence> tost(std::span<const double> values, double margin, double alpha,
                         double bound) {
  if (!(margin > 0))
    return Error{ErrorKind::InvalidArgument, "an equivalence margin must be positive", ""};
  if (!(alpha > 0 && alpha < 0.5))
    return Error{ErrorKind::InvalidArgument,
                 "the level of an equivalence test lies between 0 and 0.5", ""};
  if (values.size() < 2) return too_few();
  const Moments m = moments(values);
  Equivalence result;
  result.margin = margin;
  const Alike alike = alike_of(values);
  const LimitRule rule = two_sided(alike);
  const double farthest = bound + std::abs(alike.common);
  const double limit = reach(m, rule, alpha, farthest);
  result.ci90 = {m.mean - limit, m.mean + limit};
  result.equivalent = result.ci90.lo > -margin && result.ci90.hi < margin;
  const double room = margin - std::abs(m.mean);
  // The nearer margin gives the larger of the two p values.
  result.p = m.se > 0 && rule.df > 0 ? t_cdf(-room / m.se, rule.df) : 0;
  if (rule.unseen) {
    // The level at which unseen_reach just equals the room that is left.
    const double share = std::clamp(room / farthest, 0.0, 1.0);
    result.p = std::max(result.p, std::pow(1 - share, m.df + 1));
  }
  return result;
}

}  // namespace unmask
