// Taking secrets out of texts before they are shown. A list of shapes, not a proof: what has none
// of them stays. Errs on the side of removing.
#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "failure/excerpt.h"
#include "failure/text.h"

namespace unmask {
namespace {

constexpr std::string_view kRemoved = "[removed]";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_token_char(char c) {
  return is_word(c) || c == '-' || c == '_' || c == '.' || c == '+' || c == '/' || c == '=' ||
         c == '~';
}

// Bytes of the token that starts at `i`.
std::size_t token_length(std::string_view text, std::size_t i) {
  std::size_t end = i;
  while (end < text.size() && is_token_char(text[end])) ++end;
  return end - i;
}

bool starts_a_word(std::string_view text, std::size_t i) {
  return i == 0 || !(is_word(text[i - 1]) || text[i - 1] == '_');
}

bool matches_at(std::string_view lower, std::size_t i, std::string_view word) {
  return lower.substr(i, word.size()) == word;
}

struct Prefix {
  std::string_view text;  // as written
  std::size_t shortest;   // of the whole token
};
constexpr std::array kKeyPrefixes = {
    Prefix{"sk-", 16},   Prefix{"sk_", 16},    Prefix{"pk_live_", 16}, Prefix{"rk_live_", 16},
    Prefix{"ghp_", 16},  Prefix{"gho_", 16},   Prefix{"ghs_", 16},     Prefix{"ghu_", 16},
    Prefix{"ghr_", 16},  Prefix{"glpat-", 16}, Prefix{"hf_", 16},      Prefix{"github_pat_", 20},
    Prefix{"AKIA", 20},  Prefix{"ASIA", 20},   Prefix{"AIza", 30},     Prefix{"xoxb-", 16},
    Prefix{"xoxp-", 16}, Prefix{"xoxa-", 16},  Prefix{"xoxr-", 16},    Prefix{"xoxs-", 16},
    Prefix{"xapp-", 16}, Prefix{"npm_", 20},   Prefix{"nvapi-", 16},   Prefix{"gsk_", 16},
    Prefix{"eyJ", 24}};

// A key known by its first letters; 0: none starts here.
std::size_t known_key(std::string_view text, std::size_t i) {
  for (const Prefix& prefix : kKeyPrefixes) {
    if (text.substr(i, prefix.text.size()) != prefix.text) continue;
    const std::size_t length = token_length(text, i);
    if (length >= prefix.shortest) return length;
  }
  return 0;
}

constexpr std::array<std::string_view, 2> kSchemes = {"bearer", "basic"};

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

bool is_quote(char c) {
  return c == '"' || c == '\'';
}

std::size_t past_blanks(std::string_view text, std::size_t i) {
  while (i < text.size() && is_blank(text[i])) ++i;
  return i;
}

// "Bearer abc...": bytes of the scheme with its blanks; 0: none starts here.
std::size_t scheme_length(std::string_view lower, std::size_t i) {
  for (const std::string_view scheme : kSchemes) {
    if (!matches_at(lower, i, scheme)) continue;
    const std::size_t end = past_blanks(lower, i + scheme.size());
    if (end > i + scheme.size() && end < lower.size()) return end - i;
  }
  return 0;
}

// The same where what follows is long enough for credentials.
std::size_t scheme_before_credentials(std::string_view text, std::string_view lower,
                                      std::size_t i) {
  const std::size_t length = scheme_length(lower, i);
  return length > 0 && token_length(text, i + length) >= 8 ? length : 0;
}

constexpr std::array<std::string_view, 23> kSecretNames = {
    "api_key",  "api-key",       "apikey",     "access_token",  "refresh_token", "auth_token",
    "id_token", "client_secret", "secret_key", "private_key",   "access_key",    "password",
    "passwd",   "secret",        "token",      "authorization", "credentials",   "pwd",
    "passcode", "passphrase",    "cookie",     "session_id",    "sessionid"};

std::size_t past_backslashes(std::string_view text, std::size_t i) {
  while (i < text.size() && text[i] == '\\') ++i;
  return i;
}

// Backslashes that make what follows a quote, a line break or a tab of the text they escape.
bool is_escaped_end(std::string_view text, std::size_t i) {
  const std::size_t next = past_backslashes(text, i);
  return next > i && next < text.size() &&
         (is_quote(text[next]) || text[next] == 'n' || text[next] == 'r' || text[next] == 't');
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

// A quote with the backslashes before it: 0 in a text, 1 in a JSON string that holds one, then 3.
struct Quote {
  std::size_t begin = 0;  // of the backslashes
  std::size_t at = 0;     // of the quote
  std::size_t depth() const { return at - begin; }
};

std::optional<Quote> quote_at(std::string_view text, std::size_t i) {
  const std::size_t at = past_backslashes(text, i);
  if (at >= text.size() || !is_quote(text[at])) return std::nullopt;
  return Quote{i, at};
}

// Whether the quote at `at`, after a run of backslashes, closes `open` or the text around it.
bool closes(std::string_view text, const Quote& open, std::size_t at, std::size_t run) {
  const std::size_t depth = open.depth();
  return text[at] == text[open.at] && (run < depth || run % (2 * (depth + 1)) == depth);
}

// The quote that closes `open`; the end where none does.
Quote closing_quote(std::string_view text, const Quote& open) {
  for (std::size_t i = open.at + 1; i < text.size();) {
    const std::size_t at = past_backslashes(text, i);
    if (at >= text.size()) break;
    if (closes(text, open, at, at - i)) return {at - std::min(at - i, open.depth()), at};
    i = at + 1;
  }
  return {text.size(), text.size()};
}

// What stands in place of a secret.
struct Removal {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text = std::string(kRemoved);
};

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

// The quote right before `i` that a text may stand in.
std::optional<Quote> quote_before(std::string_view text, std::size_t i) {
  if (i == 0 || !is_quote(text[i - 1])) return std::nullopt;
  std::size_t begin = i - 1;
  while (begin > 0 && text[begin - 1] == '\\') --begin;
  return Quote{begin, i - 1};
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
    value.begin = open->at + 1;
    value.end = closing_quote(text, *open).begin;
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

// password=hunter2, "api_key": "abc", "token": ["abc"], Cookie: a=1; b=2.
std::optional<Removal> named_secret(std::string_view text, std::string_view lower, std::size_t i) {
  for (const std::string_view name : kSecretNames) {
    if (!matches_at(lower, i, name)) continue;
    const std::optional<std::size_t> separated = separator_end(text, i + name.size());
    if (!separated) continue;
    std::optional<Removal> value = value_of(text, lower, i, name, value_begin(text, *separated));
    if (value) return value;
  }
  return std::nullopt;
}

// The password of "-u name:password" or "--user name:password" in a text that calls curl.
std::optional<Removal> curl_password(std::string_view text, std::size_t i) {
  constexpr std::array<std::string_view, 2> kFlags = {"--user", "-u"};
  if (i > 0 && !is_space(text[i - 1]) && !is_quote(text[i - 1])) return std::nullopt;
  for (const std::string_view flag : kFlags) {
    if (!matches_at(text, i, flag)) continue;
    std::size_t begin = i + flag.size();
    while (begin < text.size() && (is_blank(text[begin]) || is_quote(text[begin]) ||
                                   text[begin] == ',' || text[begin] == '=' || text[begin] == '\\'))
      ++begin;
    std::size_t colon = begin;
    while (colon < text.size() && (is_word(text[colon]) || text[colon] == '.' ||
                                   text[colon] == '_' || text[colon] == '-' || text[colon] == '@'))
      ++colon;
    if (colon == begin || colon >= text.size() || text[colon] != ':') continue;
    Removal password{colon + 1, colon + 1};
    if (const std::optional<Quote> open = quote_before(text, begin)) {
      password.end = closing_quote(text, *open).begin;
    } else {
      while (password.end < text.size() && !is_space(text[password.end]) &&
             !is_quote(text[password.end]) && !is_escaped_end(text, password.end))
        ++password.end;
    }
    if (password.end > password.begin) return password;
  }
  return std::nullopt;
}

constexpr std::string_view kPemBegin = "-----BEGIN ";
constexpr std::string_view kPemEnd = "-----END ";

// Bytes of a private key in PEM; 0: none starts here.
std::size_t pem_key(std::string_view text, std::size_t i) {
  if (text.substr(i, kPemBegin.size()) != kPemBegin) return 0;
  const std::string_view line = text.substr(i, 64);
  if (line.find("PRIVATE KEY") == std::string_view::npos) return 0;
  const std::size_t end = text.find(kPemEnd, i);
  if (end == std::string_view::npos) return text.size() - i;
  const std::size_t close = text.find("-----", end + kPemEnd.size());
  return (close == std::string_view::npos ? text.size() : close + 5) - i;
}

// "://", also as JSON may escape it; 0: none starts here.
std::size_t authority_mark(std::string_view text, std::size_t i) {
  for (const std::string_view mark : {"://", ":\\/\\/"})
    if (matches_at(text, i, mark)) return mark.size();
  return 0;
}

// Whether the ':' at `i` is followed by a port and not by a password.
bool is_port(std::string_view text, std::size_t i) {
  constexpr std::string_view kEnds = "/?#\\\"'<>,;)]}";
  std::size_t end = i + 1;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  if (end >= text.size() || is_space(text[end])) return true;
  return end > i + 1 && kEnds.find(text[end]) != std::string_view::npos;
}

// Past "://": the '@' that ends user and password; npos: there are none. A ':' without a port
// begins a password, which may hold what belongs percent-encoded, '@' and '/' too: it ends at the
// last '@' of the word.
std::size_t end_of_user_info(std::string_view text, std::size_t i) {
  constexpr std::size_t kLongest = 1024;
  bool password = false;
  std::size_t at = std::string_view::npos;
  std::size_t j = i;
  if (j < text.size() && text[j] == '[') j = std::min(text.find(']', j), text.size());
  for (; j < text.size() && j - i <= kLongest; ++j) {
    const char c = text[j];
    if (is_space(c) || c == '"' || c == '<' || c == '>' || is_escaped_end(text, j)) break;
    if (!password && (c == '/' || c == '?' || c == '#' || c == '\'' || c == '\\')) break;
    if (c == ':' && at == std::string_view::npos) password = password || !is_port(text, j);
    if (c == '@') at = j;
  }
  return at;
}

bool is_mailbox_char(char c) {
  return is_word(c) || c == '.' || c == '_' || c == '-' || c == '+' || c == '%';
}

// An e-mail address that starts at `i`: the place of its '@'.
std::optional<std::size_t> mail_at(std::string_view text, std::size_t i) {
  constexpr std::size_t kLongestMailbox = 64;
  std::size_t at = i;
  while (at < text.size() && at - i <= kLongestMailbox && is_mailbox_char(text[at])) ++at;
  if (at == i || at + 3 >= text.size() || text[at] != '@' || !is_word(text[at + 1]))
    return std::nullopt;
  std::size_t end = at + 1;
  bool dotted = false;
  for (; end < text.size() && (is_word(text[end]) || text[end] == '.' || text[end] == '-'); ++end)
    dotted |= text[end] == '.' && end + 1 < text.size() && is_word(text[end + 1]);
  if (!dotted) return std::nullopt;
  return at;
}

}  // namespace

std::string without_secrets(std::string_view text) {
  const std::string lower = lower_case(text);
  const bool calls_curl = lower.find("curl") != std::string::npos;
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    if (const std::size_t pem = pem_key(text, i)) {
      out += kRemoved;
      i += pem;
      continue;
    }
    // Names may be part of a longer one: OPENAI_API_KEY=...
    std::optional<Removal> value = named_secret(text, lower, i);
    if (!value && calls_curl) value = curl_password(text, i);
    if (value) {
      out += text.substr(i, value->begin - i);
      out += value->text;
      i = value->end;
      continue;
    }
    if (const std::size_t mark = authority_mark(text, i)) {
      out += text.substr(i, mark);
      i += mark;
      const std::size_t at = end_of_user_info(text, i);
      if (at == std::string_view::npos || at == i) continue;
      out += kRemoved;
      i = at;
      continue;
    }
    if (!starts_a_word(text, i)) {
      out += text[i++];
      continue;
    }
    if (const std::size_t scheme = scheme_before_credentials(text, lower, i)) {
      out += text.substr(i, scheme);
      out += kRemoved;
      i += scheme + token_length(text, i + scheme);
    } else if (const std::size_t key = known_key(text, i)) {
      out += kRemoved;
      i += key;
    } else if (const std::optional<std::size_t> at = mail_at(text, i)) {
      out += text[i];
      out += "…@";
      i = *at + 1;
    } else {
      out += text[i++];
    }
  }
  return out;
}

}  // namespace unmask
