// Tensors as float32: which of a model's tensors are rounded, and their values in and out of the
// float types.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llm/gguf.h"
#include "quantize/weight_rounding.h"

namespace unmask {

// F32, F16 or BF16.
bool is_float_type(const GgufTensorType& type);

// One row-major matrix, or several of one shape behind one another: the experts of a mixture.
struct TensorMatrices {
  MatrixShape shape;
  std::size_t count = 1;  // experts
};
TensorMatrices matrices_of(const GgufTensor& tensor);

// Matrices that may be stored narrower: two extents or three (the last counts experts), a name that
// ends in ".weight"; not norms, biases, routers (ffn_gate_inp) or the small convolutions and mixing
// weights of state-space models.
bool is_matrix_weight(const GgufTensor& tensor);
// Those of them that are linear layers inside the blocks ("blk.N."), which the simulated recipes
// round: not the embeddings and the output head.
bool is_linear_weight(const GgufTensor& tensor);

// values.size() numbers of a float type from as many bytes.
void read_floats(std::string_view bytes, const GgufTensorType& type, std::span<float> values);

// The numbers as bytes of a float type, each rounded to the nearest value, ties to even.
void write_floats(std::span<const float> values, const GgufTensorType& type, std::span<char> bytes);

// What rounding did to a tensor.
struct TensorError {
  double squares = 0;           // sum of (stored - original)^2
  double original_squares = 0;  // sum of original^2
  double largest = 0;           // max |stored - original|

  void add(const TensorError& other);
  void add(std::span<const float> original, std::span<const float> stored);
  // sqrt(squares / original_squares); 0 of a tensor of zeroes that stayed.
  double relative_rms() const;
};

}  // namespace unmask
