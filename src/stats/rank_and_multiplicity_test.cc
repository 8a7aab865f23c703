#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "stats/multiplicity.h"
#include "stats/quantile.h"
#include "stats/rank.h"
#include "stats/slope.h"

namespace unmask {
namespace {

using Numbers = std::vector<double>;

// The definition: pairs that agree less pairs that do not, over the pairs not tied on either side.
double naive_tau_b(const Numbers& x, const Numbers& y) {
  double agreement = 0;
  double untied_x = 0;
  double untied_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double product = (x[i] - x[j]) * (y[i] - y[j]);
      agreement += product > 0 ? 1 : product < 0 ? -1 : 0;
      untied_x += x[i] != x[j];
      untied_y += y[i] != y[j];
    }
  }
  return agreement / std::sqrt(untied_x * untied_y);
}

TEST(KendallTauB, GivesHollanderAndWolfesTunaExample) {
  // Hollander & Wolfe (1973) p. 185: lightness of canned tuna against panel scores; 26 pairs of 36
  // agree.
  const Numbers lightness = {44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1};
  const Numbers score = {2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8};
  EXPECT_NEAR(*kendall_tau_b(lightness, score), 16.0 / 36, 1e-15);
  EXPECT_NEAR(*spearman(lightness, score), 0.6, 1e-12);
}

TEST(KendallTauB, EqualsTheDefinitionOnTiedCounts) {
  Rng rng(7);
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = 2 + rng.below(30);
    Numbers x;
    Numbers y;
    for (std::size_t i = 0; i < n; ++i) {
      x.push_back(rng.below(6));
      y.push_back(rng.below(4) + (rng.bernoulli(0.5) ? x.back() : 0));
    }
    const Result<double> tau = kendall_tau_b(x, y);
    if (!tau) continue;  // a constant side
    EXPECT_NEAR(*tau, naive_tau_b(x, y), 1e-12);
  }
}

TEST(RankAgreement, IgnoresMonotoneChangesOfScale) {
  const Numbers x = {3, 1, 4, 1, 5, 9, 2, 6};
  const Numbers y = {2, 7, 1, 8, 2, 8, 1, 8};
  Numbers cubed = y;
  for (double& value : cubed) value = value * value * value - 4;
  Numbers reversed = y;
  for (double& value : reversed) value = -value;
  EXPECT_NEAR(*spearman(x, y), *spearman(x, cubed), 1e-15);
  EXPECT_NEAR(*kendall_tau_b(x, y), *kendall_tau_b(x, cubed), 1e-15);
  EXPECT_NEAR(*spearman(x, reversed), -*spearman(x, y), 1e-15);
  EXPECT_NEAR(*kendall_tau_b(x, reversed), -*kendall_tau_b(x, y), 1e-15);
  EXPECT_EQ(*spearman(x, x), 1);
  EXPECT_EQ(*kendall_tau_b(x, x), 1);
}

TEST(RankAgreement, IsUndefinedWhereOneSideIsConstant) {
  const Numbers x = {1, 2, 3};
  const Numbers constant = {4, 4, 4};
  EXPECT_EQ(spearman(x, constant).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(kendall_tau_b(constant, x).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(spearman(Numbers{1}, Numbers{2}).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(kendall_tau_b(x, Numbers{1, 2}).error().kind, ErrorKind::InvalidArgument);
}

TEST(MidRanks, ShareTheMeanOfTies) {
  EXPECT_EQ(mid_ranks(Numbers{10, 20, 10, 5}), (Numbers{2.5, 4, 2.5, 1}));
  EXPECT_TRUE(mid_ranks(Numbers{}).empty());
}

TEST(Holm, GivesTheTextbookSteps) {
  // 4 x 0.005, 3 x 0.01, then 2 x 0.03 carried over 0.04.
  const std::vector<std::optional<double>> adjusted =
      holm(std::vector<std::optional<double>>{0.01, 0.04, 0.03, 0.005});
  EXPECT_NEAR(*adjusted[0], 0.03, 1e-15);
  EXPECT_NEAR(*adjusted[1], 0.06, 1e-15);
  EXPECT_NEAR(*adjusted[2], 0.06, 1e-15);
  EXPECT_NEAR(*adjusted[3], 0.02, 1e-15);
}

TEST(Holm, LeavesAbsentTestsOutOfTheFamily) {
  const std::vector<std::optional<double>> adjusted =
      holm(std::vector<std::optional<double>>{std::nullopt, 0.02, std::nullopt, 0.5});
  EXPECT_FALSE(adjusted[0]);
  EXPECT_NEAR(*adjusted[1], 0.04, 1e-15);
  EXPECT_NEAR(*adjusted[3], 0.5, 1e-15);
  EXPECT_TRUE(holm({}).empty());
}

// Holm is the closure of Bonferroni: the adjusted p is the largest, over all subfamilies that hold
// the test, of the subfamily's size times its smallest p.
TEST(Holm, EqualsTheClosedTestingDefinition) {
  Rng rng(11);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::optional<double>> p(6);
    for (std::optional<double>& value : p) value = rng.uniform() * rng.uniform();
    const std::vector<std::optional<double>> adjusted = holm(p);
    for (std::size_t i = 0; i < p.size(); ++i) {
      double largest = 0;
      for (unsigned subset = 0; subset < 64; ++subset) {
        if ((subset >> i & 1) == 0) continue;
        double smallest = 1;
        int size = 0;
        for (std::size_t j = 0; j < p.size(); ++j) {
          if ((subset >> j & 1) == 0) continue;
          smallest = std::min(smallest, *p[j]);
          ++size;
        }
        largest = std::max(largest, std::min(1.0, size * smallest));
      }
      EXPECT_NEAR(*adjusted[i], largest, 1e-12);
    }
  }
}

TEST(Quantile, GivesTheEndsAndTheMedian) {
  const Numbers values = {4, 1, 3, 2};
  EXPECT_EQ(*quantile(values, 0), 1);
  EXPECT_EQ(*quantile(values, 0.5), 2.5);
  EXPECT_EQ(*quantile(values, 1), 4);
  EXPECT_EQ(*quantile(Numbers{7}, 0.3), 7);
}

TEST(Quantile, RefusesNothingAndSharesOutsideTheRange) {
  EXPECT_EQ(quantile(Numbers{}, 0.5).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(quantile(Numbers{1}, 1.5).error().kind, ErrorKind::InvalidArgument);
  EXPECT_EQ(quantile(Numbers{1}, std::nan("")).error().kind, ErrorKind::InvalidArgument);
}

TEST(Slope, MovesWithTheLineThatIsAdded) {
  Rng rng(3);
  Numbers x;
  Numbers y;
  Numbers tilted;
  for (int i = 0; i < 40; ++i) {
    x.push_back(rng.uniform());
    y.push_back(rng.normal());
    tilted.push_back(y.back() + 5 - 2 * x.back());
  }
  const Slope before = *ols_slope(x, y);
  const Slope after = *ols_slope(x, tilted);
  EXPECT_NEAR(after.slope, before.slope - 2, 1e-10);
  EXPECT_NEAR(after.intercept, before.intercept + 5, 1e-10);
  EXPECT_NEAR(after.se, before.se, 1e-10);
}

TEST(Slope, IsUndefinedWithoutSpreadOrResiduals) {
  EXPECT_EQ(ols_slope(Numbers{1, 2}, Numbers{1, 2}).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(ols_slope(Numbers{0.1, 0.1, 0.1}, Numbers{1, 2, 3}).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(ols_slope(Numbers{1, 2, 3}, Numbers{0.1, 0.2, 0.3}).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(ols_slope(Numbers{1, 2, 3}, Numbers{1, 2}).error().kind, ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace unmask
