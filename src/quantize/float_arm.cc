// One matrix at a time: read as float32, given its outliers, rounded, written as the stored type,
// and read back, because the error told is that of what is in the file. Rows are independent but
// for FP8's scale of a tensor and AWQ's choice, so the steps run over blocks of rows on several
// threads; sums of errors are added in the order of the blocks.
#include "quantize/float_arm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.h"

namespace unmask {
namespace {

constexpr std::size_t kBlockRows = 64;

// A matrix of a tensor on its way.
struct Matrix {
  MatrixShape shape;
  std::string_view bytes;  // as in the source
  std::vector<float> original;
  std::vector<float> rounded;
  std::string stored;
};

class ArmWriter {
 public:
  ArmWriter(const FloatArm& arm, GgufWriter writer) : arm_(arm), writer_(std::move(writer)) {}

  Result<TensorOutcome> write(const GgufTensor& tensor, const GgufTensorType& stored) {
    TensorOutcome outcome;
    outcome.name = tensor.name;
    outcome.shape = tensor.shape;
    outcome.type = stored.name;
    outcome.linear = is_linear_weight(tensor);
    outcome.bits = 8.0 * stored.bytes / stored.numbers;
    const bool rounds = is_simulated(arm_.recipe.row->kind) && outcome.linear;
    const OutlierPart part = arm_.outliers ? outlier_part(tensor.name) : OutlierPart::None;
    if (!rounds && part == OutlierPart::None && &stored == tensor.type) {
      const Result<Done> copied = writer_.append(arm_.source->data(tensor));
      if (!copied) return copied.error();
      return outcome;
    }
    const TensorMatrices all = matrices_of(tensor);
    if (rounds) outcome.bits = bits_per_weight(arm_.recipe, all.shape);
    outcome.error.emplace();
    const std::string_view bytes = arm_.source->data(tensor);
    const std::size_t size = bytes.size() / all.count;
    for (std::size_t i = 0; i < all.count; ++i) {
      Matrix matrix;
      matrix.shape = all.shape;
      matrix.bytes = bytes.substr(i * size, size);
      if (!read(matrix, *tensor.type, part))
        return Error{
            ErrorKind::Malformed,
            fmt::format("the tensor {} holds a weight that is not a finite number", outcome.name),
            ""};
      matrix.rounded = matrix.original;
      if (rounds) round(matrix, outcome, i);
      outcome.error->add(store(matrix, stored));
      const Result<Done> written = writer_.append(matrix.stored);
      if (!written) return written.error();
    }
    return outcome;
  }

 private:
  // Calls work(first row, rows, block) for blocks of rows.
  template <typename Work>
  void for_blocks(MatrixShape shape, const Work& work) {
    const std::size_t blocks = (shape.rows + kBlockRows - 1) / kBlockRows;
    parallel_for(blocks, arm_.threads, [&](std::size_t block) {
      const std::size_t first = block * kBlockRows;
      work(first, std::min(kBlockRows, shape.rows - first), block);
    });
  }

  // False where a number is not finite.
  bool read(Matrix& matrix, const GgufTensorType& type, OutlierPart part) {
    const std::size_t columns = matrix.shape.columns;
    matrix.original.resize(matrix.shape.rows * columns);
    std::vector<char> finite((matrix.shape.rows + kBlockRows - 1) / kBlockRows, 1);
    for_blocks(matrix.shape, [&](std::size_t first, std::size_t rows, std::size_t block) {
      const std::span<float> values(matrix.original.data() + first * columns, rows * columns);
      read_floats(matrix.bytes.substr(first * columns * type.bytes, values.size() * type.bytes),
                  type, values);
      if (arm_.outliers) apply_outliers(values, columns, part, *arm_.outliers);
      for (const float value : values)
        if (!std::isfinite(value)) finite[block] = 0;
    });
    return std::find(finite.begin(), finite.end(), 0) == finite.end();
  }

  void round(Matrix& matrix, TensorOutcome& outcome, std::size_t index) {
    const RecipeRow& row = *arm_.recipe.row;
    if (row.kind == RecipeKind::Awq) return round_with_inputs(matrix, outcome, index);
    const bool whole = row.kind == RecipeKind::Fp8 && row.span == ScaleSpan::Tensor;
    const float scale = whole ? e4m3_scale(matrix.rounded) : 0;
    for_blocks(matrix.shape, [&](std::size_t first, std::size_t rows, std::size_t) {
      const std::size_t columns = matrix.shape.columns;
      const std::span<float> part(matrix.rounded.data() + first * columns, rows * columns);
      const MatrixShape shape{rows, columns};
      if (whole)
        round_fp8_e4m3(part, scale);
      else if (row.kind == RecipeKind::Fp8)
        round_fp8_e4m3(part, shape, ScaleSpan::Channel);
      else if (row.kind == RecipeKind::Symmetric)
        round_symmetric(part, shape, row.bits, arm_.recipe.group);
      else
        round_asymmetric(part, shape, row.bits, arm_.recipe.group);
    });
  }

  void round_with_inputs(Matrix& matrix, TensorOutcome& outcome, std::size_t index) {
    InputSample sample;
    sample.mean_magnitude.resize(matrix.shape.columns);
    const auto found = arm_.calibration->inputs.find(outcome.name);
    if (found != arm_.calibration->inputs.end()) sample = found->second.sample(index);
    if (sample.rows.empty()) ++outcome.unseen;
    const AwqChoice choice = round_awq(matrix.rounded, matrix.shape, arm_.recipe.row->bits,
                                       arm_.recipe.group, sample, arm_.threads);
    outcome.alphas.push_back(choice.alpha);
  }

  TensorError store(Matrix& matrix, const GgufTensorType& type) {
    const std::size_t columns = matrix.shape.columns;
    matrix.stored.resize(matrix.rounded.size() * type.bytes);
    std::vector<TensorError> errors((matrix.shape.rows + kBlockRows - 1) / kBlockRows);
    for_blocks(matrix.shape, [&](std::size_t first, std::size_t rows, std::size_t block) {
      const std::size_t begin = first * columns;
      const std::size_t count = rows * columns;
      const std::span<float> values(matrix.rounded.data() + begin, count);
      const std::span<char> bytes(matrix.stored.data() + begin * type.bytes, count * type.bytes);
      write_floats(values, type, bytes);
      read_floats({bytes.data(), bytes.size()}, type, values);
      errors[block].add(std::span<const float>(matrix.original.data() + begin, count), values);
    });
    TensorError total;
    for (const TensorError& error : errors) total.add(error);
    return total;
  }

  const FloatArm& arm_;
  GgufWriter writer_;
};

const GgufTensorType* stored_type(const Recipe& recipe, const GgufTensor& tensor) {
  if (recipe.row->kind != RecipeKind::Float || !is_matrix_weight(tensor)) return tensor.type;
  return gguf_tensor_type(recipe.row->name);
}

GgufLayout layout_of(const FloatArm& arm) {
  GgufLayout layout = GgufLayout::of(*arm.source);
  for (std::size_t i = 0; i < layout.tensors.size(); ++i)
    layout.tensors[i].type = stored_type(arm.recipe, arm.source->tensors()[i]);
  for (const GgufField& field : arm.fields) layout.set(field);
  if (arm.recipe.row->kind == RecipeKind::Float)
    layout.set(
        gguf_u32("general.file_type", static_cast<std::uint32_t>(arm.recipe.row->file_type)));
  return layout;
}

}  // namespace

Result<std::vector<TensorOutcome>> write_float_arm(const FloatArm& arm, UnfinishedFile& file,
                                                   const std::stop_token& stop) {
  Result<GgufWriter> writer = GgufWriter::begin(layout_of(arm), file);
  if (!writer) return writer.error();
  ArmWriter arms(arm, std::move(*writer));
  std::vector<TensorOutcome> outcomes;
  for (const GgufTensor& tensor : arm.source->tensors()) {
    if (stop.stop_requested()) return Error{ErrorKind::Unavailable, "interrupted", ""};
    Result<TensorOutcome> outcome = arms.write(tensor, *stored_type(arm.recipe, tensor));
    if (!outcome) return outcome.error();
    outcomes.push_back(std::move(*outcome));
  }
  return outcomes;
}

}  // namespace unmask
