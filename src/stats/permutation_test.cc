#include "stats/permutation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/rng.h"

namespace unmask {
namespace {

using Numbers = std::vector<double>;

struct Arms {
  Numbers fb, cb, fc, cc;
};

Arms random_arms(int tasks, std::uint64_t seed, double rate_b, double rate_c) {
  Rng rng(seed);
  Arms arms;
  for (int t = 0; t < tasks; ++t) {
    arms.cb.push_back(3 + rng.below(20));
    arms.cc.push_back(3 + rng.below(30));
    arms.fb.push_back(std::floor(arms.cb.back() * rate_b * 2 * rng.uniform()));
    arms.fc.push_back(std::floor(arms.cc.back() * rate_c * 2 * rng.uniform()));
  }
  return arms;
}

Result<PermutationTest> test_of(const Arms& a, bool difference, int permutations = 10000,
                                int threads = 1) {
  return block_swap_test(a.fb, a.cb, a.fc, a.cc, difference, permutations, 7, threads);
}

double sum(const Numbers& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The statistic as METHOD 4 writes it, from the tasks themselves.
double naive_statistic(const Arms& a, bool difference) {
  const double n = static_cast<double>(a.fb.size());
  const double half = difference ? 0 : 0.5;
  const double F = sum(a.fb) + half, C = sum(a.cb), G = sum(a.fc) + half, D = sum(a.cc);
  Numbers influence;
  for (std::size_t t = 0; t < a.fb.size(); ++t) {
    influence.push_back(difference
                            ? (a.fc[t] - a.cc[t] * G / D) / D - (a.fb[t] - a.cb[t] * F / C) / C
                            : a.fc[t] / G - a.cc[t] / D - a.fb[t] / F + a.cb[t] / C);
  }
  const double mean = sum(influence) / n;
  double squares = 0;
  for (const double value : influence) squares += (value - mean) * (value - mean);
  const double effect = difference ? G / D - F / C : std::log(G / D) - std::log(F / C);
  if (std::abs(effect) < 1e-13) return 0;
  return effect / std::sqrt(n / (n - 1) * squares);
}

Arms scaled_to_equal_calls(Arms a) {
  const double scale = std::sqrt(sum(a.cc) / sum(a.cb));
  for (double& x : a.fb) x *= scale;
  for (double& x : a.cb) x *= scale;
  for (double& x : a.fc) x /= scale;
  for (double& x : a.cc) x /= scale;
  return a;
}

double naive_p(const Arms& arms, bool difference) {
  const Arms observed = scaled_to_equal_calls(arms);
  const double threshold = std::abs(naive_statistic(observed, difference)) * (1 - 1e-9);
  const unsigned all = 1u << arms.fb.size();
  int extreme = 0;
  for (unsigned subset = 0; subset < all; ++subset) {
    Arms swapped = observed;
    for (std::size_t t = 0; t < arms.fb.size(); ++t) {
      if ((subset >> t & 1) == 0) continue;
      std::swap(swapped.fb[t], swapped.fc[t]);
      std::swap(swapped.cb[t], swapped.cc[t]);
    }
    extreme += std::abs(naive_statistic(swapped, difference)) >= threshold;
  }
  return static_cast<double>(extreme) / all;
}

TEST(BlockSwapTest, EqualsBruteForceOverAllSwaps) {
  for (const bool difference : {false, true}) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const Arms arms = random_arms(8, seed, 0.3, 0.3 + 0.05 * static_cast<double>(seed % 4));
      const PermutationTest test = *test_of(arms, difference);
      EXPECT_NEAR(test.statistic, naive_statistic(scaled_to_equal_calls(arms), difference), 1e-9)
          << seed;
      EXPECT_NEAR(test.p, naive_p(arms, difference), 1e-12) << seed;
    }
  }
}

TEST(BlockSwapTest, DrawsNearTheExactP) {
  const Arms arms = random_arms(13, 21, 0.2, 0.3);
  for (const bool difference : {false, true}) {
    const double exact = test_of(arms, difference, 1 << 13)->p;
    const double drawn = test_of(arms, difference, 8000)->p;
    EXPECT_NEAR(drawn, exact, 4 * std::sqrt(exact * (1 - exact) / 8000));
    EXPECT_NE(drawn, exact);
  }
}

TEST(BlockSwapTest, TurnsItsSignAndKeepsItsPWhenTheArmsAreSwapped) {
  const Arms arms = random_arms(10, 4, 0.2, 0.4);
  const Arms swapped = {arms.fc, arms.cc, arms.fb, arms.cb};
  for (const bool difference : {false, true}) {
    const PermutationTest forward = *test_of(arms, difference);
    const PermutationTest backward = *test_of(swapped, difference);
    EXPECT_NEAR(forward.statistic, -backward.statistic, 1e-9);
    EXPECT_DOUBLE_EQ(forward.p, backward.p);
    EXPECT_GT(forward.statistic, 0);
  }
}

TEST(BlockSwapTest, GivesTheSmallestPAClearEffectAllows) {
  Arms arms;
  for (int t = 0; t < 60; ++t) {
    arms.cb.push_back(30 + t % 3);
    arms.cc.push_back(40 + t % 5);
    arms.fb.push_back(1 + t % 2);
    arms.fc.push_back(15 + t % 4);
  }
  EXPECT_DOUBLE_EQ(test_of(arms, false, 9999)->p, 1.0 / 10000);
  EXPECT_DOUBLE_EQ(test_of(arms, true, 9999)->p, 1.0 / 10000);
}

TEST(BlockSwapTest, FindsNothingBetweenEqualArms) {
  const Arms arms = random_arms(50, 5, 0.3, 0.3);
  const Arms same = {arms.fb, arms.cb, arms.fb, arms.cb};
  EXPECT_EQ(test_of(same, false)->p, 1);
  EXPECT_EQ(test_of(same, false)->statistic, 0);
  // Twice the calls at the same rates is no difference in rates.
  Arms longer = same;
  for (double& x : longer.fc) x *= 2;
  for (double& x : longer.cc) x *= 2;
  EXPECT_EQ(test_of(longer, true)->p, 1);
  // No failure anywhere.
  const Numbers none(50, 0.0);
  EXPECT_EQ(block_swap_test(none, arms.cb, none, arms.cc, true, 500, 1)->p, 1);
}

TEST(BlockSwapTest, IsTheSameAtAnyNumberOfThreads) {
  const Arms arms = random_arms(114, 6, 0.10, 0.12);
  const PermutationTest one = *test_of(arms, false, 3000, 1);
  const PermutationTest three = *test_of(arms, false, 3000, 3);
  EXPECT_EQ(one.p, three.p);
  EXPECT_EQ(one.statistic, three.statistic);
}

// Under exchangeable labels the exact p is at most alpha with probability alpha: every multiple of
// 1 / 2^(T-1) is equally likely, so the share of p <= 0.05 over all relabelings is at most 0.05.
TEST(BlockSwapTest, KeepsItsSizeOverAllRelabelings) {
  const Arms arms = scaled_to_equal_calls(random_arms(8, 30, 0.4, 0.4));
  int rejected = 0;
  for (unsigned subset = 0; subset < 256; ++subset) {
    Arms relabeled = arms;
    for (std::size_t t = 0; t < 8; ++t) {
      // Equal calls in the two blocks, so that relabeling keeps the scale.
      relabeled.cb[t] = relabeled.cc[t] = arms.cb[t];
      relabeled.fb[t] = std::min(arms.fb[t], arms.cb[t]);
      relabeled.fc[t] = std::min(arms.fc[t], arms.cb[t]);
      if (subset >> t & 1) std::swap(relabeled.fb[t], relabeled.fc[t]);
    }
    rejected += test_of(relabeled, false)->p <= 0.05;
  }
  EXPECT_LE(rejected, 256 * 0.05);
  EXPECT_GT(rejected, 0);
}

TEST(BlockSwapTest, RefusesTooFewTasksAndArmsWithoutCalls) {
  const Numbers one = {1};
  const Numbers two = {1, 2};
  const Numbers none = {0, 0};
  EXPECT_EQ(block_swap_test(one, one, one, one, false, 100, 1).error().kind, ErrorKind::Undefined);
  EXPECT_EQ(block_swap_test(none, none, two, two, false, 100, 1).error().kind,
            ErrorKind::Undefined);
  EXPECT_EQ(block_swap_test(one, two, two, two, false, 100, 1).error().kind,
            ErrorKind::InvalidArgument);
  EXPECT_EQ(block_swap_test(two, two, two, two, false, 0, 1).error().kind,
            ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace unmask
