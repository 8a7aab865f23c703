// Replays with a known noise model, written, read and analysed as the command does.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <optional>

#include "compare/mechanism.h"
#include "ingest/replay.h"
#include "plant/replay.h"
#include "trace/replay_writer.h"

namespace unmask {
namespace {

MechanismOptions quick() {
  MechanismOptions options;
  options.resamples = 200;
  options.threads = 1;
  return options;
}

Mechanism analysed(const PlantedReplayOptions& planted, const MechanismOptions& options = quick()) {
  const Result<Replay> replay = plant_replay(planted);
  EXPECT_TRUE(replay);
  const Result<ReplayReport> read = read_replay_bytes(write_replay(*replay), "planted");
  EXPECT_TRUE(read);
  EXPECT_TRUE(read->dropped.empty());
  EXPECT_TRUE(read->warnings.empty());
  EXPECT_TRUE(read->replay == *replay);
  const Result<Mechanism> mechanism = analyse_mechanism(read->replay, read->decisions, options);
  EXPECT_TRUE(mechanism);
  return *mechanism;
}

PlantedReplayOptions shrinking(std::uint64_t seed) {
  PlantedReplayOptions options;
  options.alpha = -0.2;
  options.lambda = 0.8;
  options.sigma = 1.2;
  options.replay_noise = 0.5;
  options.candidate_reach = 6;
  options.seed = seed;
  return options;
}

const FlipAnalysis& tools_of(const Mechanism& mechanism) {
  return mechanism.candidates.front().flips.back();
}

bool covers(const FittedParameter& parameter, double truth) {
  return parameter.ci95.lo <= truth && truth <= parameter.ci95.hi;
}

struct Coverage {
  int draws = 0;
  int alpha = 0;
  int lambda = 0;
  int sigma = 0;
  int right_by_aic = 0;
  double worst_error = 0;  // held-out calibration
  double mean_error = 0;
};

// `kind` 0: to call or to talk; 1: which tool.
Coverage coverage_of(PlantedReplayOptions options, int draws, std::size_t kind) {
  Coverage out;
  const bool shrinks = options.lambda != 1;
  const std::uint64_t first = options.seed;
  for (int draw = 0; draw < draws; ++draw) {
    options.seed = first + static_cast<std::uint64_t>(draw);
    const Mechanism mechanism = analysed(options);
    const FlipAnalysis& flips = mechanism.candidates.front().flips[kind];
    EXPECT_TRUE(flips.models) << flips.no_models;
    if (!flips.models) continue;
    const NoiseModel& model = shrinks ? flips.models->multiplicative : flips.models->additive;
    ++out.draws;
    out.alpha += covers(model.alpha, options.alpha) ? 1 : 0;
    out.lambda += !shrinks || covers(*model.lambda, options.lambda) ? 1 : 0;
    out.sigma += model.sigma && covers(*model.sigma, options.sigma) ? 1 : 0;
    const bool multiplicative = flips.models->multiplicative.aic < flips.models->additive.aic;
    out.right_by_aic += multiplicative == shrinks ? 1 : 0;
    const std::optional<HeldOut>& held_out =
        shrinks ? flips.held_out_multiplicative : flips.held_out_additive;
    EXPECT_TRUE(held_out) << flips.no_held_out;
    const double error = held_out ? held_out->reliability.expected_calibration_error : 1;
    out.worst_error = std::max(out.worst_error, error);
    out.mean_error += error / draws;
  }
  std::printf(
      "%d draws: alpha %d, lambda %d, sigma %d covered; AIC right %d; held-out error %.4f, "
      "at most %.4f\n",
      out.draws, out.alpha, out.lambda, out.sigma, out.right_by_aic, out.mean_error,
      out.worst_error);
  return out;
}

TEST(PlantedMechanism, FindsWhatWasPlanted) {
  const Mechanism mechanism = analysed(shrinking(1));
  const FlipAnalysis& flips = tools_of(mechanism);
  ASSERT_TRUE(flips.models && flips.replay_noise);
  EXPECT_NEAR(std::sqrt(flips.replay_noise->variance), 0.5, 0.03);
  EXPECT_NEAR(flips.models->multiplicative.lambda->value, 0.8, 0.08);
  EXPECT_NEAR(flips.models->multiplicative.sigma->value, 1.2, 0.15);
  EXPECT_LT(flips.models->multiplicative.aic, flips.models->additive.aic);
  EXPECT_LT(flips.models->p_lambda, 0.001);
  EXPECT_GT(*flips.models->vuong_z, 2);
  EXPECT_GT(flips.censored, 10);
  EXPECT_GT(flips.models->bounds, 10);
  EXPECT_GT(flips.flips, 50);
  ASSERT_TRUE(flips.logistic);
  EXPECT_LT(flips.logistic->slope.ci95.hi, 0);
  // Narrow margins flip, wide ones do not.
  EXPECT_GT(flips.bins.front().flip_share(), 0.3);
  EXPECT_LT(flips.bins[6].flip_share(), 0.05);
}

TEST(PlantedMechanism, ForetellsTheFailuresOnTasksItDidNotSee) {
  PlantedReplayOptions options = shrinking(2);
  options.tasks = 150;
  const Mechanism mechanism = analysed(options);
  const CandidateMechanism& candidate = mechanism.candidates.front();
  ASSERT_TRUE(candidate.multiplicative);
  const FailurePrediction& foretold = *candidate.multiplicative;
  EXPECT_NEAR(foretold.baseline, 0.1, 0.02);
  EXPECT_NEAR(foretold.predicted, foretold.observed, 0.012);
  ASSERT_TRUE(foretold.predicted_amplification && foretold.observed_amplification);
  EXPECT_NEAR(*foretold.predicted_amplification, *foretold.observed_amplification, 0.12);
  EXPECT_GT(*foretold.predicted_amplification, 1.1);
}

TEST(PlantedMechanism, WithoutDamageNothingFlipsNorIsAmplified) {
  PlantedReplayOptions options;
  options.sigma = 1e-6;
  const Mechanism mechanism = analysed(options);
  const CandidateMechanism& candidate = mechanism.candidates.front();
  EXPECT_EQ(candidate.directions.changed, 0);
  EXPECT_EQ(candidate.outcomes.same, candidate.outcomes.replies);
  for (const FlipAnalysis& flips : candidate.flips) {
    EXPECT_EQ(flips.flips, 0);
    EXPECT_EQ(flips.no_logistic, "no event happened");
  }
  for (const ReplayChannel& channel : candidate.channels) {
    EXPECT_EQ(channel.only_candidate + channel.only_baseline, 0);
    EXPECT_FALSE(channel.mcnemar);
  }
}

TEST(PlantedMechanism, CallingAndTalkingAreKeptApart) {
  const Mechanism mechanism = analysed(shrinking(3));
  const FlipAnalysis& acts = mechanism.candidates.front().flips.front();
  const FlipAnalysis& tools = tools_of(mechanism);
  EXPECT_EQ(acts.kind, DecisionKind::WhetherToCall);
  EXPECT_EQ(tools.kind, DecisionKind::WhichTool);
  EXPECT_EQ(acts.pairs, 60 * 20);
  EXPECT_LT(tools.pairs, acts.pairs);
  const ReplayOutcomes& outcomes = mechanism.candidates.front().outcomes;
  EXPECT_EQ(outcomes.text_instead + outcomes.call_instead, acts.flips);
  EXPECT_EQ(outcomes.other_tool, tools.flips);
  EXPECT_EQ(outcomes.same + outcomes.other_tool + outcomes.text_instead + outcomes.call_instead,
            outcomes.replies);
}

TEST(PlantedMechanism, AtAnyNumberOfThreadsTheSame) {
  MechanismOptions one = quick();
  MechanismOptions three = quick();
  three.threads = 3;
  const Mechanism a = analysed(shrinking(4), one);
  const Mechanism b = analysed(shrinking(4), three);
  const FailurePrediction& x = *a.candidates.front().multiplicative;
  const FailurePrediction& y = *b.candidates.front().multiplicative;
  EXPECT_EQ(x.predicted_ci95, y.predicted_ci95);
  EXPECT_EQ(x.observed_ci95, y.observed_ci95);
  for (std::size_t i = 0; i < a.candidates.front().channels.size(); ++i)
    EXPECT_EQ(a.candidates.front().channels[i].p, b.candidates.front().channels[i].p);
}

TEST(PlantedMechanism, ScreensTheBaselineAloneAtALevelOfNoise) {
  MechanismOptions options = quick();
  PlantedReplayOptions planted = shrinking(5);
  planted.replay_noise = 0;
  options.noise = NoiseLevel{1.2, 0.8, -0.2};
  const Mechanism mechanism = analysed(planted, options);
  ASSERT_TRUE(mechanism.screen.predicted && mechanism.screen.predicted->value);
  EXPECT_NEAR(*mechanism.screen.predicted->value,
              mechanism.candidates.front().multiplicative->observed, 0.03);
  EXPECT_GT(*mechanism.screen.predicted->value, *mechanism.screen.baseline.value);
  EXPECT_EQ(mechanism.screen.risk, Risk::High);
  options.noise = NoiseLevel{1e-3, 1, 0};
  const Mechanism quiet = analysed(planted, options);
  EXPECT_NEAR(*quiet.screen.predicted->value, *quiet.screen.baseline.value, 0.005);
}

TEST(PlantedMechanism, RecoversParametersInMostOfAFewDraws) {
  const Coverage coverage = coverage_of(shrinking(100), 12, 1);
  EXPECT_GE(coverage.lambda, 9);
  EXPECT_GE(coverage.sigma, 9);
  EXPECT_GE(coverage.right_by_aic, 11);
}

TEST(PlantedMechanism, IsCalibratedOnHeldOutTasks) {
  PlantedReplayOptions options = shrinking(6);
  options.tasks = 400;
  const FlipAnalysis flips = tools_of(analysed(options));
  ASSERT_TRUE(flips.held_out_multiplicative && flips.held_out_additive);
  const Reliability& right = flips.held_out_multiplicative->reliability;
  EXPECT_LT(right.expected_calibration_error, 0.02);
  EXPECT_LT(right.brier, flips.held_out_additive->reliability.brier);
}

// 95 % intervals have to cover in 93 % of 300 draws, and AIC to be right in 95 %.
void expect_often(const Coverage& coverage) {
  EXPECT_GE(coverage.alpha, 279);
  EXPECT_GE(coverage.lambda, 279);
  EXPECT_GE(coverage.sigma, 279);
  EXPECT_GE(coverage.right_by_aic, 285);
}

TEST(PlantedMechanismOften, ShrinkingMarginsOfTools) {
  expect_often(coverage_of(shrinking(1000), 300, 1));
}

TEST(PlantedMechanismOften, ShrinkingMarginsOfActs) {
  expect_often(coverage_of(shrinking(2000), 300, 0));
}

TEST(PlantedMechanismOften, AddedNoise) {
  PlantedReplayOptions options = shrinking(3000);
  options.lambda = 1;
  const Coverage coverage = coverage_of(options, 300, 1);
  EXPECT_GE(coverage.alpha, 279);
  EXPECT_GE(coverage.sigma, 279);
  // AIC takes a needless parameter in about 16 % of draws, whatever the sample.
  EXPECT_GE(coverage.right_by_aic, 230);
}

}  // namespace
}  // namespace unmask
