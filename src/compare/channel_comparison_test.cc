#include "compare/channel_comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compare/arms_for_tests.h"
#include "compare/estimates.h"

namespace unmask {
namespace {

using for_tests::arm;
using for_tests::compared;
using for_tests::episode;
using for_tests::failed;
using for_tests::few_resamples;
using for_tests::random_arm;
using for_tests::warned;

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
  // A mean over episodes is one over tasks, which no number of episodes tilts.
  EXPECT_NEAR(*names.volume, 1.0, 1e-12);
  EXPECT_NEAR(*cells[0].baseline.channels.at(Channel::ToolName).per_episode,
              *cells[0].baseline.budget.mean_errors, 1e-12);
  EXPECT_NEAR(*cells[0].candidate.channels.at(Channel::ToolName).per_episode,
              *cells[0].candidate.budget.mean_errors, 1e-12);
  EXPECT_EQ(*names.difference_upper95,
            std::max(*names.pooled_difference_upper95, *names.weighed_difference_upper95));
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

// 10 failures of the baseline, of which weighing leaves 2.5: too few for a ratio, so none is
// limited.
TEST(CompareArms, HasNoLimitThatOnlyPooledRatesWouldGive) {
  std::vector<EpisodeFacts> b;
  std::vector<EpisodeFacts> c;
  for (int t = 0; t < 20; ++t) {
    const std::string task = std::to_string(t);
    for (int trial = 0; trial < 4; ++trial) {
      std::vector<FailedCall> calls;
      if (t < 10 && trial == 0) calls.push_back(failed(Channel::ToolName, "x"));
      b.push_back(episode(task, trial, true, 20, calls));
      if (trial == 0) c.push_back(episode(task, trial, true, 20, calls));
    }
  }
  const CellComparison cell = compared(arm(b), arm(c));
  const ChannelComparison& names = cell.channels.at(Channel::ToolName);
  EXPECT_TRUE(names.amplification);
  EXPECT_FALSE(names.amplification_upper95);
  EXPECT_TRUE(names.difference_upper95);
}

TEST(ChannelComparison, ReproducesThePapersThreeRatios) {
  // 649 of 3328 and 1646 of 4298 calls, spread evenly over 11 tasks' worth of counts.
  std::vector<double> fb(11, 59), cb(11, 302), fc(11, 149), cc(11, 390), episodes(11, 4);
  cb[0] += 3328 - 11 * 302;
  fc[0] += 1646 - 11 * 149;
  cc[0] += 4298 - 11 * 390;
  const TaskResamples resamples(11, 500, 1);
  const ChannelComparison c = compare_channel({fb, cb, episodes}, {fc, cc, episodes}, {}, resamples,
                                              few_resamples(), Tested::Yes);
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
  const ChannelComparison c = compare_channel({fb, cb, episodes}, {fc, cc, episodes}, {}, resamples,
                                              few_resamples(), Tested::Yes);
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
  ChannelComparison c = compare_channel({fb, cb, episodes}, {fc, cc, episodes}, {}, resamples,
                                        few_resamples(), Tested::Yes);
  EXPECT_FALSE(c.no_propensity);
  EXPECT_FALSE(c.amplification);
  EXPECT_TRUE(c.difference_ci95);
  EXPECT_FALSE(c.sparse_in_candidate);  // the baseline's are
  c = compare_channel({fc, cb, episodes}, {fb, cc, episodes}, {}, resamples, few_resamples(),
                      Tested::Yes);
  EXPECT_FALSE(c.amplification);
  EXPECT_TRUE(c.sparse_in_candidate);
  fb[7] = 2;
  c = compare_channel({fb, cb, episodes}, {fc, cc, episodes}, {}, resamples, few_resamples(),
                      Tested::Yes);
  EXPECT_TRUE(c.amplification);
  EXPECT_FALSE(c.sparse_in_candidate);
}

TEST(ChannelComparison, TestsNothingWhereNeitherArmFailed) {
  const std::vector<double> none(20, 0), calls(20, 50), episodes(20, 4);
  const TaskResamples resamples(20, 500, 1);
  const ChannelComparison c = compare_channel({none, calls, episodes}, {none, calls, episodes},
                                              {80, 80}, resamples, few_resamples(), Tested::Yes);
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

TEST(Multiplicity, WarnsWhereThePermutationsAreTooFewForTheFamily) {
  const CellComparison cell =
      compared(random_arm({.seed = 30}), random_arm({.tool_name = 0.3, .seed = 31}));
  const auto warning = [&](std::size_t cells, int resamples) {
    const std::vector<const CellComparison*> all(cells, &cell);  // one channel failed: a test each
    return resamples_warning(all, resamples);
  };
  EXPECT_FALSE(warning(0, 1));
  EXPECT_FALSE(warning(5, 100));  // 5 / 101 < 0.05
  ASSERT_TRUE(warning(5, 99));    // 5 / 100 is not
  EXPECT_EQ(warning(5, 99)->code, "resamples_too_few");
  EXPECT_NE(warning(5, 99)->message.find("--bootstrap 100 or more"), std::string::npos);
  EXPECT_TRUE(warning(500, 9999));
  EXPECT_FALSE(warning(500, 10000));
  EXPECT_TRUE(warning(501, 10000));
  // What it advises is enough, and the least that is.
  for (const std::size_t cells : {1, 7, 30, 333}) {
    EXPECT_FALSE(warning(cells, static_cast<int>(20 * cells)));
    EXPECT_TRUE(warning(cells, static_cast<int>(20 * cells) - 1));
  }
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
