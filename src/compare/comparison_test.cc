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
using for_tests::episode;
using for_tests::failed;
using for_tests::Habits;
using for_tests::random_arm;

CompareOptions quick() {
  CompareOptions options;
  options.resamples = 500;
  options.threads = 1;
  return options;
}

CellComparison compared(const Arm& baseline, const Arm& candidate,
                        const CompareOptions& options = quick()) {
  const Result<CellComparison> cell = compare_arms(baseline, candidate, options);
  EXPECT_TRUE(cell.has_value()) << (cell ? "" : cell.error().message);
  return *cell;
}

bool warned(const std::vector<Warning>& warnings, const std::string& code) {
  return std::any_of(warnings.begin(), warnings.end(),
                     [&](const Warning& w) { return w.code == code; });
}

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
  EXPECT_NEAR(*names.volume, (fc / 150) / (fb / 90), 1e-12);
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

TEST(CompareArms, LeavesTasksWithoutAnEvaluatedEpisodeOutOfTheOutcome) {
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
  EXPECT_EQ(ungraded.unpaired_tasks[0], "no evaluated episode in baseline: 3");
  EXPECT_EQ(ungraded.candidate.tasks, 11);
  EXPECT_NEAR(*ungraded.candidate.success.value - *ungraded.baseline.success.value,
              ungraded.outcome.delta->mean, 1e-12);
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
  const CellComparison failed_all = compared(b, with_excluded_as(c, ExcludedAs::Failed));
  EXPECT_EQ(failed_all.paired_tasks, 40);
  EXPECT_DOUBLE_EQ(*failed_all.channels.at(Channel::ToolName).amplification, 1.0);
}

// Every trial of a task alike, and the tasks with few failures have one trial instead of four: the
// pooled rates differ, and not because of the arm.
TEST(CompareArms, HoldsPooledRatesAgainstWeighedOnes) {
  std::vector<EpisodeFacts> all;
  std::vector<EpisodeFacts> thinned;
  for (int t = 0; t < 60; ++t) {
    std::vector<FailedCall> calls;
    for (int i = 0; i < t % 5; ++i) calls.push_back(failed(Channel::ToolName, "x", i));
    for (int trial = 0; trial < 4; ++trial) {
      all.push_back(episode(std::to_string(t), trial, true, 10 + t % 3, calls));
      if (t % 5 > 1 || trial == 0) thinned.push_back(all.back());
    }
  }
  std::vector<CellComparison> cells = {compared(arm(all), arm(thinned))};
  apply_multiplicity(cells);
  const ChannelComparison& names = cells[0].channels.at(Channel::ToolName);
  const TaskCounts b = task_channel_counts(arm(all), Channel::ToolName);
  const TaskCounts c = task_channel_counts(arm(thinned), Channel::ToolName);
  EXPECT_NEAR(*names.amplification,
              sum(c.failures) / sum(c.calls) / (sum(b.failures) / sum(b.calls)), 1e-12);
  EXPECT_GT(*names.amplification, 1.25);
  EXPECT_GT(*names.difference, 0.01);
  EXPECT_NEAR(*names.weighed_amplification, 1.0, 1e-12);
  EXPECT_NEAR(*names.weighed_difference, 0.0, 1e-12);
  EXPECT_GT(*names.p, 0.9);
  EXPECT_FALSE(names.amplified);
  EXPECT_GT(*names.difference_upper95, *names.difference);  // nor shown to be free of it
  EXPECT_TRUE(warned(cells[0].warnings, "unequal_episodes"));
  const CellComparison same = compared(arm(thinned), arm(thinned));
  EXPECT_FALSE(warned(same.warnings, "unequal_episodes"));
  EXPECT_FALSE(same.channels.at(Channel::ToolName).weighed_difference);
}

// The other way round: the candidate has fewer episodes of the tasks where it fails more.
TEST(CompareArms, IsNotCleanWhereOnlyWeighedRatesShowTheIncrease) {
  std::vector<EpisodeFacts> b;
  std::vector<EpisodeFacts> c;
  for (int t = 0; t < 60; ++t) {
    const std::vector<FailedCall> one(1, failed(Channel::ToolName, "x"));
    const std::vector<FailedCall> three(3, failed(Channel::ToolName, "x"));
    for (int trial = 0; trial < 4; ++trial) {
      const std::string task = std::to_string(t);
      b.push_back(episode(task, trial, true, 20, t % 2 ? one : std::vector<FailedCall>{}));
      if (t % 2 == 0 || trial == 0)
        c.push_back(episode(task, trial, true, 20, t % 2 ? three : std::vector<FailedCall>{}));
    }
  }
  std::vector<CellComparison> cells = {compared(arm(b), arm(c))};
  apply_multiplicity(cells);
  const ChannelComparison& names = cells[0].channels.at(Channel::ToolName);
  EXPECT_LT(*names.amplification, 1.25);
  EXPECT_NEAR(*names.weighed_amplification, 3.0, 1e-12);
  EXPECT_FALSE(names.amplified);
  EXPECT_GT(*names.amplification_upper95, 1.5);
  EXPECT_GT(*names.difference_upper95, 0.02);
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
  CompareOptions assumed = quick();
  assumed.assumed_max_errors = 10;
  const CellComparison stated = compared(b, c, assumed);
  EXPECT_TRUE(stated.budget.unmasked.test);
  EXPECT_FALSE(warned(stated.warnings, "no_error_budget"));
}

TEST(CompareArms, HasNoUnmaskedGapWhereTheTightBudgetIsNotTighter) {
  const Arm b = random_arm({.seed = 18});
  CompareOptions options = quick();
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
  CompareOptions agent = quick();
  agent.count = BudgetCount::Agent;
  EXPECT_EQ(compared(b, c, agent).budget.unmasked.test->mean, 0);
}

TEST(CompareArms, AgreesBetweenAtMostAndLiveOneHigher) {
  const Arm b = random_arm({.seed = 20});
  const Arm c = random_arm({.tool_name = 0.3, .seed = 21});
  CompareOptions live = quick();
  live.rule = BudgetRule::Live;
  live.k_tight = 3;
  const CellComparison x = compared(b, c);
  const CellComparison y = compared(b, c, live);
  EXPECT_EQ(x.budget.unmasked.test->mean, y.budget.unmasked.test->mean);
  EXPECT_TRUE(y.budget.k_tight_is_primary);
}

TEST(CompareArms, RefusesOptionsOutOfRange) {
  const Arm b = random_arm({.tasks = 3});
  CompareOptions options = quick();
  options.k_tight = -1;
  EXPECT_EQ(compare_arms(b, b, options).error().kind, ErrorKind::InvalidArgument);
  options = quick();
  options.resamples = 0;
  EXPECT_FALSE(compare_arms(b, b, options));
  options = quick();
  options.equivalence_margin = 0;
  EXPECT_FALSE(compare_arms(b, b, options));
}

TEST(CompareArms, IsTheSameAtAnyNumberOfThreads) {
  const Arm b = random_arm({.seed = 22});
  const Arm c = random_arm({.tool_name = 0.2, .seed = 23});
  CompareOptions four = quick();
  four.threads = 4;
  const CellComparison x = compared(b, c);
  const CellComparison y = compared(b, c, four);
  EXPECT_EQ(x.budget.gap[1].band95, y.budget.gap[1].band95);
  EXPECT_EQ(*x.channels.at(Channel::ToolName).amplification_ci95,
            *y.channels.at(Channel::ToolName).amplification_ci95);
  EXPECT_EQ(*x.channels.at(Channel::ToolName).p, *y.channels.at(Channel::ToolName).p);
}

TEST(ChannelComparison, ReproducesThePapersThreeRatios) {
  // 649 of 3328 and 1646 of 4298 calls, spread evenly over 11 tasks' worth of counts.
  std::vector<double> fb(11, 59), cb(11, 302), fc(11, 149), cc(11, 390), episodes(11, 4);
  cb[0] += 3328 - 11 * 302;
  fc[0] += 1646 - 11 * 149;
  cc[0] += 4298 - 11 * 390;
  const TaskResamples resamples(11, 500, 1);
  const ChannelComparison c =
      compare_channel({fb, cb, episodes}, {fc, cc, episodes}, {}, resamples, quick(), Tested::Yes);
  EXPECT_EQ(c.baseline_count, 649);
  EXPECT_EQ(c.candidate_count, 1646);
  EXPECT_NEAR(*c.amplification, 1.96, 0.005);
  EXPECT_NEAR(*c.volume, 2.54, 0.005);
  EXPECT_NEAR(*c.per_other_call, 2.56, 0.005);
  EXPECT_LT(*c.p, 0.01);
  EXPECT_TRUE(c.amplification_ci95);
}

TEST(ChannelComparison, GivesNoRatioUnderFiveBaselineFailures) {
  std::vector<double> fb(20, 0), cb(20, 50), fc(20, 3), cc(20, 50), episodes(20, 4);
  for (int t = 0; t < 4; ++t) fb[static_cast<std::size_t>(t)] = 1;
  const TaskResamples resamples(20, 500, 1);
  const ChannelComparison c =
      compare_channel({fb, cb, episodes}, {fc, cc, episodes}, {}, resamples, quick(), Tested::Yes);
  EXPECT_TRUE(c.no_propensity);
  EXPECT_FALSE(c.amplification);
  EXPECT_FALSE(c.volume);
  EXPECT_FALSE(c.per_other_call);
  EXPECT_NEAR(*c.difference, 60.0 / 1000 - 4.0 / 1000, 1e-12);
  EXPECT_LT(*c.p, 0.05);
}

TEST(ChannelComparison, GivesNoRatioWhereFewerThanEightTasksFail) {
  std::vector<double> fb(20, 0), cb(20, 50), fc(20, 6), cc(20, 50), episodes(20, 4);
  for (int t = 0; t < 7; ++t) fb[static_cast<std::size_t>(t)] = 2;
  const TaskResamples resamples(20, 500, 1);
  ChannelComparison c =
      compare_channel({fb, cb, episodes}, {fc, cc, episodes}, {}, resamples, quick(), Tested::Yes);
  EXPECT_FALSE(c.no_propensity);
  EXPECT_FALSE(c.amplification);
  EXPECT_TRUE(c.difference_ci95);
  fb[7] = 2;
  c = compare_channel({fb, cb, episodes}, {fc, cc, episodes}, {}, resamples, quick(), Tested::Yes);
  EXPECT_TRUE(c.amplification);
}

TEST(ChannelComparison, TestsNothingWhereNeitherArmFailed) {
  const std::vector<double> none(20, 0), calls(20, 50), episodes(20, 4);
  const TaskResamples resamples(20, 500, 1);
  const ChannelComparison c = compare_channel({none, calls, episodes}, {none, calls, episodes},
                                              {80, 80}, resamples, quick(), Tested::Yes);
  EXPECT_FALSE(c.p);
  EXPECT_EQ(*c.difference, 0);
  EXPECT_GT(*c.difference_upper95, 0);
  EXPECT_LT(*c.difference_upper95, 0.04);  // 3 / 80 at 95 % two-sided
}

TEST(ChannelComparison, SaysWhenAChannelIsLeakedMarkupOnly) {
  const auto leaky = [](int n) {
    std::vector<EpisodeFacts> episodes;
    for (int t = 0; t < 12; ++t) {
      std::vector<FailedCall> calls;
      for (int i = 0; i < n; ++i)
        calls.push_back(failed(Channel::Malformed, "", i, SubKind::LeakedMarkup));
      episodes.push_back(episode(std::to_string(t), 0, true, 8, calls));
    }
    return episodes;
  };
  EXPECT_FALSE(
      compared(arm(leaky(1)), arm(leaky(3))).channels.at(Channel::Malformed).counts_in_budget);
  std::vector<EpisodeFacts> mixed = leaky(3);
  mixed.push_back(episode("0", 1, true, 8, {failed(Channel::Malformed, "x", 0, SubKind::BadJson)}));
  EXPECT_TRUE(compared(arm(leaky(1)), arm(mixed)).channels.at(Channel::Malformed).counts_in_budget);
}

ChannelComparison moved(double difference, double lo, double hi) {
  ChannelComparison channel;
  channel.p = 0.01;
  channel.difference = difference;
  channel.difference_ci95 = Interval{lo, hi};
  return channel;
}

TEST(Substitution, IsWarnedOfWhereOneChannelTakesUpWhatAnotherLost) {
  const ChannelComparison fallen = moved(-0.05, -0.06, -0.04);
  const ChannelComparison risen = moved(0.03, 0.01, 0.05);
  const std::optional<Warning> warning =
      substitution_warning({{Channel::ToolName, fallen}, {Channel::Rejected, risen}});
  ASSERT_TRUE(warning);
  EXPECT_EQ(warning->code, "substitution");
  EXPECT_NE(warning->message.find("tool_name -5.0 points"), std::string::npos) << warning->message;
  EXPECT_NE(warning->message.find("rejected +3.0 points"), std::string::npos);
}

TEST(Substitution, NeedsAFallAndASureRiseOfAPointEach) {
  const ChannelComparison fallen = moved(-0.05, -0.06, -0.04);
  ChannelComparison untested = fallen;
  untested.p.reset();
  const ChannelComparison risen = moved(0.03, 0.01, 0.05);
  const auto warned = [](const ChannelComparison& a, const ChannelComparison& b) {
    return substitution_warning({{Channel::ToolName, a}, {Channel::Rejected, b}}).has_value();
  };
  EXPECT_TRUE(warned(fallen, risen));
  EXPECT_FALSE(warned(moved(-0.009, -0.02, 0.0), risen));
  EXPECT_FALSE(warned(fallen, moved(0.009, 0.001, 0.02)));
  EXPECT_FALSE(warned(fallen, moved(0.03, -0.001, 0.05)));
  EXPECT_FALSE(warned(untested, risen));
  EXPECT_FALSE(warned(risen, risen));
}

TEST(ChannelComparison, RepairedCallsSpendNoBudget) {
  EpisodeFacts facts;
  facts.task_id = "t";
  facts.success = true;
  FailedCall repaired;
  repaired.channel = Channel::ToolName;
  repaired.repair = Repair::Repaired;
  facts.failures = {repaired};
  facts.agent_channel[static_cast<std::size_t>(Channel::ToolName)] = 1;
  facts.agent_calls = 2;
  facts.repair = {1, 1, 0, 0};
  const Arm baseline = make_arm("b", {}, {}, {facts});
  const CellComparison free = *compare_arms(baseline, baseline, {});
  EXPECT_FALSE(free.channels.at(Channel::ToolName).counts_in_budget);
  EXPECT_EQ(free.candidate.repair, (RepairCounts{1, 1, 0, 0}));
  facts.failures[0].in_budget = true;
  const Arm spending = make_arm("c", {}, {}, {facts});
  EXPECT_TRUE(
      compare_arms(baseline, spending, {})->channels.at(Channel::ToolName).counts_in_budget);
}

TEST(Positions, SplitTheCallsByIndexAndAddUpToTheWhole) {
  const Arm b = random_arm({.calls = 25, .seed = 24});
  const Arm c = random_arm({.calls = 25, .tool_name = 0.2, .seed = 25});
  const CellComparison cell = compared(b, c);
  ASSERT_EQ(cell.positions.size(), 4u);
  long baseline = 0;
  long candidate = 0;
  for (const PositionComparison& position : cell.positions) {
    baseline += position.channels.at(Channel::ToolName).baseline_count;
    candidate += position.channels.at(Channel::ToolName).candidate_count;
    EXPECT_FALSE(position.channels.at(Channel::ToolName).p);
  }
  EXPECT_EQ(baseline, cell.channels.at(Channel::ToolName).baseline_count);
  EXPECT_EQ(candidate, cell.channels.at(Channel::ToolName).candidate_count);
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

TEST(Multiplicity, AdjustsEachFamilyOverTheCells) {
  std::vector<CellComparison> cells = {
      compared(random_arm({.seed = 30}), random_arm({.tool_name = 0.3, .seed = 31})),
      compared(random_arm({.seed = 32}), random_arm({.success = 0.6, .seed = 33}))};
  const double p0 = cells[0].outcome.delta->p;
  const double p1 = cells[1].outcome.delta->p;
  apply_multiplicity(cells);
  const double smaller = std::min(p0, p1);
  const double larger = std::max(p0, p1);
  EXPECT_NEAR(*(p0 < p1 ? cells[0] : cells[1]).outcome.p_holm, std::min(1.0, 2 * smaller), 1e-12);
  EXPECT_NEAR(*(p0 < p1 ? cells[1] : cells[0]).outcome.p_holm,
              std::min(1.0, std::max(2 * smaller, larger)), 1e-12);
  // Only tool_name failed at all, in both cells: a family of two.
  const double q = *cells[0].channels.at(Channel::ToolName).p;
  EXPECT_NEAR(*cells[0].channels.at(Channel::ToolName).p_holm, 2 * q, 1e-12);
  EXPECT_FALSE(cells[0].channels.at(Channel::Schema).p_holm);
  EXPECT_TRUE(cells[0].channels.at(Channel::ToolName).amplified);
  EXPECT_FALSE(cells[0].channels.at(Channel::ToolName).is_new);
  EXPECT_FALSE(cells[1].channels.at(Channel::ToolName).amplified);
}

CellComparison cell_with(ChannelComparison channel) {
  CellComparison cell;
  cell.channels[Channel::Entity] = channel;
  return cell;
}

ChannelComparison channel(double baseline, double candidate, long count, double p) {
  ChannelComparison c;
  c.baseline = baseline;
  c.candidate = candidate;
  c.baseline_count = count;
  c.difference = candidate - baseline;
  c.no_propensity = count < 5;
  c.p = p;
  return c;
}

bool amplified(const ChannelComparison& c) {
  std::vector<CellComparison> cells = {cell_with(c)};
  apply_multiplicity(cells);
  return cells[0].channels.at(Channel::Entity).amplified;
}

TEST(Amplified, NeedsSignificanceADifferenceAndARatio) {
  EXPECT_TRUE(amplified(channel(0.10, 0.13, 50, 0.001)));
  EXPECT_FALSE(amplified(channel(0.10, 0.13, 50, 0.06)));     // not significant
  EXPECT_FALSE(amplified(channel(0.004, 0.013, 50, 0.001)));  // 0.9 points
  EXPECT_FALSE(amplified(channel(0.30, 0.33, 50, 0.001)));    // A = 1.1
  EXPECT_FALSE(amplified(channel(0.13, 0.10, 50, 0.001)));    // fewer
}

TEST(Amplified, IsNewWithHardlyAnyBaselineFailures) {
  std::vector<CellComparison> cells = {cell_with(channel(0.0, 0.02, 0, 0.001))};
  apply_multiplicity(cells);
  EXPECT_TRUE(cells[0].channels.at(Channel::Entity).amplified);
  EXPECT_TRUE(cells[0].channels.at(Channel::Entity).is_new);
}

TEST(Amplified, NeedsNoReportedRatio) {
  ChannelComparison few_tasks = channel(0.01, 0.2, 12, 0.001);
  few_tasks.amplification = std::nullopt;
  EXPECT_TRUE(amplified(few_tasks));
}

}  // namespace
}  // namespace unmask
