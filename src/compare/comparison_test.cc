#include "compare/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compare/arms_for_tests.h"
#include "compare/channel_comparison.h"
#include "compare/pairing.h"
#include "stats/slope.h"

namespace unmask {
namespace {

using for_tests::arm;
using for_tests::compared;
using for_tests::episode;
using for_tests::failed;
using for_tests::few_resamples;
using for_tests::Habits;
using for_tests::random_arm;
using for_tests::warned;

// n failures of a rejected refund, all in the budget.
std::vector<FailedCall> refused(int n) {
  std::vector<FailedCall> calls;
  for (int i = 0; i < n; ++i) calls.push_back(failed(Channel::Rejected, "refund", i));
  return calls;
}

TEST(PairTasks, ReducesBothArmsToTheCommonTasks) {
  const Arm b =
      arm({episode("1", 0, true, 3), episode("2", 0, true, 3), episode("10", 0, true, 3)});
  const Arm c =
      arm({episode("2", 0, true, 3), episode("10", 0, true, 3), episode("x", 0, true, 3)});
  const Result<PairedArms> paired = pair_tasks(b, c);
  ASSERT_TRUE(paired);
  ASSERT_EQ(paired->baseline.tasks.size(), 2u);
  EXPECT_EQ(paired->baseline.tasks[0].id, "2");
  EXPECT_EQ(paired->candidate.tasks[1].id, "10");
  EXPECT_EQ(paired->unpaired,
            (std::vector<std::string>{"only in baseline: 1", "only in candidate: x"}));
}

TEST(PairTasks, RefusesDifferentDomains) {
  Arm c = arm({episode("1", 0, true, 3)});
  c.tasks[0].domain = "retail";
  c.episodes.edit(0).domain = "retail";
  const Result<PairedArms> paired = pair_tasks(arm({episode("1", 0, true, 3)}), c);
  ASSERT_FALSE(paired);
  EXPECT_EQ(paired.error().kind, ErrorKind::InvalidArgument);
  EXPECT_NE(paired.error().message.find("telecom"), std::string::npos);
  EXPECT_NE(paired.error().message.find("retail"), std::string::npos);
}

TEST(PairTasks, RefusesArmsWithoutACommonTask) {
  const Result<PairedArms> paired =
      pair_tasks(arm({episode("1", 0, true, 3)}), arm({episode("2", 0, true, 3)}));
  ASSERT_FALSE(paired);
  EXPECT_EQ(paired.error().kind, ErrorKind::InvalidArgument);
}

TEST(PairTasks, TakesAnUnnamedDomainForTheOtherArmsOnlyOne) {
  Arm c = arm({episode("1", 0, true, 3)});
  c.tasks[0].domain = "";
  c.episodes.edit(0).domain = "";
  EXPECT_TRUE(pair_tasks(arm({episode("1", 0, true, 3)}), c));
}

TEST(PairTasks, RefusesTwoEmptyArms) {
  EXPECT_FALSE(pair_tasks(arm({}), arm({})));
}

// Task a: 1/2 -> 1, b: 1 -> 0, c: 1 -> 1 (trial counts differ). d = (1/2, -1, 0): mean -1/6.
TEST(CompareArms, TakesTheMeanOfTaskDifferences) {
  const Arm b = arm({episode("a", 0, true, 3), episode("a", 1, false, 3), episode("b", 0, true, 3),
                     episode("c", 0, true, 3)});
  const Arm c = arm({episode("a", 0, true, 3), episode("b", 0, false, 3), episode("b", 1, false, 3),
                     episode("c", 0, true, 3)});
  const CellComparison cell = compared(b, c);
  ASSERT_TRUE(cell.outcome.delta);
  EXPECT_NEAR(cell.outcome.delta->mean, -1.0 / 6, 1e-12);
  // sd of (1/2, -1, 0) = sqrt(21/36) = 0.763763, SE = sd / sqrt 3.
  EXPECT_NEAR(*cell.sd_delta, 0.763763, 1e-6);
  EXPECT_NEAR(cell.outcome.delta->se, 0.763763 / std::sqrt(3.0), 1e-6);
  EXPECT_EQ(cell.episodes_baseline, 4);
  EXPECT_EQ(cell.episodes_candidate, 4);
  EXPECT_NEAR(*cell.flip_share, 1.0 / 3, 1e-12);  // b flips; a was a tie, which is no majority
}

// Per task, candidate successes beyond 2 failures less the baseline's, by hand: a: 1 - 0, b: 1/2 -
// 1/2, c: 0 - 0. U = 1/3.
TEST(CompareArms, CountsTheUnmaskedGapByHand) {
  const Arm b = arm({episode("a", 0, true, 9, refused(2)), episode("a", 1, true, 9),
                     episode("b", 0, true, 9, refused(3)), episode("b", 1, true, 9),
                     episode("c", 0, true, 9)});
  const Arm c = arm({episode("a", 0, true, 9, refused(3)), episode("a", 1, true, 9, refused(4)),
                     episode("b", 0, true, 9, refused(8)), episode("b", 1, true, 9, refused(1)),
                     episode("c", 0, false, 9, refused(5))});
  const CellComparison cell = compared(b, c);
  EXPECT_NEAR(cell.budget.unmasked.test->mean, 1.0 / 3, 1e-12);
  EXPECT_NEAR(cell.outcome.delta->mean, -1.0 / 3, 1e-12);
  // S_b(2) = (1 + 1/2 + 1)/3, S_c(2) = (0 + 1/2 + 0)/3.
  EXPECT_NEAR(*cell.budget.gap_tight, 2.0 / 3, 1e-12);
  EXPECT_NEAR(*cell.budget.masking_factor, 2.0, 1e-12);
  EXPECT_EQ(*cell.budget.k0, 10);
}

TEST(CompareArms, HasTheGapAtK0EqualToMinusDeltaAndUEqualToTheDifferenceOfGaps) {
  const CellComparison cell =
      compared(random_arm({.seed = 1}), random_arm({.tool_name = 0.3, .success = 0.6, .seed = 2}));
  ASSERT_EQ(cell.budget.gap.size(), 11u);
  EXPECT_EQ(cell.budget.gap.back().gap, -cell.outcome.delta->mean);
  EXPECT_NEAR(cell.budget.unmasked.test->mean, cell.budget.gap[2].gap - cell.budget.gap[10].gap,
              1e-12);
  EXPECT_NEAR(*cell.budget.gap_tight, cell.budget.gap[2].gap, 1e-12);
  EXPECT_NEAR(cell.budget.gap_tight_ci95->lo, cell.budget.gap[2].ci95.lo, 1e-12);
  for (const GapPoint& point : cell.budget.gap) {
    EXPECT_LE(point.band95.lo, point.ci95.lo + 1e-12);  // simultaneous is no narrower
    EXPECT_GE(point.band95.hi, point.ci95.hi - 1e-12);
    EXPECT_GT(point.band95.hi, point.band95.lo);
  }
}

TEST(CompareArms, EqualsPlainLoopsOverEpisodes) {
  const Arm b = random_arm({.tasks = 30, .trials = 3, .tool_name = 0.15, .seed = 5});
  const Arm c = random_arm({.tasks = 30, .trials = 5, .tool_name = 0.3, .seed = 6});
  const CellComparison cell = compared(b, c);
  const auto mean_of = [](const Arm& made, auto score) {
    std::map<std::string, std::pair<double, double>> tasks;
    for (const EpisodeFacts& e : made.episodes) {
      tasks[e.task_id].first += score(e) ? 1 : 0;
      tasks[e.task_id].second += 1;
    }
    double mean = 0;
    for (const auto& [task, n] : tasks) mean += n.first / n.second;
    return mean / static_cast<double>(tasks.size());
  };
  const auto passed = [](const EpisodeFacts& e) { return *e.success; };
  const auto beyond = [](const EpisodeFacts& e) { return *e.success && e.errors_all > 2; };
  EXPECT_NEAR(cell.outcome.delta->mean, mean_of(c, passed) - mean_of(b, passed), 1e-12);
  EXPECT_NEAR(cell.budget.unmasked.test->mean, mean_of(c, beyond) - mean_of(b, beyond), 1e-12);
  const auto rate = [](const Arm& made) {
    double failures = 0;
    double calls = 0;
    for (const EpisodeFacts& e : made.episodes) {
      failures += static_cast<double>(e.failures.size());
      calls += e.agent_calls;
    }
    return std::pair(failures, calls);
  };
  const auto [fb, cb] = rate(b);
  const auto [fc, cc] = rate(c);
  const ChannelComparison& names = cell.channels.at(Channel::ToolName);
  EXPECT_NEAR(*names.amplification, fc / cc / (fb / cb), 1e-12);
  EXPECT_NEAR(*names.volume, (fc / 150) / (fb / 90), 1e-12);  // every task has as many trials
  EXPECT_NEAR(*names.per_other_call, (fc / (cc - fc)) / (fb / (cb - fb)), 1e-12);
  EXPECT_NEAR(*names.difference, fc / cc - fb / cb, 1e-12);
}

TEST(CompareArms, FlipsItsSignsWhenTheArmsAreSwapped) {
  const Arm b = random_arm({.tool_name = 0.15, .seed = 7});
  const Arm c = random_arm({.tool_name = 0.3, .success = 0.6, .seed = 8});
  const CellComparison there = compared(b, c);
  const CellComparison back = compared(c, b);
  EXPECT_NEAR(there.outcome.delta->mean, -back.outcome.delta->mean, 1e-12);
  EXPECT_NEAR(there.outcome.delta->p, back.outcome.delta->p, 1e-12);
  EXPECT_NEAR(there.budget.unmasked.test->mean, -back.budget.unmasked.test->mean, 1e-12);
  for (std::size_t k = 0; k < there.budget.gap.size(); ++k) {
    EXPECT_NEAR(there.budget.gap[k].gap, -back.budget.gap[k].gap, 1e-12);
    EXPECT_NEAR(there.budget.gap[k].band95.lo, -back.budget.gap[k].band95.hi, 1e-9);
  }
  const ChannelComparison& x = there.channels.at(Channel::ToolName);
  const ChannelComparison& y = back.channels.at(Channel::ToolName);
  EXPECT_NEAR(*x.amplification, 1 / *y.amplification, 1e-12);
  EXPECT_NEAR(*x.difference, -*y.difference, 1e-12);
  EXPECT_NEAR(x.difference_ci95->lo, -y.difference_ci95->hi, 1e-9);
  EXPECT_NEAR(*there.recovery.difference, -*back.recovery.difference, 1e-12);
  EXPECT_NEAR(*there.names.spearman, *back.names.spearman, 1e-12);
  EXPECT_NEAR(*there.names.jaccard, *back.names.jaccard, 1e-12);
}

TEST(CompareArms, ListsAnUnpairedTaskAndChangesNothingElse) {
  const Arm b = random_arm({.seed = 9});
  const Arm c = random_arm({.tool_name = 0.3, .seed = 10});
  std::vector<EpisodeFacts> more(b.episodes.begin(), b.episodes.end());
  more.push_back(episode("999", 0, false, 50, refused(9)));
  const Arm longer = arm(more);
  const CellComparison plain = compared(b, c);
  const CellComparison extra = compared(longer, c);
  EXPECT_EQ(extra.unpaired_tasks, std::vector<std::string>{"only in baseline: 999"});
  EXPECT_EQ(plain.outcome.delta->mean, extra.outcome.delta->mean);
  EXPECT_EQ(plain.outcome.delta->ci95, extra.outcome.delta->ci95);
  EXPECT_EQ(plain.budget.gap[3].band95, extra.budget.gap[3].band95);
  EXPECT_EQ(*plain.channels.at(Channel::ToolName).p, *extra.channels.at(Channel::ToolName).p);
  EXPECT_EQ(plain.baseline.agent_calls, extra.baseline.agent_calls);
  EXPECT_EQ(*plain.task_slope.slope, *extra.task_slope.slope);
}

TEST(CompareArms, SeesNoDifferenceInIdenticalArmsAndKeepsItsWidth) {
  const Arm b = random_arm({.seed = 11});
  const CellComparison cell = compared(b, b);
  EXPECT_EQ(cell.outcome.delta->mean, 0);
  EXPECT_GT(cell.outcome.delta->ci95.hi, cell.outcome.delta->ci95.lo);
  EXPECT_EQ(cell.outcome.delta->p, 1);
  EXPECT_EQ(cell.budget.unmasked.test->mean, 0);
  EXPECT_FALSE(cell.budget.masking_factor);
  EXPECT_EQ(*cell.flip_share, 0);
  const ChannelComparison& names = cell.channels.at(Channel::ToolName);
  EXPECT_DOUBLE_EQ(*names.amplification, 1);
  EXPECT_EQ(*names.difference, 0);
  EXPECT_EQ(*names.p, 1);
  EXPECT_GT(names.difference_ci95->hi, 0);
  EXPECT_EQ(*cell.names.spearman, 1);
  EXPECT_EQ(*cell.names.novel_share, 0);
  EXPECT_TRUE(*cell.recovery.equivalent);
  for (const GapPoint& point : cell.budget.gap) EXPECT_GT(point.band95.hi, point.band95.lo);
}

TEST(CompareArms, HasAbsentFieldsForOneTask) {
  const CellComparison cell = compared(arm({episode("a", 0, true, 5, refused(1))}),
                                       arm({episode("a", 0, false, 5, refused(3))}));
  EXPECT_FALSE(cell.outcome.delta);
  EXPECT_FALSE(cell.outcome.tost);
  EXPECT_FALSE(cell.budget.unmasked.test);
  EXPECT_TRUE(cell.budget.gap.empty());
  EXPECT_FALSE(cell.channels.at(Channel::Rejected).p);
  EXPECT_FALSE(cell.task_slope.slope);
  EXPECT_NEAR(*cell.channels.at(Channel::Rejected).difference, 0.4, 1e-12);
}

TEST(CompareArms, ComparesChannelsOfUngradedLogsAndNoOutcome) {
  Arm b = random_arm({.seed = 12});
  for (std::size_t e = 0; e < b.episodes.size(); ++e) b.episodes.edit(e).success = std::nullopt;
  const CellComparison cell = compared(b, random_arm({.tool_name = 0.3, .seed = 13}));
  EXPECT_FALSE(cell.graded);
  EXPECT_FALSE(cell.outcome.delta);
  EXPECT_FALSE(cell.budget.unmasked.test);
  EXPECT_TRUE(cell.unpaired_tasks.empty());
  EXPECT_TRUE(cell.channels.at(Channel::ToolName).p);
}

TEST(CompareArms, TellsArmsThatNeverRanFromUngradedOnes) {
  Arm b = random_arm({.tasks = 6, .seed = 12});
  const Arm c = random_arm({.tasks = 6, .seed = 13});
  EXPECT_TRUE(compared(b, c).ran);
  for (std::size_t e = 0; e < b.episodes.size(); ++e) b.episodes.edit(e).excluded = true;
  const CellComparison cell = compared(b, c);
  EXPECT_FALSE(cell.ran);
  EXPECT_FALSE(cell.graded);
  // A single episode that ran without a grade makes it an ungraded log.
  b.episodes.edit(0).excluded = false;
  b.episodes.edit(0).success = std::nullopt;
  EXPECT_TRUE(compared(b, c).ran);
  EXPECT_FALSE(compared(b, c).graded);
}

TEST(CompareArms, TakesArmsThatRanDifferentTasksForNoEvidence) {
  Arm b = random_arm({.tasks = 6, .seed = 12});
  Arm c = random_arm({.tasks = 6, .seed = 13});
  for (std::size_t t = 0; t < 6; ++t) {
    Arm& broken = t < 3 ? b : c;
    for (std::size_t e = broken.tasks[t].begin; e < broken.tasks[t].end; ++e)
      broken.episodes.edit(e).excluded = true;
  }
  EXPECT_FALSE(compared(b, c).ran);
}

TEST(CompareArms, LeavesTasksWithoutAGradedEpisodeOutOfTheOutcome) {
  Arm b = random_arm({.tasks = 12, .seed = 14});
  const Arm c = random_arm({.tasks = 12, .seed = 15});
  for (std::size_t e = b.tasks[3].begin; e < b.tasks[3].end; ++e)
    b.episodes.edit(e).excluded = true;
  const CellComparison cell = compared(b, c);
  EXPECT_EQ(cell.outcome.delta->df, 10);
  EXPECT_EQ(cell.paired_tasks, 11);
  ASSERT_EQ(cell.unpaired_tasks.size(), 1u);
  EXPECT_EQ(cell.unpaired_tasks[0], "no episode that ran in baseline: 3");
  EXPECT_EQ(cell.baseline.episodes_excluded, 4);
  EXPECT_EQ(cell.candidate.episodes_excluded, 0);
  EXPECT_EQ(cell.budget.gap.size(), 11u);
  // Ungraded is not excluded: the task's calls are compared all the same, its outcome is not.
  for (std::size_t e = b.tasks[3].begin; e < b.tasks[3].end; ++e) {
    b.episodes.edit(e).excluded = false;
    b.episodes.edit(e).success = std::nullopt;
  }
  const CellComparison ungraded = compared(b, c);
  EXPECT_EQ(ungraded.paired_tasks, 12);
  EXPECT_EQ(ungraded.evaluated_tasks, 11);
  EXPECT_EQ(ungraded.unpaired_tasks[0], "no graded episode in baseline: 3");
  EXPECT_EQ(ungraded.candidate.tasks, 11);
  EXPECT_NEAR(*ungraded.candidate.success.value - *ungraded.baseline.success.value,
              ungraded.outcome.delta->mean, 1e-12);
  // E needs no grade: its mean speaks of the tasks that the lengths beside it speak of.
  EXPECT_NEAR(*ungraded.baseline.budget.mean_errors,
              *summarize_arm(b, few_resamples()).budget.mean_errors, 1e-12);
}

// The easiest tasks never ran in one arm: what is left are the same episodes in both.
TEST(CompareArms, IsNotFooledByTasksThatNeverRanInOneArm) {
  const Arm b = random_arm({.tasks = 40, .seed = 31});
  Arm c = b;
  std::vector<std::size_t> kept;
  for (std::size_t t = 0; t < c.tasks.size(); ++t) {
    int failures = 0;
    for (std::size_t e = c.tasks[t].begin; e < c.tasks[t].end; ++e)
      failures += static_cast<int>(c.episodes[e].failures.size());
    if (failures > 3) {
      kept.push_back(t);
      continue;
    }
    for (std::size_t e = c.tasks[t].begin; e < c.tasks[t].end; ++e)
      c.episodes.edit(e).excluded = true;
  }
  ASSERT_GT(kept.size(), 10u);
  ASSERT_LT(kept.size(), 35u);
  const CellComparison cell = compared(b, c);
  const CellComparison cut = compared(select_tasks(b, kept), select_tasks(c, kept));
  const ChannelComparison& names = cell.channels.at(Channel::ToolName);
  EXPECT_EQ(cell.paired_tasks, static_cast<long>(kept.size()));
  EXPECT_DOUBLE_EQ(*names.amplification, 1.0);
  EXPECT_EQ(*names.p, *cut.channels.at(Channel::ToolName).p);
  EXPECT_EQ(*cell.baseline.success.value, *cut.baseline.success.value);
  EXPECT_EQ(cell.baseline.budget.curve[2].success, cut.baseline.budget.curve[2].success);
  EXPECT_EQ(cell.candidate.episodes_excluded,
            static_cast<long>(c.episodes.size() - 4 * kept.size()));
  // Scored as failed or passed, the excluded episodes say nothing of calls.
  const CellComparison failed_all = compared(b, with_excluded_as(c, ReadAs::Failed));
  EXPECT_EQ(failed_all.paired_tasks, 40);
  EXPECT_DOUBLE_EQ(*failed_all.channels.at(Channel::ToolName).amplification, 1.0);
}

TEST(CompareArms, RecountsTheArmWithTheLargerBudget) {
  // Task a passed with 5 failures under a budget of 20; under 4 it would have been stopped.
  const Arm b =
      arm({episode("a", 0, true, 9, refused(5)), episode("b", 0, true, 9, refused(3))}, 20);
  const Arm c = arm({episode("a", 0, true, 9), episode("b", 0, true, 9)}, 4);
  const CellComparison cell = compared(b, c);
  EXPECT_EQ(*cell.budget.k0, 4);
  EXPECT_NEAR(cell.outcome.delta->mean, 0.5, 1e-12);
  EXPECT_NEAR(*cell.baseline.success.value, 0.5, 1e-12);
  EXPECT_TRUE(warned(cell.warnings, "budget_differs"));
  EXPECT_EQ(cell.budget.gap.back().k, 4);
}

// The arm that states the smaller budget did not keep to it: both are counted from what they did.
TEST(CompareArms, RecountsTheArmThatOnlyStatesTheSmallerBudget) {
  const std::vector<EpisodeFacts> episodes = {episode("a", 0, true, 9, refused(5)),
                                              episode("b", 0, true, 9, refused(1))};
  const CellComparison cell = compared(arm(episodes, 2), arm(episodes, 10, "INT4"));
  EXPECT_DOUBLE_EQ(*cell.baseline.success.value, 0.5);
  EXPECT_DOUBLE_EQ(*cell.candidate.success.value, 0.5);
  EXPECT_EQ(cell.outcome.delta->mean, 0);
  EXPECT_EQ(cell.baseline.budget.beyond_k0, 0);
}

TEST(CompareArms, EndsTheGapBeforeABudgetThatWasNotInForce) {
  const std::vector<EpisodeFacts> episodes = {episode("a", 0, true, 9, refused(5)),
                                              episode("b", 0, true, 9, refused(1))};
  const CellComparison cell = compared(arm(episodes, 2), arm(episodes, 2, "INT4"));
  EXPECT_DOUBLE_EQ(*cell.baseline.success.value, 1.0);
  ASSERT_EQ(cell.budget.gap.size(), 2u);
  EXPECT_EQ(cell.budget.gap.back().k, 1);
  EXPECT_FALSE(cell.budget.gap_tight);
  EXPECT_FALSE(cell.budget.unmasked.test);
}

TEST(CompareArms, HasNoUnmaskedGapWithoutABudgetUnlessOneIsStated) {
  Arm b = random_arm({.seed = 16});
  Arm c = random_arm({.tool_name = 0.3, .seed = 17});
  b.info.max_errors = std::nullopt;
  c.info.max_errors = std::nullopt;
  const CellComparison cell = compared(b, c);
  EXPECT_FALSE(cell.budget.k0);
  EXPECT_FALSE(cell.budget.unmasked.test);
  EXPECT_FALSE(cell.sd_unmasked);
  EXPECT_EQ(cell.budget.gap.back().k, 10);
  EXPECT_TRUE(cell.budget.gap_tight);
  EXPECT_TRUE(warned(cell.warnings, "no_error_budget"));
  CompareOptions assumed = few_resamples();
  assumed.assumed_max_errors = 10;
  const CellComparison stated = compared(b, c, assumed);
  EXPECT_TRUE(stated.budget.unmasked.test);
  EXPECT_FALSE(warned(stated.warnings, "no_error_budget"));
}

TEST(CompareArms, HasNoUnmaskedGapWhereTheTightBudgetIsNotTighter) {
  const Arm b = random_arm({.seed = 18});
  CompareOptions options = few_resamples();
  options.k_tight = 10;
  const CellComparison cell = compared(b, random_arm({.seed = 19}), options);
  EXPECT_FALSE(cell.budget.unmasked.test);
  EXPECT_FALSE(cell.budget.k_tight_is_primary);
  EXPECT_TRUE(warned(cell.warnings, "k_tight_not_identified"));
  options.k_tight = 9;
  EXPECT_TRUE(compared(b, random_arm({.seed = 19}), options).budget.unmasked.test);
}

TEST(CompareArms, CountsTheUsersFailuresOnlyUnderAll) {
  FailedCall by_user = failed(Channel::Rejected, "toggle", 0);
  by_user.side = Side::User;
  const Arm b = arm({episode("a", 0, true, 5), episode("b", 0, true, 5)});
  const Arm c =
      arm({episode("a", 0, true, 5, {by_user, by_user, by_user}), episode("b", 0, true, 5)});
  const CellComparison cell = compared(b, c);
  EXPECT_NEAR(cell.budget.all_sides.test->mean, 0.5, 1e-12);
  EXPECT_EQ(cell.budget.agent_only.test->mean, 0);
  EXPECT_NEAR(cell.budget.unmasked.test->mean, 0.5, 1e-12);
  CompareOptions agent = few_resamples();
  agent.count = BudgetCount::Agent;
  EXPECT_EQ(compared(b, c, agent).budget.unmasked.test->mean, 0);
}

TEST(CompareArms, AgreesBetweenAtMostAndLiveOneHigher) {
  const Arm b = random_arm({.seed = 20});
  const Arm c = random_arm({.tool_name = 0.3, .seed = 21});
  CompareOptions live = few_resamples();
  live.rule = BudgetRule::Live;
  live.k_tight = 3;
  const CellComparison x = compared(b, c);
  const CellComparison y = compared(b, c, live);
  EXPECT_EQ(x.budget.unmasked.test->mean, y.budget.unmasked.test->mean);
  EXPECT_TRUE(y.budget.k_tight_is_primary);
}

TEST(CompareArms, ReachesNoDifferenceThatTwoProportionsCannotHave) {
  // Two and three tasks that say opposite things: Student's intervals reach far beyond the scale.
  const auto within = [](const Interval& interval) {
    return interval.lo >= -1 && interval.hi <= 1 && interval.lo < interval.hi;
  };
  const Arm b = arm({episode("1", 0, true, 4), episode("2", 0, false, 4, refused(3))});
  const Arm c = arm({episode("1", 0, false, 4, refused(3)), episode("2", 0, true, 4, refused(3))});
  for (const auto& [first, second] : {std::pair(&b, &c), std::pair(&c, &b)}) {
    const CellComparison cell = compared(*first, *second);
    ASSERT_TRUE(cell.outcome.delta && cell.outcome.tost);
    EXPECT_EQ(cell.outcome.delta->ci95, (Interval{-1, 1}));
    EXPECT_EQ(cell.outcome.tost->ci90, (Interval{-1, 1}));
    EXPECT_LE(cell.outcome.delta->upper95, 1);
    EXPECT_GE(cell.outcome.delta->lower95, -1);
    EXPECT_TRUE(within(cell.budget.unmasked.test->ci95));
    EXPECT_TRUE(within(*cell.budget.gap_tight_ci95));
    for (const GapPoint& point : cell.budget.gap) {
      EXPECT_TRUE(within(point.band95)) << point.k << " " << point.band95.lo;
      EXPECT_TRUE(within(point.ci95)) << point.k;
    }
    const ChannelComparison& rejected = cell.channels.at(Channel::Rejected);
    EXPECT_TRUE(within(*rejected.difference_ci95)) << rejected.difference_ci95->hi;
    EXPECT_LE(*rejected.difference_upper95, 1);
    if (cell.recovery.difference_ci95) {
      EXPECT_TRUE(within(*cell.recovery.difference_ci95));
    }
  }
}

TEST(CompareArms, RefusesOptionsOutOfRange) {
  const Arm b = random_arm({.tasks = 3});
  CompareOptions options = few_resamples();
  options.k_tight = -1;
  EXPECT_EQ(compare_arms(b, b, options).error().kind, ErrorKind::InvalidArgument);
  options = few_resamples();
  options.resamples = 0;
  EXPECT_FALSE(compare_arms(b, b, options));
  options = few_resamples();
  options.equivalence_margin = 0;
  EXPECT_FALSE(compare_arms(b, b, options));
}

TEST(CompareArms, IsTheSameAtAnyNumberOfThreads) {
  const Arm b = random_arm({.seed = 22});
  const Arm c = random_arm({.tool_name = 0.2, .seed = 23});
  CompareOptions four = few_resamples();
  four.threads = 4;
  const CellComparison x = compared(b, c);
  const CellComparison y = compared(b, c, four);
  EXPECT_EQ(x.budget.gap[1].band95, y.budget.gap[1].band95);
  EXPECT_EQ(*x.channels.at(Channel::ToolName).amplification_ci95,
            *y.channels.at(Channel::ToolName).amplification_ci95);
  EXPECT_EQ(*x.channels.at(Channel::ToolName).p, *y.channels.at(Channel::ToolName).p);
}

// Two samples of the same habits on the same tasks: no task's rate increases, so the true slope is
// 0.
TEST(TaskSlope, IsNotFooledByRegressionToTheMean) {
  const Habits habits{.tasks = 400, .calls = 12, .tool_name = 0.2, .seed = 26};
  Habits again = habits;
  again.seed = 27;
  const Arm b = random_arm(habits);
  const Arm c = random_arm(again);
  const TaskSlope slope = task_slope(*pair_tasks(b, c), false);
  ASSERT_TRUE(slope.slope && slope.ci95);
  EXPECT_LT(slope.ci95->lo, 0);
  EXPECT_GT(slope.ci95->hi, 0);
  // The naive slope, rate and increase from the same trials, is far below.
  const TaskCounts x = task_channel_counts(b, Channel::ToolName);
  const TaskCounts y = task_channel_counts(c, Channel::ToolName);
  std::vector<double> rate;
  std::vector<double> increase;
  for (std::size_t t = 0; t < 400; ++t) {
    rate.push_back(x.failures[t] / x.calls[t]);
    increase.push_back(y.failures[t] / y.calls[t] - rate.back());
  }
  EXPECT_LT(ols_slope(rate, increase)->slope, -0.25);
}

TEST(TaskSlope, EqualsTwoLinesByHand) {
  // Two trials, three tasks, rates of 10 calls: baseline (even, odd), candidate (even, odd).
  const int counts[3][4] = {{1, 2, 3, 5}, {2, 1, 4, 4}, {4, 3, 7, 9}};
  std::vector<EpisodeFacts> b;
  std::vector<EpisodeFacts> c;
  const auto names = [](int n) {
    std::vector<FailedCall> calls;
    for (int i = 0; i < n; ++i) calls.push_back(failed(Channel::ToolName, "x", i));
    return calls;
  };
  for (int t = 0; t < 3; ++t) {
    for (int j = 0; j < 2; ++j) {
      b.push_back(episode(std::to_string(t), j, true, 10, names(counts[t][j])));
      c.push_back(episode(std::to_string(t), j, true, 10, names(counts[t][2 + j])));
    }
  }
  // even rate -> odd increase: (1,3) (2,3) (4,6): slope 15/14; odd rate -> even increase:
  // (2,2) (1,2) (3,3): slope 1/2.
  const TaskSlope slope = task_slope(*pair_tasks(arm(b), arm(c)), false);
  EXPECT_NEAR(slope.slope.value_or(-9), 11.0 / 14, 1e-9);
  EXPECT_FALSE(task_slope(*pair_tasks(arm(b), arm(c)), true).slope);
}

TEST(NoiseFloor, ComparesTwoRunsOfOneArm) {
  const Arm first = arm({episode("a", 0, true, 3), episode("b", 0, true, 3),
                         episode("c", 0, false, 3), episode("d", 0, true, 3)});
  const Arm rerun = arm({episode("a", 0, false, 3), episode("b", 0, true, 3),
                         episode("c", 0, false, 3), episode("e", 0, true, 3)});
  const NoiseFloor noise = noise_floor("baseline", first, rerun);
  EXPECT_EQ(noise.arm, "baseline");
  EXPECT_EQ(noise.tasks, 3);
  EXPECT_NEAR(*noise.delta, -1.0 / 3, 1e-12);
  EXPECT_NEAR(*noise.flip_share, 1.0 / 3, 1e-12);
  const NoiseFloor none = noise_floor("candidate", first, arm({episode("z", 0, true, 3)}));
  EXPECT_EQ(none.tasks, 0);
  EXPECT_FALSE(none.delta);
}

}  // namespace
}  // namespace unmask
