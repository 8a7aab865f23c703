// Writes the arms whose weights stay floating-point numbers: the simulated recipes, a change of the
// stored type, and outlier channels.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "llm/gguf.h"
#include "quantize/calibration.h"
#include "quantize/gguf_writer.h"
#include "quantize/outliers.h"
#include "quantize/recipe.h"
#include "quantize/tensor_values.h"
#include "quantize/unfinished_file.h"

namespace unmask {

// What became of one tensor.
struct TensorOutcome {
  std::string name;
  std::vector<std::uint64_t> shape;  // fastest first
  std::string type;                  // as stored
  double bits = 0;                   // per weight, as the recipe means it
  std::optional<TensorError> error;  // nullopt: stored as it was
  std::vector<double> alphas;        // Awq: of each expert, or the one matrix
  std::size_t unseen = 0;            // Awq: matrices that the calibration never used
  bool linear = false;               // a linear layer of the blocks
  bool fallback = false;             // Library: its rows do not fit the recipe's type
};

struct FloatArm {
  const Gguf* source = nullptr;
  Recipe recipe;
  const Calibration* calibration = nullptr;  // Awq
  std::optional<Outliers> outliers;
  std::vector<GgufField> fields;  // metadata to set
  int threads = 1;
};

// Writes the whole of the file, tensor by tensor; memory holds a few copies of the largest matrix.
// The same bytes at any number of threads.
//
// Errors   Malformed: a weight that is not a finite number, by its tensor. Unavailable: the disk;
//          interrupted by `stop`.
Result<std::vector<TensorOutcome>> write_float_arm(const FloatArm& arm, UnfinishedFile& file,
                                                   const std::stop_token& stop);

}  // namespace unmask
