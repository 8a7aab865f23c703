#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stats/distribution.h"
#include "stats/mean_test.h"
#include "stats/resample.h"

namespace unmask {
namespace {

// The 95 % quantile over resamples of the largest studentized distance of a column's mean.
double largest_distance_quantile(std::span<const std::vector<double>> columns, const Band& band,
                                 std::span<const double> se, const TaskResamples& resamples) {
  const std::vector<std::vector<double>> sums = resamples.sums(columns);
  const double tasks = resamples.tasks();
  std::vector<double> largest(static_cast<std::size_t>(resamples.resamples()), 0.0);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (se[c] <= 0) continue;
    for (std::size_t b = 0; b < largest.size(); ++b)
      largest[b] = std::max(largest[b], std::abs(sums[c][b] / tasks - band.mean[c]) / se[c]);
  }
  return percentile_interval(std::move(largest), 0.05).hi;
}

// The bootstrap knows the spread of the tasks as if it were the truth; on few tasks it is not. The
// distance is widened as a normal quantile is to Student's, and by the n / (n - 1) of the variance.
double small_sample(double distance, double tasks) {
  const double beyond = std::max(normal_cdf(-distance), 1e-12);
  return -std::sqrt(tasks / (tasks - 1)) * t_quantile(beyond, tasks - 1);
}

}  // namespace

Result<Band> simultaneous_band(std::span<const std::vector<double>> columns,
                               const TaskResamples& resamples) {
  if (columns.empty()) return Error{ErrorKind::Undefined, "a band needs at least 1 column", ""};
  Band band;
  std::vector<double> se;
  double t_ratio = 0;  // pointwise half width over se: never narrower than pointwise
  for (const std::vector<double>& column : columns) {
    if (column.size() != static_cast<std::size_t>(resamples.tasks()))
      return Error{ErrorKind::InvalidArgument,
                   "every column of a band needs one value a resampled task", ""};
    const Result<MeanTest> test = mean_t_test(column);
    if (!test) return test.error();
    band.mean.push_back(test->mean);
    band.ci95.push_back(test->ci95);
    band.lower95.push_back(test->lower95);
    se.push_back(test->se);
    if (test->se > 0) t_ratio = (test->ci95.hi - test->mean) / test->se;
  }
  const double distance = largest_distance_quantile(columns, band, se, resamples);
  const double quantile = std::max(t_ratio, small_sample(distance, resamples.tasks()));
  const double widest = quantile * *std::max_element(se.begin(), se.end());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    double reach = se[c] > 0 ? quantile * se[c] : widest;
    if (widest <= 0) reach = band.ci95[c].hi - band.mean[c];
    band.band95.push_back({band.mean[c] - reach, band.mean[c] + reach});
  }
  return band;
}

}  // namespace unmask
