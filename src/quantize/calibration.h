// What a float model saw at the inputs of its linear layers while it read a calibration text.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "quantize/awq.h"

namespace unmask {

// The inputs of one matrix, or of each expert of a mixture.
class LayerInputs {
 public:
  // Keeps up to `most_rows` rows of each matrix, drawn uniformly from all it sees; `name` seeds the
  // drawing.
  LayerInputs(std::size_t columns, std::size_t matrices, std::size_t most_rows,
              std::string_view name);

  // One more row of inputs of matrix `matrix`; x has `columns` numbers.
  void add(std::size_t matrix, std::span<const float> x);

  std::size_t columns() const { return columns_; }
  std::size_t matrices() const { return matrices_.size(); }
  std::uint64_t rows_seen(std::size_t matrix) const { return matrices_[matrix].seen; }

  // Mean |x| and the rows kept. Of a matrix that saw nothing, zeroes and no rows.
  InputSample sample(std::size_t matrix) const;
  // (matrix, column): mean x^2, as llama.cpp's importance matrix; 1 for a matrix that saw nothing.
  std::vector<float> importance() const;

 private:
  struct Matrix {
    std::uint64_t seen = 0;
    std::vector<double> magnitudes;  // (column): sum of |x|
    std::vector<double> squares;     // (column): sum of x^2
    std::vector<float> rows;         // (kept, column)
  };
  void keep(Matrix& matrix, std::span<const float> x);

  std::size_t columns_;
  std::size_t most_rows_;
  Rng rng_;
  std::vector<Matrix> matrices_;
};

struct Calibration {
  std::string sha256;                                      // of the file's bytes
  std::uint64_t records = 0;                               // texts or prompts in it
  std::uint64_t tokens = 0;                                // evaluated
  bool cut = false;                                        // there was more than `most_tokens`
  std::map<std::string, LayerInputs, std::less<>> inputs;  // by the weight's name
};

struct CalibrationOptions {
  std::uint64_t most_tokens = 32768;
  std::size_t most_rows = 128;  // of each matrix, kept for AWQ; fewer where memory would not do
  int threads = 1;
};

// Texts of a calibration file: all of a plain text; of JSON Lines, one of each line, which is an
// object with "prompt" or "text", or with "messages" whose "content"s are joined by newlines.
// Errors   Malformed, with the line: JSON Lines of another kind. InvalidArgument: no text at all.
Result<std::vector<std::string>> calibration_texts(std::string_view bytes, const std::string& path);

}  // namespace unmask
