#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compare/arms_for_tests.h"
#include "compare/channel_comparison.h"
#include "stats/slope.h"

namespace unmask {
namespace {

using for_tests::arm;
using for_tests::episode;

constexpr std::size_t kName = static_cast<std::size_t>(Channel::ToolName);

// An episode of 100 calls a quarter with these failures.
EpisodeFacts quartered(int task, const std::array<int, kQuarters>& failures) {
  EpisodeFacts facts = episode(std::to_string(task), 0, true, 400);
  for (std::size_t q = 0; q < kQuarters; ++q) {
    facts.quarter_calls[q] = 100;
    facts.quarter_failures[q][kName] = failures[q];
  }
  return facts;
}

// Ten tasks around the given failures, the first half a little below, the second a little above.
Arm ten_tasks(std::array<int, kQuarters> failures, int wobble = 1) {
  std::vector<EpisodeFacts> episodes;
  for (int t = 0; t < 10; ++t) {
    std::array<int, kQuarters> here = failures;
    for (std::size_t q = 0; q < kQuarters; ++q)
      here[q] += (t < 5 ? -wobble : wobble) * (static_cast<int>(q) % 2 == 0 ? 1 : -1);
    episodes.push_back(quartered(t, here));
  }
  return arm(std::move(episodes));
}

std::map<Channel, PositionTrend> trends(const Arm& baseline, const Arm& candidate) {
  return position_trends(*pair_tasks(baseline, candidate));
}

TEST(PositionTrend, IsTheExampleOfItsFile) {
  const PositionTrend trend =
      trends(ten_tasks({5, 5, 5, 5}), ten_tasks({5, 10, 20, 40})).at(Channel::ToolName);
  EXPECT_NEAR(trend.log_ratio_per_quarter, std::log(2.0), 0.02);
  EXPECT_NEAR(trend.last_over_first, 8, 0.4);
  EXPECT_LT(trend.p, 0.001);
  EXPECT_EQ(trend.df, 9);
  EXPECT_GT(trend.last_over_first_ci95.lo, 1);
}

TEST(PositionTrend, IsFlatWhereTheAmplificationIsTheSameWhateverTheBaselineDoes) {
  const PositionTrend trend =
      trends(ten_tasks({4, 8, 16, 30}), ten_tasks({12, 24, 48, 90})).at(Channel::ToolName);
  EXPECT_NEAR(trend.log_ratio_per_quarter, 0, 0.01);
  EXPECT_GT(trend.p, 0.2);
}

TEST(PositionTrend, EqualsLeastSquaresAndItsOwnNaiveJackknife) {
  const Arm b = ten_tasks({6, 9, 7, 12}, 2);
  const Arm c = ten_tasks({9, 20, 25, 41}, 3);
  const auto naive = [&](int left_out) {
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t q = 0; q < kQuarters; ++q) {
      double f = 0.5, n = 0.5, g = 0.5, m = 0.5;
      for (int t = 0; t < 10; ++t) {
        if (t == left_out) continue;
        f += b.episodes[t].quarter_failures[q][kName];
        n += b.episodes[t].quarter_calls[q];
        g += c.episodes[t].quarter_failures[q][kName];
        m += c.episodes[t].quarter_calls[q];
      }
      x.push_back(static_cast<double>(q));
      y.push_back(std::log(g / m / (f / n)));
    }
    return ols_slope(x, y)->slope;
  };
  const PositionTrend trend = trends(b, c).at(Channel::ToolName);
  EXPECT_NEAR(trend.log_ratio_per_quarter, naive(-1), 1e-12);
  double mean = 0;
  double squares = 0;
  for (int t = 0; t < 10; ++t) mean += naive(t) / 10;
  for (int t = 0; t < 10; ++t) squares += std::pow(naive(t) - mean, 2);
  EXPECT_NEAR(trend.se, std::sqrt(squares * 9 / 10), 1e-12);
}

TEST(PositionTrend, TurnsItsSignWithTheArms) {
  const Arm b = ten_tasks({6, 9, 7, 12});
  const Arm c = ten_tasks({9, 20, 25, 41});
  const PositionTrend forth = trends(b, c).at(Channel::ToolName);
  const PositionTrend back = trends(c, b).at(Channel::ToolName);
  EXPECT_NEAR(forth.log_ratio_per_quarter, -back.log_ratio_per_quarter, 1e-12);
  EXPECT_NEAR(forth.p, back.p, 1e-12);
}

TEST(PositionTrend, IsAbsentWithFewFailuresOrFailingTasks) {
  EXPECT_TRUE(trends(ten_tasks({0, 5, 5, 5}, 0), ten_tasks({5, 5, 5, 5})).empty());
  std::vector<EpisodeFacts> seven;
  for (int t = 0; t < 10; ++t)
    seven.push_back(quartered(
        t, t < 7 ? std::array<int, kQuarters>{5, 5, 5, 5} : std::array<int, kQuarters>{}));
  EXPECT_TRUE(trends(arm(seven), ten_tasks({5, 5, 5, 5})).empty());
  EXPECT_TRUE(trends(ten_tasks({5, 5, 5, 5}, 0), ten_tasks({5, 5, 5, 5}, 0)).empty());  // no spread
}

TEST(TaskSlope, HasAPValueThatAgreesWithItsInterval) {
  for_tests::Habits habits;
  habits.tasks = 60;
  const Arm b = for_tests::random_arm(habits);
  habits.tool_name = 0.25;
  habits.seed = 2;
  const TaskSlope slope = task_slope(*pair_tasks(b, for_tests::random_arm(habits)), false);
  ASSERT_TRUE(slope.slope && slope.ci95 && slope.p);
  EXPECT_EQ(*slope.p<0.05, slope.ci95->lo> 0 || slope.ci95->hi < 0);
}

TEST(SpreadBetweenTasks, IsFoundInACellAndAbsentWithoutRepeats) {
  for_tests::Habits habits;
  habits.tasks = 200;
  const Arm b = for_tests::random_arm(habits);
  habits.seed = 2;
  const Arm c = for_tests::random_arm(habits);
  CompareOptions options;
  options.resamples = 200;
  const Result<CellComparison> cell = compare_arms(b, c, options);
  ASSERT_TRUE(cell->between_delta && cell->between_unmasked);
  EXPECT_LT(*cell->between_delta, *cell->sd_delta);
  EXPECT_TRUE(cell->channels.at(Channel::ToolName).between_difference);
  habits.trials = 1;
  const Arm single = for_tests::random_arm(habits);
  EXPECT_FALSE(compare_arms(single, single, options)->between_delta);
}

}  // namespace
}  // namespace unmask
