#include "failure/secret_values.h"

#include <algorithm>
#include <array>

#include "failure/text.h"

namespace unmask {
namespace {

struct SecretName {
  std::string_view text;
  bool weak = false;  // also an ordinary word: only a value like credentials counts
};
constexpr std::array kSecretNames = {
    SecretName{"api_key"},       SecretName{"api-key"},          SecretName{"apikey"},
    SecretName{"access_token"},  SecretName{"refresh_token"},    SecretName{"auth_token"},
    SecretName{"id_token"},      SecretName{"client_secret"},    SecretName{"secret_key"},
    SecretName{"private_key"},   SecretName{"access_key"},       SecretName{"subscription_key"},
    SecretName{"access-key"},    SecretName{"subscription-key"}, SecretName{"password"},
    SecretName{"passwd"},        SecretName{"secret"},           SecretName{"token"},
    SecretName{"authorization"}, SecretName{"credentials"},      SecretName{"pwd"},
    SecretName{"passcode"},      SecretName{"passphrase"},       SecretName{"cookie"},
    SecretName{"api key"},       SecretName{"secret key"},       SecretName{"access key"},
    SecretName{"private key"},   SecretName{"access token"},     SecretName{"session_id"},
    SecretName{"sessionid"},     SecretName{"auth", true},       SecretName{"bearer", true},
    SecretName{"session", true}, SecretName{"signature", true},  SecretName{"sig", true},
    SecretName{"jwt", true},     SecretName{"key", true}};

// Bytes of a name looked at before the part that tells a secret.
constexpr std::size_t kLongestName = 64;

// Begin of the longer name that `i` lies in.
std::size_t name_begin(std::string_view text, std::size_t i) {
  const std::size_t least = i > kLongestName ? i - kLongestName : 0;
  while (i > least && (is_word(text[i - 1]) || text[i - 1] == '_' || text[i - 1] == '-')) --i;
  return i;
}

// Past the number of a numbered name: api_key_2.
std::size_t past_number(std::string_view text, std::size_t i) {
  constexpr std::size_t kMostDigits = 3;
  const std::size_t begin = i + (i < text.size() && (text[i] == '_' || text[i] == '-') ? 1 : 0);
  std::size_t end = begin;
  while (end < text.size() && end - begin <= kMostDigits && is_digit(text[end])) ++end;
  const bool number = end > begin && end - begin <= kMostDigits;
  return number && (end == text.size() || !(is_word(text[end]) || text[end] == '_')) ? end : i;
}

// An ordinary word that may name a secret does so as a word of its own, "key" only in the query of
// an address.
bool may_name(const SecretName& name, std::string_view text, std::size_t i) {
  if (!name.weak || i == 0) return !name.weak || name.text != "key";
  if (name.text == "key") return text[i - 1] == '?' || text[i - 1] == '&';
  return !is_word(text[i - 1]);
}

bool is_like_credentials(std::string_view value) {
  constexpr std::size_t kShortest = 8;
  return value.size() >= kShortest && std::any_of(value.begin(), value.end(), is_digit) &&
         std::none_of(value.begin(), value.end(), is_blank);
}

// Past an escaped line break or tab between a name and its ':'; `i` where there is none.
std::size_t past_escaped_space(std::string_view text, std::size_t i) {
  const std::size_t next = past_backslashes(text, i);
  if (next == i || !is_escaped_end(text, i) || is_quote(text[next])) return i;
  return next + 1 < text.size() && is_word(text[next + 1]) ? i : next + 1;
}

// Past the ':', '=', ":=" or "=>" after a secret's name, its closing quote and blanks.
std::optional<std::size_t> separator_end(std::string_view text, std::size_t i) {
  while (i < text.size()) {
    const char c = text[i];
    if (c == ':' || c == '=') break;
    const std::size_t escaped = past_escaped_space(text, i);
    if (escaped == i && !is_space(c) && !is_quote(c) && c != '\\' && c != ']') return std::nullopt;
    i = escaped > i ? escaped : std::max(past_backslashes(text, i), i + 1);
  }
  if (i >= text.size()) return std::nullopt;
  for (++i; i < text.size() && (text[i] == '=' || text[i] == '>');) ++i;
  return i;
}

// Where the value begins: on the line of the separator, or below it in quotes or brackets.
std::size_t value_begin(std::string_view text, std::size_t i) {
  const std::size_t here = past_blanks(text, i);
  std::size_t below = here;
  while (below < text.size() && is_space(text[below])) ++below;
  const std::size_t opening = past_backslashes(text, below);
  const bool opens = opening < text.size() &&
                     (is_quote(text[opening]) || text[opening] == '[' || text[opening] == '{');
  return opens ? below : here;
}

// The list or object at `i` with all it holds. A text in quotes stands for one that holds some, so
// that JSON stays JSON.
std::optional<Removal> bracketed(std::string_view text, std::size_t i) {
  Removal removal{i, text.size()};
  std::string mark;
  bool empty = true;
  std::size_t depth = 0;
  for (std::size_t j = i; j < text.size(); ++j) {
    const char c = text[j];
    if (const std::optional<Quote> open = quote_at(text, j)) {
      const Quote close = closing_quote(text, *open);
      if (mark.empty()) mark = text.substr(open->begin, open->at + 1 - open->begin);
      empty = false;
      j = close.at;
    } else if (c == '\\') {
      j = past_backslashes(text, j) - 1;
      empty = false;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      if (--depth > 0) continue;
      removal.end = j + 1;
      break;
    } else {
      empty = empty && is_space(c);
    }
  }
  if (empty) return std::nullopt;
  removal.text = mark + std::string(kRemoved) + mark;
  return removal;
}

// A header's value: to the end of its line, or of the quotes the header stands in.
std::size_t header_end(std::string_view text, std::size_t name, std::size_t i) {
  while (name > 0 && (is_word(text[name - 1]) || text[name - 1] == '-')) --name;  // Set-Cookie
  const std::optional<Quote> open = quote_before(text, name);
  while (i < text.size() && text[i] != '\n' && text[i] != '\r') {
    const std::size_t next = past_backslashes(text, i);
    if (next >= text.size()) return next;
    if (open && closes(text, *open, next, next - i))
      return next - std::min(next - i, open->depth());
    if (next > i && is_escaped_end(text, i) && !is_quote(text[next])) return i;
    i = text[next] == '\n' || text[next] == '\r' ? next : next + 1;
  }
  return i;
}

// A value without quotes.
std::size_t bare_end(std::string_view text, std::size_t i) {
  while (i < text.size() && !is_space(text[i]) && !is_quote(text[i]) && text[i] != ',' &&
         text[i] != ';' && text[i] != '&' && text[i] != '}' && !is_escaped_end(text, i))
    i = std::max(past_backslashes(text, i), i + 1);
  return i;
}

bool is_no_value(std::string_view lower, const Removal& value) {
  const std::string_view text = lower.substr(value.begin, value.end - value.begin);
  return text.empty() || text == "null" || text == "none";
}

// The value that begins at `i` and belongs to the name at `at`.
std::optional<Removal> value_of(std::string_view text, std::string_view lower, std::size_t at,
                                std::string_view name, std::size_t i) {
  const bool colon = text.substr(at, i - at).find(':') != std::string_view::npos;
  if (i < text.size() && (text[i] == '[' || text[i] == '{')) return bracketed(text, i);
  Removal value;
  if (const std::optional<Quote> open = quote_at(text, i)) {
    const std::string three(3, text[open->at]);  // a Python text over lines
    const bool tripled = open->depth() == 0 && matches_at(text, open->at, three);
    value.begin = open->at + (tripled ? three.size() : 1);
    value.end = tripled ? std::min(text.find(three, value.begin), text.size())
                        : closing_quote(text, *open).begin;
    if (value.end <= value.begin) return std::nullopt;
    // A scheme stays, what it announces goes.
    const std::size_t scheme = scheme_length(lower, value.begin);
    if (value.begin + scheme < value.end) value.begin += scheme;
    return value;
  }
  value.begin = i;
  const std::size_t scheme = scheme_length(lower, i);
  if (scheme > 0) {
    value.begin += scheme;
    value.end = bare_end(text, value.begin);
  } else if (colon && (name == "authorization" || name == "cookie")) {
    value.end = header_end(text, at, i);
  } else {
    value.end = bare_end(text, i);
  }
  if (is_no_value(lower, value)) return std::nullopt;
  return value;
}

// The block of a YAML text, "password: |": the deeper lines below it.
std::optional<Removal> yaml_block(std::string_view text, std::size_t i) {
  if (i >= text.size() || (text[i] != '|' && text[i] != '>')) return std::nullopt;
  std::size_t line = i + 1;
  while (line < text.size() && (text[line] == '-' || text[line] == '+' || is_digit(text[line])))
    ++line;
  line = past_blanks(text, line);
  if (line >= text.size() || text[line] != '\n') return std::nullopt;
  Removal block{past_blanks(text, line + 1), line + 1};
  if (block.begin == line + 1) return std::nullopt;
  while (block.end < text.size() && (is_blank(text[block.end]) || text[block.end] == '\n')) {
    const std::size_t end = text.find('\n', past_blanks(text, block.end));
    block.end = end == std::string_view::npos ? text.size() : end + 1;
  }
  if (block.end > block.begin && text[block.end - 1] == '\n') --block.end;
  if (block.end <= block.begin) return std::nullopt;
  return block;
}

// --password X, also as two texts of a list: "--password", "X".
std::optional<Removal> flag_value(std::string_view text, std::size_t name, std::size_t i) {
  if (!matches_at(text, name_begin(text, name), "--")) return std::nullopt;
  std::size_t begin = i;
  while (begin < text.size() && (is_blank(text[begin]) || is_quote(text[begin]) ||
                                 text[begin] == ',' || text[begin] == '\\'))
    ++begin;
  if (begin == i || begin >= text.size() || text[begin] == '-') return std::nullopt;
  Removal value{begin, bare_end(text, begin)};
  if (const std::optional<Quote> open = quote_before(text, begin))
    value.end = closing_quote(text, *open).begin;
  if (value.end <= value.begin) return std::nullopt;
  return value;
}

// <password>X</password>.
std::optional<Removal> element_value(std::string_view text, std::size_t name, std::size_t i) {
  const std::size_t begin = name_begin(text, name);
  if (i >= text.size() || text[i] != '>' || begin == 0 || text[begin - 1] != '<')
    return std::nullopt;
  const Removal value{i + 1, std::min(text.find('<', i), text.size())};
  if (trimmed(text.substr(value.begin, value.end - value.begin)).empty()) return std::nullopt;
  return value;
}

// "the password is hunter2": a word with a digit.
std::optional<Removal> told_value(std::string_view text, std::string_view lower, std::size_t i) {
  for (const std::string_view verb : {" is ", " was ", " is: "}) {
    if (!matches_at(lower, i, verb)) continue;
    Removal value{i + verb.size(), bare_end(text, i + verb.size())};
    while (value.end > value.begin &&
           (text[value.end - 1] == '.' || text[value.end - 1] == '!' || text[value.end - 1] == '?'))
      --value.end;
    const std::string_view word = text.substr(value.begin, value.end - value.begin);
    if (std::any_of(word.begin(), word.end(), is_digit)) return value;
  }
  return std::nullopt;
}

// What follows the name in [at, end).
std::optional<Removal> value_after(std::string_view text, std::string_view lower, std::size_t at,
                                   std::size_t end) {
  const std::string_view name = lower.substr(at, end - at);
  if (const std::optional<std::size_t> separated = separator_end(text, end)) {
    const std::size_t begin = value_begin(text, *separated);
    if (std::optional<Removal> block = yaml_block(text, begin)) return block;
    return value_of(text, lower, at, name, begin);
  }
  if (std::optional<Removal> value = element_value(text, at, end)) return value;
  if (std::optional<Removal> value = flag_value(text, at, end)) return value;
  return told_value(text, lower, end);
}

}  // namespace

std::optional<Removal> named_secret(std::string_view text, std::string_view lower, std::size_t i) {
  for (const SecretName& name : kSecretNames) {
    if (!matches_at(lower, i, name.text) || !may_name(name, text, i)) continue;
    const std::size_t end = past_number(text, i + name.text.size());
    std::optional<Removal> value = value_after(text, lower, i, end);
    if (!value) continue;
    if (!name.weak || is_like_credentials(text.substr(value->begin, value->end - value->begin)))
      return value;
  }
  return std::nullopt;
}

bool names_a_secret(std::string_view name) {
  constexpr std::array<std::string_view, 6> kAnywhere = {"password", "passwd",        "secret",
                                                         "apikey",   "authorization", "credential"};
  constexpr std::array<std::string_view, 15> kAtTheEnd = {
      "key",        "token",  "auth",    "bearer",    "session", "sessionid", "pwd", "passcode",
      "passphrase", "cookie", "cookies", "signature", "sig",     "jwt",       "pin"};
  std::string lower;
  for (std::size_t i = 0; i < name.size(); ++i) {  // apiKey is api_key
    const bool hump = i > 0 && name[i] >= 'A' && name[i] <= 'Z' && name[i - 1] >= 'a';
    if (hump) lower += '_';
    lower += name[i];
  }
  lower = lower_case(lower);
  while (!lower.empty() && !(lower.back() >= 'a' && lower.back() <= 'z')) lower.pop_back();
  const auto inside = [&](std::string_view word) { return lower.find(word) != std::string::npos; };
  if (std::any_of(kAnywhere.begin(), kAnywhere.end(), inside)) return true;
  std::size_t last = lower.size();
  while (last > 0 && lower[last - 1] >= 'a' && lower[last - 1] <= 'z') --last;
  const std::string_view word = std::string_view(lower).substr(last);
  return std::find(kAtTheEnd.begin(), kAtTheEnd.end(), word) != kAtTheEnd.end();
}

}  // namespace unmask
