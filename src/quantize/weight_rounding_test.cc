// The references here are written from the formats' definitions, without the code under test: every
// value of a format is listed and the nearest one searched.
#include "quantize/weight_rounding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/rng.h"
#include "quantize/float_formats.h"

namespace unmask {
namespace {

std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

// The value of a small format: sign, exponent and mantissa fields, all finite.
double field_value(int exponent, int mantissa, int mantissa_bits, int bias) {
  const double fraction = mantissa / std::ldexp(1.0, mantissa_bits);
  if (exponent == 0) return std::ldexp(fraction, 1 - bias);
  return std::ldexp(1 + fraction, exponent - bias);
}

std::vector<double> e4m3_values() {
  std::vector<double> values;
  for (int code = 0; code < 127; ++code)  // 127 is not a number
    values.push_back(field_value(code >> 3, code & 7, 3, 7));
  return values;
}

// The nearest of ascending values; of two equally near, the one at an even place.
double nearest_value(const std::vector<double>& values, double x) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double near = std::fabs(values[i] - x);
    const double nearest = std::fabs(values[best] - x);
    if (near < nearest || (near == nearest && i % 2 == 0)) best = i;
  }
  return values[best];
}

TEST(E4m3, IsTheNearestOfItsValuesTiesToEven) {
  const std::vector<double> values = e4m3_values();
  ASSERT_EQ(values.back(), 448);
  Rng rng(1);
  for (int i = 0; i < 20000; ++i) {
    const float x =
        static_cast<float>(std::ldexp(rng.uniform(), static_cast<int>(rng.below(24)) - 14));
    const float expected = static_cast<float>(nearest_value(values, x));
    EXPECT_EQ(bits_of(round_to_e4m3(x)), bits_of(expected)) << x;
    EXPECT_EQ(bits_of(round_to_e4m3(-x)), bits_of(-expected)) << x;
  }
}

TEST(E4m3, BreaksEveryTieTowardsTheEvenCode) {
  const std::vector<double> values = e4m3_values();
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    const float middle = static_cast<float>((values[i] + values[i + 1]) / 2);
    EXPECT_EQ(round_to_e4m3(middle), static_cast<float>(values[i % 2 == 0 ? i : i + 1])) << i;
  }
}

TEST(E4m3, SaturatesAndKeepsNotANumber) {
  EXPECT_EQ(round_to_e4m3(1e9f), 448.0f);
  EXPECT_EQ(round_to_e4m3(-std::numeric_limits<float>::infinity()), -448.0f);
  EXPECT_EQ(round_to_e4m3(460.0f), 448.0f);
  EXPECT_TRUE(std::isnan(round_to_e4m3(std::numeric_limits<float>::quiet_NaN())));
}

TEST(HalfFormats, EveryCodeComesBackAsItWas) {
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const auto bits = static_cast<std::uint16_t>(code);
    if ((code & 0x7c00) != 0x7c00 || (code & 0x3ff) == 0) {
      const double magnitude = field_value((code >> 10) & 31, code & 0x3ff, 10, 15);
      const float half = float_from_f16(bits);
      if ((code & 0x7c00) != 0x7c00) {
        EXPECT_EQ(std::fabs(half), static_cast<float>(magnitude));
      }
      EXPECT_EQ(f16_from_float(half), bits);
    }
    if (!std::isnan(float_from_bf16(bits))) {
      EXPECT_EQ(bf16_from_float(float_from_bf16(bits)), bits);
    }
  }
}

// Rounding is right where it is right at, just below and just above the middle of neighbours.
template <typename To, typename From>
void check_middles(std::uint16_t infinity, const To& to, const From& from) {
  for (std::uint16_t low = 0; low + 1 < infinity; ++low) {
    const double middle =
        (static_cast<double>(from(low)) + from(static_cast<std::uint16_t>(low + 1))) / 2;
    const float exact = static_cast<float>(middle);
    if (exact != middle) continue;
    const auto high = static_cast<std::uint16_t>(low + 1);
    ASSERT_EQ(to(exact), low % 2 == 0 ? low : high) << low;
    ASSERT_EQ(to(std::nextafter(exact, 0.0f)), low) << low;
    ASSERT_EQ(to(std::nextafter(exact, std::numeric_limits<float>::infinity())), high) << low;
  }
}

TEST(HalfFormats, RoundToTheNearestTiesToEven) {
  check_middles(0x7c00, f16_from_float, float_from_f16);
  check_middles(0x7f80, bf16_from_float, float_from_bf16);
  EXPECT_EQ(f16_from_float(65519.996f), 0x7bff);
  EXPECT_EQ(f16_from_float(65520.0f), 0x7c00);
  EXPECT_EQ(bf16_from_float(std::numeric_limits<float>::max()), 0x7f80);
}

// q * s of the integer q in [low, high] nearest to w / s, of ties the even one: searched, not
// rounded. The quotient is that of float32, as the recipe says.
float searched_integer(float quotient, int low, int high) {
  int best = low;
  for (int q = low; q <= high; ++q) {
    const double near = std::fabs(static_cast<double>(quotient) - q);
    const double nearest = std::fabs(static_cast<double>(quotient) - best);
    if (near < nearest || (near == nearest && q % 2 == 0)) best = q;
  }
  return static_cast<float>(best);
}

std::vector<float> reference_symmetric(const std::vector<float>& weights, MatrixShape shape,
                                       int bits, std::size_t group) {
  std::vector<float> out(weights.size());
  const int most = (1 << (bits - 1)) - 1;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    for (std::size_t c = 0; c < shape.columns; ++c) {
      const std::size_t begin = group == 0 ? 0 : c / group * group;
      const std::size_t end = group == 0 ? shape.columns : std::min(begin + group, shape.columns);
      float largest = 0;
      for (std::size_t i = begin; i < end; ++i)
        largest = std::max(largest, std::fabs(weights[row * shape.columns + i]));
      const float scale = largest / static_cast<float>(most);
      const float w = weights[row * shape.columns + c];
      out[row * shape.columns + c] =
          scale == 0 ? 0 : searched_integer(w / scale, -most - 1, most) * scale;
    }
  }
  return out;
}

std::vector<float> reference_asymmetric(const std::vector<float>& weights, MatrixShape shape,
                                        int bits, std::size_t group) {
  std::vector<float> out(weights.size());
  const int most = (1 << bits) - 1;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    for (std::size_t c = 0; c < shape.columns; ++c) {
      const std::size_t begin = group == 0 ? 0 : c / group * group;
      const std::size_t end = group == 0 ? shape.columns : std::min(begin + group, shape.columns);
      float low = weights[row * shape.columns + begin];
      float high = low;
      for (std::size_t i = begin; i < end; ++i) {
        low = std::min(low, weights[row * shape.columns + i]);
        high = std::max(high, weights[row * shape.columns + i]);
      }
      const float scale = std::max(high - low, 1e-5f) / static_cast<float>(most);
      const float zero = searched_integer(-(low / scale), 0, most);
      const float w = weights[row * shape.columns + c];
      const int q =
          static_cast<int>(searched_integer(w / scale, -1000, 1000)) + static_cast<int>(zero);
      out[row * shape.columns + c] = (static_cast<float>(std::clamp(q, 0, most)) - zero) * scale;
    }
  }
  return out;
}

std::vector<float> random_matrix(MatrixShape shape, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> weights(shape.rows * shape.columns);
  for (float& w : weights) w = static_cast<float>(0.05 * rng.normal());
  return weights;
}

void expect_same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(bits_of(a[i] + 0.0f), bits_of(b[i] + 0.0f)) << i;  // -0 is 0 here
}

TEST(IntegerRounding, EqualsTheReferenceInEveryGroupSize) {
  for (const std::size_t columns : {1, 7, 64, 128, 130, 300}) {
    const MatrixShape shape{5, columns};
    for (const int bits : {3, 4, 8}) {
      for (const std::size_t group : {0, 32, 64, 128}) {
        const std::vector<float> weights = random_matrix(shape, columns + bits);
        std::vector<float> rounded = weights;
        round_symmetric(rounded, shape, bits, group);
        expect_same_bits(rounded, reference_symmetric(weights, shape, bits, group));
        rounded = weights;
        round_asymmetric(rounded, shape, bits, group);
        expect_same_bits(rounded, reference_asymmetric(weights, shape, bits, group));
      }
    }
  }
}

TEST(IntegerRounding, HandlesGroupsOfZeroesAndOfOneSign) {
  std::vector<float> weights(128, 0.0f);
  round_symmetric(weights, {1, 128}, 4, 128);
  round_asymmetric(weights, {1, 128}, 4, 128);
  EXPECT_EQ(weights, std::vector<float>(128, 0.0f));
  const std::vector<float> positive = {0.5f, 0.6f, 0.7f, 0.8f};
  std::vector<float> rounded = positive;
  round_asymmetric(rounded, {1, 4}, 4, 0);
  expect_same_bits(rounded, reference_asymmetric(positive, {1, 4}, 4, 0));
}

TEST(IntegerRounding, MovesNoWeightByMoreThanHalfAStep) {
  const MatrixShape shape{8, 256};
  const std::vector<float> weights = random_matrix(shape, 3);
  std::vector<float> rounded = weights;
  round_symmetric(rounded, shape, 4, 128);
  float largest = 0;
  for (const float w : weights) largest = std::max(largest, std::fabs(w));
  for (std::size_t i = 0; i < weights.size(); ++i)
    EXPECT_LE(std::fabs(weights[i] - rounded[i]), largest / 7 / 2 * 1.0001f);
}

TEST(Fp8Rounding, EqualsTheReferenceForATensorAndForChannels) {
  const std::vector<double> values = e4m3_values();
  const MatrixShape shape{6, 50};
  const std::vector<float> weights = random_matrix(shape, 9);
  for (const ScaleSpan span : {ScaleSpan::Tensor, ScaleSpan::Channel}) {
    std::vector<float> expected(weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::size_t row = i / shape.columns;
      float largest = 0;
      for (std::size_t j = 0; j < weights.size(); ++j)
        if (span == ScaleSpan::Tensor || j / shape.columns == row)
          largest = std::max(largest, std::fabs(weights[j]));
      const float scale = largest / 448.0f;
      const float quotient = std::fabs(weights[i] / scale);
      const auto magnitude = static_cast<float>(nearest_value(values, quotient));
      expected[i] = std::copysign(magnitude, weights[i]) * scale;
    }
    std::vector<float> rounded = weights;
    round_fp8_e4m3(rounded, shape, span);
    expect_same_bits(rounded, expected);
  }
}

}  // namespace
}  // namespace unmask
