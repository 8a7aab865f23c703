#include "failure/secrets.h"

#include <algorithm>
#include <array>
#include <optional>

#include "failure/secret_text.h"
#include "failure/secret_values.h"
#include "failure/text.h"

namespace unmask {
namespace {

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

// The same where what follows is long enough for credentials.
std::size_t scheme_before_credentials(std::string_view text, std::string_view lower,
                                      std::size_t i) {
  const std::size_t length = scheme_length(lower, i);
  return length > 0 && token_length(text, i + length) >= 8 ? length : 0;
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
