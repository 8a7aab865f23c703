#include "verdict/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compare/arms_for_tests.h"
#include "compare/power_draw.h"
#include "stats/power.h"
#include "verdict/criteria.h"

namespace unmask {
namespace {

using for_tests::Habits;
using for_tests::random_arm;

CellComparison compared(const Arm& baseline, const Arm& candidate, CompareOptions options = {}) {
  options.resamples = 500;
  options.threads = 1;
  const Result<CellComparison> cell = compare_arms(baseline, candidate, options);
  EXPECT_TRUE(cell.has_value());
  std::vector<CellComparison> cells = {*cell};
  apply_multiplicity(cells);
  return cells[0];
}

bool said(const Judgement& judgement, const std::string& part) {
  return std::any_of(judgement.reasons.begin(), judgement.reasons.end(),
                     [&](const std::string& r) { return r.find(part) != std::string::npos; });
}

MeanTest estimate(double mean, double se, double df = 113) {
  MeanTest test;
  test.mean = mean;
  test.se = se;
  test.df = df;
  test.p = 0.5;
  test.ci95 = {mean - 1.98 * se, mean + 1.98 * se};
  test.ci90 = {mean - 1.658 * se, mean + 1.658 * se};
  test.upper95 = test.ci90.hi;
  return test;
}

ChannelComparison quiet_channel() {
  ChannelComparison channel;
  channel.baseline = 0.05;
  channel.candidate = 0.05;
  channel.baseline_count = channel.candidate_count = 160;
  channel.difference = 0;
  channel.difference_upper95 = 0.01;
  channel.amplification = 1;
  channel.amplification_upper95 = 1.2;
  channel.p_holm = 1;
  return channel;
}

// A cell in which every condition of `clean` holds; the tests below break them one by one.
CellComparison clean_cell() {
  CellComparison cell;
  cell.paired_tasks = 114;
  cell.baseline.trials_max = cell.candidate.trials_max = 4;
  cell.outcome.delta = estimate(-0.01, 0.02);
  cell.outcome.p_holm = 0.6;
  cell.outcome.tost = Equivalence{0.075, 0.001, true, cell.outcome.delta->ci90};
  cell.sd_delta = 0.2;
  cell.budget.k0 = 10;
  cell.budget.unmasked.test = estimate(0.01, 0.015);
  cell.budget.unmasked.p_holm = 0.5;
  cell.sd_unmasked = 0.16;
  cell.budget.gap_tight = 0.02;
  cell.budget.gap_tight_ci95 = Interval{-0.03, 0.07};
  for (const Channel channel : kFailureChannels) cell.channels[channel] = quiet_channel();
  return cell;
}

ChannelComparison amplified_channel() {
  ChannelComparison channel = quiet_channel();
  channel.candidate = 0.12;
  channel.difference = 0.07;
  channel.difference_upper95 = 0.09;
  channel.amplification = 2.4;
  channel.amplification_upper95 = 2.9;
  channel.p_holm = 0.001;
  channel.amplified = true;
  return channel;
}

CellComparison masked_cell() {
  CellComparison cell = clean_cell();
  cell.channels[Channel::ToolName] = amplified_channel();
  cell.budget.unmasked.test = estimate(0.154, 0.03);
  cell.budget.unmasked.p_holm = 0.0001;
  cell.budget.gap_tight = 0.167;
  cell.budget.gap_tight_ci95 = Interval{0.10, 0.23};
  return cell;
}

TEST(Judge, CallsACellCleanWhenEveryConditionHolds) {
  const Judgement judgement = judge(clean_cell());
  EXPECT_EQ(judgement.verdict, Verdict::Clean);
  EXPECT_FALSE(judgement.degraded);
  EXPECT_FALSE(judgement.unmasked_damage);
  EXPECT_FALSE(judgement.needed);
  EXPECT_EQ(judgement.reasons.size(), 7u);  // outcome, U, five channels
}

TEST(Judge, CallsABetterCandidateCleanThoughNotEquivalent) {
  CellComparison cell = clean_cell();
  cell.outcome.delta = estimate(0.10, 0.02);
  cell.outcome.tost = Equivalence{0.075, 0.9, false, cell.outcome.delta->ci90};
  cell.outcome.p_holm = 0.001;
  EXPECT_EQ(judge(cell).verdict, Verdict::Clean);
}

TEST(Judge, TakesEitherLimitOfAChannel) {
  CellComparison cell = clean_cell();
  cell.channels[Channel::Schema].amplification_upper95 = 3;  // the difference is small all the same
  EXPECT_EQ(judge(cell).verdict, Verdict::Clean);
  cell.channels[Channel::Schema].difference_upper95 = 0.03;
  EXPECT_EQ(judge(cell).verdict, Verdict::Inconclusive);
  cell.channels[Channel::Schema].amplification_upper95 = 1.4;
  EXPECT_EQ(judge(cell).verdict, Verdict::Clean);
}

TEST(Judge, CallsMaskedWithItsFlatness) {
  CellComparison cell = masked_cell();
  Judgement judgement = judge(cell);
  EXPECT_EQ(judgement.verdict, Verdict::Masked);
  EXPECT_TRUE(judgement.unmasked_damage);
  EXPECT_EQ(*judgement.flatness, Flatness::Equivalent);
  EXPECT_TRUE(said(judgement, "+15.4 points"));
  EXPECT_TRUE(said(judgement, "A = 2.40"));
  cell.outcome.tost->equivalent = false;
  EXPECT_EQ(*judge(cell).flatness, Flatness::Undetected);
}

TEST(Judge, CallsBothFlagsTogether) {
  CellComparison cell = masked_cell();
  cell.outcome.delta = estimate(-0.08, 0.02);
  cell.outcome.p_holm = 0.001;
  const Judgement judgement = judge(cell);
  EXPECT_EQ(judgement.verdict, Verdict::DegradedAndMasked);
  EXPECT_TRUE(judgement.degraded && judgement.unmasked_damage);
  EXPECT_FALSE(judgement.flatness);
}

TEST(Judge, CallsDegradedAlone) {
  CellComparison cell = clean_cell();
  cell.outcome.delta = estimate(-0.08, 0.02);
  cell.outcome.p_holm = 0.01;
  const Judgement judgement = judge(cell);
  EXPECT_EQ(judgement.verdict, Verdict::Degraded);
  EXPECT_TRUE(judgement.reasons.front().find("-8.0 points") != std::string::npos);
}

TEST(Judge, DoesNotCallABetterCandidateDegraded) {
  CellComparison cell = clean_cell();
  cell.outcome.delta = estimate(0.08, 0.02);
  cell.outcome.p_holm = 0.001;
  EXPECT_FALSE(judge(cell).degraded);
}

// Each link of unmasked damage, broken on its own, leaves `amplified`, or less.
TEST(Judge, NeedsEveryLinkOfUnmaskedDamage) {
  CellComparison cell = masked_cell();
  cell.budget.unmasked.p_holm = 0.06;
  EXPECT_EQ(judge(cell).verdict, Verdict::Amplified);
  cell = masked_cell();
  cell.budget.gap_tight_ci95 = Interval{-0.01, 0.23};
  EXPECT_EQ(judge(cell).verdict, Verdict::Amplified);
  EXPECT_TRUE(said(judge(cell), "not shown to be above 0"));
  cell = masked_cell();
  cell.channels[Channel::ToolName].counts_in_budget = false;
  EXPECT_EQ(judge(cell).verdict, Verdict::Amplified);
  EXPECT_TRUE(said(judge(cell), "No amplified channel spends budget"));
  cell = masked_cell();
  cell.channels[Channel::ToolName] = quiet_channel();
  EXPECT_EQ(judge(cell).verdict, Verdict::Inconclusive);
  cell = masked_cell();
  cell.budget.unmasked.test = estimate(-0.154, 0.03);
  EXPECT_FALSE(judge(cell).unmasked_damage);
  cell = masked_cell();
  cell.budget.unmasked.p_holm = std::nullopt;
  EXPECT_FALSE(judge(cell).unmasked_damage);
}

TEST(Judge, MarksAnExploratoryTightBudget) {
  CellComparison cell = masked_cell();
  cell.budget.k_tight = 4;
  cell.budget.k_tight_is_primary = false;
  EXPECT_TRUE(said(judge(cell), "exploratory"));
  EXPECT_FALSE(said(judge(masked_cell()), "exploratory"));
}

TEST(Judge, NamesTheConditionThatBlocksAndTheTasksThatSettleIt) {
  CellComparison cell = clean_cell();
  cell.outcome.delta = estimate(-0.03, 0.04);
  cell.outcome.tost = Equivalence{0.075, 0.2, false, cell.outcome.delta->ci90};
  cell.sd_delta = 0.43;
  const Judgement judgement = judge(cell);
  EXPECT_EQ(judgement.verdict, Verdict::Inconclusive);
  ASSERT_TRUE(judgement.needed && judgement.needed->tasks);
  EXPECT_EQ(judgement.needed->condition, "outcome");
  // ((1.645 + 0.842) 0.43 / 0.045)^2 = 564.8, and a little more for Student's t.
  EXPECT_NEAR(*judgement.needed->tasks, 566, 3);
  EXPECT_EQ(*judgement.needed->trials, 4);
  EXPECT_TRUE(judgement.reasons.front().find("-7.5") != std::string::npos);
}

TEST(Judge, AsksForTasksToDetectWhereTheEstimateLiesBeyondTheLimit) {
  CellComparison cell = clean_cell();
  cell.budget.unmasked.test = estimate(0.06, 0.04);
  cell.sd_unmasked = 0.427;
  const Judgement judgement = judge(cell);
  EXPECT_EQ(judgement.needed->condition, "unmasked gap");
  // ((1.960 + 0.842) 0.427 / 0.06)^2 = 397.6.
  EXPECT_NEAR(*judgement.needed->tasks, 400, 3);
}

// Arms with different numbers of episodes of a task: what is needed is what the weaker of the two
// comparisons needs.
ChannelComparison told_twice(double pooled, double pooled_upper, double weighed,
                             double weighed_upper) {
  ChannelComparison channel = quiet_channel();
  channel.amplification = channel.amplification_upper95 = std::nullopt;
  channel.difference = pooled;
  channel.pooled_difference_upper95 = pooled_upper;
  channel.weighed_difference = weighed;
  channel.weighed_difference_upper95 = weighed_upper;
  channel.difference_upper95 = std::max(pooled_upper, weighed_upper);
  return channel;
}

TEST(Judge, AsksForWhatTheWeakerOfPooledAndWeighedNeeds) {
  CellComparison cell = clean_cell();
  cell.channels[Channel::Entity] = told_twice(0.004, 0.018, 0.012, 0.028);
  const Judgement judgement = judge(cell);
  CellComparison weighed = clean_cell();
  weighed.channels[Channel::Entity].amplification_upper95 = std::nullopt;
  weighed.channels[Channel::Entity].difference = 0.012;
  weighed.channels[Channel::Entity].difference_upper95 = 0.028;
  ASSERT_TRUE(judgement.needed && judgement.needed->tasks);
  EXPECT_EQ(judgement.needed->condition, "channel entity");
  EXPECT_EQ(*judgement.needed->tasks, *judge(weighed).needed->tasks);
  EXPECT_TRUE(said(judgement, "an increase of at most 2.8 points (weighed)"));
  // Whichever way round.
  cell.channels[Channel::Entity] = told_twice(0.012, 0.028, 0.004, 0.018);
  EXPECT_EQ(*judge(cell).needed->tasks, *judgement.needed->tasks);
  EXPECT_FALSE(said(judge(cell), "(weighed)"));
}

TEST(Judge, PromisesNothingOfMoreTasksWherePooledAndWeighedContradict) {
  CellComparison cell = clean_cell();
  cell.channels[Channel::Entity] = told_twice(0.004, 0.018, 0.03, 0.05);
  const Judgement judgement = judge(cell);
  ASSERT_TRUE(judgement.needed);
  EXPECT_FALSE(judgement.needed->tasks);
  EXPECT_TRUE(said(judgement, "only as many trials of each task in both arms would settle"));
}

TEST(Judge, SaysThatMaskingCouldNotBeJudgedUnderABudgetAsTightAsTheTightOne) {
  CellComparison cell = masked_cell();
  EXPECT_EQ(judge(cell).verdict, Verdict::Masked);
  cell.budget.k0 = cell.budget.k_tight;
  cell.budget.unmasked.test = std::nullopt;
  cell.budget.gap_tight = std::nullopt;
  cell.budget.gap_tight_ci95 = std::nullopt;
  cell.channels[Channel::Entity] = amplified_channel();
  const Judgement judgement = judge(cell);
  EXPECT_EQ(judgement.verdict, Verdict::Amplified);
  // Among the first, which is all that a grid shows.
  EXPECT_NE(judgement.reasons.at(1).find("Masking could not be judged"), std::string::npos);
  EXPECT_TRUE(said(judgement,
                   "Masking could not be judged: the tight budget 2 is not below the error "
                   "budget, 2"));
  cell.channels[Channel::ToolName] = cell.channels[Channel::Entity] = quiet_channel();
  EXPECT_EQ(judge(cell).verdict, Verdict::Inconclusive);
  EXPECT_TRUE(said(judge(cell), "Masking could not be judged"));
}

TEST(Judge, SaysHowManyTrialsOfThePresentTasksWouldDoAsWell) {
  CellComparison cell = clean_cell();
  cell.outcome.delta = estimate(-0.03, 0.04);
  cell.outcome.tost = Equivalence{0.075, 0.2, false, cell.outcome.delta->ci90};
  cell.sd_delta = 0.43;
  EXPECT_FALSE(judge(cell).needed->trials_same_tasks);  // trials that show nothing about tasks
  // 114 tasks need sd = 0.045 sqrt(114) / (1.66 + 0.85) = 0.192: of 0.43^2 = 0.185 at 4 trials,
  // 0.01 lies between tasks, 0.70 is a single trial's, so 0.70 / (0.0369 - 0.01) = 26 trials.
  cell.between_delta = 0.1;
  const Judgement judgement = judge(cell);
  ASSERT_TRUE(judgement.needed->trials_same_tasks);
  EXPECT_NEAR(*judgement.needed->trials_same_tasks, 26, 1);
  EXPECT_TRUE(said(judgement, "trials of the present tasks"));
  cell.between_delta = 0.3;  // the tasks alone are too different
  EXPECT_FALSE(judge(cell).needed->trials_same_tasks);
  EXPECT_TRUE(judge(cell).needed->tasks);
  // Another condition that no number of trials settles: then trials do not settle the verdict.
  cell.between_delta = 0.1;
  cell.budget.unmasked.test = estimate(0.04, 0.02);
  cell.sd_unmasked = 0.2;
  EXPECT_FALSE(judge(cell).needed->trials_same_tasks);
}

// The closed forms behind `needed` against simulated studies of clustered binary trials, at the
// number of tasks they ask for.
double share_settled(const PairedPropensity& pair, int tasks, int trials, bool by_outcome) {
  PowerModel model;
  model.success = model.masked = pair;
  const PowerDraw draw(model);
  constexpr int kStudies = 2000;
  int settled = 0;
  for (int i = 0; i < kStudies; ++i) {
    Rng rng(77, static_cast<std::uint64_t>(i));
    const std::vector<double> d = by_outcome ? draw.success_differences(tasks, trials, rng)
                                             : draw.masked_differences(tasks, trials, rng);
    settled += by_outcome ? tost(d, 0.075)->ci90.lo > -0.075 : mean_t_test(d)->upper95 < 0.05;
  }
  return static_cast<double>(settled) / kStudies;
}

// Standard deviation of a task's difference at so many trials, arms unrelated.
double sd_of(const PairedPropensity& pair, int trials) {
  const auto variance = [&](const Propensity& p) {
    return p.mean * (1 - p.mean) * (p.correlation + (1 - p.correlation) / trials);
  };
  return std::sqrt(variance(pair.baseline) + variance(pair.candidate));
}

TEST(Needed, ClosedFormsAgreeWithSimulatedStudies) {
  constexpr double kThreeErrors = 0.027;
  const PairedPropensity success{{0.65, 0.3}, {0.63, 0.3}, 0};
  for (const int trials : {1, 4}) {
    const int tasks =
        *tasks_for_upper_limit(0.02, sd_of(success, trials), 0.075, kVerdictAlpha, kPlanningPower);
    EXPECT_NEAR(share_settled(success, tasks, trials, true), kPlanningPower, kThreeErrors)
        << tasks << " x " << trials;
  }
  const PairedPropensity masked{{0.15, 0.2}, {0.17, 0.2}, 0};
  for (const int trials : {2, 6}) {
    const int tasks =
        *tasks_for_upper_limit(0.02, sd_of(masked, trials), 0.05, kVerdictAlpha, kPlanningPower);
    EXPECT_NEAR(share_settled(masked, tasks, trials, false), kPlanningPower, kThreeErrors)
        << tasks << " x " << trials;
  }
}

TEST(Judge, PutsTheHardestConditionFirst) {
  CellComparison cell = clean_cell();
  cell.budget.unmasked.test = estimate(0.049, 0.04);
  cell.sd_unmasked = 0.427;
  cell.channels[Channel::Entity].difference_upper95 = 0.03;
  cell.channels[Channel::Entity].amplification_upper95 = 1.6;
  const Judgement judgement = judge(cell);
  EXPECT_EQ(judgement.needed->condition, "unmasked gap");
  EXPECT_TRUE(said(judgement, "Channel entity"));
}

TEST(Judge, AsksForTasksInProportionWhereAChannelNeverFailed) {
  CellComparison cell = clean_cell();
  ChannelComparison silent;
  silent.baseline = silent.candidate = silent.difference = 0;
  silent.difference_upper95 = 0.04;  // a number over n
  cell.channels[Channel::Malformed] = silent;
  const Judgement judgement = judge(cell);
  EXPECT_EQ(judgement.needed->condition, "channel malformed");
  EXPECT_EQ(*judgement.needed->tasks, 229);  // twice 114, and one
}

TEST(Judge, NeverSettlesAnUngradedLogButSeesAmplification) {
  CellComparison cell = clean_cell();
  cell.graded = false;
  Judgement judgement = judge(cell);
  EXPECT_EQ(judgement.verdict, Verdict::Inconclusive);
  EXPECT_FALSE(judgement.needed->tasks);
  EXPECT_FALSE(judgement.needed->trials);
  EXPECT_TRUE(judgement.reasons.front().find("not graded") != std::string::npos);
  cell = masked_cell();
  cell.graded = false;
  cell.outcome.delta = estimate(-0.3, 0.02);
  cell.outcome.p_holm = 0.0001;
  judgement = judge(cell);
  EXPECT_EQ(judgement.verdict, Verdict::Amplified);
  EXPECT_FALSE(judgement.degraded || judgement.unmasked_damage);
}

TEST(Judge, SaysThatNothingRanWithTheEpisodesOfEachArm) {
  CellComparison cell = clean_cell();
  cell.ran = cell.graded = false;
  cell.baseline.episodes_total = 456;
  cell.candidate.episodes_total = cell.candidate.episodes_excluded = 1456;
  cell.outcome = {};
  const Judgement judgement = judge(cell);
  EXPECT_EQ(judgement.verdict, Verdict::Inconclusive);
  EXPECT_EQ(
      judgement.reasons.front(),
      "Nothing was evaluated: 0 of 456 episodes of the baseline and 1,456 of 1,456 episodes of "
      "the candidate are excluded (infrastructure errors).");
  EXPECT_EQ(judgement.reasons[1], "Episodes that run are what is missing.");
}

TEST(Judge, WritesThousandsAndOnesAsEverywhere) {
  CellComparison cell = clean_cell();
  cell.paired_tasks = 1;
  cell.budget.k_tight = 1;
  ChannelComparison silent;
  silent.baseline = silent.candidate = silent.difference = 0;
  silent.difference_upper95 = 0.999;
  cell.channels[Channel::Malformed] = silent;
  cell.baseline.trials_max = cell.candidate.trials_max = 1;
  EXPECT_TRUE(said(judge(cell), "(now 1 task)"));
  EXPECT_TRUE(said(judge(cell), "of 1 trial would settle it"));
  cell.paired_tasks = 10000;
  EXPECT_TRUE(said(judge(cell), "(now 10,000 tasks)"));
  EXPECT_TRUE(said(judge(cell), "About 499,501 tasks"));
  EXPECT_EQ(unmasked_sentence(cell).find("Under a budget of 1 failed call instead of 10"), 0u);
}

TEST(Judge, IsNotCleanWithoutABudgetAndSaysHowToStateOne) {
  CellComparison cell = clean_cell();
  cell.budget.k0 = std::nullopt;
  cell.budget.unmasked.test = std::nullopt;
  const Judgement judgement = judge(cell);
  EXPECT_EQ(judgement.verdict, Verdict::Inconclusive);
  EXPECT_EQ(judgement.needed->condition, "unmasked gap");
  EXPECT_FALSE(judgement.needed->tasks);
  EXPECT_TRUE(said(judgement, "state the budget"));
}

TEST(Judge, SurvivesAnEmptyComparison) {
  const Judgement judgement = judge(CellComparison{});
  EXPECT_EQ(judgement.verdict, Verdict::Inconclusive);
  EXPECT_FALSE(judgement.reasons.empty());
}

// From episodes to a verdict.
TEST(JudgeArms, FindsTheMaskedCell) {
  // Twice the failures, and nearly the same final score, since failures within the budget are
  // forgiven.
  const Arm b = random_arm({.tasks = 114, .calls = 8, .tool_name = 0.17, .seed = 1});
  const Arm c = random_arm({.tasks = 114, .calls = 8, .tool_name = 0.38, .seed = 2});
  const Judgement judgement = judge(compared(b, c));
  EXPECT_EQ(judgement.verdict, Verdict::Masked);
  EXPECT_TRUE(judgement.flatness);
}

TEST(JudgeArms, FindsTheDegradedCell) {
  const Arm b = random_arm({.tasks = 114, .tool_name = 0.02, .success = 0.8, .seed = 3});
  const Arm c = random_arm({.tasks = 114, .tool_name = 0.02, .success = 0.5, .seed = 4});
  EXPECT_EQ(judge(compared(b, c)).verdict, Verdict::Degraded);
}

TEST(JudgeArms, FindsTheCellWithBoth) {
  const Arm b = random_arm({.tasks = 114, .tool_name = 0.15, .success = 0.9, .seed = 5});
  const Arm c = random_arm({.tasks = 114, .tool_name = 0.40, .success = 0.6, .seed = 6});
  EXPECT_EQ(judge(compared(b, c)).verdict, Verdict::DegradedAndMasked);
}

TEST(JudgeArms, FindsAmplificationThatCostsNothingYet) {
  const Arm b = random_arm({.tasks = 114, .calls = 4, .tool_name = 0.02, .seed = 7});
  const Arm c = random_arm({.tasks = 114, .calls = 4, .tool_name = 0.06, .seed = 8});
  const Judgement judgement = judge(compared(b, c));
  EXPECT_EQ(judgement.verdict, Verdict::Amplified);
  EXPECT_TRUE(said(judgement, "tool_name failures go from"));
}

TEST(JudgeArms, FindsTheCleanCell) {
  const Arm b = random_arm({.tasks = 114, .trials = 8, .tool_name = 0.03, .seed = 9});
  const Arm c = random_arm({.tasks = 114, .trials = 8, .tool_name = 0.03, .seed = 10});
  const Judgement judgement = judge(compared(b, c));
  EXPECT_EQ(judgement.verdict, Verdict::Clean) << judgement.reasons.front();
}

TEST(JudgeArms, IsInconclusiveOnAFewTasks) {
  const Arm b = random_arm({.tasks = 6, .seed = 11});
  const Arm c = random_arm({.tasks = 6, .seed = 12});
  const Judgement judgement = judge(compared(b, c));
  EXPECT_EQ(judgement.verdict, Verdict::Inconclusive);
  ASSERT_TRUE(judgement.needed);
  EXPECT_GT(judgement.needed->tasks.value_or(0), 6);
}

TEST(JudgeArms, CallsAnArmAgainstItselfClean) {
  const Arm b = random_arm({.tasks = 114, .seed = 13});
  EXPECT_EQ(judge(compared(b, b)).verdict, Verdict::Clean);
}

TEST(Sentences, WriteNumbersInPoints) {
  EXPECT_EQ(signed_points(-0.0131), "-1.3 points");
  EXPECT_EQ(signed_points(0.00001), "0.0 points");
  EXPECT_EQ(signed_points(-0.00001), "0.0 points");
  EXPECT_EQ(spaced_percent(0.195), "19.5 %");
  EXPECT_EQ(p_text(0.0001), "p < 0.001");
  EXPECT_EQ(p_text(0.0344), "p = 0.034");
}

TEST(Sentences, NameTheVerdicts) {
  EXPECT_EQ(to_string(Verdict::DegradedAndMasked), "degraded+masked");
  EXPECT_EQ(to_string(Verdict::Inconclusive), "inconclusive");
  EXPECT_EQ(to_string(Flatness::Undetected), "undetected");
}

}  // namespace
}  // namespace unmask
