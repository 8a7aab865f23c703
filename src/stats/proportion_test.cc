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
  // The mirror image, and the ends.
  const Interval high =
      *foretold_rate_interval(Numbers(60, 9.9), Numbers(60, 10 * 0.01 * 0.99), calls, 60, 0.95);
  EXPECT_NEAR(high.lo, 1 - spread.hi, 1e-9);
  const Interval none = *foretold_rate_interval(Numbers(60, 0), Numbers(60, 0), calls, 60, 0.95);
  EXPECT_EQ(none.lo, 0);
  EXPECT_NEAR(none.hi, 3.0 / 60, 1e-12);
  EXPECT_FALSE(foretold_rate_interval(Numbers(2, 0), Numbers(3, 0), Numbers(3, 1), 3, 0.95));
  EXPECT_FALSE(foretold_rate_interval(Numbers(3, 0), Numbers(2, 0), Numbers(3, 1), 3, 0.95));
}

// Chances of 0 and 1 are counts, whichever way they are given and however few tasks hold them.
TEST(ForetoldRateInterval, IsTheCountedOneWhereEveryChanceIsCertain) {
  Rng rng(21);
  for (int round = 0; round < 200; ++round) {
    const int tasks = 2 + static_cast<int>(rng.below(30));
    Numbers failures;
    Numbers calls;
    for (int t = 0; t < tasks; ++t) {
      calls.push_back(1 + rng.below(20));
      const bool fails = rng.below(5) == 0;
      failures.push_back(fails ? rng.below(static_cast<std::uint32_t>(calls.back()) + 1) : 0);
    }
    const Interval counted = *clustered_rate_interval(failures, calls, tasks, 0.95);
    const Interval foretold =
        *foretold_rate_interval(failures, Numbers(failures.size(), 0), calls, tasks, 0.95);
    EXPECT_DOUBLE_EQ(foretold.lo, counted.lo);
    EXPECT_DOUBLE_EQ(foretold.hi, counted.hi);
  }
}

// 30 tasks, each of 4 calls with a chance of 0.05: the definitions written out.
TEST(ForetoldRateInterval, IsTheLogitTOfTheTasksThatWouldFail) {
  Numbers expected(30, 0.2);
  Numbers variance(30, 4 * 0.05 * 0.95);
  expected[0] = 3;  // three calls that are sure to fail
  variance[0] = 0;
  const Numbers calls(30, 4);
  const double failing = 29 * (1 - std::pow(0.95, 4)) + 1;
  const double total = 29 * 0.2 + 3;
  const double p = total / 120;
  double squares = 0;
  for (const double e : expected) squares += (e - p * 4) * (e - p * 4);
  const double se = std::sqrt(30.0 / 29 * squares + 29 * 4 * 0.05 * 0.95) / 120;
  const double reach = t_quantile(0.975, failing - 1) * se / (p * (1 - p));
  const Interval interval = *foretold_rate_interval(expected, variance, calls, 30, 0.95);
  EXPECT_NEAR(std::log(interval.hi / (1 - interval.hi)), std::log(p / (1 - p)) + reach, 1e-10);
  EXPECT_NEAR(std::log(interval.lo / (1 - interval.lo)), std::log(p / (1 - p)) - reach, 1e-10);
}

// Chances that grow little by little, over all tasks and in two of them.
TEST(ForetoldRateInterval, GoesWithoutAJumpFromNoFailureToMany) {
  constexpr double kStep = 1e-4;
  const Numbers calls(40, 10.0);
  for (const bool few : {false, true}) {
    Interval before{0, 3.0 / 40};
    for (double p = kStep; p < 0.4; p += kStep) {
      Numbers expected(40, few ? 0.0 : 10 * p / 10);
      Numbers variance(40, few ? 0.0 : 10 * (p / 10) * (1 - p / 10));
      if (few) {
        expected[3] = expected[7] = 10 * p;
        variance[3] = variance[7] = 10 * p * (1 - p);
      }
      const Interval here = *foretold_rate_interval(expected, variance, calls, 40, 0.95);
      EXPECT_NEAR(here.lo, before.lo, 0.002) << few << " " << p;
      EXPECT_NEAR(here.hi, before.hi, 0.01) << few << " " << p;
      double sum = 0;
      for (const double e : expected) sum += e;
      EXPECT_LE(here.lo, sum / 400);
      EXPECT_GE(here.hi, sum / 400);
      before = here;
    }
  }
}

// Tasks whose own rates are Beta distributed: failures counted, and the same tasks' failures
// foretold from their rates. Both intervals are to hold the mean rate 95 times of 100.
TEST(RateIntervals, CoverTheRateAtFewTasksAndMany) {
  constexpr int kSets = 1000;
  constexpr int kCalls = 32;
  for (const int tasks : {3, 5, 10, 40}) {
    for (const double mean : {0.01, 0.05, 0.2}) {
      for (const double correlation : {0.02, 0.3}) {
        const double size = (1 - correlation) / correlation;
        Numbers rates;
        double truth = 0;
        for (int i = 0; i < 1024; ++i) {
          rates.push_back(beta_quantile((i + 0.5) / 1024, mean * size, (1 - mean) * size));
          truth += rates.back() / 1024;
        }
        Rng rng(7);
        int counted = 0;
        int foretold = 0;
        for (int set = 0; set < kSets; ++set) {
          const auto n = static_cast<std::size_t>(tasks);
          Numbers failures(n, 0);
          Numbers expected(n, 0);
          Numbers variance(n, 0);
          const Numbers calls(n, kCalls);
          for (std::size_t t = 0; t < n; ++t) {
            const double rate = rates[rng.below(1024)];
            for (int c = 0; c < kCalls; ++c) failures[t] += rng.bernoulli(rate) ? 1 : 0;
            expected[t] = kCalls * rate;
            variance[t] = kCalls * rate * (1 - rate);
          }
          const auto holds = [&](const Interval& interval) {
            return interval.lo <= truth && truth <= interval.hi;
          };
          counted += holds(*clustered_rate_interval(failures, calls, tasks, 0.95)) ? 1 : 0;
          foretold += holds(*foretold_rate_interval(expected, variance, calls, tasks, 0.95));
        }
        // Two standard errors of the simulation are 1.4 points.
        EXPECT_GE(counted, 0.936 * kSets) << tasks << " " << mean << " " << correlation;
        EXPECT_GE(foretold, 0.936 * kSets) << tasks << " " << mean << " " << correlation;
      }
    }
  }
}

}  // namespace
}  // namespace unmask
