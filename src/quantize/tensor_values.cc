#include "quantize/tensor_values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "quantize/float_formats.h"

namespace unmask {
namespace {

constexpr std::string_view kNotLinear[] = {
    "_norm.",     "ffn_gate_inp", "ssm_conv1d", "shortconv.conv", "time_mix_",
    "attn_rel_b", "altup",        "laurel",     "indexer.",       "per_layer_model_proj",
};

template <typename Bits, typename Convert>
void read_halves(std::string_view bytes, std::span<float> values, const Convert& convert) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + i * sizeof bits, sizeof bits);
    values[i] = convert(bits);
  }
}

template <typename Convert>
void write_halves(std::span<const float> values, std::span<char> bytes, const Convert& convert) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint16_t bits = convert(values[i]);
    std::memcpy(bytes.data() + i * sizeof bits, &bits, sizeof bits);
  }
}

}  // namespace

bool is_float_type(const GgufTensorType& type) {
  return type.name == "f32" || type.name == "f16" || type.name == "bf16";
}

TensorMatrices matrices_of(const GgufTensor& tensor) {
  TensorMatrices all;
  all.shape.columns = tensor.shape[0];
  all.shape.rows = tensor.shape.size() > 1 ? tensor.shape[1] : 1;
  for (std::size_t i = 2; i < tensor.shape.size(); ++i) all.count *= tensor.shape[i];
  return all;
}

bool is_linear_weight(const GgufTensor& tensor) {
  return is_matrix_weight(tensor) && tensor.name.starts_with("blk.");
}

bool is_matrix_weight(const GgufTensor& tensor) {
  const std::string_view name = tensor.name;
  if (tensor.shape.size() < 2 || tensor.shape.size() > 3) return false;
  if (!is_float_type(*tensor.type) || !name.ends_with(".weight")) return false;
  return std::none_of(std::begin(kNotLinear), std::end(kNotLinear), [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

void read_floats(std::string_view bytes, const GgufTensorType& type, std::span<float> values) {
  UNMASK_CHECK(is_float_type(type) && bytes.size() == values.size() * type.bytes);
  if (type.name == "f32")
    std::memcpy(values.data(), bytes.data(), bytes.size());
  else if (type.name == "f16")
    read_halves<std::uint16_t>(bytes, values, float_from_f16);
  else
    read_halves<std::uint16_t>(bytes, values, float_from_bf16);
}

void write_floats(std::span<const float> values, const GgufTensorType& type,
                  std::span<char> bytes) {
  UNMASK_CHECK(is_float_type(type) && bytes.size() == values.size() * type.bytes);
  if (type.name == "f32")
    std::memcpy(bytes.data(), values.data(), bytes.size());
  else if (type.name == "f16")
    write_halves(values, bytes, f16_from_float);
  else
    write_halves(values, bytes, bf16_from_float);
}

void TensorError::add(const TensorError& other) {
  squares += other.squares;
  original_squares += other.original_squares;
  largest = std::max(largest, other.largest);
}

void TensorError::add(std::span<const float> original, std::span<const float> stored) {
  UNMASK_CHECK(original.size() == stored.size());
  for (std::size_t i = 0; i < original.size(); ++i) {
    const double before = original[i];
    const double difference = static_cast<double>(stored[i]) - before;
    squares += difference * difference;
    original_squares += before * before;
    largest = std::max(largest, std::fabs(difference));
  }
}

double TensorError::relative_rms() const {
  if (squares == 0) return 0;
  if (original_squares == 0) return std::numeric_limits<double>::infinity();
  return std::sqrt(squares / original_squares);
}

}  // namespace unmask
