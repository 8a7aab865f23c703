#include "quantize/float_formats.h"

#include <bit>
#include <cmath>

namespace unmask {
namespace {

constexpr std::uint32_t kSign = 0x80000000u;

// value / 2^shift, rounded to nearest even; shift < 32.
std::uint32_t shifted_to_even(std::uint32_t value, int shift) {
  const std::uint32_t half = 1u << (shift - 1);
  const std::uint32_t low = value & ((1u << shift) - 1);
  const std::uint32_t quotient = value >> shift;
  const bool up = low > half || (low == half && (quotient & 1) != 0);
  return quotient + (up ? 1 : 0);
}

}  // namespace

std::uint16_t bf16_from_float(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float float_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t f16_from_float(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits & kSign) >> 16;
  const std::uint32_t magnitude = bits & ~kSign;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00;                        // not a number
  } else if (magnitude >= 0x477ff000u) {  // 65520 and beyond round to infinity
    half = 0x7c00;
  } else if (magnitude >= 0x38800000u) {  // 2^-14: normal
    half = shifted_to_even(magnitude - (112u << 23), 13);
  } else if (magnitude >= 0x33000000u) {  // 2^-25: may round to the smallest subnormal
    const int exponent = static_cast<int>(magnitude >> 23);
    half = shifted_to_even((magnitude & 0x7fffff) | 0x800000, 126 - exponent);
  }
  return static_cast<std::uint16_t>(sign | half);
}

float float_from_f16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1f;
  const std::uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 31 ? 0xff : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
}

// In the binade 2^e the values are 2^(e-3) apart, below 2^-6 always 2^-9. Dividing by that step,
// rounding to an integer and multiplying again are exact but for the rounding wanted.
float round_to_e4m3(float value) {
  if (std::isnan(value)) return value;
  const float magnitude = std::fabs(value);
  if (magnitude >= kLargestE4m3) return std::copysign(kLargestE4m3, value);
  int exponent = -6;
  if (magnitude >= 0x1p-6f) exponent = std::ilogb(magnitude);
  const float step = std::ldexp(1.0f, exponent - 3);
  return std::copysign(std::nearbyint(magnitude / step) * step, value);
}

}  // namespace unmask
