// Censored and logistic lines, McNemar's test and reliability tables against scipy
// (tests/oracle/margins_oracle.py).
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stats/logistic.h"
#include "stats/mcnemar.h"
#include "stats/reliability.h"
#include "stats/tobit.h"

namespace unmask {
namespace {

using Numbers = std::vector<double>;
using Labels = std::vector<int>;

const nlohmann::json& margins_oracle() {
  static const nlohmann::json json =
      nlohmann::json::parse(std::ifstream(UNMASK_TEST_DATA "/margins_oracle.json"));
  return json;
}

void expect_parameter(const FittedParameter& actual, const nlohmann::json& c, std::size_t i) {
  // Standard errors of the oracle are finite differences at a simplex's optimum.
  EXPECT_NEAR(actual.value, c["at"][i].get<double>(), 2e-6);
  EXPECT_NEAR(actual.se_information / c["se_information"][i].get<double>(), 1, 1e-4);
  EXPECT_NEAR(actual.se_clustered / c["se_clustered"][i].get<double>(), 1, 1e-4);
}

TEST(MarginsOracle, CensoredLinesEqualScipy) {
  ASSERT_EQ(margins_oracle()["tobit"].size(), 3u);
  for (const nlohmann::json& c : margins_oracle()["tobit"]) {
    std::vector<Bounded> y;
    for (std::size_t i = 0; i < c["y"].size(); ++i) {
      const int known = c["known"][i];
      y.push_back({c["y"][i], known == 0   ? Known::Exactly
                              : known == 1 ? Known::AtLeast
                                           : Known::AtMost});
    }
    const bool level = c["level"];
    const Result<Tobit> fit = tobit(c["x"].get<Numbers>(), y, c["cluster"].get<Labels>(), level);
    ASSERT_TRUE(fit) << fit.error().message;
    expect_parameter(fit->intercept, c, 0);
    if (!level) expect_parameter(*fit->slope, c, 1);
    expect_parameter(fit->sigma, c, level ? 1 : 2);
    EXPECT_NEAR(fit->log_likelihood, c["log_likelihood"].get<double>(), 1e-9);
    EXPECT_EQ(fit->slope.has_value(), !level);
  }
}

TEST(MarginsOracle, LogisticLinesEqualScipy) {
  for (const nlohmann::json& c : margins_oracle()["logistic"]) {
    const Result<Logistic> fit =
        logistic(c["x"].get<Numbers>(), c["event"].get<Labels>(), c["cluster"].get<Labels>());
    ASSERT_TRUE(fit) << fit.error().message;
    expect_parameter(fit->intercept, c, 0);
    expect_parameter(fit->slope, c, 1);
    EXPECT_NEAR(fit->log_likelihood, c["log_likelihood"].get<double>(), 1e-9);
    EXPECT_NEAR(fit->p_slope, c["p"].get<double>(), 1e-5);
  }
}

TEST(MarginsOracle, McNemarEqualsScipy) {
  for (const nlohmann::json& c : margins_oracle()["mcnemar"]) {
    const Result<McNemar> test = mcnemar(c["b"], c["c"]);
    ASSERT_TRUE(test);
    EXPECT_NEAR(test->p_exact, c["exact"].get<double>(), 1e-10) << c;
    EXPECT_NEAR(test->p_mid, c["mid"].get<double>(), 1e-10) << c;
  }
}

TEST(MarginsOracle, ReliabilityEqualsNumpy) {
  for (const nlohmann::json& c : margins_oracle()["reliability"]) {
    const Result<Reliability> table =
        reliability(c["predicted"].get<Numbers>(), c["event"].get<Labels>(), c["bins"]);
    ASSERT_TRUE(table);
    EXPECT_NEAR(table->expected_calibration_error, c["ece"].get<double>(), 1e-12);
    EXPECT_NEAR(table->brier, c["brier"].get<double>(), 1e-12);
  }
}

TEST(MarginsOracle, NormalTailsKeepTheirDigits) {
  for (const nlohmann::json& c : margins_oracle()["log_normal_cdf"]) {
    const double x = c[0];
    EXPECT_NEAR(log_normal_cdf(x) / c[1].get<double>(), 1, 1e-8) << x;
    EXPECT_NEAR(inverse_mills(x) / c[2].get<double>(), 1, 1e-6) << x;
  }
}

}  // namespace
}  // namespace unmask
