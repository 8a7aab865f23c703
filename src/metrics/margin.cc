#include "metrics/margin.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace unmask {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || static_cast<unsigned char>(c) >= 0x80;
}

double log_sum(double a, double b) {
  if (a == kNever) return b;
  if (b == kNever) return a;
  const double high = std::max(a, b);
  return high + std::log1p(std::exp(std::min(a, b) - high));
}

// The tokens put together, and the part of the first that stands before the name.
struct SpelledName {
  std::string text;
  std::string lead;
};

std::optional<SpelledName> spelled(const NameDecision& reply) {
  if (reply.tokens.empty() || reply.name.empty()) return std::nullopt;
  SpelledName out;
  for (const TokenDecision& token : reply.tokens) out.text += token.token;
  const std::size_t first = reply.tokens.front().token.size();
  const std::size_t before_last = out.text.size() - reply.tokens.back().token.size();
  for (std::size_t at = out.text.find(reply.name); at < first;
       at = out.text.find(reply.name, at + 1)) {
    if (at + reply.name.size() <= before_last) continue;
    out.lead = out.text.substr(0, at);
    return out;
  }
  return std::nullopt;
}

// Whether a text that began with `lead` can still become `name`, or has become it.
bool leads_to(std::string_view text, std::string_view lead, std::string_view name) {
  const std::size_t in_lead = std::min(text.size(), lead.size());
  if (text.substr(0, in_lead) != lead.substr(0, in_lead)) return false;
  text.remove_prefix(in_lead);
  const std::size_t common = std::min(text.size(), name.size());
  if (text.substr(0, common) != name.substr(0, common)) return false;
  return text.size() <= name.size() || !is_name_byte(text[name.size()]);
}

// The alternatives at one position as whole texts; the token that was taken is one of them.
struct Position {
  struct Branch {
    std::string text;
    double logprob = 0;
    bool to_choice = false;
  };
  std::vector<Branch> branches;
  double last = 0;         // of the least likely alternative that was given
  double choice = kNever;  // sum over the branches that lead to the choice
  std::size_t taken = 0;
};

Position position_of(const TokenDecision& token, const std::string& so_far, std::string_view lead,
                     std::string_view choice) {
  Position position;
  position.last = token.logprob;
  bool has_taken = false;
  const auto add = [&](std::string_view text, double logprob) {
    Position::Branch branch{so_far + std::string(text), logprob, false};
    branch.to_choice = leads_to(branch.text, lead, choice);
    if (branch.to_choice) position.choice = log_sum(position.choice, logprob);
    position.branches.push_back(std::move(branch));
  };
  for (const TokenAlternative& alternative : token.top) {
    position.last = std::min(position.last, alternative.logprob);
    if (alternative.token == token.token) {
      if (has_taken) continue;
      has_taken = true;
      position.taken = position.branches.size();
    }
    add(alternative.token, alternative.logprob);
  }
  if (has_taken) return position;
  position.taken = position.branches.size();
  add(token.token, token.logprob);
  return position;
}

// Margins gathered while walking along the reply.
class Walk {
 public:
  Walk(std::string_view lead, std::string_view choice, std::span<const std::string> competitors)
      : lead_(lead), choice_(choice), competitors_(competitors) {
    for (std::size_t i = 0; i < competitors.size(); ++i)
      if (competitors[i] != choice && !competitors[i].empty()) together_.push_back(i);
  }

  // False: the reply leaves the path of the choice here.
  bool step(const TokenDecision& token, const std::string& so_far) {
    const Position position = position_of(token, so_far, lead_, choice_);
    const Position::Branch& taken = position.branches[position.taken];
    std::vector<std::size_t> on;
    for (const std::size_t competitor : together_) {
      if (goes_on(position, taken, competitor))
        on.push_back(competitor);
      else
        part(position, competitor);
    }
    note_strangers(position);
    together_ = std::move(on);
    return taken.to_choice;
  }

  std::optional<ToolMargin> result(bool left) {
    out_.not_seen += static_cast<int>(together_.size());
    out_.beyond = std::move(together_);
    out_.left = left;
    std::stable_sort(
        out_.seen.begin(), out_.seen.end(),
        [](const CompetitorMargin& a, const CompetitorMargin& b) { return a.margin < b.margin; });
    const double value = out_.seen.empty() ? -kNever : out_.seen.front().margin;
    out_.closer_stranger = stranger_ < std::min(value, bound_);
    if (at_most_) {
      out_.margin = {*at_most_, Margin::Known::AtMost, 0};
    } else if (value <= bound_ && !out_.seen.empty()) {
      out_.margin = {value, Margin::Known::Exactly, reach_};
    } else if (bound_ < -kNever) {
      out_.margin = {bound_, Margin::Known::AtLeast, bound_};
    } else {
      return std::nullopt;
    }
    return std::move(out_);
  }

 private:
  // Whether the competitor and the choice are still on one path behind this position: some token
  // leads to both and, where the reply follows the choice, the taken one does.
  bool goes_on(const Position& position, const Position::Branch& taken,
               std::size_t competitor) const {
    const std::string& name = competitors_[competitor];
    if (taken.to_choice) return leads_to(taken.text, lead_, name);
    if (leads_to(taken.text, lead_, name)) return false;
    return std::any_of(position.branches.begin(), position.branches.end(),
                       [&](const Position::Branch& branch) {
                         return branch.to_choice && leads_to(branch.text, lead_, name);
                       });
  }

  void part(const Position& position, std::size_t competitor) {
    if (position.branches.size() < 2) {  // no alternatives were given
      ++out_.not_seen;
      return;
    }
    double logprob = kNever;  // of the branches that lead to it alone
    for (const Position::Branch& branch : position.branches)
      if (!branch.to_choice && leads_to(branch.text, lead_, competitors_[competitor]))
        logprob = log_sum(logprob, branch.logprob);
    if (position.choice != kNever) reach_ = std::min(reach_, position.choice - position.last);
    if (position.choice == kNever) {
      const double most = position.last - position.branches[position.taken].logprob;
      at_most_ = std::min(at_most_.value_or(most), most);
    } else if (logprob == kNever) {
      bound_ = std::min(bound_, position.choice - position.last);
    } else {
      out_.seen.push_back({competitor, position.choice - logprob});
    }
  }

  // A token that does not even fit what stands before the name is another spelling, no stranger.
  void note_strangers(const Position& position) {
    if (position.choice == kNever) return;
    for (const Position::Branch& branch : position.branches) {
      if (branch.to_choice || !leads_to(branch.text.substr(0, lead_.size()), lead_, choice_))
        continue;
      const bool known =
          std::any_of(competitors_.begin(), competitors_.end(),
                      [&](const std::string& name) { return leads_to(branch.text, lead_, name); });
      if (!known) stranger_ = std::min(stranger_, position.choice - branch.logprob);
    }
  }

  std::string_view lead_;
  std::string_view choice_;
  std::span<const std::string> competitors_;
  std::vector<std::size_t> together_;  // competitors that have not parted yet
  double bound_ = -kNever;             // of competitors that no alternative leads to
  double reach_ = -kNever;             // of all
  double stranger_ = -kNever;
  std::optional<double> at_most_;
  ToolMargin out_;
};

}  // namespace

std::optional<ToolMargin> tool_margin(const NameDecision& reply, std::string_view choice,
                                      std::span<const std::string> competitors) {
  const std::optional<SpelledName> name = spelled(reply);
  if (!name || choice.empty()) return std::nullopt;
  Walk walk(name->lead, choice, competitors);
  std::string so_far;
  bool on_path = true;
  for (const TokenDecision& token : reply.tokens) {
    on_path = walk.step(token, so_far);
    if (!on_path) break;
    so_far += token.token;
  }
  return walk.result(reply.name != choice);
}

void FirstTokens::learn(std::string_view token, Act act) {
  Counts& counts = tokens_.try_emplace(std::string(token)).first->second;
  ++counts.all;
  if (act == Act::Call) ++counts.calls;
}

std::optional<Act> FirstTokens::act_of(const Counts& counts) {
  constexpr double kPure = 0.99;
  const double share = static_cast<double>(counts.calls) / static_cast<double>(counts.all);
  if (share >= kPure) return Act::Call;
  if (share <= 1 - kPure) return Act::Talk;
  return std::nullopt;
}

std::optional<Act> FirstTokens::act(std::string_view token) const {
  const auto known = tokens_.find(token);
  if (known != tokens_.end()) return act_of(known->second);
  if (token.empty()) return std::nullopt;
  bool calls = false;
  for (const auto& [other, counts] : tokens_) {
    if (act_of(counts) != Act::Call) continue;
    calls = true;
    if (!other.empty() && (other.starts_with(token) || token.starts_with(other))) return Act::Call;
  }
  if (!calls) return std::nullopt;
  return Act::Talk;
}

bool FirstTokens::knows_calls() const {
  return std::any_of(tokens_.begin(), tokens_.end(),
                     [](const auto& token) { return act_of(token.second) == Act::Call; });
}

std::optional<Act> act_of(const TokenDecision& first, const FirstTokens& tokens) {
  return tokens.act(first.token);
}

std::optional<Margin> act_margin(const TokenDecision& first, Act choice,
                                 const FirstTokens& tokens) {
  double chosen = kNever;
  double other = kNever;
  double last = first.logprob;
  bool has_taken = false;
  const auto add = [&](std::string_view token, double logprob) {
    const std::optional<Act> act = tokens.act(token);
    if (!act) return;
    double& sum = *act == choice ? chosen : other;
    sum = log_sum(sum, logprob);
  };
  for (const TokenAlternative& alternative : first.top) {
    last = std::min(last, alternative.logprob);
    has_taken = has_taken || alternative.token == first.token;
    add(alternative.token, alternative.logprob);
  }
  if (!has_taken) add(first.token, first.logprob);
  if (chosen == kNever && other == kNever) return std::nullopt;
  if (other == kNever) {
    if (first.top.size() < 2 || !tokens.knows_calls()) return std::nullopt;
    return Margin{chosen - last, Margin::Known::AtLeast, chosen - last};
  }
  if (chosen == kNever) return Margin{last - other, Margin::Known::AtMost, 0};
  return Margin{chosen - other, Margin::Known::Exactly, chosen - last};
}

}  // namespace unmask
