#include "llm/json_text.h"

#include <algorithm>

#include "base/utf8.h"

namespace unmask {
namespace {

using nlohmann::ordered_json;

constexpr int kMaxDepth = 200;

// Writing and destroying a value recurse with its depth.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

// The code unit of an escape \uXXXX at text[i]; -1 where there is none.
int escaped_unit(std::string_view text, std::size_t i) {
  if (i + 6 > text.size() || text[i] != '\\' || text[i + 1] != 'u') return -1;
  int unit = 0;
  for (const char c : text.substr(i + 2, 4)) {
    const char* digits = "0123456789abcdef";
    const char* at = std::find(digits, digits + 16, c >= 'A' && c <= 'F' ? char(c + 32) : c);
    if (at == digits + 16) return -1;
    unit = unit * 16 + static_cast<int>(at - digits);
  }
  return unit;
}

std::string without_single_surrogates(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const int unit = escaped_unit(text, i);
    const bool high = unit >= 0xd800 && unit < 0xdc00;
    const int after = high ? escaped_unit(text, i + 6) : -1;
    std::size_t length = text[i] == '\\' ? 2 : 1;
    if (unit >= 0) length = 6;
    if (high && after >= 0xdc00 && after < 0xe000) {
      length = 12;
    } else if (unit >= 0xd800 && unit < 0xe000) {
      out += "\\ufffd";
      i += 6;
      continue;
    }
    out += text.substr(i, length);
    i += length;
  }
  return out;
}

std::optional<ordered_json> parsed(std::string_view text) {
  ordered_json value = ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<ordered_json> read_json(std::string_view text) {
  if (too_deep(text)) return std::nullopt;
  std::optional<ordered_json> value = parsed(text);
  if (value) return value;
  const bool valid = is_utf8(text);
  const bool surrogates = text.find("\\ud") != text.npos || text.find("\\uD") != text.npos;
  if (valid && !surrogates) return std::nullopt;
  return parsed(without_single_surrogates(valid ? std::string(text) : to_utf8(text)));
}

std::string compact_json(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string sorted_json(const ordered_json& value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace unmask
