// quantize: arms of a model. One full-precision GGUF in, the same model at a lower precision out:
// llama.cpp's own types, or weights rounded to FP8 or INT4 and written back as BF16, F16 or F32, so
// that any llama.cpp runs them.
//
// This header: the 16- and 8-bit floating-point formats, to and from float32.
#pragma once

#include <cstdint>

namespace unmask {

// Every conversion to a narrower format rounds to the nearest value, ties to the even one.
// Threads  pure.

// BF16: the upper half of a float32. Not-a-number stays so (quiet); overflow becomes infinity.
std::uint16_t bf16_from_float(float value);
float float_from_bf16(std::uint16_t bits);

// F16: IEEE 754 binary16. Overflow becomes infinity, as the standard has it.
std::uint16_t f16_from_float(float value);
float float_from_f16(std::uint16_t bits);

// E4M3 of OCP's 8-bit floating-point formats (E4M3FN): 4 bits of exponent (bias 7), 3 of mantissa,
// no infinities. The value of float32 nearest to `value` that E4M3 has; what lies beyond +-448, the
// largest, becomes +-448. Not-a-number stays so.
// Source   OCP 8-bit Floating Point Specification (OFP8) 1.0, section 5.1.
float round_to_e4m3(float value);
inline constexpr float kLargestE4m3 = 448.0f;

}  // namespace unmask
