#include "trace/decision.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace unmask {
namespace {

constexpr double kRounding = 1e-3;

// Far from 0 a float16 of a server rounds by more.
bool are_same(double a, double b) {
  return std::abs(a - b) <= kRounding * std::max({1.0, std::abs(a), std::abs(b)});
}

// Texts of tokens may repeat (bytes that are no text are shown alike), so one of them must agree.
bool disagrees_with_itself(const TokenDecision& token) {
  bool given = false;
  for (const TokenAlternative& alternative : token.top) {
    if (alternative.token != token.token) continue;
    if (are_same(alternative.logprob, token.logprob)) return false;
    given = true;
  }
  return given;
}

bool exceeds_one(const TokenDecision& token) {
  double sum = 0;
  bool given = false;
  for (const TokenAlternative& alternative : token.top) {
    sum += std::exp(alternative.logprob);
    given = given || alternative.token == token.token;
  }
  if (!given) sum += std::exp(token.logprob);
  return sum > 1 + kRounding;
}

bool is_beyond_computing(const TokenDecision& token) {
  constexpr double kLeast = -10000;
  return token.logprob < kLeast ||
         std::any_of(token.top.begin(), token.top.end(), [&](const TokenAlternative& alternative) {
           return alternative.logprob < kLeast;
         });
}

std::string_view contradiction_at(const TokenDecision& token) {
  if (disagrees_with_itself(token))
    return "a token's log-probability is not the one it has among its alternatives, which is the "
           "one that margins use";
  if (exceeds_one(token))
    return "the probabilities of a token and its alternatives add up to more than 1, so the margin "
           "taken there cannot be right";
  if (is_beyond_computing(token))
    return "a log-probability is below -10,000, which no model computes: a margin taken there is "
           "too wide";
  return "";
}

}  // namespace

// Each alternative as the length of its text (one byte; 255: four more bytes hold it), its
// log-probability and the text.
namespace {

constexpr unsigned char kLonger = 255;

struct Entry {
  TokenAlternative alternative;
  const char* end = nullptr;
};

Entry entry_at(const char* at) {
  std::uint32_t length = static_cast<unsigned char>(*at++);
  if (length == kLonger) {
    std::memcpy(&length, at, sizeof length);
    at += sizeof length;
  }
  Entry entry;
  std::memcpy(&entry.alternative.logprob, at, sizeof(double));
  at += sizeof(double);
  entry.alternative.token = std::string_view(at, length);
  entry.end = at + length;
  return entry;
}

std::size_t entry_size(const TokenAlternative& alternative) {
  const std::size_t length = alternative.token.size();
  return 1 + (length < kLonger ? 0 : sizeof(std::uint32_t)) + sizeof(double) + length;
}

}  // namespace

TokenAlternative Alternatives::Iterator::operator*() const {
  return entry_at(at_).alternative;
}

Alternatives::Iterator& Alternatives::Iterator::operator++() {
  at_ = entry_at(at_).end;
  return *this;
}

Alternatives::Alternatives(std::initializer_list<TokenAlternative> alternatives)
    : Alternatives(std::span<const TokenAlternative>(alternatives.begin(), alternatives.size())) {}

Alternatives::Alternatives(std::span<const TokenAlternative> alternatives) {
  std::size_t bytes = 0;
  for (const TokenAlternative& alternative : alternatives) bytes += entry_size(alternative);
  bytes_.reserve(bytes);
  for (const TokenAlternative& alternative : alternatives) push_back(alternative);
}

void Alternatives::push_back(const TokenAlternative& alternative) {
  const auto add = [&](const void* from, std::size_t count) {
    const char* const begin = static_cast<const char*>(from);
    bytes_.insert(bytes_.end(), begin, begin + count);
  };
  const auto length = static_cast<std::uint32_t>(alternative.token.size());
  const unsigned char shown = length < kLonger ? static_cast<unsigned char>(length) : kLonger;
  add(&shown, 1);
  if (shown == kLonger) add(&length, sizeof length);
  add(&alternative.logprob, sizeof(double));
  add(alternative.token.data(), length);
  ++size_;
}

std::string_view contradiction_in(const Decision& decision) {
  if (decision.first) {
    const std::string_view found = contradiction_at(*decision.first);
    if (!found.empty()) return found;
  }
  if (!decision.name) return "";
  for (const TokenDecision& token : decision.name->tokens) {
    const std::string_view found = contradiction_at(token);
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace unmask
