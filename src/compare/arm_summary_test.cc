#include "compare/arm_summary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compare/arms_for_tests.h"
#include "compare/estimates.h"
#include "stats/proportion.h"

namespace unmask {
namespace {

using for_tests::arm;
using for_tests::episode;
using for_tests::failed;
using for_tests::Habits;
using for_tests::random_arm;

const CompareOptions kOptions = [] {
  CompareOptions options;
  options.resamples = 500;
  options.threads = 1;
  return options;
}();

// Task a: success in 1 of 2, task b: in 1 of 1. The mean over tasks is 3/4, over episodes 2/3.
Arm small_arm() {
  return arm({episode("a", 0, true, 4, {failed(Channel::ToolName, "x", 0, SubKind::Invented)}),
              episode("a", 1, false, 6,
                      {failed(Channel::ToolName, "x", 1, SubKind::Invented),
                       failed(Channel::Entity, "get_user", 2), failed(Channel::Schema, "pay", 5)}),
              episode("b", 0, true, 2)});
}

TEST(ArmSummary, CountsAHandMadeArm) {
  const ArmSummary summary = summarize_arm(small_arm(), kOptions);
  EXPECT_EQ(summary.episodes_total, 3);
  EXPECT_EQ(summary.episodes_evaluated, 3);
  EXPECT_EQ(summary.tasks, 2);
  EXPECT_EQ(summary.trials_min, 1);
  EXPECT_EQ(summary.trials_max, 2);
  EXPECT_EQ(summary.agent_calls, 12);
  EXPECT_EQ(summary.failed_agent, 4);
  EXPECT_DOUBLE_EQ(*summary.success.value, 0.75);
  const ChannelSummary& names = summary.channels.at(Channel::ToolName);
  EXPECT_EQ(names.count, 2);
  EXPECT_DOUBLE_EQ(*names.per_call.value, 2.0 / 12);
  // Means over tasks: task a has one an episode, task b none.
  EXPECT_DOUBLE_EQ(*names.per_episode, (1.0 + 0.0) / 2);
  EXPECT_DOUBLE_EQ(*names.share_with, (1.0 + 0.0) / 2);
  EXPECT_EQ(summary.episodes_in_log, 3);
  EXPECT_EQ(names.episodes_with, 2);
  EXPECT_EQ(names.kinds.at(SubKind::Invented), 2);
  EXPECT_EQ(summary.argument.count, 2);
  EXPECT_EQ(summary.argument.episodes_with, 1);
  EXPECT_EQ(summary.failing_tools.at("pay"), 1);
  EXPECT_DOUBLE_EQ(*summary.distinct_trajectories_per_task, 1.5);
  EXPECT_FALSE(summary.trials_are_copies);
  EXPECT_EQ(summary.terminations.at("user_stop"), 3);
  ASSERT_EQ(summary.by_task.size(), 2u);
  EXPECT_EQ(summary.by_task[0].failures, 4);
  EXPECT_EQ(summary.by_task[0].tool_name, 2);
  EXPECT_DOUBLE_EQ(*summary.by_task[0].tool_name_per_call,
                   2.0 / static_cast<double>(summary.by_task[0].calls));
  EXPECT_DOUBLE_EQ(*summary.by_task[0].failed_per_call,
                   4.0 / static_cast<double>(summary.by_task[0].calls));
}

TEST(ArmSummary, DrawsTheCurveByHand) {
  const ArmSummary summary = summarize_arm(small_arm(), kOptions);
  ASSERT_EQ(summary.budget.curve.size(), 11u);              // k = 0 ... 10
  EXPECT_DOUBLE_EQ(*summary.budget.curve[0].success, 0.5);  // a: 0 of 2, b: 1
  EXPECT_DOUBLE_EQ(*summary.budget.curve[1].success, 0.75);
  EXPECT_DOUBLE_EQ(*summary.budget.curve[10].success, *summary.success.value);
  ASSERT_EQ(summary.budget.curve_live.size(), 10u);  // k = 1 ... 10
  EXPECT_EQ(summary.budget.curve_live[0].k, 1);
  EXPECT_DOUBLE_EQ(*summary.budget.mean_errors, (2.0 + 0.0) / 2);  // a: (1 + 3) / 2
  EXPECT_DOUBLE_EQ(summary.budget.error_quantiles[4], 3);
  EXPECT_DOUBLE_EQ(summary.budget.error_quantiles[2], 1);
  EXPECT_DOUBLE_EQ(*summary.budget.share_near_exhaustion, 0);
}

TEST(ArmSummary, HasAtMostEqualToLiveOneHigher) {
  const ArmSummary summary = summarize_arm(random_arm({}), kOptions);
  for (std::size_t k = 0; k + 1 < 10; ++k) {
    EXPECT_DOUBLE_EQ(*summary.budget.curve[k].success, *summary.budget.curve_live[k].success);
  }
}

TEST(ArmSummary, RisesAlongTheCurveToTheFinalScore) {
  const ArmSummary summary = summarize_arm(random_arm({}), kOptions);
  for (std::size_t k = 1; k < summary.budget.curve.size(); ++k) {
    EXPECT_GE(*summary.budget.curve[k].success, *summary.budget.curve[k - 1].success);
  }
  EXPECT_EQ(*summary.budget.curve.back().success, *summary.success.value);
}

// Means over tasks of task means, by loops over episodes that use nothing of metrics.
TEST(ArmSummary, EqualsPlainLoopsOverEpisodes) {
  Arm made = random_arm({.tasks = 25, .tool_name = 0.2, .seed = 4});
  made.episodes.edit(3).excluded = true;
  made.episodes.edit(7).success = std::nullopt;
  const ArmSummary summary = summarize_arm(made, kOptions);
  std::map<std::string, std::pair<double, double>> by_task;
  double failures = 0;
  double calls = 0;
  for (const EpisodeFacts& e : made.episodes) {
    if (e.excluded) continue;
    for (const FailedCall& call : e.failures) failures += call.channel == Channel::ToolName ? 1 : 0;
    calls += e.agent_calls;
    if (!e.success) continue;
    by_task[e.task_id].first += *e.success && e.errors_all <= 1 ? 1 : 0;
    by_task[e.task_id].second += 1;
  }
  double mean = 0;
  for (const auto& [task, counts] : by_task) mean += counts.first / counts.second / 25;
  EXPECT_NEAR(*summary.budget.curve[1].success, mean, 1e-12);
  EXPECT_NEAR(*summary.channels.at(Channel::ToolName).per_call.value, failures / calls, 1e-12);
  EXPECT_EQ(summary.episodes_excluded, 1);
  EXPECT_EQ(summary.episodes_ungraded, 1);
  EXPECT_EQ(summary.episodes_evaluated, 98);
}

TEST(ArmSummary, HasAValueAndNoIntervalForOneTask) {
  const ArmSummary summary =
      summarize_arm(arm({episode("a", 0, true, 3), episode("a", 1, false, 3)}), kOptions);
  EXPECT_DOUBLE_EQ(*summary.success.value, 0.5);
  EXPECT_FALSE(summary.success.ci95);
}

TEST(ArmSummary, HasNoSuccessWhereNothingIsGraded) {
  const ArmSummary summary = summarize_arm(
      arm({episode("a", 0, std::nullopt, 3), episode("b", 0, std::nullopt, 3)}), kOptions);
  EXPECT_FALSE(summary.success.value);
  EXPECT_FALSE(summary.budget.curve[2].success);
  EXPECT_TRUE(summary.pass_hat_k.empty());
  EXPECT_EQ(summary.episodes_ungraded, 2);
  EXPECT_EQ(*summary.channels.at(Channel::Entity).per_call.value, 0);
}

TEST(ArmSummary, SurvivesAnArmWithoutEpisodes) {
  const ArmSummary summary = summarize_arm(arm({}), kOptions);
  EXPECT_EQ(summary.episodes_total, 0);
  EXPECT_FALSE(summary.success.value);
  EXPECT_FALSE(summary.budget.mean_errors);
  EXPECT_FALSE(summary.channels.at(Channel::ToolName).per_call.value);
  EXPECT_FALSE(summary.channels.at(Channel::ToolName).screen);
  EXPECT_FALSE(summary.recovery.rate.value);
}

TEST(ArmSummary, HasAnIntervalOfSomeWidthWhereEveryEpisodePassed) {
  std::vector<EpisodeFacts> episodes;
  for (int t = 0; t < 20; ++t) episodes.push_back(episode(std::to_string(t), 0, true, 5));
  const ArmSummary summary = summarize_arm(arm(episodes), kOptions);
  ASSERT_TRUE(summary.success.ci95);
  EXPECT_EQ(summary.success.ci95->hi, 1.0);
  EXPECT_LT(summary.success.ci95->lo, 0.9);
  const Interval& none = *summary.channels.at(Channel::Schema).per_call.ci95;
  EXPECT_EQ(none.lo, 0);
  EXPECT_NEAR(none.hi, 3.0 / 20, 1e-9);  // 3 / episodes
}

TEST(ArmSummary, CountsTasksAsUnitsWhereTrialsAreCopies) {
  std::vector<EpisodeFacts> episodes;
  for (int t = 0; t < 60; ++t) {
    for (int j = 0; j < 4; ++j) {
      episodes.push_back(episode(std::to_string(t), j, true, 5));
      episodes.back().trajectory_hash = 77 + static_cast<std::uint64_t>(t);
    }
  }
  const ArmSummary summary = summarize_arm(arm(episodes), kOptions);
  EXPECT_TRUE(summary.trials_are_copies);
  EXPECT_DOUBLE_EQ(*summary.distinct_trajectories_per_task, 1.0);
  EXPECT_NEAR(summary.channels.at(Channel::Schema).per_call.ci95->hi, 3.0 / 60, 1e-9);
}

TEST(ArmSummary, ScreensByTheThresholdsOfTheOptions) {
  const Arm many = random_arm({.tasks = 60, .tool_name = 0.2});
  const Arm none = random_arm({.tasks = 114, .tool_name = 0.0});
  EXPECT_EQ(*summarize_arm(many, kOptions).channels.at(Channel::ToolName).screen, Risk::High);
  EXPECT_EQ(*summarize_arm(none, kOptions).channels.at(Channel::ToolName).screen, Risk::Low);
  CompareOptions strict = kOptions;
  strict.screen_high = 0.9;
  EXPECT_EQ(*summarize_arm(many, strict).channels.at(Channel::ToolName).screen, Risk::Watch);
  strict.screen_low = 0.001;
  EXPECT_EQ(*summarize_arm(none, strict).channels.at(Channel::ToolName).screen, Risk::Watch);
}

TEST(ArmSummary, RunsTheCurveToTenWithoutABudget) {
  const Arm free = arm({episode("a", 0, true, 3), episode("b", 0, true, 3)}, std::nullopt);
  const ArmSummary summary = summarize_arm(free, kOptions);
  EXPECT_FALSE(summary.budget.k0);
  EXPECT_FALSE(summary.budget.share_near_exhaustion);
  EXPECT_EQ(summary.budget.curve.back().k, 10);
  CompareOptions assumed = kOptions;
  assumed.assumed_max_errors = 5;
  EXPECT_EQ(*summarize_arm(free, assumed).budget.k0, 5);
  EXPECT_EQ(summarize_arm(free, assumed).budget.curve.back().k, 5);
}

// A success with 3 failed calls under a stated budget of 2: the final score is not S(2).
TEST(ArmSummary, HasNoSuccessAtABudgetThatWasNotInForce) {
  std::vector<FailedCall> three(3, failed(Channel::Rejected, "refund"));
  const std::vector<EpisodeFacts> episodes = {episode("a", 0, true, 5, three),
                                              episode("b", 0, true, 5), episode("c", 0, true, 5)};
  const BudgetSummary stated = summarize_arm(arm(episodes, 2), kOptions).budget;
  EXPECT_EQ(stated.beyond_k0, 1);
  ASSERT_EQ(stated.curve.size(), 3u);
  EXPECT_DOUBLE_EQ(*stated.curve[1].success, 2.0 / 3);
  EXPECT_FALSE(stated.curve[2].success);
  EXPECT_FALSE(stated.curve_live.back().success);
  EXPECT_FALSE(stated.share_near_exhaustion);
  EXPECT_FALSE(is_identified(stated, 2));
  EXPECT_TRUE(is_identified(stated, 1));
  EXPECT_DOUBLE_EQ(stated.error_quantiles[4], 3);
  // Under a budget that lets them be, the curve ends in the final score.
  const BudgetSummary kept = summarize_arm(arm(episodes, 4), kOptions).budget;
  EXPECT_EQ(kept.beyond_k0, 0);
  EXPECT_DOUBLE_EQ(*kept.curve[4].success, 1.0);
  EXPECT_DOUBLE_EQ(*kept.share_near_exhaustion, 1.0 / 3);
}

TEST(ArmSummary, KeepsTheCurveShortUnderAnAbsurdBudget) {
  const ArmSummary summary = summarize_arm(
      arm({episode("a", 0, true, 3), episode("b", 0, true, 3)}, 2000000000), kOptions);
  EXPECT_LE(summary.budget.curve.size(), 101u);
  EXPECT_EQ(summary.budget.curve.back().k, 2000000000);
  EXPECT_EQ(summarize_arm(arm({episode("a", 0, true, 3)}, -4), kOptions).budget.curve.size(), 1u);
}

TEST(ArmSummary, PoolsRecoveryAndLeavesCensoredFailuresOut) {
  FailedCall recovered = failed(Channel::Entity, "pay", 0);
  recovered.recovery = FailedCall::Recovery::Recovered;
  FailedCall censored = failed(Channel::Entity, "pay", 2);
  censored.recovery = FailedCall::Recovery::Censored;
  const FailedCall lost = failed(Channel::Entity, "pay", 1);
  const ArmSummary summary =
      summarize_arm(arm({episode("a", 0, true, 5, {recovered, lost}),
                         episode("b", 0, false, 5, {censored}), episode("c", 0, true, 5)}),
                    kOptions);
  EXPECT_EQ(summary.recovery.failures, 2);
  EXPECT_EQ(summary.recovery.recovered, 1);
  EXPECT_EQ(summary.recovery.censored, 1);
  EXPECT_DOUBLE_EQ(*summary.recovery.rate.value, 0.5);
  EXPECT_DOUBLE_EQ(*summary.recovery.success_given_failure.value, 0.5);
}

TEST(RateEstimate, MirrorsItsComplement) {
  const std::vector<double> events = {9, 10, 8, 10};
  const std::vector<double> misses = {1, 0, 2, 0};
  const std::vector<double> chances = {10, 10, 10, 10};
  const Estimate high = rate_estimate(events, chances, 4);
  const Interval low = *clustered_rate_interval(misses, chances, 4, 0.95);
  EXPECT_NEAR(high.ci95->lo, 1 - low.hi, 1e-12);
  EXPECT_NEAR(high.ci95->hi, 1 - low.lo, 1e-12);
  const Estimate all = rate_estimate(chances, chances, 4);
  EXPECT_EQ(all.ci95->hi, 1.0);
  EXPECT_LT(all.ci95->lo, 1.0);
}

TEST(RateEstimate, IsAbsentWithoutChances) {
  const std::vector<double> none = {0, 0};
  EXPECT_FALSE(rate_estimate(none, none, 2).value);
}

TEST(SuccessInterval, IsStudentsOverTaskMeans) {
  // Task means 0, 1/2, 1: mean 1/2, sd 1/2, SE 1/(2 sqrt 3), t(2, .975) = 4.302653; cut to [0, 1].
  const std::vector<std::optional<double>> means = {0.0, std::nullopt, 0.5, 1.0};
  const Estimate cut = proportion_estimate(means);
  EXPECT_DOUBLE_EQ(*cut.value, 0.5);
  EXPECT_EQ(cut.ci95->lo, 0.0);
  EXPECT_EQ(cut.ci95->hi, 1.0);
  const std::vector<std::optional<double>> close = {0.4, 0.5, 0.6};
  EXPECT_NEAR(proportion_estimate(close).ci95->hi, 0.5 + 4.302653 * 0.1 / std::sqrt(3.0), 1e-5);
}

}  // namespace
}  // namespace unmask
