// A replay arranged for comparison: replies by context, sample and arm, the names that compete, and
// the margins. Internal to compare.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "metrics/margin.h"
#include "stats/tobit.h"
#include "trace/decision.h"
#include "trace/replay.h"

namespace unmask {

struct ReplyAt {
  const ReplayReply* reply = nullptr;
  const Decision* decision = nullptr;  // null: none was given
};

// One reply with the baseline's to the same context, of the same sample.
struct ReplyPair {
  std::size_t context = 0;  // index into Replay::contexts
  int task = 0;
  ReplyAt baseline;
  ReplyAt candidate;
};

// The names one list of tools makes compete: the offered ones, then those hallucinated by any arm
// of the replay that are not among them.
struct Competitors {
  std::vector<std::string> names;
  std::unordered_set<std::string_view> offered;
};

// The views point into the replay and the decisions, which must outlive the table.
class ReplayTable {
 public:
  ReplayTable(const Replay& replay, std::span<const Decision* const> decisions);

  const Replay& replay() const { return *replay_; }
  int baseline() const { return baseline_; }
  int tasks() const { return static_cast<int>(tasks_.size()); }
  int task_of(std::size_t context) const { return task_of_[context]; }
  // Of contexts with the same messages and tools the first; a copy counts in the task of that one.
  std::size_t first_alike(std::size_t context) const { return first_alike_[context]; }
  // Contexts without those; nullopt: the replay does not say what was sent.
  std::optional<long> distinct() const;
  long copies_in_other_tasks() const;  // than their first

  // Replies of an arm that are no errors, in the replay's order, with their contexts.
  struct Placed {
    std::size_t context = 0;
    ReplyAt at;
  };
  const std::vector<Placed>& replies_of(std::size_t arm) const { return by_arm_[arm]; }
  std::vector<ReplyPair> pairs_with(std::size_t arm) const;
  // The baseline's reply when it was asked once more (by the first arm that repeats it); null
  // reply: it was not.
  ReplyAt asked_again(std::size_t context, int sample) const;
  bool repeats_baseline() const { return !again_.empty(); }

  const Competitors& competitors_of(std::size_t context) const;
  bool is_offered(std::size_t context, std::string_view name) const;
  // A name the baseline, or an arm that repeats it, hallucinates somewhere.
  bool is_known_failure(const std::string& name) const { return known_failures_.count(name) > 0; }
  const FirstTokens& first_tokens() const { return first_tokens_; }

 private:
  void index_tools();
  void index_contexts();
  void index_replies(std::span<const Decision* const> decisions);
  void index_repeats();
  void find_hallucinations();
  void complete_competitors();

  const Replay* replay_;
  int baseline_ = 0;
  std::map<std::string, std::size_t> arm_index_;
  std::map<std::string, std::size_t> context_index_;
  std::map<std::string, Competitors> by_tools_;
  std::map<std::pair<std::string, std::string>, int> tasks_;  // (domain, task)
  std::vector<int> task_of_;                                  // (context)
  std::vector<std::size_t> first_alike_;                      // (context)
  std::vector<std::vector<Placed>> by_arm_;
  std::map<std::pair<std::size_t, int>, ReplyAt> again_;  // (context, sample)
  std::set<std::string> hallucinated_;
  std::set<std::string> known_failures_;
  FirstTokens first_tokens_;
};

// A reply calls where it has a call or its text holds call markup nothing extracted.
bool calls(const ReplayReply& reply);
// The name it calls first; empty where it calls none.
std::string_view first_name(const ReplayReply& reply);

Bounded bounded(const Margin& margin);
// Whether a candidate's margin is a flip; nullopt where its bound does not tell.
std::optional<bool> is_flip(const Margin& margin);

// One decision of both arms.
struct MarginPair {
  const ReplyPair* pair = nullptr;
  Margin baseline;
  Margin candidate;
  bool flip = false;
  std::optional<Margin> again;  // of the baseline's choice, when the baseline was asked once more
  std::vector<CompetitorMargin> seen;  // the baseline's, for tools
  std::string prefers;                 // the candidate, for tools: its likeliest name
};

struct PairedMargins {
  std::vector<MarginPair> rows;
  long other_text = 0;  // what stands before the name is not the same in both replies
  long off_top = 0;
  long undetermined = 0;
};

// Whether both replies wrote the same before the name of their first call. A name's probability is
// conditional on the reply's own text, so only then are two names chosen in one context. Where the
// text is empty in both, the first tokens still tell (an opening of a call that differs), unless
// the name itself begins with them.
bool same_before_name(const ReplyAt& a, const ReplyAt& b);

// The pairs of which both margins can be taken, in order.
//
// A drawn reply may leave the path of the baseline's choice though it prefers it: its margin is
// then that against the competitors which part from the choice up to there, and so is the
// baseline's beside it. Otherwise the draw, not the weights, would make two margins differ.
PairedMargins paired_tool_margins(const ReplayTable& table, std::span<const ReplyPair> pairs);
PairedMargins paired_act_margins(const ReplayTable& table, std::span<const ReplyPair> pairs);

}  // namespace unmask
