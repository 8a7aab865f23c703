#include "ingest/json_repair.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <system_error>

#include "base/utf8.h"

namespace unmask {
namespace {

constexpr std::string_view kReplacement = "\\ufffd";

bool in_number(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

// The code unit of a "\uXXXX" at text[i].
std::optional<std::uint32_t> escaped_unit(std::string_view text, std::size_t i) {
  if (text.size() < i + 6 || text[i] != '\\' || text[i + 1] != 'u') return std::nullopt;
  std::uint32_t unit = 0;
  const char* const last = text.data() + i + 6;
  const std::from_chars_result read = std::from_chars(text.data() + i + 2, last, unit, 16);
  if (read.ec != std::errc() || read.ptr != last) return std::nullopt;
  return unit;
}

class Mender {
 public:
  Mender(std::string_view text, JsonRepairs& repairs) : text_(text), repairs_(repairs) {
    out_.reserve(text.size() + 64);
  }

  std::string mend() {
    while (i_ < text_.size()) {
      const char c = text_[i_];
      if (c == '"')
        string();
      else if (c == 'N' || c == 'I' || text_.substr(i_, 2) == "-I")
        constant();
      else if (in_number(c))
        number();
      else
        copy(1);
    }
    return std::move(out_);
  }

 private:
  void copy(std::size_t length) {
    out_.append(text_.substr(i_, length));
    i_ += length;
  }

  void replace(std::size_t length, std::string_view with, bool& noted) {
    out_.append(with);
    i_ += length;
    noted = true;
  }

  void constant() {
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"})
      if (text_.substr(i_, word.size()) == word)
        return replace(word.size(), "null", repairs_.non_finite);
    copy(1);
  }

  void number() {
    std::size_t end = i_;
    while (end < text_.size() && in_number(text_[end])) ++end;
    const std::string_view token = text_.substr(i_, end - i_);
    double value = 0;
    const std::from_chars_result read =
        std::from_chars(token.data(), token.data() + token.size(), value);
    if (read.ptr != token.data() + token.size()) return copy(token.size());
    if (read.ec == std::errc::result_out_of_range) {
      if (token.find("e-") == token.npos && token.find("E-") == token.npos)
        return replace(token.size(), "null", repairs_.non_finite);
      return copy(token.size());
    }
    const bool whole = token.find_first_of(".eE") == token.npos;
    copy(token.size());
    if (whole && std::abs(value) >= 9.2e18) {
      out_ += ".0";
      repairs_.wide_integer = true;
    }
  }

  void string() {
    copy(1);
    while (i_ < text_.size()) {
      const char c = text_[i_];
      if (c == '\\') {
        escape();
      } else if (static_cast<unsigned char>(c) < 0x20) {
        control(c);
      } else {
        copy(1);
        if (c == '"') return;
      }
    }
  }

  void control(char c) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string escaped = "\\u00";
    escaped += kHex[static_cast<unsigned char>(c) >> 4];
    escaped += kHex[static_cast<unsigned char>(c) & 15];
    replace(1, escaped, repairs_.control_character);
  }

  void escape() {
    const std::optional<std::uint32_t> unit = escaped_unit(text_, i_);
    if (!unit || *unit < 0xD800 || *unit > 0xDFFF) return copy(2);
    const std::optional<std::uint32_t> next = escaped_unit(text_, i_ + 6);
    if (*unit < 0xDC00 && next && *next >= 0xDC00 && *next <= 0xDFFF) return copy(12);
    replace(6, kReplacement, repairs_.lone_surrogate);
  }

  std::string_view text_;
  JsonRepairs& repairs_;
  std::string out_;
  std::size_t i_ = 0;
};

}  // namespace

std::string repair_json(std::string_view text, JsonRepairs& repairs) {
  std::string valid;
  if (!is_utf8(text)) {
    repairs.invalid_utf8 = true;
    valid = to_utf8(text);
    text = valid;
  }
  return Mender(text, repairs).mend();
}

}  // namespace unmask
