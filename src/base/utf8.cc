#include "base/utf8.h"

namespace unmask {

Utf8Step decode_utf8(std::string_view text, std::size_t i) {
  const auto at = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = at(i);
  if (first < 0x80) return {first, 1, true};
  // Length, and the range allowed for the second byte (Unicode 15, table 3-7).
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  } else {
    return {0xFFFD, 1, false};
  }
  std::uint32_t code_point = first & (0xFFu >> (length + 1));
  for (std::size_t k = 1; k < length; ++k) {
    if (i + k >= text.size() || at(i + k) < low || at(i + k) > high) return {0xFFFD, k, false};
    code_point = code_point << 6 | (at(i + k) & 0x3Fu);
    low = 0x80;
    high = 0xBF;
  }
  return {code_point, length, true};
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Step step = decode_utf8(text, i);
    if (!step.valid) return false;
    i += step.length;
  }
  return true;
}

std::string to_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Step step = decode_utf8(text, i);
    if (step.valid)
      out.append(text.substr(i, step.length));
    else
      out += "\xEF\xBF\xBD";
    i += step.length;
  }
  return out;
}

}  // namespace unmask
