#include "stats/resample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "base/rng.h"
#include "stats/distribution.h"
#include "stats/mean_test.h"

namespace unmask {
namespace {

using Numbers = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Arms {
  Numbers fb, cb, fc, cc;
};

Arms random_arms(int tasks, std::uint64_t seed, double rate_b = 0.2, double rate_c = 0.4) {
  Rng rng(seed);
  Arms arms;
  const auto add = [&](Numbers& failures, Numbers& calls, double rate) {
    const std::uint32_t n = 5 + rng.below(40);
    double failed = 0;
    for (std::uint32_t i = 0; i < n; ++i) failed += rng.bernoulli(rate);
    calls.push_back(n);
    failures.push_back(failed);
  };
  for (int t = 0; t < tasks; ++t) {
    add(arms.fb, arms.cb, rate_b);
    add(arms.fc, arms.cc, rate_c);
  }
  return arms;
}

TEST(TaskResamples, DrawAsManyTasksAsThereAre) {
  for (const int tasks : {1, 2, 7, 114, 300, 5000}) {
    const TaskResamples resamples(tasks, 33, 1);
    for (int b = 0; b < resamples.resamples(); ++b) {
      int drawn = 0;
      for (int t = 0; t < tasks; ++t) drawn += resamples.times_drawn(b, t);
      ASSERT_EQ(drawn, tasks);
    }
  }
}

TEST(TaskResamples, DrawEveryTaskEquallyOften) {
  const int tasks = 114;
  const int resamples = 20000;
  const TaskResamples draws(tasks, resamples, 42);
  double chi2 = 0;
  double squares = 0;
  for (int t = 0; t < tasks; ++t) {
    double total = 0;
    for (int b = 0; b < resamples; ++b) {
      const double times = draws.times_drawn(b, t);
      total += times;
      squares += times * times;
    }
    chi2 += (total - resamples) * (total - resamples) / resamples;
  }
  // Chi-square with 113 df: the 0.1 % quantiles are 70 and 163.
  EXPECT_GT(chi2, 70);
  EXPECT_LT(chi2, 163);
  // A multinomial count has variance 1 - 1/T.
  EXPECT_NEAR(squares / (tasks * resamples) - 1, 1 - 1.0 / tasks, 0.005);
}

TEST(TaskResamples, AreTheSameAtAnyNumberOfThreadsAndOnEveryMachine) {
  const TaskResamples one(114, 1000, 20260731, 1);
  const TaskResamples four(114, 1000, 20260731, 4);
  std::uint64_t hash = 0;
  for (int b = 0; b < 1000; ++b)
    for (int t = 0; t < 114; ++t) {
      ASSERT_EQ(one.times_drawn(b, t), four.times_drawn(b, t));
      hash = hash * 31 + static_cast<std::uint64_t>(one.times_drawn(b, t));
    }
  EXPECT_EQ(hash, 788817763402188698u);
  const TaskResamples other(114, 1000, 20260732);
  int same = 0;
  for (int b = 0; b < 1000; ++b) same += other.times_drawn(b, 0) == one.times_drawn(b, 0);
  EXPECT_LT(same, 900);
}

TEST(TaskResamples, KeepTheirDrawsWhenMoreAreAskedFor) {
  const TaskResamples few(50, 100, 3);
  const TaskResamples many(50, 700, 3);
  for (int b = 0; b < 100; ++b)
    for (int t = 0; t < 50; ++t) ASSERT_EQ(few.times_drawn(b, t), many.times_drawn(b, t));
}

TEST(TaskResamples, SumLikeThePlainLoopToTheLastBit) {
  Rng rng(1);
  for (const int tasks : {1, 2, 114, 150}) {
    for (const std::size_t columns : {1u, 4u, 6u, 9u}) {
      std::vector<Numbers> values(columns);
      for (Numbers& column : values)
        for (int t = 0; t < tasks; ++t) column.push_back(rng.normal() / 3);
      const TaskResamples resamples(tasks, 77, 5, 2);
      const std::vector<Numbers> sums = resamples.sums(values);
      ASSERT_EQ(sums.size(), columns);
      for (std::size_t c = 0; c < columns; ++c) {
        ASSERT_EQ(sums[c].size(), 77u);
        for (int b = 0; b < 77; ++b) {
          double sum = 0;
          for (int t = 0; t < tasks; ++t) {
            const double term =
                resamples.times_drawn(b, t) * values[c][static_cast<std::size_t>(t)];
            sum += term;
          }
          ASSERT_EQ(sums[c][static_cast<std::size_t>(b)], sum);
        }
      }
    }
  }
}

TEST(TaskResamples, SumNoColumnsToNothing) {
  EXPECT_TRUE(TaskResamples(3, 10, 1).sums(std::vector<Numbers>{}).empty());
}

TEST(PercentileInterval, TakesTheOrderStatisticsOfDavisonAndHinkley) {
  Numbers draws;
  for (int i = 1; i <= 999; ++i) draws.push_back(i);
  std::reverse(draws.begin(), draws.end());
  EXPECT_EQ(percentile_interval(draws, 0.025), (Interval{25, 975}));  // (999 + 1) 0.025 = 25
  EXPECT_EQ(percentile_interval(draws, 0.05), (Interval{50, 950}));
  EXPECT_EQ(percentile_interval(draws, 1e-9), (Interval{1, 999}));
  EXPECT_EQ(percentile_interval({5}, 0.025), (Interval{5, 5}));
}

// Short and long, near and far from the ends, with ties, sorted and not: the shortcut for long
// lists never shows.
TEST(PercentileInterval, EqualsSortingWhateverTheDraws) {
  Rng rng(8);
  for (const std::size_t n : {999u, 1000u, 1001u, 4000u, 10000u}) {
    for (int kind = 0; kind < 6; ++kind) {
      Numbers draws;
      for (std::size_t i = 0; i < n; ++i) {
        const double x = rng.normal();
        const double spike = i % 16 == 0 ? -1e9 : x;  // misleads a guess from every 16th
        const double choices[] = {
            x, std::floor(x), static_cast<double>(i), -static_cast<double>(i), spike, 3};
        draws.push_back(kind == 0 && i % 50 == 0 ? kInfinity : choices[kind]);
      }
      Numbers sorted = draws;
      std::sort(sorted.begin(), sorted.end());
      for (const double tail : {1e-5, 0.0057, 0.025, 0.05, 0.2, 0.45}) {
        const std::size_t k = std::max<std::size_t>(
            1, static_cast<std::size_t>(static_cast<double>(n + 1) * tail + 1e-9));
        EXPECT_EQ(percentile_interval(draws, tail), (Interval{sorted[k - 1], sorted[n - k]}))
            << n << " " << kind << " " << tail;
      }
    }
  }
}

TEST(TaskResamples, GiveTheIntervalsOfTheirSumsForAnyNumberOfColumns) {
  Rng rng(2);
  const TaskResamples resamples(20, 1500, 5, 2);
  for (const std::size_t count : {0u, 1u, 16u, 35u}) {
    std::vector<Numbers> columns(count);
    for (Numbers& column : columns)
      for (int t = 0; t < 20; ++t) column.push_back(rng.below(9));
    const std::vector<Interval> intervals = resamples.sum_intervals(columns, 0.025);
    const std::vector<Numbers> sums = resamples.sums(columns);
    ASSERT_EQ(intervals.size(), count);
    for (std::size_t c = 0; c < count; ++c)
      EXPECT_EQ(intervals[c], percentile_interval(sums[c], 0.025));
  }
}

TEST(PercentileInterval, SortsInfinities) {
  Numbers draws(98, 1.0);
  draws.push_back(kInfinity);
  draws.push_back(-kInfinity);
  EXPECT_EQ(percentile_interval(draws, 0.001), (Interval{-kInfinity, kInfinity}));
  EXPECT_EQ(percentile_interval(draws, 0.1), (Interval{1, 1}));
}

TEST(ExpandedTail, ApproachesTheNominalOneFromBelow) {
  double previous = 0;
  for (const double clusters : {2.0, 8.0, 20.0, 114.0, 10000.0}) {
    const double tail = expanded_tail(clusters);
    EXPECT_GT(tail, previous);
    EXPECT_LT(tail, 0.025);
    previous = tail;
  }
  EXPECT_NEAR(previous, 0.025, 1e-4);
  // By hand: t_{7, 0.975} = 2.364624, times sqrt(8/7) = 2.527888; Phi(-2.527888) = 0.005737.
  EXPECT_NEAR(expanded_tail(8), 0.005737, 1e-6);
}

TEST(RatioInterval, EqualsAnExplicitResamplingLoop) {
  const int tasks = 30;
  const Arms arms = random_arms(tasks, 2);
  const TaskResamples resamples(tasks, 500, 9);
  Numbers ratios;
  for (int b = 0; b < 500; ++b) {
    double fb = 0, cb = 0, fc = 0, cc = 0;
    for (int t = 0; t < tasks; ++t) {
      for (int times = resamples.times_drawn(b, t); times > 0; --times) {
        fb += arms.fb[t];
        cb += arms.cb[t];
        fc += arms.fc[t];
        cc += arms.cc[t];
      }
    }
    ratios.push_back(fc / cc * cb / fb);
  }
  std::sort(ratios.begin(), ratios.end());
  const double tail = expanded_tail(30);  // every task fails in both arms
  const std::size_t k = static_cast<std::size_t>(501 * tail);
  const Interval interval = *ratio_interval(arms.fb, arms.cb, arms.fc, arms.cc, resamples);
  EXPECT_EQ(interval.lo, ratios[k - 1]);
  EXPECT_EQ(interval.hi, ratios[500 - k]);
}

TEST(RatioInterval, InvertsWhenTheArmsAreSwapped) {
  const Arms arms = random_arms(40, 3);
  const TaskResamples resamples(40, 2000, 4);
  const Interval forward = *ratio_interval(arms.fb, arms.cb, arms.fc, arms.cc, resamples);
  const Interval backward = *ratio_interval(arms.fc, arms.cc, arms.fb, arms.cb, resamples);
  EXPECT_NEAR(forward.lo * backward.hi, 1, 1e-12);
  EXPECT_NEAR(forward.hi * backward.lo, 1, 1e-12);
  EXPECT_LT(forward.lo, 2);
  EXPECT_GT(forward.hi, 2);
}

TEST(RatioInterval, NeedsEightFailingTasksInTheSparserArm) {
  Arms arms = random_arms(40, 3);
  for (std::size_t t = 7; t < 40; ++t) arms.fb[t] = 0;
  const TaskResamples resamples(40, 500, 4);
  EXPECT_EQ(ratio_interval(arms.fb, arms.cb, arms.fc, arms.cc, resamples).error().kind,
            ErrorKind::Undefined);
  EXPECT_FALSE(ratio_upper95(arms.fb, arms.cb, arms.fc, arms.cc, resamples));
  EXPECT_EQ(ratio_interval(arms.fc, arms.cc, arms.fb, arms.cb, resamples).error().kind,
            ErrorKind::Undefined);
  arms.fb[39] = 1;
  EXPECT_TRUE(ratio_interval(arms.fb, arms.cb, arms.fc, arms.cc, resamples));
  EXPECT_TRUE(ratio_upper95(arms.fb, arms.cb, arms.fc, arms.cc, resamples));
}

TEST(RatioInterval, LetsResamplesWithoutFailuresReachInfinity) {
  // 8 of 400 tasks fail in the baseline: a resample misses all of them with probability e^-8, so
  // about 6 of 20000 do; their infinite ratios sort above all others, beyond the limit's rank of
  // 114.
  Arms arms = random_arms(400, 3, 0.0, 0.4);
  for (std::size_t t = 0; t < 8; ++t) arms.fb[t] = 1;
  const TaskResamples resamples(400, 20000, 4);
  const std::vector<Numbers> sums = resamples.sums(std::vector<Numbers>{arms.fb});
  const long without = std::count(sums[0].begin(), sums[0].end(), 0.0);
  ASSERT_GT(without, 0);
  const Interval interval = *ratio_interval(arms.fb, arms.cb, arms.fc, arms.cc, resamples);
  ASSERT_LT(without, 114);
  EXPECT_TRUE(std::isfinite(interval.hi));
  EXPECT_GT(interval.lo, 1);
}

TEST(RatioUpper95, LiesBelowTheTwoSidedUpperLimit) {
  const Arms arms = random_arms(40, 5);
  const TaskResamples resamples(40, 2000, 4);
  EXPECT_LT(*ratio_upper95(arms.fb, arms.cb, arms.fc, arms.cc, resamples),
            ratio_interval(arms.fb, arms.cb, arms.fc, arms.cc, resamples)->hi);
}

TEST(RatioInterval, RefusesOtherTasksThanWereDrawnAndArmsWithoutCalls) {
  const Arms arms = random_arms(40, 5);
  EXPECT_EQ(
      ratio_interval(arms.fb, arms.cb, arms.fc, arms.cc, TaskResamples(39, 10, 1)).error().kind,
      ErrorKind::InvalidArgument);
  const Numbers none(40, 0);
  EXPECT_EQ(ratio_interval(none, none, arms.fc, arms.cc, TaskResamples(40, 10, 1)).error().kind,
            ErrorKind::Undefined);
}

TEST(RateDifference, HoldsAPlantedDifferenceOfTenPoints) {
  const Arms arms = random_arms(200, 6, 0.1, 0.2);
  const DifferenceInterval d = *rate_difference_interval(arms.fb, arms.cb, arms.fc, arms.cc);
  EXPECT_LT(d.ci95.lo, 0.1);
  EXPECT_GT(d.ci95.hi, 0.1);
  EXPECT_GT(d.ci95.lo, 0.05);
  EXPECT_LT(d.ci95.hi, 0.15);
}

TEST(RateDifference, TurnsItsSignWhenTheArmsAreSwapped) {
  const Arms arms = random_arms(25, 7, 0.02, 0.1);
  const DifferenceInterval forward = *rate_difference_interval(arms.fb, arms.cb, arms.fc, arms.cc);
  const DifferenceInterval backward = *rate_difference_interval(arms.fc, arms.cc, arms.fb, arms.cb);
  EXPECT_NEAR(forward.ci95.lo, -backward.ci95.hi, 1e-14);
  EXPECT_NEAR(forward.ci90.hi, -backward.ci90.lo, 1e-14);
  EXPECT_NEAR(forward.upper95, -backward.lower95, 1e-14);
}

TEST(RateDifference, NestsItsLimits) {
  const Arms arms = random_arms(25, 8, 0.05, 0.1);
  const DifferenceInterval d = *rate_difference_interval(arms.fb, arms.cb, arms.fc, arms.cc);
  EXPECT_LT(d.ci95.lo, d.ci90.lo);
  EXPECT_LT(d.ci90.hi, d.ci95.hi);
  EXPECT_EQ(d.upper95, d.ci90.hi);
  EXPECT_EQ(d.lower95, d.ci90.lo);
}

TEST(RateDifference, NarrowsWhenTheArmsFailTogether) {
  Arms arms = random_arms(60, 9, 0.2, 0.2);
  Rng rng(1);
  for (std::size_t t = 0; t < 60; ++t) {  // hard tasks are hard for both
    arms.cb[t] = arms.cc[t] = 20;
    arms.fb[t] = rng.below(20);
    arms.fc[t] = std::min(20.0, arms.fb[t] + rng.below(2));
  }
  Numbers shuffled_fc(arms.fc.rbegin(), arms.fc.rend());
  const DifferenceInterval paired = *rate_difference_interval(arms.fb, arms.cb, arms.fc, arms.cc);
  const DifferenceInterval unpaired =
      *rate_difference_interval(arms.fb, arms.cb, shuffled_fc, arms.cc);
  EXPECT_LT(paired.ci95.hi - paired.ci95.lo, 0.5 * (unpaired.ci95.hi - unpaired.ci95.lo));
}

TEST(RateDifference, IsNeverOfZeroWidth) {
  const Numbers calls(114, 30);
  const Numbers none(114, 0);
  const DifferenceInterval d = *rate_difference_interval(none, calls, none, calls, 456, 456);
  EXPECT_NEAR(d.ci95.hi, 3.0 / 456, 1e-12);
  EXPECT_NEAR(d.ci95.lo, -3.0 / 456, 1e-12);
  EXPECT_LT(d.upper95, 3.0 / 456);
  EXPECT_NEAR(rate_difference_interval(none, calls, none, calls)->ci95.hi, 3.0 / 114, 1e-12);
  // The same numbers in both arms: the correlation is 1 and the rates alike; still not a point.
  const Arms arms = random_arms(30, 10);
  const DifferenceInterval same = *rate_difference_interval(arms.fb, arms.cb, arms.fb, arms.cb);
  EXPECT_LT(same.ci95.lo, 0);
  EXPECT_GT(same.ci95.hi, 0);
}

TEST(RateDifference, RefusesWhatHasNoDifference) {
  const Numbers one = {1};
  const Numbers none(2, 0);
  const Numbers two(2, 1);
  EXPECT_EQ(rate_difference_interval(one, one, one, one).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(rate_difference_interval(none, none, two, two).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(rate_difference_interval(one, two, two, two).error().kind, ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace unmask
