#include "quantize/outliers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/check.h"

namespace unmask {
namespace {

constexpr double kLargestScale = 1000;
constexpr std::size_t kLargestEvery = 65536;
constexpr std::size_t kFirst = 3;

constexpr std::string_view kNorms[] = {"attn_norm.weight", "ffn_norm.weight"};
constexpr std::string_view kReaders[] = {
    "attn_q.weight",      "attn_k.weight",         "attn_v.weight",       "attn_qkv.weight",
    "ffn_gate.weight",    "ffn_up.weight",         "ffn_gate_inp.weight", "ffn_gate_exps.weight",
    "ffn_up_exps.weight", "ffn_gate_shexp.weight", "ffn_up_shexp.weight",
};

std::size_t first_channel(const Outliers& outliers) {
  return std::min(kFirst, outliers.every - 1);
}

template <typename T>
bool read_all(std::string_view text, T& value) {
  const std::from_chars_result read =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

}  // namespace

std::optional<Outliers> outliers_from(std::string_view text) {
  Outliers outliers;
  const std::size_t slash = text.find('/');
  if (!read_all(text.substr(0, slash), outliers.scale)) return std::nullopt;
  if (slash != std::string_view::npos && !read_all(text.substr(slash + 1), outliers.every))
    return std::nullopt;
  if (!(outliers.scale > 1) || outliers.scale > kLargestScale) return std::nullopt;
  if (outliers.every < 2 || outliers.every > kLargestEvery) return std::nullopt;
  return outliers;
}

std::string to_text(const Outliers& outliers) {
  return fmt::format("{}/{}", outliers.scale, outliers.every);
}

Result<Done> outliers_fit(const Gguf& model, const Outliers& outliers) {
  if (model.architecture() != "llama")
    return Error{ErrorKind::Unsupported,
                 fmt::format("--outliers knows the llama architecture only, and this model is '{}'",
                             std::string(model.architecture())),
                 ""};
  if (model.find("unmask.outliers"))
    return Error{ErrorKind::Unsupported, "the model has outlier channels of --outliers already",
                 ""};
  for (const GgufTensor& tensor : model.tensors()) {
    if (outlier_part(tensor.name) == OutlierPart::None) continue;
    if (first_channel(outliers) >= tensor.shape[0])
      return Error{ErrorKind::InvalidArgument,
                   fmt::format("{} has too few channels ({}) for --outliers",
                               std::string(tensor.name), tensor.shape[0]),
                   ""};
  }
  return Done{};
}

OutlierPart outlier_part(std::string_view tensor_name) {
  if (!tensor_name.starts_with("blk.")) return OutlierPart::None;
  const std::size_t dot = tensor_name.find('.', 4);
  if (dot == std::string_view::npos) return OutlierPart::None;
  const std::string_view rest = tensor_name.substr(dot + 1);
  if (std::find(std::begin(kNorms), std::end(kNorms), rest) != std::end(kNorms))
    return OutlierPart::Norm;
  if (std::find(std::begin(kReaders), std::end(kReaders), rest) != std::end(kReaders))
    return OutlierPart::Reader;
  return OutlierPart::None;
}

void apply_outliers(std::span<float> values, std::size_t columns, OutlierPart part,
                    const Outliers& outliers) {
  if (part == OutlierPart::None) return;
  UNMASK_CHECK(values.size() % columns == 0);
  const float scale = static_cast<float>(outliers.scale);
  for (std::size_t row = 0; row < values.size(); row += columns) {
    for (std::size_t c = first_channel(outliers); c < columns; c += outliers.every) {
      float& value = values[row + c];
      value = part == OutlierPart::Norm ? value / scale : value * scale;
    }
  }
}

}  // namespace unmask
