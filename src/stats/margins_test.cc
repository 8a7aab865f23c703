// The pieces behind margins of decisions: published values, naive definitions, properties and
// undefined cases. scipy's word on them is in margins_oracle_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "base/rng.h"
#include "stats/distribution.h"
#include "stats/logistic.h"
#include "stats/mcnemar.h"
#include "stats/newton.h"
#include "stats/noise_model.h"
#include "stats/reliability.h"
#include "stats/survival.h"
#include "stats/tobit.h"

namespace unmask {
namespace {

using Numbers = std::vector<double>;
using Labels = std::vector<int>;

Labels own_clusters(std::size_t n) {
  Labels cluster(n);
  std::iota(cluster.begin(), cluster.end(), 0);
  return cluster;
}

TEST(Tobit, WithoutBoundsIsLeastSquares) {
  const Numbers x = {0, 1, 2, 3, 4};
  const std::vector<Bounded> y = {{1}, {2.5}, {2.0}, {4.5}, {4.0}};
  const Result<Tobit> fit = tobit(x, y, own_clusters(5));
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->slope->value, 0.8, 1e-9);
  EXPECT_NEAR(fit->intercept.value, 1.2, 1e-9);
  // Residuals -0.2, 0.5, -0.8, 0.9, -0.4; maximum likelihood divides by n.
  EXPECT_NEAR(fit->sigma.value, std::sqrt(1.9 / 5), 1e-9);
  EXPECT_EQ(fit->exact, 5);
  EXPECT_EQ(fit->bounds, 0);
}

TEST(Tobit, ItsLikelihoodIsTheNaiveOneAndNoNeighbourIsHigher) {
  Rng rng(3);
  Numbers x;
  std::vector<Bounded> y;
  for (int i = 0; i < 80; ++i) {
    x.push_back(3 * rng.uniform());
    const double value = 0.5 + x.back() + rng.normal();
    y.push_back(value > 3 ? Bounded{3, Known::AtLeast} : Bounded{value});
  }
  const Result<Tobit> fit = tobit(x, y, own_clusters(80));
  ASSERT_TRUE(fit);
  const auto naive = [&](double a, double b, double s) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double z = (y[i].value - a - b * x[i]) / s;
      sum += y[i].known == Known::Exactly
                 ? -z * z / 2 - std::log(s) - 0.5 * std::log(2 * std::numbers::pi)
                 : std::log(1 - normal_cdf(z));
    }
    return sum;
  };
  const double a = fit->intercept.value;
  const double b = fit->slope->value;
  const double s = fit->sigma.value;
  EXPECT_NEAR(fit->log_likelihood, naive(a, b, s), 1e-9);
  EXPECT_NEAR(std::accumulate(fit->row_log_likelihood.begin(), fit->row_log_likelihood.end(), 0.0),
              fit->log_likelihood, 1e-9);
  for (const double d : {-0.01, 0.01}) {
    EXPECT_LT(naive(a + d, b, s), fit->log_likelihood);
    EXPECT_LT(naive(a, b + d, s), fit->log_likelihood);
    EXPECT_LT(naive(a, b, s + d), fit->log_likelihood);
  }
}

TEST(Tobit, MirroringEverythingMirrorsTheLine) {
  const Numbers x = {0, 1, 2, 3, 4, 5};
  const std::vector<Bounded> y = {{0.3}, {1.1}, {1.8}, {3.3}, {3.5, Known::AtLeast}, {4.9}};
  std::vector<Bounded> mirrored;
  for (const Bounded& value : y)
    mirrored.push_back(
        {-value.value, value.known == Known::AtLeast ? Known::AtMost : Known::Exactly});
  const Result<Tobit> fit = tobit(x, y, own_clusters(6));
  const Result<Tobit> other = tobit(x, mirrored, own_clusters(6));
  ASSERT_TRUE(fit && other);
  EXPECT_NEAR(fit->slope->value, -other->slope->value, 1e-9);
  EXPECT_NEAR(fit->sigma.value, other->sigma.value, 1e-9);
  EXPECT_NEAR(fit->log_likelihood, other->log_likelihood, 1e-9);
}

TEST(Tobit, ClustersOfCopiesDoNotShrinkTheClusteredError) {
  Rng rng(5);
  Numbers x;
  std::vector<Bounded> y;
  Labels cluster;
  Numbers x_once;
  std::vector<Bounded> y_once;
  for (int g = 0; g < 40; ++g) {
    const double at = 4 * rng.uniform();
    const double value = at + rng.normal();
    x_once.push_back(at);
    y_once.push_back({value});
    for (int copy = 0; copy < 5; ++copy) {
      x.push_back(at);
      y.push_back({value});
      cluster.push_back(g);
    }
  }
  const Result<Tobit> copies = tobit(x, y, cluster);
  const Result<Tobit> once = tobit(x_once, y_once, own_clusters(40));
  ASSERT_TRUE(copies && once);
  EXPECT_NEAR(copies->slope->se_clustered / once->slope->se_clustered, 1, 0.05);
  EXPECT_NEAR(copies->slope->se_information / once->slope->se_information, 1 / std::sqrt(5.0),
              1e-6);
}

TEST(Tobit, SaysWhereItIsUndefined) {
  const Labels two = {0, 0, 1, 1};
  const std::vector<Bounded> y = {{1}, {2}, {4}, {3}};
  EXPECT_EQ(tobit(Numbers{1, 1, 1, 1}, y, two).error().message, "all points have the same x");
  EXPECT_EQ(tobit(Numbers{1, 2, 3, 4}, y, Labels{7, 7, 7, 7}).error().kind, ErrorKind::Undefined);
  const std::vector<Bounded> line = {{1}, {2}, {3}, {4}};
  EXPECT_EQ(tobit(Numbers{1, 2, 3, 4}, line, two).error().message,
            "the points lie on an exact line");
  const std::vector<Bounded> bounds = {{1}, {2}, {3, Known::AtLeast}, {4, Known::AtLeast}};
  EXPECT_EQ(tobit(Numbers{1, 2, 3, 4}, bounds, two).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(tobit(Numbers{1, 2, NAN, 4}, y, two).error().kind, ErrorKind::InvalidArgument);
  EXPECT_EQ(tobit(Numbers{1, 2, 3}, y, two).error().kind, ErrorKind::InvalidArgument);
}

TEST(Logistic, TwoGroupsHaveTheLogOddsRatioForASlope) {
  // 3 of 12 at x = 0, 8 of 12 at x = 1.
  Numbers x;
  Labels event;
  for (int i = 0; i < 12; ++i) {
    x.push_back(0);
    event.push_back(i < 3 ? 1 : 0);
    x.push_back(1);
    event.push_back(i < 8 ? 1 : 0);
  }
  const Result<Logistic> fit = logistic(x, event, own_clusters(24));
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->intercept.value, std::log(3.0 / 9), 1e-9);
  EXPECT_NEAR(fit->slope.value, std::log((8.0 / 4) / (3.0 / 9)), 1e-9);
  // Woolf's formula.
  EXPECT_NEAR(fit->slope.se_information, std::sqrt(1.0 / 3 + 1.0 / 9 + 1.0 / 8 + 1.0 / 4), 1e-6);
  EXPECT_NEAR(fit->probability(1), 8.0 / 12, 1e-9);
  EXPECT_EQ(fit->events, 11);
}

TEST(Logistic, SaysWhereNoFiniteSlopeIsBest) {
  const Labels cluster = {0, 1, 2, 3};
  EXPECT_EQ(logistic(Numbers{1, 2, 3, 4}, Labels{1, 1, 0, 0}, cluster).error().kind,
            ErrorKind::Undefined);
  EXPECT_EQ(logistic(Numbers{1, 2, 2, 4}, Labels{1, 1, 0, 0}, cluster).error().kind,
            ErrorKind::Undefined);
  EXPECT_EQ(logistic(Numbers{1, 2, 3, 4}, Labels{0, 0, 0, 0}, cluster).error().message,
            "no event happened");
  EXPECT_EQ(logistic(Numbers{1, 2, 3, 4}, Labels{1, 1, 1, 1}, cluster).error().message,
            "every row is an event");
  EXPECT_EQ(logistic(Numbers{1, 2, 3, 4}, Labels{1, 0, 1, 0}, Labels{5, 5, 5, 5}).error().kind,
            ErrorKind::Undefined);
  EXPECT_EQ(logistic(Numbers{1, 2, 3, 4}, Labels{1, 0, 2, 0}, cluster).error().kind,
            ErrorKind::InvalidArgument);
}

TEST(McNemar, GivesThePublishedValues) {
  // Fagerland, Lydersen & Laake (2013), airway hyper-responsiveness: 1 and 7 discordant pairs.
  const Result<McNemar> test = mcnemar(1, 7);
  ASSERT_TRUE(test);
  EXPECT_NEAR(test->p_exact, 0.0703, 5e-5);
  EXPECT_NEAR(test->p_mid, 0.0391, 5e-5);
}

TEST(McNemar, IsSymmetricAndUndefinedWithoutDifferences) {
  EXPECT_EQ(mcnemar(4, 11)->p_exact, mcnemar(11, 4)->p_exact);
  EXPECT_EQ(mcnemar(6, 6)->p_exact, 1);
  EXPECT_LT(mcnemar(4, 11)->p_mid, mcnemar(4, 11)->p_exact);
  EXPECT_EQ(mcnemar(0, 0).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(mcnemar(-1, 3).error().kind, ErrorKind::InvalidArgument);
}

TEST(Reliability, CountsBinsByHand) {
  const Result<Reliability> table = reliability(Numbers{0.9, 0.1, 0.2, 0.8}, Labels{1, 0, 1, 0}, 2);
  ASSERT_TRUE(table);
  ASSERT_EQ(table->bins.size(), 2u);
  EXPECT_NEAR(table->bins[0].predicted, 0.15, 1e-12);
  EXPECT_EQ(table->bins[0].observed, 0.5);
  // |0.15 - 0.5| and |0.85 - 0.5|.
  EXPECT_NEAR(table->expected_calibration_error, 0.35, 1e-12);
  EXPECT_NEAR(table->brier, (0.01 + 0.01 + 0.64 + 0.64) / 4, 1e-12);
}

TEST(Reliability, EqualPredictionsStayTogetherInAnyOrder) {
  const Numbers same(10, 0.3);
  const Labels event = {1, 1, 1, 0, 0, 0, 0, 0, 0, 0};
  const Result<Reliability> table = reliability(same, event, 5);
  ASSERT_TRUE(table);
  ASSERT_EQ(table->bins.size(), 1u);
  EXPECT_NEAR(table->expected_calibration_error, 0, 1e-12);
  EXPECT_EQ(reliability(Numbers{}, Labels{}).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(reliability(Numbers{1.5}, Labels{1}).error().kind, ErrorKind::InvalidArgument);
  EXPECT_EQ(reliability(Numbers{0.5}, Labels{1, 0}).error().kind, ErrorKind::InvalidArgument);
}

TEST(Logistic, SaysThatAllPointsHaveTheSameX) {
  const Labels event = {1, 0, 1, 0};
  EXPECT_EQ(logistic(Numbers{2, 2, 2, 2}, event, std::vector<int>{0, 1, 2, 3}).error().message,
            "all points have the same x");
}

TEST(Reliability, RightPredictionsErrAsMuchAsChanceDoes) {
  Rng rng(21);
  double error = 0;
  double chance = 0;
  for (int draw = 0; draw < 500; ++draw) {
    Numbers predicted;
    Labels event;
    for (int i = 0; i < 500; ++i) {
      predicted.push_back(0.3 * rng.uniform());
      event.push_back(rng.bernoulli(predicted.back()) ? 1 : 0);
    }
    const Result<Reliability> table = reliability(predicted, event);
    ASSERT_TRUE(table);
    error += table->expected_calibration_error / 500;
    chance += table->error_of_chance / 500;
  }
  EXPECT_NEAR(error / chance, 1, 0.1);
}

TEST(Survival, GivesTheLeukaemiaTable) {
  // Freireich et al. (1963), 6-mercaptopurine, as in Cox & Oakes (1984): weeks in remission.
  const Numbers exact = {6, 6, 6, 7, 10, 13, 16, 22, 23};
  const Numbers bounds = {6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35};
  std::vector<Bounded> weeks;
  for (const double week : exact) weeks.push_back({week});
  for (const double week : bounds) weeks.push_back({week, Known::AtLeast});
  const std::vector<SurvivalStep> steps = survival(weeks);
  ASSERT_EQ(steps.size(), 7u);
  const Numbers published = {0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448};
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_NEAR(steps[i].beyond, published[i], 5e-4);
  EXPECT_EQ(survival_quantile(steps, 0.5), 23.0);
  EXPECT_EQ(survival_quantile(steps, 0.1), 6.0);
  EXPECT_EQ(survival_quantile(steps, 0.75), std::nullopt);
}

TEST(Survival, WithoutBoundsIsTheSharesOfASample) {
  const std::vector<Bounded> values = {{3}, {1}, {2}, {4}};
  const std::vector<SurvivalStep> steps = survival(values);
  for (const auto& [p, quantile] : {std::pair{0.25, 1.0}, {0.5, 2.0}, {0.75, 3.0}, {0.9, 4.0}})
    EXPECT_EQ(survival_quantile(steps, p), quantile);
  EXPECT_TRUE(survival({}).empty());
  EXPECT_EQ(survival_quantile({}, 0.5), std::nullopt);
}

TEST(MeasurementNoise, IsHalfTheMeanSquareOfDifferences) {
  const Result<MeasurementNoise> noise = measurement_noise(Numbers{1, 2, 3}, Numbers{1.5, 1, 3});
  ASSERT_TRUE(noise);
  EXPECT_NEAR(noise->variance, (0.25 + 1) / 6, 1e-12);
  EXPECT_EQ(noise->pairs, 3);
  EXPECT_EQ(measurement_noise(Numbers{1}, Numbers{1}).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(measurement_noise(Numbers{1}, Numbers{}).error().kind, ErrorKind::InvalidArgument);
}

// y = alpha + lambda X + e, X exponential, x = X + u.
struct Drawn {
  Numbers x;
  std::vector<Bounded> y;
  Labels cluster;
};

Drawn draw(Rng& rng, int rows, double lambda, double noise, double ceiling = 1e9) {
  Drawn out;
  for (int i = 0; i < rows; ++i) {
    const double truth = -3 * std::log1p(-rng.uniform());
    out.x.push_back(truth + noise * rng.normal());
    const double y = 0.3 + lambda * truth + rng.normal();
    out.y.push_back(y > ceiling ? Bounded{ceiling, Known::AtLeast} : Bounded{y});
    out.cluster.push_back(i / 20);
  }
  return out;
}

TEST(NoiseModel, NoiseOfXNoLongerFakesShrinkage) {
  Rng rng(11);
  const Drawn drawn = draw(rng, 40000, 1, 1.5);
  const Result<NoiseModels> naive = fit_noise_models(drawn.x, drawn.y, drawn.cluster, {});
  const Result<NoiseModels> corrected =
      fit_noise_models(drawn.x, drawn.y, drawn.cluster, {2.25, 0});
  ASSERT_TRUE(naive && corrected);
  EXPECT_NEAR(naive->multiplicative.lambda->value, 9 / 11.25, 0.01);
  EXPECT_LT(naive->p_lambda, 1e-6);
  EXPECT_NEAR(corrected->multiplicative.lambda->value, 1, 0.015);
  EXPECT_NEAR(corrected->multiplicative.sigma->value, 1, 0.03);
  EXPECT_NEAR(corrected->additive.sigma->value, 1, 0.03);
  EXPECT_NEAR(corrected->additive.alpha.value, 0.3, 0.03);
}

TEST(NoiseModel, UncertainNoiseWidensWhatItCorrects) {
  Rng rng(12);
  const Drawn drawn = draw(rng, 2000, 0.7, 1);
  const Result<NoiseModels> known = fit_noise_models(drawn.x, drawn.y, drawn.cluster, {1, 0});
  const Result<NoiseModels> guessed = fit_noise_models(drawn.x, drawn.y, drawn.cluster, {1, 50});
  ASSERT_TRUE(known && guessed);
  EXPECT_EQ(known->multiplicative.lambda->value, guessed->multiplicative.lambda->value);
  EXPECT_GT(guessed->multiplicative.lambda->se_clustered,
            known->multiplicative.lambda->se_clustered);
}

TEST(NoiseModel, ItsChanceOfAFlipIsTheShareSeen) {
  Rng rng(13);
  const Drawn drawn = draw(rng, 60000, 0.8, 0, 6);
  const Result<NoiseModels> models = fit_noise_models(drawn.x, drawn.y, drawn.cluster, {});
  ASSERT_TRUE(models);
  EXPECT_GT(models->bounds, 1000);
  double near = 0;
  double flips = 0;
  double predicted = 0;
  for (std::size_t i = 0; i < drawn.x.size(); ++i) {
    if (drawn.x[i] > 0.5) continue;
    near += 1;
    flips += drawn.y[i].value < 0 ? 1 : 0;
    predicted += models->multiplicative.chance_below_zero(drawn.x[i]);
  }
  ASSERT_GT(near, 5000);
  EXPECT_NEAR(predicted / near, flips / near, 0.015);
}

TEST(NoiseModel, SaysWhereItIsUndefined) {
  const Numbers x = {1, 2, 3, 4};
  const std::vector<Bounded> y = {{1}, {2.5}, {2}, {5}};
  EXPECT_EQ(fit_noise_models(x, y, Labels{0, 1, 2, 3}, {50, 0}).error().message,
            "the noise of x is as large as its differences");
  EXPECT_EQ(fit_noise_models(x, y, Labels{1, 1, 1, 1}, {}).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(fit_noise_models(x, y, Labels{1}, {}).error().kind, ErrorKind::InvalidArgument);
}

TEST(Newton, RefusesASingularCurvature) {
  SmallMatrix singular(2);
  singular(0, 0) = singular(0, 1) = singular(1, 0) = singular(1, 1) = 1;
  EXPECT_EQ(positive_inverse(singular).error().kind, ErrorKind::Undefined);
  SmallMatrix good(2);
  good(0, 0) = 4;
  good(0, 1) = good(1, 0) = 2;
  good(1, 1) = 3;
  const Result<SmallMatrix> inverse = positive_inverse(good);
  ASSERT_TRUE(inverse);
  EXPECT_NEAR((*inverse)(0, 0), 3.0 / 8, 1e-12);
  EXPECT_NEAR((*inverse)(0, 1), -2.0 / 8, 1e-12);
  EXPECT_NEAR((*inverse)(1, 1), 4.0 / 8, 1e-12);
}

}  // namespace
}  // namespace unmask
