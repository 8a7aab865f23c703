#include "quantize/weight_rounding.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "quantize/float_formats.h"

namespace unmask {
namespace {

float largest_magnitude(std::span<const float> weights) {
  float largest = 0;
  for (const float w : weights) largest = std::max(largest, std::fabs(w));
  return largest;
}

void round_group_symmetric(std::span<float> weights, int bits) {
  const float most = static_cast<float>((1 << (bits - 1)) - 1);
  const float largest = largest_magnitude(weights);
  const float scale = largest / most;
  if (scale == 0) {  // all zero, or so near it that the scale underflows
    std::fill(weights.begin(), weights.end(), 0.0f);
    return;
  }
  for (float& w : weights) w = std::clamp(std::nearbyint(w / scale), -most - 1, most) * scale;
}

constexpr float kSmallestRange = 1e-5f;

void round_group_asymmetric(std::span<float> weights, int bits) {
  const float most = static_cast<float>((1 << bits) - 1);
  const auto [low, high] = std::minmax_element(weights.begin(), weights.end());
  const float scale = std::max(*high - *low, kSmallestRange) / most;
  const float zero = std::clamp(-std::nearbyint(*low / scale), 0.0f, most);
  for (float& w : weights)
    w = (std::clamp(std::nearbyint(w / scale) + zero, 0.0f, most) - zero) * scale;
}

template <typename RoundGroup>
void for_each_group(std::span<float> weights, MatrixShape shape, GroupSize group,
                    const RoundGroup& round_group) {
  UNMASK_CHECK(weights.size() == shape.rows * shape.columns);
  const std::size_t width = group == 0 ? shape.columns : group;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const std::span<float> whole = weights.subspan(row * shape.columns, shape.columns);
    for (std::size_t begin = 0; begin < shape.columns; begin += width)
      round_group(whole.subspan(begin, std::min(width, shape.columns - begin)));
  }
}

}  // namespace

float e4m3_scale(std::span<const float> weights) {
  return largest_magnitude(weights) / kLargestE4m3;
}

void round_fp8_e4m3(std::span<float> weights, float scale) {
  if (scale == 0) {
    std::fill(weights.begin(), weights.end(), 0.0f);
    return;
  }
  for (float& w : weights) w = round_to_e4m3(w / scale) * scale;
}

void round_fp8_e4m3(std::span<float> weights, MatrixShape shape, ScaleSpan span) {
  UNMASK_CHECK(weights.size() == shape.rows * shape.columns);
  if (span == ScaleSpan::Tensor) return round_fp8_e4m3(weights, e4m3_scale(weights));
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const std::span<float> channel = weights.subspan(row * shape.columns, shape.columns);
    round_fp8_e4m3(channel, e4m3_scale(channel));
  }
}

void round_symmetric(std::span<float> weights, MatrixShape shape, int bits, GroupSize group) {
  UNMASK_CHECK(bits >= 2 && bits <= 8);
  for_each_group(weights, shape, group,
                 [bits](std::span<float> part) { round_group_symmetric(part, bits); });
}

void round_asymmetric(std::span<float> weights, MatrixShape shape, int bits, GroupSize group) {
  UNMASK_CHECK(bits >= 2 && bits <= 8);
  for_each_group(weights, shape, group,
                 [bits](std::span<float> part) { round_group_asymmetric(part, bits); });
}

}  // namespace unmask
