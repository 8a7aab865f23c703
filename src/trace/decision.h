// The log-probabilities a model gave where it chose to call or to talk, and which tool. Read from
// the JSON of a message's `decision` or a reply's (rollout/decision.h) by ingest/decision.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace unmask {

struct TokenAlternative {
  std::string_view token;  // of those in a list, it points into the list
  double logprob = 0;      // natural logarithm

  bool operator==(const TokenAlternative&) const = default;
};

// What else might have stood at a token, in the order given. Texts and numbers stand one behind the
// other in one piece of memory, for an audit keeps twenty of these for every token of every
// decision: 9 bytes an alternative and its text (a text of 255 bytes or more takes 4 bytes more).
class Alternatives {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = TokenAlternative;
    using difference_type = std::ptrdiff_t;
    using pointer = const TokenAlternative*;
    using reference = TokenAlternative;

    Iterator() = default;
    explicit Iterator(const char* at) : at_(at) {}
    TokenAlternative operator*() const;
    Iterator& operator++();
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const char* at_ = nullptr;
  };

  Alternatives() = default;
  Alternatives(std::initializer_list<TokenAlternative> alternatives);
  explicit Alternatives(std::span<const TokenAlternative> alternatives);

  void push_back(const TokenAlternative& alternative);

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Iterator begin() const { return Iterator(bytes_.data()); }
  Iterator end() const { return Iterator(bytes_.data() + bytes_.size()); }

  bool operator==(const Alternatives&) const = default;

 private:
  std::vector<char> bytes_;
  std::uint32_t size_ = 0;
};

// One token of a completion, and what else might have stood there.
struct TokenDecision {
  std::string token;
  double logprob = 0;
  Alternatives top;  // most likely first; may or may not hold `token`

  bool operator==(const TokenDecision&) const = default;
};

// The name of a completion's first call: the tokens that overlap it, so that the first may begin
// before the name (` "get`) and the last end behind it (`user"`).
struct NameDecision {
  std::string name;
  std::vector<TokenDecision> tokens;  // at least one

  bool operator==(const NameDecision&) const = default;
};

struct Decision {
  std::optional<TokenDecision> first;  // the completion's first token: call or talk
  std::optional<NameDecision> name;    // absent: no call, or its name was not found in the text

  bool operator==(const Decision&) const = default;
};

// What in the numbers cannot be, as a sentence without the place: a token's log-probability unlike
// its own among its alternatives, or probabilities at one token above 1 in all, each by more than
// 0.001 (servers round); a log-probability below -10,000 (some write -9999 for a probability of 0).
// Such numbers are used as they are, for the choice they belong to is real.
//
// Empty   nothing.
std::string_view contradiction_in(const Decision& decision);

}  // namespace unmask
