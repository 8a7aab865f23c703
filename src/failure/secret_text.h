// Quotes, escapes and schemes around secrets in a text, shared by what finds them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace unmask {

inline constexpr std::string_view kRemoved = "[removed]";

// What stands in place of the bytes [begin, end) of a text.
struct Removal {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text = std::string(kRemoved);
};

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

inline bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
}

inline bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

inline bool is_quote(char c) {
  return c == '"' || c == '\'';
}

inline bool matches_at(std::string_view text, std::size_t i, std::string_view word) {
  return text.substr(i, word.size()) == word;
}

std::size_t past_blanks(std::string_view text, std::size_t i);
std::size_t past_backslashes(std::string_view text, std::size_t i);

// Backslashes at `i` that make what follows a quote, a line break or a tab of the text they escape.
bool is_escaped_end(std::string_view text, std::size_t i);

// "Bearer abc...": bytes of the scheme at `i` with its blanks; 0: none starts here.
std::size_t scheme_length(std::string_view lower, std::size_t i);

// A quote with the backslashes before it: 0 in a text, 1 in a JSON string that holds one, then 3.
struct Quote {
  std::size_t begin = 0;  // of the backslashes
  std::size_t at = 0;     // of the quote
  std::size_t depth() const { return at - begin; }
};

// The quote at `i`, after any backslashes.
std::optional<Quote> quote_at(std::string_view text, std::size_t i);

// The quote right before `i` that a text may stand in.
std::optional<Quote> quote_before(std::string_view text, std::size_t i);

// Whether the quote at `at`, after a run of backslashes, closes `open` or the text around it.
bool closes(std::string_view text, const Quote& open, std::size_t at, std::size_t run);

// The quote that closes `open`; the end where none does.
Quote closing_quote(std::string_view text, const Quote& open);

}  // namespace unmask
