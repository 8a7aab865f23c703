#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.h"
#include "stats/distribution.h"
#include "stats/mean_test.h"
#include "stats/resample.h"

namespace unmask {
namespace {

using Numbers = std::vector<double>;

std::vector<Numbers> random_columns(std::size_t columns, int tasks, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Numbers> values(columns);
  for (int t = 0; t < tasks; ++t) {
    const double shared = rng.normal();
    for (Numbers& column : values) column.push_back(0.1 + 0.2 * shared + 0.1 * rng.normal());
  }
  return values;
}

TEST(SimultaneousBand, EqualsItsDefinition) {
  const int tasks = 25;
  const std::vector<Numbers> columns = random_columns(6, tasks, 1);
  const TaskResamples resamples(tasks, 400, 2);
  const Band band = *simultaneous_band(columns, resamples);

  Numbers largest;
  for (int b = 0; b < 400; ++b) {
    double distance = 0;
    for (const Numbers& column : columns) {
      const MeanTest test = *mean_t_test(column);
      double sum = 0;
      for (int t = 0; t < tasks; ++t)
        sum += resamples.times_drawn(b, t) * column[static_cast<std::size_t>(t)];
      distance = std::max(distance, std::abs(sum / tasks - test.mean) / test.se);
    }
    largest.push_back(distance);
  }
  std::sort(largest.begin(), largest.end());
  const double q = largest[400 - 20];  // the (401 - 20)-th of 400
  const double widened = -std::sqrt(25.0 / 24) * t_quantile(normal_cdf(-q), 24);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const MeanTest test = *mean_t_test(columns[c]);
    EXPECT_NEAR(band.mean[c], test.mean, 1e-15);
    EXPECT_NEAR(band.band95[c].lo, test.mean - widened * test.se, 1e-12);
    EXPECT_NEAR(band.band95[c].hi, test.mean + widened * test.se, 1e-12);
    EXPECT_EQ(band.ci95[c], test.ci95);
    EXPECT_EQ(band.lower95[c], test.lower95);
  }
}

TEST(SimultaneousBand, ContainsThePointwiseIntervals) {
  const Band band = *simultaneous_band(random_columns(8, 114, 3), TaskResamples(114, 1000, 4));
  for (std::size_t c = 0; c < 8; ++c) {
    EXPECT_LT(band.band95[c].lo, band.ci95[c].lo);
    EXPECT_GT(band.band95[c].hi, band.ci95[c].hi);
  }
}

TEST(SimultaneousBand, HasNoZeroWidthWhereAColumnIsConstant) {
  std::vector<Numbers> columns = random_columns(3, 40, 5);
  for (double& value : columns[1]) value *= 3;
  columns.push_back(Numbers(40, 0.0));
  const Band band = *simultaneous_band(columns, TaskResamples(40, 500, 6));
  const double widest = band.band95[1].hi - band.band95[1].lo;
  EXPECT_NEAR(band.band95[3].hi - band.band95[3].lo, widest, 1e-12);
  EXPECT_EQ(band.mean[3], 0);
}

TEST(SimultaneousBand, FallsBackOnUnseenTasksWhereEveryColumnIsConstant) {
  const Band band =
      *simultaneous_band(std::vector<Numbers>(2, Numbers(114, 0.0)), TaskResamples(114, 100, 7));
  EXPECT_NEAR(band.band95[0].hi, 1 - std::pow(0.025, 1.0 / 114), 1e-15);
}

TEST(SimultaneousBand, IsThePointwiseIntervalForOneColumnAtLeast) {
  const std::vector<Numbers> one = random_columns(1, 30, 8);
  const Band band = *simultaneous_band(one, TaskResamples(30, 4000, 9));
  EXPECT_LE(band.band95[0].lo, band.ci95[0].lo + 1e-12);
  EXPECT_NEAR(band.band95[0].lo, band.ci95[0].lo, 0.2 * (band.ci95[0].hi - band.ci95[0].lo));
}

TEST(SimultaneousBand, RefusesNoColumnAndTooFewTasks) {
  EXPECT_EQ(simultaneous_band({}, TaskResamples(5, 10, 1)).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(simultaneous_band(std::vector<Numbers>{{1}}, TaskResamples(1, 10, 1)).error().kind,
            ErrorKind::Undefined);
  EXPECT_EQ(simultaneous_band(std::vector<Numbers>{{1, 2}}, TaskResamples(3, 10, 1)).error().kind,
            ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace unmask
