// Activation-aware weight quantization: before rounding, input channels that see large activations
// are scaled up, so that their weights lose less.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "quantize/weight_rounding.h"

namespace unmask {

// What a calibration saw at the input of one matrix.
struct InputSample {
  std::vector<float> mean_magnitude;  // (column): mean |x| of the channel
  std::vector<float> rows;            // (sample, column): some rows of X as they were
};

struct AwqChoice {
  double alpha = 0;           // the exponent chosen, a multiple of 1/20 in [0, 1)
  double error = 0;           // its output error
  double plain_error = 0;     // that of alpha = 0, which is round_asymmetric
  std::vector<float> scales;  // (column), s of the chosen alpha
};

// Rounds `weights` (W) by `bits` and `group` after scaling each input channel by s, and divides by
// s again, so that what is left in `weights` takes the place of W unchanged.
//
// For alpha = 0, 1/20, ... 19/20: s = max(a^alpha, 1e-4), a = mean |x| of the channel, divided by
// sqrt(max s * min s). The alpha with the smallest output error, the sum of squares of
// X W^T - X (Q(W s) / s)^T over the sampled rows X, is taken; the smaller of equal ones. With no
// rows alpha is 0: nothing is known about the inputs.
//
// The released AWQ shares s between matrices that read the same input, because it folds 1/s into
// the layer before, and then searches a clipping of the weights. Here every matrix has its own s
// and nothing is clipped.
//
// Shape    sample.mean_magnitude.size() == shape.columns; sample.rows.size() is a multiple of it.
// Threads  uses up to `threads`; the result is the same bits at any number.
// Source   Lin et al. 2023, arXiv 2306.00978, section 3.2; auto_scale of its code.
AwqChoice round_awq(std::span<float> weights, MatrixShape shape, int bits, GroupSize group,
                    const InputSample& sample, int threads);

// Sum of squares of X (W - V)^T, rows of X first. Sums run over columns, then samples, then rows of
// W, each in order, in double.
double output_error(std::span<const float> weights, std::span<const float> other, MatrixShape shape,
                    std::span<const float> rows);

}  // namespace unmask
