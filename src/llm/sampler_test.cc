#include "llm/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

namespace unmask {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kMinus = -std::numeric_limits<float>::infinity();

std::map<std::size_t, double> shares(const std::vector<float>& logits,
                                     const SamplerOptions& options) {
  constexpr int kDraws = 40000;
  Rng rng(5);
  std::map<std::size_t, double> counts;
  for (int i = 0; i < kDraws; ++i) ++counts[*sample_token(logits, options, rng)];
  for (auto& [token, count] : counts) count /= kDraws;
  return counts;
}

const std::vector<float> kLogits = {std::log(0.5F), std::log(0.1F), std::log(0.3F), std::log(0.1F)};

TEST(Sampler, DrawsInProportionToSoftmax) {
  const auto plain = shares(kLogits, {});
  EXPECT_NEAR(plain.at(0), 0.5, 0.01);
  EXPECT_NEAR(plain.at(1), 0.1, 0.01);
  EXPECT_NEAR(plain.at(2), 0.3, 0.01);
  const auto hot = shares(kLogits, {2, 1, 0});  // proportional to the square roots
  const double sum = std::sqrt(0.5) + std::sqrt(0.3) + 2 * std::sqrt(0.1);
  EXPECT_NEAR(hot.at(0), std::sqrt(0.5) / sum, 0.01);
  EXPECT_NEAR(hot.at(3), std::sqrt(0.1) / sum, 0.01);
}

TEST(Sampler, KeepsTheFewestTokensThatHaveTopP) {
  const auto left = shares(kLogits, {1, 0.75, 0});
  ASSERT_EQ(left.size(), 2u);
  EXPECT_NEAR(left.at(0), 0.625, 0.01);
  EXPECT_NEAR(left.at(2), 0.375, 0.01);
  EXPECT_EQ(shares(kLogits, {1, 0.4, 0}).size(), 1u);
}

TEST(Sampler, AppliesTopPToWhatTopKLeaves) {
  EXPECT_EQ(shares(kLogits, {1, 1, 3}).size(), 3u);
  const auto two = shares(kLogits, {1, 0.63, 2});  // of 0.8 the first has 0.625
  EXPECT_EQ(two.size(), 2u);
  EXPECT_EQ(shares(kLogits, {1, 0.62, 2}).size(), 1u);
}

TEST(Sampler, FindsTheLimitInALargeVocabularyToo) {
  std::vector<float> logits(5000, 0);  // equally likely
  Rng rng(1);
  std::size_t greatest = 0;
  for (int i = 0; i < 3000; ++i)
    greatest = std::max(greatest, *sample_token(logits, {1, 0.5, 0}, rng));
  EXPECT_LT(greatest, 2500u);
  EXPECT_GT(greatest, 2400u);
}

TEST(Sampler, IsGreedyAtTemperatureZeroWithoutADraw) {
  Rng rng(1);
  EXPECT_EQ(sample_token(std::vector<float>{1, 3, 3, 2}, {0, 1, 0}, rng), 1u);
  EXPECT_EQ(rng.next(), Rng(1).next());
}

TEST(Sampler, NeverDrawsWhatIsNoNumber) {
  const auto left = shares({kNaN, 1, kMinus, 1}, {});
  EXPECT_EQ(left.size(), 2u);
  EXPECT_FALSE(left.contains(0));
  EXPECT_FALSE(left.contains(2));
  Rng rng(1);
  EXPECT_EQ(sample_token(std::vector<float>{kNaN, kMinus}, {}, rng), std::nullopt);
  EXPECT_EQ(sample_token(std::vector<float>{}, {}, rng), std::nullopt);
}

TEST(TokenLogprobs, AreThoseOfAllLogits) {
  const TokenLogprobs logprobs = token_logprobs(kLogits, 3, 3);
  EXPECT_NEAR(logprobs.chosen, std::log(0.1), 1e-6);
  ASSERT_EQ(logprobs.top.size(), 3u);
  EXPECT_EQ(logprobs.top[0].first, 0u);
  EXPECT_NEAR(logprobs.top[0].second, std::log(0.5), 1e-6);
  EXPECT_EQ(logprobs.top[1].first, 2u);
  EXPECT_EQ(logprobs.top[2].first, 1u) << "of equal ones the first";
}

TEST(TokenLogprobs, LeaveOutTheImpossible) {
  const TokenLogprobs logprobs = token_logprobs(std::vector<float>{0, kMinus, kNaN}, 0, 20);
  EXPECT_EQ(logprobs.top.size(), 1u);
  EXPECT_NEAR(logprobs.chosen, 0, 1e-12);
}

}  // namespace
}  // namespace unmask
