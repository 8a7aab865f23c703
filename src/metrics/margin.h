// How close a decision was: the margin of METHOD 7, from the log-probabilities of its tokens.
//
// A choice `a` (the baseline's) and its competitors are names, the log-probabilities are of tokens,
// and every model splits names in its own way. So names are compared byte by byte along the reply:
// at each token position the text so far, put together with an alternative token, either still can
// become a name (it is a prefix of the name, or the name followed by what cannot belong to a name)
// or cannot. Two names *part* at the first position where a token leads to only one of them; that
// position is their node.
//
//   a = get_user, competitors get_order, get_users, cancel; the reply's tokens: `get_`, `user"`
//     position 0   `get_` -0.01    `cancel` -5.0    `get` -6.0
//     position 1   `user"` -0.2    `order"` -1.9    `users"` -3.2    `item"` -4.0
//   cancel parts at position 0, where `get_` and `get` can still become a:   margin 4.99
//   get_order and get_users at position 1:   -0.2 - (-1.9) = 1.7 and 3.0
//   m = 1.7; `item"` leads to no competitor and takes no part.
//   Were the second token `user`, get_users would part behind it, where nothing was recorded: it is
//   not seen.
//
// A log-probability of several tokens that lead to the same name is that of their sum. A token that
// leads to several competitors counts in full for each: what parts them lies further on, on a path
// that was not taken, and is not seen.
//
// A competitor that none of the alternatives given at its node leads to is known to be less likely
// than the last of them: m is at least log p(a) - log p(last), a bound and no value
// (right-censored). Where a reply leaves the path of a, its margin is taken there; names that would
// part from a further on are not seen. Where not even a is among the alternatives there, m is at
// most log p(last) - log p(taken): the flip is known, its size is not.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/decision.h"

namespace unmask {

// A margin in nats, or the side of `value` on which it lies.
struct Margin {
  enum class Known { Exactly, AtLeast, AtMost };
  double value = 0;
  Known known = Known::Exactly;
  // A margin beyond this could not have been seen: log p(a) - log p(last) at the node where that is
  // smallest. Of AtLeast it is the value.
  double reach = 0;

  bool operator==(const Margin&) const = default;
};

struct CompetitorMargin {
  std::size_t competitor = 0;  // index into the list given
  double margin = 0;           // log p(a) - log p(competitor) at their node
};

struct ToolMargin {
  Margin margin;                       // the smallest over the competitors
  std::vector<CompetitorMargin> seen;  // competitors an alternative leads to, closest first
  bool left = false;                   // the reply's name is not a
  // Competitors (indices) still together with a where the reply ended or left a's path.
  std::vector<std::size_t> beyond;
  int not_seen = 0;  // competitors that part from a beyond what was seen
  // An alternative that leads to no competitor, nor to a, is more likely than the closest one.
  bool closer_stranger = false;
};

// The margin of `choice` against `competitors` along the tokens of a reply's name. A competitor
// equal to the choice is passed over.
//
// nullopt  the tokens do not hold the name; or no competitor parts from the choice where it was
//          seen, or none was given.
std::optional<ToolMargin> tool_margin(const NameDecision& reply, std::string_view choice,
                                      std::span<const std::string> competitors);

enum class Act { Call, Talk };

// Which first tokens begin calls and which begin talk, learned from replies: what opens a call is a
// matter of the model's chat template, and no list could know it.
//
// A token with which at least 99 % of its replies call begins calls; with at most 1 %, talk; in
// between it decides nothing. A token no reply began with begins a call where it is a prefix of
// one that does, or has one as its prefix (`<` and `<tool_call>`); else talk, which begins in ever
// so many ways. Until a reply has called, nothing is known of tokens that were not seen.
class FirstTokens {
 public:
  void learn(std::string_view token, Act act);
  // nullopt: it decides nothing, or is not known.
  std::optional<Act> act(std::string_view token) const;
  // Whether any token is known to begin calls. Where none is, talk has nothing to be preferred to.
  bool knows_calls() const;

 private:
  struct Counts {
    long calls = 0;
    long all = 0;
  };
  static std::optional<Act> act_of(const Counts& counts);
  std::map<std::string, Counts, std::less<>> tokens_;
};

// The act a reply began with; nullopt where its first token decides nothing.
std::optional<Act> act_of(const TokenDecision& first, const FirstTokens& tokens);

// The margin of `choice` against the other act at the first token: log of the sum over tokens that
// begin the one, less the same of the other. Where no alternative begins the other, a bound, as for
// names.
//
// nullopt  nothing is known of one of the acts: no reply ever showed how it begins.
std::optional<Margin> act_margin(const TokenDecision& first, Act choice, const FirstTokens& tokens);

}  // namespace unmask
