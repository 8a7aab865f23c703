#include "failure/secret_text.h"

#include <algorithm>
#include <array>

namespace unmask {

std::size_t past_blanks(std::string_view text, std::size_t i) {
  while (i < text.size() && is_blank(text[i])) ++i;
  return i;
}

std::size_t past_backslashes(std::string_view text, std::size_t i) {
  while (i < text.size() && text[i] == '\\') ++i;
  return i;
}

bool is_escaped_end(std::string_view text, std::size_t i) {
  const std::size_t next = past_backslashes(text, i);
  return next > i && next < text.size() &&
         (is_quote(text[next]) || text[next] == 'n' || text[next] == 'r' || text[next] == 't');
}

std::size_t scheme_length(std::string_view lower, std::size_t i) {
  constexpr std::array<std::string_view, 2> kSchemes = {"bearer", "basic"};
  for (const std::string_view scheme : kSchemes) {
    if (!matches_at(lower, i, scheme)) continue;
    const std::size_t end = past_blanks(lower, i + scheme.size());
    if (end > i + scheme.size() && end < lower.size()) return end - i;
  }
  return 0;
}

std::optional<Quote> quote_at(std::string_view text, std::size_t i) {
  const std::size_t at = past_backslashes(text, i);
  if (at >= text.size() || !is_quote(text[at])) return std::nullopt;
  return Quote{i, at};
}

std::optional<Quote> quote_before(std::string_view text, std::size_t i) {
  if (i == 0 || !is_quote(text[i - 1])) return std::nullopt;
  std::size_t begin = i - 1;
  while (begin > 0 && text[begin - 1] == '\\') --begin;
  return Quote{begin, i - 1};
}

bool closes(std::string_view text, const Quote& open, std::size_t at, std::size_t run) {
  const std::size_t depth = open.depth();
  return text[at] == text[open.at] && (run < depth || run % (2 * (depth + 1)) == depth);
}

Quote closing_quote(std::string_view text, const Quote& open) {
  for (std::size_t i = open.at + 1; i < text.size();) {
    const std::size_t at = past_backslashes(text, i);
    if (at >= text.size()) break;
    if (closes(text, open, at, at - i)) return {at - std::min(at - i, open.depth()), at};
    i = at + 1;
  }
  return {text.size(), text.size()};
}

}  // namespace unmask
