// Decoding UTF-8 that may be broken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace unmask {

struct Utf8Step {
  std::uint32_t code_point;  // U+FFFD where the bytes are not UTF-8
  std::size_t length;        // bytes consumed, at least 1
  bool valid;
};

// Decodes the character at text[i]; i < text.size(). Overlong forms, surrogates and values past
// U+10FFFF are invalid; an invalid step consumes the longest prefix that could have been valid.
Utf8Step decode_utf8(std::string_view text, std::size_t i);

bool is_utf8(std::string_view text);

// `text` with every invalid sequence replaced by U+FFFD.
std::string to_utf8(std::string_view text);

}  // namespace unmask
