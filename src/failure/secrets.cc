// Taking secrets out of texts before they are shown. A list of shapes, not a proof: what has none
// of them stays. Errs on the side of removing.
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
    Prefix{"sk-", 16},    Prefix{"sk_", 16},    Prefix{"pk_live_", 16}, Prefix{"rk_live_", 16},
    Prefix{"ghp_", 20},   Prefix{"gho_", 20},   Prefix{"ghs_", 20},     Prefix{"github_pat_", 20},
    Prefix{"glpat-", 16}, Prefix{"hf_", 16},    Prefix{"AKIA", 20},     Prefix{"ASIA", 20},
    Prefix{"AIza", 30},   Prefix{"xoxb-", 16},  Prefix{"xoxp-", 16},    Prefix{"xapp-", 16},
    Prefix{"npm_", 20},   Prefix{"nvapi-", 16}, Prefix{"gsk_", 16},     Prefix{"eyJ", 24}};

// A key known by its first letters; 0: none starts here.
std::size_t known_key(std::string_view text, std::size_t i) {
  for (const Prefix& prefix : kKeyPrefixes) {
    if (text.substr(i, prefix.text.size()) != prefix.text) continue;
    const std::size_t length = token_length(text, i);
    if (length >= prefix.shortest) return length;
  }
  return 0;
}

constexpr std::array<std::string_view, 2> kSchemes = {"bearer ", "basic "};

// "Bearer abc...": bytes of the scheme with its blank; 0: none starts here.
std::size_t scheme_before_credentials(std::string_view text, std::string_view lower,
                                      std::size_t i) {
  for (const std::string_view scheme : kSchemes)
    if (matches_at(lower, i, scheme) && token_length(text, i + scheme.size()) >= 8)
      return scheme.size();
  return 0;
}

constexpr std::array<std::string_view, 23> kSecretNames = {
    "api_key",  "api-key",       "apikey",     "access_token",  "refresh_token", "auth_token",
    "id_token", "client_secret", "secret_key", "private_key",   "access_key",    "password",
    "passwd",   "secret",        "token",      "authorization", "credentials",   "pwd",
    "passcode", "passphrase",    "cookie",     "session_id",    "sessionid"};

// Between a secret's name and its value: quotes (escaped ones too), blanks, one ':' or '='.
std::optional<std::size_t> value_after(std::string_view text, std::size_t i) {
  bool separated = false;
  while (i < text.size()) {
    const char c = text[i];
    if ((c == ':' || c == '=') && !separated)
      separated = true;
    else if (c != '"' && c != '\'' && c != ' ' && c != '\\')
      break;
    ++i;
  }
  if (!separated || i >= text.size()) return std::nullopt;
  return i;
}

struct Value {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// password=hunter2, "api_key": "abc".
std::optional<Value> named_secret(std::string_view text, std::string_view lower, std::size_t i) {
  for (const std::string_view name : kSecretNames) {
    if (!matches_at(lower, i, name)) continue;
    const std::optional<std::size_t> begin = value_after(text, i + name.size());
    if (!begin) continue;
    std::size_t end = *begin;
    while (end < text.size() && !is_space(text[end]) && text[end] != '"' && text[end] != '\'' &&
           text[end] != ',' && text[end] != ';' && text[end] != '&' && text[end] != '}' &&
           text[end] != '\\')
      ++end;
    // A scheme is followed by what it announces.
    if (matches_at(lower, *begin, "bearer ") || matches_at(lower, *begin, "basic "))
      return std::nullopt;
    if (end > *begin && !matches_at(lower, *begin, "null")) return Value{*begin, end};
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

// Past "://": the '@' that ends user and password; npos: there are none. A ':' without a port
// begins a password, which may hold what belongs percent-encoded.
std::size_t end_of_user_info(std::string_view text, std::size_t i) {
  constexpr std::size_t kLongest = 1024;
  bool password = false;
  std::size_t at = std::string_view::npos;
  for (std::size_t j = i; j < text.size() && j - i <= kLongest; ++j) {
    const char c = text[j];
    if (is_space(c) || c == '"' || c == '\'' || c == '<' || c == '>' || c == '\\') break;
    if (!password && (c == '/' || c == '?' || c == '#')) break;
    if (password && at != std::string_view::npos && c == '/') break;
    if (c == ':' && j + 1 < text.size() && !(text[j + 1] >= '0' && text[j + 1] <= '9'))
      password = true;
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
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    if (const std::size_t pem = pem_key(text, i)) {
      out += kRemoved;
      i += pem;
      continue;
    }
    // Names may be part of a longer one: OPENAI_API_KEY=...
    if (const std::optional<Value> value = named_secret(text, lower, i)) {
      out += text.substr(i, value->begin - i);
      out += kRemoved;
      i = value->end;
      continue;
    }
    if (matches_at(text, i, "://")) {
      out += text.substr(i, 3);
      i += 3;
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
