#include "quantize/awq.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "quantize/float_formats.h"

namespace unmask {
namespace {

struct Problem {
  MatrixShape shape;
  std::vector<float> weights;
  InputSample sample;
};

// A few input channels carry activations twenty times as large as the others.
Problem problem(std::size_t rows, std::size_t columns, std::size_t samples, std::uint64_t seed) {
  Problem p;
  p.shape = {rows, columns};
  Rng rng(seed);
  for (std::size_t i = 0; i < rows * columns; ++i)
    p.weights.push_back(static_cast<float>(0.1 * rng.normal()));
  for (std::size_t i = 0; i < samples * columns; ++i) {
    const double size = i % columns % 16 == 3 ? 20.0 : 1.0;
    p.sample.rows.push_back(static_cast<float>(size * rng.normal()));
  }
  for (std::size_t c = 0; c < columns; ++c) {
    double sum = 0;
    for (std::size_t n = 0; n < samples; ++n)
      sum += std::fabs(static_cast<double>(p.sample.rows[n * columns + c]));
    p.sample.mean_magnitude.push_back(static_cast<float>(sum / static_cast<double>(samples)));
  }
  return p;
}

struct Reference {
  double alpha = 0;
  double error = 0;
  std::vector<float> weights;
};

// From the description: plain loops, a whole matrix for each alpha, sums in the order stated.
Reference reference_awq(const Problem& p, int bits, std::size_t group) {
  Reference best;
  const std::size_t columns = p.shape.columns;
  const std::size_t samples = p.sample.rows.size() / columns;
  const float most = static_cast<float>((1 << bits) - 1);
  for (int step = 0; step < 20; ++step) {
    const double alpha = step / 20.0;
    double low = 1e300;
    double high = 0;
    std::vector<double> raw;
    for (const float a : p.sample.mean_magnitude) {
      raw.push_back(std::max(std::pow(static_cast<double>(a), alpha), 1e-4));
      low = std::min(low, raw.back());
      high = std::max(high, raw.back());
    }
    std::vector<float> candidate(p.weights.size());
    for (std::size_t i = 0; i < candidate.size(); ++i) {
      const std::size_t c = i % columns;
      const std::size_t begin = i - c + (group == 0 ? 0 : c / group * group);
      const std::size_t end =
          group == 0 ? i - c + columns : std::min(begin + group, i - c + columns);
      const auto scaled = [&](std::size_t j) {
        const auto s = static_cast<float>(raw[j % columns] / std::sqrt(high * low));
        return p.weights[j] * s;
      };
      float least = scaled(begin);
      float largest = least;
      for (std::size_t j = begin; j < end; ++j) {
        least = std::min(least, scaled(j));
        largest = std::max(largest, scaled(j));
      }
      const float scale = std::max(largest - least, 1e-5f) / most;
      const float zero = std::min(std::max(-std::rint(least / scale), 0.0f), most);
      const float q = std::min(std::max(std::rint(scaled(i) / scale) + zero, 0.0f), most);
      candidate[i] = (q - zero) * scale / static_cast<float>(raw[c] / std::sqrt(high * low));
    }
    double error = 0;
    for (std::size_t row = 0; row < p.shape.rows; ++row) {
      double of_row = 0;
      for (std::size_t n = 0; n < samples; ++n) {
        double sum = 0;
        for (std::size_t c = 0; c < columns; ++c) {
          const std::size_t i = row * columns + c;
          sum += (static_cast<double>(p.weights[i]) - static_cast<double>(candidate[i])) *
                 static_cast<double>(p.sample.rows[n * columns + c]);
        }
        of_row += sum * sum;
      }
      error += of_row;
    }
    if (step == 0 || error < best.error) best = {alpha, error, candidate};
  }
  return best;
}

TEST(Awq, EqualsTheReferenceBitForBitAlsoWhenStoredInSixteenBits) {
  const std::size_t kGroups[] = {0, 64, 128};
  for (const std::size_t group : kGroups) {
    for (const int bits : {3, 4}) {
      const Problem p = problem(12, 150, 20, group + static_cast<std::size_t>(bits));
      std::vector<float> rounded = p.weights;
      const AwqChoice choice = round_awq(rounded, p.shape, bits, group, p.sample, 2);
      const Reference expected = reference_awq(p, bits, group);
      EXPECT_EQ(choice.alpha, expected.alpha);
      EXPECT_EQ(std::bit_cast<std::uint64_t>(choice.error),
                std::bit_cast<std::uint64_t>(expected.error));
      for (std::size_t i = 0; i < rounded.size(); ++i) {
        ASSERT_EQ(rounded[i], expected.weights[i]) << i;
        ASSERT_EQ(bf16_from_float(rounded[i]), bf16_from_float(expected.weights[i]));
        ASSERT_EQ(f16_from_float(rounded[i]), f16_from_float(expected.weights[i]));
      }
    }
  }
}

TEST(Awq, IsNeverWorseThanRoundingWithoutScalesAndBetterWithOutliers) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Problem p = problem(16, 128, 32, seed);
    std::vector<float> plain = p.weights;
    round_asymmetric(plain, p.shape, 4, 128);
    std::vector<float> rounded = p.weights;
    const AwqChoice choice = round_awq(rounded, p.shape, 4, 128, p.sample, 1);
    const double plain_error = output_error(p.weights, plain, p.shape, p.sample.rows);
    EXPECT_EQ(choice.plain_error, plain_error);
    EXPECT_EQ(choice.error, output_error(p.weights, rounded, p.shape, p.sample.rows));
    EXPECT_LE(choice.error, plain_error);
    EXPECT_LT(choice.error, 0.8 * plain_error) << "the large channels gain nothing";
    EXPECT_GT(choice.alpha, 0);
  }
}

TEST(Awq, IsTheSameAtAnyNumberOfThreads) {
  const Problem p = problem(9, 70, 15, 4);
  std::vector<float> one = p.weights;
  std::vector<float> four = p.weights;
  round_awq(one, p.shape, 4, 64, p.sample, 1);
  round_awq(four, p.shape, 4, 64, p.sample, 4);
  EXPECT_EQ(one, four);
}

TEST(Awq, RoundsPlainlyWhereNothingWasSeen) {
  Problem p = problem(4, 64, 8, 5);
  p.sample.rows.clear();
  std::vector<float> plain = p.weights;
  round_asymmetric(plain, p.shape, 4, 64);
  const AwqChoice choice = round_awq(p.weights, p.shape, 4, 64, p.sample, 1);
  EXPECT_EQ(p.weights, plain);
  EXPECT_EQ(choice.alpha, 0);
}

}  // namespace
}  // namespace unmask
