// Every closed-form function against scipy, statsmodels and numpy (tests/oracle/stats_oracle.py).
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stats/distribution.h"
#include "stats/mean_test.h"
#include "stats/multiplicity.h"
#include "stats/power.h"
#include "stats/proportion.h"
#include "stats/quantile.h"
#include "stats/rank.h"
#include "stats/slope.h"

namespace unmask {
namespace {

using Json = nlohmann::json;
using Numbers = std::vector<double>;

const Json& oracle() {
  static const Json json = Json::parse(std::ifstream(UNMASK_TEST_DATA "/stats_oracle.json"));
  return json;
}

// Relative above 1, absolute below, so that tails of 1e-15 are not asked for 9 digits.
void expect_close(double actual, double expected, double tolerance, const std::string& what) {
  EXPECT_NEAR(actual, expected, tolerance * std::max(1.0, std::abs(expected))) << what;
}

double call(const std::string& name, const Numbers& a) {
  if (name == "normal_quantile") return normal_quantile(a[0]);
  if (name == "normal_cdf") return normal_cdf(a[0]);
  if (name == "t_quantile") return t_quantile(a[0], a[1]);
  if (name == "t_cdf") return t_cdf(a[0], a[1]);
  if (name == "two_sided_t_p") return two_sided_t_p(a[0], a[1]);
  if (name == "noncentral_t_cdf") return noncentral_t_cdf(a[0], a[1], a[2]);
  if (name == "beta_quantile") return beta_quantile(a[0], a[1], a[2]);
  throw std::invalid_argument(name);
}

TEST(Oracle, DistributionsEqualScipy) {
  ASSERT_GT(oracle()["distributions"].size(), 200u);
  for (const Json& c : oracle()["distributions"])
    expect_close(call(c["f"], c["args"].get<Numbers>()), c["value"], 1e-10, c.dump());
}

TEST(Oracle, SmallTailsKeepTheirDigits) {
  int small = 0;
  for (const Json& c : oracle()["distributions"]) {
    const double expected = c["value"];
    if (c["f"] == "t_quantile" || expected <= 0 || expected > 1e-6) continue;
    EXPECT_NEAR(call(c["f"], c["args"].get<Numbers>()) / expected, 1, 1e-8) << c.dump();
    ++small;
  }
  EXPECT_GT(small, 5);
}

TEST(Oracle, MeanTestsEqualScipyAndEquivalenceEqualsStatsmodels) {
  for (const Json& c : oracle()["mean_tests"]) {
    const Numbers values = c["values"];
    const MeanTest test = *mean_t_test(values);
    expect_close(test.mean, c["mean"], 1e-12, "mean");
    expect_close(test.se, c["se"], 1e-12, "se");
    expect_close(test.p, c["p"], 1e-10, "p");
    expect_close(test.ci95.lo, c["ci95"][0], 1e-10, "lo95");
    expect_close(test.ci95.hi, c["ci95"][1], 1e-10, "hi95");
    expect_close(test.ci90.lo, c["ci90"][0], 1e-10, "lo90");
    expect_close(test.ci90.hi, c["ci90"][1], 1e-10, "hi90");
    expect_close(test.upper95, c["upper95"], 1e-10, "upper95");
    for (const Json& t : c["tost"]) {
      const Equivalence equivalence = *tost(values, t["margin"]);
      expect_close(equivalence.p, t["p"], 1e-10, "tost");
      EXPECT_EQ(equivalence.equivalent, t["p"].get<double>() < 0.05);
    }
  }
}

TEST(Oracle, RanksEqualScipy) {
  for (const Json& c : oracle()["rank"]) {
    const Numbers x = c["x"];
    const Numbers y = c["y"];
    EXPECT_EQ(mid_ranks(x), c["ranks_x"].get<Numbers>());
    expect_close(*spearman(x, y), c["spearman"], 1e-12, "spearman");
    expect_close(*kendall_tau_b(x, y), c["kendall"], 1e-12, "kendall");
  }
}

TEST(Oracle, HolmEqualsStatsmodels) {
  for (const Json& c : oracle()["holm"]) {
    std::vector<std::optional<double>> p;
    for (const double value : c["p"].get<Numbers>()) p.push_back(value);
    const std::vector<std::optional<double>> adjusted = holm(p);
    for (std::size_t i = 0; i < p.size(); ++i)
      expect_close(*adjusted[i], c["holm"][i], 1e-12, c.dump());
  }
}

TEST(Oracle, ClopperPearsonEqualsStatsmodels) {
  for (const Json& c : oracle()["proportion"]) {
    const Interval interval = *clopper_pearson(c["successes"], c["trials"], c["confidence"]);
    expect_close(interval.lo, c["ci"][0], 1e-10, c.dump());
    expect_close(interval.hi, c["ci"][1], 1e-10, c.dump());
  }
}

TEST(Oracle, PowerEqualsStatsmodels) {
  for (const Json& c : oracle()["power"]["detect"]) {
    const double effect = c["effect"];
    expect_close(power_to_detect(effect, 1, c["alpha"], c["n"]), c["power"], 1e-8, c.dump());
    // A mean `effect` below the limit: the mirror image of a one-sided test.
    expect_close(power_of_upper_limit(0, 1, effect, c["alpha"], c["n"]), c["one_sided"], 1e-8,
                 c.dump());
  }
  for (const Json& c : oracle()["power"]["needed"]) {
    const double effect = c["effect"];
    EXPECT_EQ(*tasks_to_detect(effect, 1, 0.05, c["wanted"]), c["n"].get<int>()) << c.dump();
    EXPECT_EQ(*tasks_for_upper_limit(0, 1, effect, 0.05, c["wanted"]), c["one_sided"].get<int>())
        << c.dump();
  }
}

TEST(Oracle, EquivalencePowerEqualsAdaptiveQuadrature) {
  for (const Json& c : oracle()["power"]["equivalence"])
    expect_close(power_of_equivalence(c["mean"], c["sd"], c["margin"], c["alpha"], c["n"]),
                 c["power"], 1e-7, c.dump());
}

TEST(Oracle, QuantilesEqualNumpy) {
  for (const Json& c : oracle()["quantile"])
    expect_close(*quantile(c["values"].get<Numbers>(), c["p"]), c["value"], 1e-12, c.dump());
}

TEST(Oracle, SlopesEqualStatsmodelsWithHc3) {
  for (const Json& c : oracle()["slope"]) {
    const Slope line = *ols_slope(c["x"].get<Numbers>(), c["y"].get<Numbers>());
    expect_close(line.slope, c["slope"], 1e-10, "slope");
    expect_close(line.intercept, c["intercept"], 1e-10, "intercept");
    expect_close(line.se, c["se"], 1e-10, "se");
    expect_close(line.p, c["p"], 1e-9, "p");
    expect_close(line.ci95.lo, c["ci95"][0], 1e-9, "lo");
    expect_close(line.ci95.hi, c["ci95"][1], 1e-9, "hi");
  }
}

}  // namespace
}  // namespace unmask
