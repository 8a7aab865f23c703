#include "stats/proportion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.h"
#include "stats/clustered.h"
#include "stats/distribution.h"

namespace unmask {
namespace {

using Numbers = std::vector<double>;

TEST(ClopperPearson, GivesNewcombesTable) {
  // Newcombe (1998) Stat. Med. 17:857, table I, method 5.
  const double cases[][4] = {{81, 263, 0.2527, 0.3676},
                             {15, 148, 0.0578, 0.1617},
                             {0, 20, 0, 0.1684},
                             {1, 29, 0.0009, 0.1776}};
  for (const double(&c)[4] : cases) {
    const Interval interval = *clopper_pearson(c[0], c[1], 0.95);
    EXPECT_NEAR(interval.lo, c[2], 5e-5);
    EXPECT_NEAR(interval.hi, c[3], 5e-5);
  }
}

// The definition: at each limit the tail of the binomial beyond what was seen is exactly 2.5 %.
TEST(ClopperPearson, LeavesItsTailsOutside) {
  const int n = 17;
  const int k = 5;
  const Interval interval = *clopper_pearson(k, n, 0.95);
  const auto tail = [&](double p, int from, int to) {
    double sum = 0;
    for (int i = from; i <= to; ++i)
      sum += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) +
                      i * std::log(p) + (n - i) * std::log1p(-p));
    return sum;
  };
  EXPECT_NEAR(tail(interval.lo, k, n), 0.025, 1e-10);
  EXPECT_NEAR(tail(interval.hi, 0, k), 0.025, 1e-10);
}

TEST(ClopperPearson, RefusesImpossibleCounts) {
  EXPECT_EQ(clopper_pearson(3, 2, 0.95).error().kind, ErrorKind::InvalidArgument);
  EXPECT_EQ(clopper_pearson(-1, 2, 0.95).error().kind, ErrorKind::InvalidArgument);
  EXPECT_EQ(clopper_pearson(0, 0, 0.95).error().kind, ErrorKind::InvalidArgument);
  EXPECT_EQ(clopper_pearson(1, 2, 1).error().kind, ErrorKind::InvalidArgument);
}

// The definition of the jackknife: leave each task out, and look how far the rate moves.
TEST(ClusteredRatio, HasTheErrorOfLeavingTasksOut) {
  Rng rng(5);
  Numbers failures;
  Numbers calls;
  for (int t = 0; t < 12; ++t) {
    calls.push_back(1 + rng.below(40));
    failures.push_back(rng.below(static_cast<std::uint32_t>(calls.back())));
  }
  const ClusteredRatio ratio = clustered_ratio(failures, calls);
  // Leaving t out moves the rate by -(f_t - rate c_t) / (C - c_t), exactly.
  double squares = 0;
  for (std::size_t t = 0; t < calls.size(); ++t) {
    Numbers fewer_failures = failures;
    Numbers fewer_calls = calls;
    fewer_failures[t] = fewer_calls[t] = 0;
    const double moved = clustered_ratio(fewer_failures, fewer_calls).rate - ratio.rate;
    squares += moved * moved;
  }
  EXPECT_NEAR(ratio.se, std::sqrt(11.0 / 12 * squares), 1e-12);
}

TEST(ClusteredRatio, IsTheStandardErrorOfTheMeanForEqualCalls) {
  const Numbers failures = {0, 1, 3, 0, 2, 0};
  const ClusteredRatio ratio = clustered_ratio(failures, Numbers(6, 10));
  double squares = 0;
  for (const double f : failures) squares += (f / 10 - 0.1) * (f / 10 - 0.1);
  EXPECT_NEAR(ratio.se, std::sqrt(squares / 5 / 6), 1e-15);
  EXPECT_NEAR(ratio.effective, 6, 1e-12);
  EXPECT_EQ(ratio.failing, 3);
}

TEST(ClusteredRateInterval, IsTheLogitTOfItsDefinition) {
  const Numbers failures = {0, 1, 3, 0, 2, 0};
  const Numbers calls(6, 10);
  const Interval interval = *clustered_rate_interval(failures, calls, 24, 0.95);
  const double p = 0.1;
  const double se = clustered_ratio(failures, calls).se;
  const double reach = t_quantile(0.975, 2) * se / (p * (1 - p));  // 3 failing tasks
  EXPECT_NEAR(std::log(interval.hi / (1 - interval.hi)), std::log(p / (1 - p)) + reach, 1e-12);
  EXPECT_NEAR(std::log(interval.lo / (1 - interval.lo)), std::log(p / (1 - p)) - reach, 1e-12);
}

TEST(ClusteredRateInterval, FollowsTheRuleOfThreeWithoutFailures) {
  const Interval interval = *clustered_rate_interval(Numbers(114, 0), Numbers(114, 30), 456, 0.95);
  EXPECT_EQ(interval.lo, 0);
  EXPECT_NEAR(interval.hi, 3.0 / 456, 1e-15);
  // Where trials are copies of each other, tasks are the units.
  EXPECT_NEAR(clustered_rate_interval(Numbers(114, 0), Numbers(114, 30), 114, 0.95)->hi, 3.0 / 114,
              1e-15);
}

TEST(ClusteredRateInterval, WidensFromNoFailureToOneFailingTask) {
  Numbers failures(114, 0);
  const Numbers calls(114, 30);
  const double none = clustered_rate_interval(failures, calls, 456, 0.95)->hi;
  failures[3] = 1;
  const Interval one = *clustered_rate_interval(failures, calls, 456, 0.95);
  EXPECT_GT(one.hi, none);
  EXPECT_GT(one.lo, 0);
  EXPECT_LT(one.lo, 1.0 / (114 * 30));
  // A burst of 20 in that task: the share of such tasks may be 4.8 %, each with 20 failures.
  failures[3] = 20;
  const Interval burst = *clustered_rate_interval(failures, calls, 456, 0.95);
  EXPECT_NEAR(burst.hi, clopper_pearson(1, 114, 0.95)->hi * 20 / 30, 1e-12);
}

TEST(ClusteredRateInterval, MirrorsAboveOneHalf) {
  Rng rng(9);
  for (int round = 0; round < 100; ++round) {
    Numbers failures;
    Numbers others;
    Numbers calls;
    for (int t = 0; t < 10; ++t) {
      calls.push_back(rng.below(6));
      failures.push_back(calls.back() > 0 ? rng.below(static_cast<std::uint32_t>(calls.back()) + 1)
                                          : 0);
      if (round % 3 == 0) failures.back() = 0;
      others.push_back(calls.back() - failures.back());
    }
    const ClusteredRatio ratio = clustered_ratio(failures, calls);
    if (ratio.denominator == 0 || ratio.rate == 0.5) continue;
    const Interval interval = *clustered_rate_interval(failures, calls, 40, 0.95);
    const Interval mirror = *clustered_rate_interval(others, calls, 40, 0.95);
    EXPECT_NEAR(interval.lo, 1 - mirror.hi, 1e-12);
    EXPECT_NEAR(interval.hi, 1 - mirror.lo, 1e-12);
    EXPECT_LE(interval.lo, ratio.rate);
    EXPECT_GE(interval.hi, ratio.rate);
    EXPECT_GE(interval.lo, 0);
    EXPECT_LE(interval.hi, 1);
    EXPECT_LT(interval.lo, interval.hi);
  }
}

TEST(ClusteredRateInterval, WidensWithConfidence) {
  const Numbers failures = {0, 1, 3, 0, 2, 0};
  const Numbers calls = {10, 12, 9, 3, 20, 8};
  const Interval narrow = *clustered_rate_interval(failures, calls, 24, 0.90);
  const Interval wide = *clustered_rate_interval(failures, calls, 24, 0.99);
  EXPECT_LT(wide.lo, narrow.lo);
  EXPECT_GT(wide.hi, narrow.hi);
}

TEST(ClusteredRateInterval, IsNeverOfZeroWidth) {
  // Every task has the same rate; one task only; every call failed; one call.
  EXPECT_LT(clustered_rate_interval(Numbers(5, 2), Numbers(5, 10), 20, 0.95)->lo, 0.15);
  EXPECT_GT(clustered_rate_interval(Numbers(5, 2), Numbers(5, 10), 20, 0.95)->hi, 0.25);
  EXPECT_GT(clustered_rate_interval(Numbers{2}, Numbers{10}, 4, 0.95)->hi, 0.5);
  EXPECT_LT(clustered_rate_interval(Numbers{2}, Numbers{10}, 4, 0.95)->lo, 0.1);
  EXPECT_EQ(clustered_rate_interval(Numbers(5, 10), Numbers(5, 10), 20, 0.95)->hi, 1);
  EXPECT_NEAR(clustered_rate_interval(Numbers(5, 10), Numbers(5, 10), 20, 0.95)->lo, 1 - 3.0 / 20,
              1e-12);
  EXPECT_EQ(clustered_rate_interval(Numbers{0}, Numbers{1}, 1, 0.95)->hi, 1);
}

TEST(ClusteredRateInterval, IsUndefinedWithoutCalls) {
  EXPECT_EQ(clustered_rate_interval(Numbers{0, 0}, Numbers{0, 0}, 8, 0.95).error().kind,
            ErrorKind::Undefined);
  EXPECT_EQ(clustered_rate_interval(Numbers{}, Numbers{}, 0, 0.95).error().kind,
            ErrorKind::Undefined);
  EXPECT_EQ(clustered_rate_interval(Numbers{0}, Numbers{1, 2}, 8, 0.95).error().kind,
            ErrorKind::InvalidArgument);
}

// 60 tasks of 10 calls at a rate of 1 %: 6 failures in as many tasks, or a chance of 0.01 a call.
TEST(ForetoldRateInterval, IsNoNarrowerWhereTheSameRateIsSpreadOverAllTasks) {
  const Numbers calls(60, 10.0);
  Numbers certain(60, 0.0);
  for (std::size_t t = 0; t < 6; ++t) certain[t] = 1;
  const Interval counted = *foretold_rate_interval(certain, Numbers(60, 0.0), calls, 60, 0.95);
  const Interval spread =
      *foretold_rate_interval(Numbers(60, 0.1), Numbers(60, 10 * 0.01 * 0.99), calls, 60, 0.95);
  EXPECT_NEAR(spread.lo, counted.lo, 0.1 * counted.lo);
  EXPECT_NEAR(spread.hi, counted.hi, 0.1 * counted.hi);
  const Interval plain = *clustered_rate_interval(certain, calls, 60, 0.95);
  EXPECT_NEAR(counted.lo, plain.lo, 1e-12);
  EXPECT_NEAR(counted.hi, plain.hi, 1e-12);
  // The mirror image, and the ends.
  const Interval high =
      *foretold_rate_interval(Numbers(60, 9.9), Numbers(60, 10 * 0.01 * 0.99), calls, 60, 0.95);
  EXPECT_NEAR(high.lo, 1 - spread.hi, 1e-9);
  const Interval none =
      *foretold_rate_interval(Numbers(60, 0.001), Numbers(60, 0.001), calls, 60, 0.95);
  EXPECT_EQ(none.lo, 0);
  EXPECT_NEAR(none.hi, 3.0 / 60, 1e-12);
  const Interval one =
      *foretold_rate_interval(Numbers(60, 0.02), Numbers(60, 0.02), calls, 60, 0.95);
  EXPECT_LT(one.lo, 0.002);
  EXPECT_GT(one.hi, 3.0 / 60);
  EXPECT_FALSE(foretold_rate_interval(Numbers(2, 0), Numbers(3, 0), Numbers(3, 1), 3, 0.95));
}

}  // namespace
}  // namespace unmask
