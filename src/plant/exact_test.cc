// Exact mode: every count met, by counting texts; impossible demands refused by name.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "plant/apportion.h"
#include "plant/naive_tally.h"
#include "plant/plant.h"
#include "trace/tau2_writer.h"

namespace unmask {
namespace {

using plant_test::naive_tally;
using plant_test::NaiveTally;

void expect_counts(const NaiveTally& tally, const ExactArm& arm, const ExactOptions& options) {
  const auto count = [&tally](const char* channel) {
    const auto it = tally.channels.find(channel);
    return it == tally.channels.end() ? 0 : it->second;
  };
  EXPECT_EQ(tally.episodes, options.tasks * options.trials);
  EXPECT_EQ(tally.agent_calls, arm.agent_calls);
  EXPECT_EQ(count("tool_name"), arm.tool_name);
  EXPECT_EQ(count("schema"), arm.schema);
  EXPECT_EQ(count("entity"), arm.entity);
  EXPECT_EQ(count("rejected"), arm.rejected);
  EXPECT_EQ(count("malformed"), arm.malformed);
  EXPECT_EQ(tally.user_calls, arm.user_calls);
  EXPECT_EQ(tally.user_failures, arm.user_failures);
  EXPECT_EQ(tally.successes, arm.successes);
  EXPECT_EQ(tally.successes_within(options.k_tight), arm.successes_tight);
  EXPECT_EQ(tally.successes_within(options.max_errors - 1), arm.successes);
  const double counted = tally.recovered + tally.not_recovered;
  if (counted > 0) {
    EXPECT_LE(std::abs(tally.recovered - arm.recovery * counted), 0.5 + 1e-9);
  }
}

// Rank of each value by counting, then the correlation of the ranks.
double naive_spearman(const std::vector<double>& x, const std::vector<double>& y) {
  const auto ranks = [](const std::vector<double>& values) {
    std::vector<double> result;
    for (const double v : values) {
      double below = 0, equal = 0;
      for (const double w : values) {
        below += w < v ? 1 : 0;
        equal += w == v ? 1 : 0;
      }
      result.push_back(below + (equal + 1) / 2);
    }
    return result;
  };
  const std::vector<double> a = ranks(x), b = ranks(y);
  const double n = double(a.size()), mean = (n + 1) / 2;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  return ab / std::sqrt(aa * bb);
}

TEST(PlantExact, TheDamagedCellIsThePapers) {
  const ExactOptions options = exact_damaged();
  const Result<PlantedPair> pair = plant_exact(options);
  ASSERT_TRUE(pair) << to_string(pair.error());
  const NaiveTally before = naive_tally(pair->baseline);
  const NaiveTally after = naive_tally(pair->candidate);
  expect_counts(before, options.baseline, options);
  expect_counts(after, options.candidate, options);

  // The numbers as the paper prints them.
  EXPECT_NEAR(before.rate("tool_name"), 0.195, 0.0005);
  EXPECT_NEAR(after.rate("tool_name"), 0.383, 0.0005);
  EXPECT_EQ(before.episodes, 456);
  EXPECT_EQ(before.successes - after.successes, 6);                       // 1.3 points
  EXPECT_EQ(before.successes_within(2) - after.successes_within(2), 76);  // 16.7 points
  EXPECT_NEAR(before.recovery(), 0.55, 0.005);
  EXPECT_NEAR(after.recovery(), 0.55, 0.005);

  std::set<std::string> names;
  for (const auto& [name, count] : before.names) names.insert(name);
  for (const auto& [name, count] : after.names) names.insert(name);
  std::vector<double> x, y;
  int novel = 0;
  for (const std::string& name : names) {
    const bool known = before.names.contains(name);
    x.push_back(known ? before.names.at(name) : 0);
    y.push_back(after.names.contains(name) ? after.names.at(name) : 0);
    novel += known ? 0 : after.names.at(name);
  }
  EXPECT_EQ(novel, 3);  // 0.18 % of 1646
  EXPECT_NEAR(naive_spearman(x, y), 0.97, 0.005);
}

TEST(PlantExact, TheDamagedCellIsFlatOverTasks) {
  const Result<PlantedPair> pair = plant_exact(exact_damaged());
  ASSERT_TRUE(pair);
  double sum = 0, squares = 0;
  for (std::size_t t = 0; t < 114; ++t) {
    double d = 0;
    for (std::size_t i = 4 * t; i < 4 * t + 4; ++i)
      d += (*pair->candidate.episodes[i].success - *pair->baseline.episodes[i].success) / 4.0;
    sum += d;
    squares += d * d;
  }
  const double mean = sum / 114;
  const double se = std::sqrt((squares - 114 * mean * mean) / 113 / 114);
  EXPECT_NEAR(mean, -6.0 / 456, 1e-12);
  EXPECT_LT(std::abs(mean) / se, 1.981);  // t, 113 degrees of freedom, 97.5 %
  EXPECT_LT(std::abs(mean) + 1.658 * se, 0.075);
  EXPECT_GT(se, 0.012) << "the arms' tasks are not copies of each other";
}

TEST(PlantExact, TheCleanCellMeetsItsCounts) {
  const ExactOptions options = exact_clean();
  const Result<PlantedPair> pair = plant_exact(options);
  ASSERT_TRUE(pair) << to_string(pair.error());
  expect_counts(naive_tally(pair->baseline), options.baseline, options);
  expect_counts(naive_tally(pair->candidate), options.candidate, options);
}

TEST(PlantExact, SmallAndOddCountsAreMet) {
  ExactOptions options;
  options.tasks = 7;
  options.trials = 3;
  options.max_errors = 4;
  options.names = 5;
  ExactArm& arm = options.baseline;
  arm.agent_calls = 120;
  arm.tool_name = 11;
  arm.schema = 3;
  arm.entity = 5;
  arm.rejected = 1;
  arm.malformed = 2;
  arm.user_calls = 20;
  arm.user_failures = 6;
  arm.successes = 9;
  arm.successes_tight = 7;
  arm.recovery = 0.4;
  options.candidate = arm;
  options.candidate.novel = 2;
  options.candidate.recovery = 0.7;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    options.seed = seed;
    const Result<PlantedPair> pair = plant_exact(options);
    ASSERT_TRUE(pair) << to_string(pair.error());
    expect_counts(naive_tally(pair->baseline), options.baseline, options);
    expect_counts(naive_tally(pair->candidate), options.candidate, options);
  }
}

TEST(PlantExact, OtherDomainsSpeakTheirOwnTexts) {
  for (const char* domain : {"retail", "airline"}) {
    ExactOptions options = exact_damaged();
    options.domain = domain;
    options.tasks = 30;
    options.name_correlation = std::nullopt;
    options.flat_within = std::nullopt;
    for (ExactArm* arm : {&options.baseline, &options.candidate}) {
      arm->agent_calls /= 3;
      arm->tool_name /= 4;
      arm->successes /= 4;
      arm->successes_tight /= 4;
    }
    const Result<PlantedPair> pair = plant_exact(options);
    ASSERT_TRUE(pair) << to_string(pair.error());
    expect_counts(naive_tally(pair->candidate), options.candidate, options);
  }
}

TEST(PlantExact, SameSeedSameBytes) {
  const std::string first = tau2_results(plant_exact(exact_damaged())->candidate);
  EXPECT_EQ(first, tau2_results(plant_exact(exact_damaged())->candidate));
}

struct Impossible {
  const char* named;
  void (*set)(ExactOptions& options);
};

TEST(PlantExact, ImpossibleDemandsAreRefusedByName) {
  const Impossible cases[] = {
      {"baseline.successes", [](ExactOptions& o) { o.baseline.successes = 500; }},
      {"candidate.successes_tight", [](ExactOptions& o) { o.candidate.successes_tight = 299; }},
      {"the sum of baseline's failed calls", [](ExactOptions& o) { o.baseline.tool_name = 3300; }},
      {"baseline.novel", [](ExactOptions& o) { o.baseline.novel = 1; }},
      {"candidate.recovery", [](ExactOptions& o) { o.candidate.recovery = 1.2; }},
      {"recovery", [](ExactOptions& o) { o.candidate.recovery = 1; }},
      {"candidate.user_failures", [](ExactOptions& o) { o.candidate.user_failures = 2; }},
      {"flat_within",
       [](ExactOptions& o) { o.candidate.successes = 200, o.candidate.successes_tight = 100; }},
      {"name_correlation", [](ExactOptions& o) { o.names = 2; }},
      {"domain", [](ExactOptions& o) { o.domain = "banking"; }},
      {"tasks", [](ExactOptions& o) { o.tasks = 0; }},
      {"k_tight", [](ExactOptions& o) { o.k_tight = 9; }},
      {"candidate's calls that succeed",
       [](ExactOptions& o) { o.candidate.agent_calls = o.candidate.tool_name + 90; }},
  };
  for (const Impossible& impossible : cases) {
    ExactOptions options = exact_damaged();
    impossible.set(options);
    const Result<PlantedPair> pair = plant_exact(options);
    ASSERT_FALSE(pair) << impossible.named;
    EXPECT_EQ(pair.error().kind, ErrorKind::InvalidArgument);
    EXPECT_NE(pair.error().message.find(impossible.named), std::string::npos)
        << impossible.named << ": " << pair.error().message;
  }
}

TEST(Apportion, SharesSumToTheTotalWithinTheirBounds) {
  Rng rng(1);
  std::vector<Share> shares = {{5, 0, 3}, {0, 2, 9}, {4, 4, 4}};
  for (const long total : {6, 11, 16}) {
    ASSERT_TRUE(settle(shares, total, "x", rng));
    long sum = 0;
    for (const Share& share : shares) {
      EXPECT_GE(share.value, share.lo);
      EXPECT_LE(share.value, share.hi);
      sum += share.value;
    }
    EXPECT_EQ(sum, total);
  }
  EXPECT_FALSE(settle(shares, 5, "x", rng));
  EXPECT_FALSE(settle(shares, 17, "x", rng));
}

TEST(Apportion, LargestRemaindersAreTheTextbooks) {
  // Hamilton's method: quotas 1.33, 0.44, 0.22; the largest remainder is the second's.
  EXPECT_EQ(largest_remainders(2, {6, 2, 1}), (std::vector<int>{1, 1, 0}));
  // One each first, then quotas 4.67, 1.56, 0.78 of the other 7.
  EXPECT_EQ(largest_remainders(10, {6, 2, 1}), (std::vector<int>{6, 2, 2}));
}

TEST(Apportion, CompositionsAreEquallyLikely) {
  Rng rng(2);
  std::map<std::vector<int>, int> seen;
  for (int i = 0; i < 6000; ++i) ++seen[composition(5, 3, rng)];
  EXPECT_EQ(seen.size(), 6u);  // 4 choose 2
  for (const auto& [parts, count] : seen) EXPECT_NEAR(count, 1000, 130);
}

}  // namespace
}  // namespace unmask
