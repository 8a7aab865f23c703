#include "compare/power_pilot.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compare/arms_for_tests.h"
#include "stats/distribution.h"

namespace unmask {
namespace {

using for_tests::arm;
using for_tests::episode;
using for_tests::failed;

// Tasks whose chances of success and of failing a call are Beta distributed; `seed` decides the
// tasks, `chance` what happens in their trials.
Arm drawn_arm(int tasks, int trials, std::uint64_t seed, std::uint64_t chance,
              double success = 0.6) {
  Rng task_rng(seed);
  Rng rng(chance, "trials");
  std::vector<EpisodeFacts> episodes;
  for (int t = 0; t < tasks; ++t) {
    const double p = beta_quantile(task_rng.uniform(), success * 3, (1 - success) * 3);  // 0.25
    const double f = beta_quantile(task_rng.uniform(), 0.1 * 4, 0.9 * 4);                // 0.2
    for (int j = 0; j < trials; ++j) {
      const int calls = 6 + static_cast<int>(rng.below(5));
      std::vector<FailedCall> failures;
      for (int i = 0; i < calls; ++i)
        if (rng.bernoulli(f)) failures.push_back(failed(Channel::ToolName, "x", i));
      episodes.push_back(
          episode("t" + std::to_string(t), j, rng.bernoulli(p), calls, std::move(failures)));
    }
  }
  return arm(std::move(episodes));
}

TEST(Pilot, FindsTheMeansAndTheCorrelationsWithinTasks) {
  const Result<Pilot> pilot =
      pilot_of(drawn_arm(3000, 4, 1, 2), Channel::ToolName, {}, CompareOptions{});
  ASSERT_TRUE(pilot.has_value());
  const PowerModel& model = pilot->model;
  EXPECT_EQ(pilot->tasks, 3000);
  EXPECT_EQ(pilot->trials, 4);
  EXPECT_NEAR(model.success.baseline.mean, 0.6, 0.02);
  EXPECT_NEAR(model.success.baseline.correlation, 0.25, 0.03);
  EXPECT_NEAR(model.failure.baseline.mean, 0.1, 0.01);
  EXPECT_NEAR(model.failure.baseline.correlation, 0.2, 0.03);
  EXPECT_NEAR(model.calls.baseline, 8, 0.05);
  EXPECT_NEAR(model.calls.task_spread, 0, 0.06);
  // Independent calls of a task with chance f: after a failure the next one fails as often as the
  // failing tasks do, E f^2 / E f = 0.1 + 0.2 x 0.9 = 0.28.
  EXPECT_NEAR(*model.calls.leave, 0.72, 0.02);
  // One arm: the candidate is the baseline with the assumed effects.
  EXPECT_NEAR(model.failure.candidate.mean, 2 * model.failure.baseline.mean, 1e-12);
  EXPECT_EQ(model.success.candidate.mean, model.success.baseline.mean);
  EXPECT_EQ(model.success.pairing, kAssumedPairing);
  EXPECT_TRUE(check_model(model).has_value());
}

TEST(Pilot, FindsThePairingOfTwoArms) {
  const auto pairing = [](std::uint64_t seed) {
    const Result<PairedArms> arms =
        pair_tasks(drawn_arm(3000, 4, 1, 2), drawn_arm(3000, 4, seed, 3));
    return pilot_of(*arms, Channel::ToolName, {}, CompareOptions{})->model.success.pairing;
  };
  EXPECT_NEAR(pairing(1), 1, 0.08);  // the same tasks
  EXPECT_NEAR(pairing(9), 0, 0.12);  // others under the same names
}

TEST(Pilot, TakesAPairsEffectsFromItsLogsUnlessStated) {
  const Result<PairedArms> arms =
      pair_tasks(drawn_arm(400, 3, 1, 2, 0.6), drawn_arm(400, 3, 1, 3, 0.5));
  const Result<Pilot> seen = pilot_of(*arms, Channel::ToolName, {}, CompareOptions{});
  EXPECT_NEAR(seen->model.success.candidate.mean - seen->model.success.baseline.mean, -0.1, 0.04);
  StatedEffects stated;
  stated.delta = 0.02;
  stated.amplification = 3;
  stated.pairing = 0.4;
  const Result<Pilot> told = pilot_of(*arms, Channel::ToolName, stated, CompareOptions{});
  EXPECT_NEAR(told->model.success.candidate.mean - told->model.success.baseline.mean, 0.02, 1e-12);
  EXPECT_NEAR(told->model.failure.candidate.mean, 3 * told->model.failure.baseline.mean, 1e-12);
  EXPECT_EQ(told->model.success.pairing, 0.4);
}

TEST(Pilot, AssumesACorrelationWhereTrialsAreNotRepeatedAndSaysSo) {
  const Result<Pilot> pilot =
      pilot_of(drawn_arm(100, 1, 1, 2), Channel::ToolName, {}, CompareOptions{});
  EXPECT_EQ(pilot->model.success.baseline.correlation, kAssumedCorrelation);
  ASSERT_FALSE(pilot->notes.empty());
  EXPECT_NE(pilot->notes.front().find("assumed"), std::string::npos);
  StatedEffects stated;
  stated.success_correlation = 0.5;
  EXPECT_EQ(pilot_of(drawn_arm(100, 1, 1, 2), Channel::ToolName, stated, CompareOptions{})
                ->model.success.baseline.correlation,
            0.5);
}

TEST(Pilot, HasNoPropensityWithoutFailuresAndNoGapWithoutABudget) {
  std::vector<EpisodeFacts> episodes;
  for (int t = 0; t < 10; ++t)
    for (int j = 0; j < 2; ++j) episodes.push_back(episode(std::to_string(t), j, t > 2, 8));
  const Result<Pilot> pilot =
      pilot_of(arm(episodes, std::nullopt), Channel::ToolName, {}, CompareOptions{});
  ASSERT_TRUE(pilot.has_value());
  EXPECT_EQ(pilot->failures, 0);
  EXPECT_EQ(pilot->model.failure.baseline.mean, 0);
  EXPECT_FALSE(pilot->budget);
  EXPECT_TRUE(check_model(pilot->model).has_value());
}

TEST(Pilot, RefusesOneTaskAndEffectsThatCannotBe) {
  const std::vector<EpisodeFacts> one = {episode("1", 0, true, 5), episode("1", 1, false, 5)};
  EXPECT_EQ(pilot_of(arm(one), Channel::ToolName, {}, CompareOptions{}).error().kind,
            ErrorKind::Undefined);
  StatedEffects stated;
  stated.delta = 0.9;
  const Error error =
      pilot_of(drawn_arm(50, 2, 1, 2), Channel::ToolName, stated, CompareOptions{}).error();
  EXPECT_EQ(error.kind, ErrorKind::InvalidArgument);
  EXPECT_EQ(error.where, "change in success");
  EXPECT_NE(error.message.find("would bring the candidate's success rate to 1"), std::string::npos)
      << error.message;
  EXPECT_NE(error.message.find("from 0 % to 100 %"), std::string::npos) << error.message;
}

PowerModel stated() {
  PowerModel model;
  model.failure = {{0.05, 0.2}, {0.05, 0.2}, 0.9};
  model.success = {{0.65, 0.2}, {0.65, 0.2}, 0.9};
  model.masked = {{0.05, 0.2}, {0.05, 0.2}, 0.9};
  return model;
}

TEST(StatedEffects, CannotMaskMoreEpisodesThanSucceed) {
  PowerModel model = stated();
  StatedEffects effects;
  effects.unmasked_gap = 0.9;
  const Result<Done> applied = apply_effects(effects, model);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().where, "unmasked gap");
  EXPECT_NE(applied.error().message.find("to 65 %"), std::string::npos) << applied.error().message;

  model = stated();
  model.masked.baseline.mean = model.masked.candidate.mean = 0.9;
  const Result<Done> fits = check_model(model);
  ASSERT_FALSE(fits);
  EXPECT_EQ(fits.error().where, "share of successes beyond the tight budget of the baseline");
  const PowerGoal score[] = {PowerGoal::Equivalence};
  EXPECT_TRUE(check_model(model, score)) << "no goal draws from it";
}

TEST(StatedEffects, AreAssumedOfGoalsAlone) {
  PowerModel model = stated();
  model.failure.baseline.mean = model.failure.candidate.mean = 0.55;  // twice that cannot be
  EXPECT_FALSE(apply_effects({}, model));
  StatedEffects effects;
  effects.goals = {PowerGoal::Equivalence};
  ASSERT_TRUE(apply_effects(effects, model));
  EXPECT_EQ(model.failure.candidate.mean, 0.55);
  EXPECT_EQ(model.masked.candidate.mean, 0.05);
}

}  // namespace
}  // namespace unmask
