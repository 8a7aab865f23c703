#include "stats/power.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.h"
#include "stats/distribution.h"
#include "stats/mean_test.h"

namespace unmask {
namespace {

// The share of normal samples whose test says so.
template <typename Says>
double simulated(double mean, double sd, int n, Says says) {
  constexpr int kSamples = 4000;
  Rng rng(17);
  int yes = 0;
  std::vector<double> values(static_cast<std::size_t>(n));
  for (int i = 0; i < kSamples; ++i) {
    for (double& value : values) value = mean + sd * rng.normal();
    yes += says(*mean_t_test(values));
  }
  return static_cast<double>(yes) / kSamples;
}

constexpr double kNoise = 4 * 0.008;  // four standard errors at 4000 samples, power one half

TEST(Power, GivesCohensTable) {
  // A medium effect d = 0.5 at 0.05 two-sided and power 0.80 needs 34 pairs (G*Power, Cohen 1988).
  EXPECT_EQ(*tasks_to_detect(0.5, 1, 0.05, 0.80), 34);
  EXPECT_EQ(*tasks_to_detect(-0.5, 1, 0.05, 0.80), 34);
  EXPECT_EQ(*tasks_to_detect(0.2, 1, 0.05, 0.80), 199);
  EXPECT_EQ(*tasks_to_detect(0.8, 1, 0.05, 0.80), 15);
}

TEST(Power, OfDetectionEqualsSimulation) {
  EXPECT_NEAR(power_to_detect(0.1, 0.4, 0.05, 60),
              simulated(0.1, 0.4, 60, [](const MeanTest& t) { return t.p < 0.05; }), kNoise);
}

TEST(Power, OfEquivalenceEqualsSimulation) {
  const auto inside = [](const MeanTest& t) { return t.ci90.lo > -0.2 && t.ci90.hi < 0.2; };
  EXPECT_NEAR(power_of_equivalence(0, 0.4, 0.2, 0.05, 30), simulated(0, 0.4, 30, inside), kNoise);
  EXPECT_NEAR(power_of_equivalence(0.05, 0.4, 0.2, 0.05, 60), simulated(0.05, 0.4, 60, inside),
              kNoise);
  // So few tasks that the interval rarely fits at all.
  EXPECT_NEAR(power_of_equivalence(0, 0.4, 0.2, 0.05, 10), simulated(0, 0.4, 10, inside), kNoise);
}

TEST(Power, OfAnUpperLimitEqualsSimulation) {
  EXPECT_NEAR(power_of_upper_limit(0, 0.3, 0.1, 0.05, 40),
              simulated(0, 0.3, 40, [](const MeanTest& t) { return t.upper95 < 0.1; }), kNoise);
}

TEST(SampleSizes, AreTheSmallestThatReachThePower) {
  for (const double sd : {0.1, 0.25, 0.6, 1.5}) {
    const int detect = *tasks_to_detect(0.05, sd, 0.05, 0.8);
    EXPECT_GE(power_to_detect(0.05, sd, 0.05, detect), 0.8);
    EXPECT_LT(power_to_detect(0.05, sd, 0.05, detect - 1), 0.8);
    const int equivalence = *tasks_for_equivalence(0.01, sd, 0.075, 0.05, 0.8);
    EXPECT_GE(power_of_equivalence(0.01, sd, 0.075, 0.05, equivalence), 0.8);
    EXPECT_LT(power_of_equivalence(0.01, sd, 0.075, 0.05, equivalence - 1), 0.8);
    const int limit = *tasks_for_upper_limit(0.01, sd, 0.05, 0.05, 0.8);
    EXPECT_GE(power_of_upper_limit(0.01, sd, 0.05, 0.05, limit), 0.8);
    EXPECT_LT(power_of_upper_limit(0.01, sd, 0.05, 0.05, limit - 1), 0.8);
  }
}

TEST(SampleSizes, ApproachTheNormalFormulaWhenLarge) {
  // n = ((z_{1 - alpha/2} + z_{power}) sd / mean)^2.
  const double z = normal_quantile(0.975) + normal_quantile(0.8);
  EXPECT_NEAR(*tasks_to_detect(0.01, 1, 0.05, 0.8) / std::pow(z / 0.01, 2), 1, 1e-3);
  // Equivalence at mean 0: ((z_{1 - alpha} + z_{1 - (1 - power)/2}) sd / margin)^2.
  const double e = normal_quantile(0.95) + normal_quantile(0.9);
  EXPECT_NEAR(*tasks_for_equivalence(0, 1, 0.01, 0.05, 0.8) / std::pow(e / 0.01, 2), 1, 1e-3);
}

TEST(SampleSizes, GrowWithSpreadAndPower) {
  EXPECT_LT(*tasks_to_detect(0.1, 0.3, 0.05, 0.8), *tasks_to_detect(0.1, 0.4, 0.05, 0.8));
  EXPECT_LT(*tasks_for_equivalence(0, 0.3, 0.075, 0.05, 0.8),
            *tasks_for_equivalence(0, 0.3, 0.075, 0.05, 0.9));
  EXPECT_LT(*tasks_for_upper_limit(0, 0.3, 0.05, 0.05, 0.8),
            *tasks_for_upper_limit(0.02, 0.3, 0.05, 0.05, 0.8));
  EXPECT_EQ(*tasks_to_detect(100, 1, 0.05, 0.8), 2);
}

TEST(SampleSizes, AreUndefinedWhereNoNumberWouldDo) {
  EXPECT_EQ(tasks_for_equivalence(0.08, 0.3, 0.075, 0.05, 0.8).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(tasks_for_equivalence(0, 0, 0.075, 0.05, 0.8).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(tasks_for_upper_limit(0.05, 0.3, 0.05, 0.05, 0.8).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(tasks_to_detect(0, 0.3, 0.05, 0.8).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(tasks_to_detect(1e-9, 1, 0.05, 0.8).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(tasks_to_detect(0.1, 0.3, 0, 0.8).error().kind, ErrorKind::InvalidArgument);
  EXPECT_EQ(tasks_for_equivalence(0, 0.3, 0.075, 0.05, 1).error().kind, ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace unmask
