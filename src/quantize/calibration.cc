#include "quantize/calibration.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/check.h"
#include "base/utf8.h"

namespace unmask {
namespace {

constexpr std::uint64_t kSampleSeed = 20260731;

Error malformed_line(const std::string& path, std::size_t line, const std::string& message) {
  return Error{ErrorKind::Malformed, message, path + ":" + std::to_string(line)};
}

// The text of one line's object; nullopt where it has none of the keys.
std::optional<std::string> text_of(const nlohmann::json& object) {
  for (const char* key : {"prompt", "text"}) {
    const auto found = object.find(key);
    if (found != object.end() && found->is_string()) return found->get<std::string>();
  }
  const auto messages = object.find("messages");
  if (messages == object.end() || !messages->is_array()) return std::nullopt;
  std::string text;
  for (const nlohmann::json& message : *messages) {
    if (!message.is_object()) continue;
    const auto content = message.find("content");
    if (content == message.end() || !content->is_string()) continue;
    text += (text.empty() ? "" : "\n") + content->get<std::string>();
  }
  return text;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// JSON Lines begin with an object on a line of its own; a text that merely begins with a brace does
// not.
bool looks_like_json_lines(std::string_view bytes) {
  const std::string_view first = bytes.substr(0, bytes.find('\n'));
  if (first.empty() || first[0] != '{') return false;
  const nlohmann::json value = nlohmann::json::parse(first, nullptr, false);
  return value.is_object();
}

Result<std::vector<std::string>> json_line_texts(std::string_view bytes, const std::string& path) {
  std::vector<std::string> texts;
  std::size_t line = 0;
  while (!bytes.empty()) {
    ++line;
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    const std::string_view here = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    if (is_blank(here)) continue;
    const nlohmann::json value = nlohmann::json::parse(here, nullptr, false);
    if (!value.is_object()) return malformed_line(path, line, "is not a JSON object");
    const std::optional<std::string> text = text_of(value);
    if (!text)
      return malformed_line(path, line, "has none of \"prompt\", \"text\" and \"messages\"");
    if (!is_blank(*text)) texts.push_back(*text);
  }
  return texts;
}

}  // namespace

LayerInputs::LayerInputs(std::size_t columns, std::size_t matrices, std::size_t most_rows,
                         std::string_view name)
    : columns_(columns), most_rows_(most_rows), rng_(kSampleSeed, name), matrices_(matrices) {
  for (Matrix& matrix : matrices_) {
    matrix.magnitudes.resize(columns);
    matrix.squares.resize(columns);
  }
}

void LayerInputs::add(std::size_t matrix, std::span<const float> x) {
  UNMASK_CHECK(matrix < matrices_.size() && x.size() == columns_);
  Matrix& m = matrices_[matrix];
  for (std::size_t c = 0; c < columns_; ++c) {
    const double value = x[c];
    m.magnitudes[c] += std::fabs(value);
    m.squares[c] += value * value;
  }
  ++m.seen;
  keep(m, x);
}

// Reservoir sampling (Vitter 1985, algorithm R): after n rows each is kept with chance most / n.
void LayerInputs::keep(Matrix& matrix, std::span<const float> x) {
  if (matrix.seen <= most_rows_) {
    matrix.rows.insert(matrix.rows.end(), x.begin(), x.end());
    return;
  }
  if (most_rows_ == 0) return;
  const std::uint64_t bounded = std::min<std::uint64_t>(matrix.seen, UINT32_MAX);
  const std::size_t place = rng_.below(static_cast<std::uint32_t>(bounded));
  if (place < most_rows_)
    std::copy(x.begin(), x.end(),
              matrix.rows.begin() + static_cast<std::ptrdiff_t>(place * columns_));
}

InputSample LayerInputs::sample(std::size_t matrix) const {
  const Matrix& m = matrices_[matrix];
  InputSample sample;
  sample.rows = m.rows;
  sample.mean_magnitude.resize(columns_);
  if (m.seen == 0) return sample;
  for (std::size_t c = 0; c < columns_; ++c)
    sample.mean_magnitude[c] = static_cast<float>(m.magnitudes[c] / static_cast<double>(m.seen));
  return sample;
}

std::vector<float> LayerInputs::importance() const {
  std::vector<float> means;
  means.reserve(columns_ * matrices_.size());
  for (const Matrix& m : matrices_)
    for (const double sum : m.squares)
      means.push_back(m.seen == 0 ? 1.0f : static_cast<float>(sum / static_cast<double>(m.seen)));
  return means;
}

Result<std::vector<std::string>> calibration_texts(std::string_view bytes,
                                                   const std::string& path) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  std::vector<std::string> texts;
  if (looks_like_json_lines(bytes)) {
    Result<std::vector<std::string>> read = json_line_texts(bytes, path);
    if (!read) return read;
    texts = std::move(*read);
  } else if (!is_utf8(bytes)) {
    return Error{ErrorKind::Malformed, "the calibration file is neither UTF-8 text nor JSON Lines",
                 path};
  } else if (!is_blank(bytes)) {
    texts.emplace_back(bytes);
  }
  if (texts.empty())
    return Error{ErrorKind::InvalidArgument, "the calibration file holds no text", path};
  return texts;
}

}  // namespace unmask
