// Rounding a matrix of weights to few values and back: FP8 and round-to-nearest integers.
//
// A matrix is (row, column) = (output, input) channel, row-major: weights[row * columns + column].
// All arithmetic is float32, rounding to nearest even, without fused multiply-add, so that the
// results are the same bits everywhere.
#pragma once

#include <cstddef>
#include <span>

namespace unmask {

struct MatrixShape {
  std::size_t rows = 0;
  std::size_t columns = 0;
};

// How much of a row shares a scale. 0: the whole row ("per channel"). Where a row is not a multiple
// of the group, its last group is shorter.
using GroupSize = std::size_t;

enum class ScaleSpan { Tensor, Channel };

// Replaces each weight w by e4m3(w / s) * s. s = largest |w| / 448, of the matrix or of the row; a
// row (or matrix) of zeroes stays.
// Threads  pure.
void round_fp8_e4m3(std::span<float> weights, MatrixShape shape, ScaleSpan span);

// s of a matrix, for the same rounding done row by row elsewhere. 0 where all weights are 0.
float e4m3_scale(std::span<const float> weights);
void round_fp8_e4m3(std::span<float> weights, float scale);

// Symmetric: q = clamp(round(w / s), -2^(b-1), 2^(b-1) - 1), w becomes q * s, with
// s = largest |w| of the group / (2^(b-1) - 1). A group of zeroes stays. `bits` is 2 to 8.
// Threads  pure.
void round_symmetric(std::span<float> weights, MatrixShape shape, int bits, GroupSize group);

// Asymmetric with a zero point, as AWQ does it: s = max(max w - min w, 1e-5) / (2^b - 1),
// z = clamp(-round(min w / s), 0, 2^b - 1), q = clamp(round(w / s) + z, 0, 2^b - 1), w becomes
// (q - z) * s. A group whose weights all have one sign far from zero is clipped by the clamp on z,
// there as here.
// Threads  pure.
// Source   Lin et al. 2023, arXiv 2306.00978; pseudo_quantize_tensor of its code.
void round_asymmetric(std::span<float> weights, MatrixShape shape, int bits, GroupSize group);

}  // namespace unmask
