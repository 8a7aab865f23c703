#include "base/shell_quote.h"

#include <fmt/format.h>

#include <algorithm>

namespace unmask {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./=:,+@%").find(c) != std::string_view::npos;
}

bool is_escaped(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F || c == '`';
}

}  // namespace

std::string shell_quoted(std::string_view word, bool ascii) {
  const auto is_written_out = [ascii](char c) {
    return is_escaped(c) || (ascii && static_cast<unsigned char>(c) >= 0x80);
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  const bool escapes = std::any_of(word.begin(), word.end(), is_written_out);
  std::string out = escapes ? "$'" : "'";
  for (const char c : word) {
    if (escapes && is_written_out(c))
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else if (escapes && (c == '\'' || c == '\\'))
      out += std::string("\\") + c;
    else if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

}  // namespace unmask
