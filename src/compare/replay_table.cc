#include "compare/replay_table.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"

namespace unmask {
namespace {

constexpr std::size_t kLongestName = 256;  // a "name" beyond is text that was taken for one

Act act_of_reply(const ReplayReply& reply) {
  return calls(reply) ? Act::Call : Act::Talk;
}

}  // namespace

bool calls(const ReplayReply& reply) {
  return !reply.calls.empty() || reply.channel == "malformed";
}

std::string_view first_name(const ReplayReply& reply) {
  return reply.calls.empty() ? std::string_view() : std::string_view(reply.calls.front().name);
}

Bounded bounded(const Margin& margin) {
  switch (margin.known) {
    case Margin::Known::AtLeast:
      return {margin.value, Known::AtLeast};
    case Margin::Known::AtMost:
      return {margin.value, Known::AtMost};
    case Margin::Known::Exactly:
      break;
  }
  return {margin.value, Known::Exactly};
}

std::optional<bool> is_flip(const Margin& margin) {
  if (margin.known == Margin::Known::AtLeast && margin.value < 0) return std::nullopt;
  if (margin.known == Margin::Known::AtMost && margin.value > 0) return std::nullopt;
  return margin.known == Margin::Known::AtMost || margin.value < 0;
}

ReplayTable::ReplayTable(const Replay& replay, std::span<const Decision* const> decisions)
    : replay_(&replay) {
  UNMASK_CHECK(decisions.size() == replay.replies.size());
  for (std::size_t i = 0; i < replay.head.arms.size(); ++i) {
    arm_index_.emplace(replay.head.arms[i].label, i);
    if (replay.head.arms[i].baseline) baseline_ = static_cast<int>(i);
  }
  by_arm_.resize(replay.head.arms.size());
  index_tools();
  index_contexts();
  index_replies(decisions);
  index_repeats();
  find_hallucinations();
  complete_competitors();
}

void ReplayTable::index_tools() {
  for (const ReplayTools& tools : replay_->tools) {
    Competitors& competitors = by_tools_[tools.id];
    for (const std::string& name : tools.names)
      if (competitors.offered.insert(name).second) competitors.names.push_back(name);
  }
}

void ReplayTable::index_contexts() {
  const auto task_at = [&](std::size_t i) {
    const ReplayContext& context = replay_->contexts[i];
    return std::pair(context.domain, context.task_id);
  };
  std::map<std::string_view, std::size_t> first;  // of each prompt
  for (std::size_t i = 0; i < replay_->contexts.size(); ++i) {
    const std::string& prompt = replay_->contexts[i].sha256;
    first_alike_.push_back(prompt.empty() ? i : first.emplace(prompt, i).first->second);
    tasks_.emplace(task_at(first_alike_[i]), 0);
    context_index_.emplace(replay_->contexts[i].id, i);
  }
  // Tasks are numbered in the order of their names, whatever the order of the file.
  int next = 0;
  for (auto& [key, task] : tasks_) task = next++;
  for (const std::size_t alike : first_alike_) task_of_.push_back(tasks_.at(task_at(alike)));
}

std::optional<long> ReplayTable::distinct() const {
  long out = 0;
  for (std::size_t i = 0; i < first_alike_.size(); ++i) {
    if (replay_->contexts[i].sha256.empty()) return std::nullopt;
    out += first_alike_[i] == i ? 1 : 0;
  }
  return out;
}

long ReplayTable::copies_in_other_tasks() const {
  long out = 0;
  for (std::size_t i = 0; i < first_alike_.size(); ++i) {
    const ReplayContext& here = replay_->contexts[i];
    const ReplayContext& there = replay_->contexts[first_alike_[i]];
    out += here.task_id != there.task_id || here.domain != there.domain ? 1 : 0;
  }
  return out;
}

void ReplayTable::index_replies(std::span<const Decision* const> decisions) {
  for (std::size_t i = 0; i < replay_->replies.size(); ++i) {
    const ReplayReply& reply = replay_->replies[i];
    const auto context = context_index_.find(reply.context_id);
    const auto arm = arm_index_.find(reply.arm);
    if (!reply.error.empty() || context == context_index_.end() || arm == arm_index_.end())
      continue;
    const Decision* const decision = decisions[i];
    by_arm_[arm->second].push_back({context->second, {&reply, decision}});
    if (decision != nullptr && decision->first)
      first_tokens_.learn(decision->first->token, act_of_reply(reply));
  }
}

void ReplayTable::index_repeats() {
  const std::vector<ReplayArm>& arms = replay_->head.arms;
  const std::string& baseline = arms[static_cast<std::size_t>(baseline_)].label;
  for (std::size_t arm = 0; arm < arms.size(); ++arm) {
    if (arms[arm].repeats != baseline) continue;
    for (const Placed& placed : by_arm_[arm])
      again_.emplace(std::pair(placed.context, placed.at.reply->sample), placed.at);
  }
}

ReplyAt ReplayTable::asked_again(std::size_t context, int sample) const {
  const auto found = again_.find({context, sample});
  return found == again_.end() ? ReplyAt{} : found->second;
}

void ReplayTable::find_hallucinations() {
  const std::string& baseline = replay_->head.arms[static_cast<std::size_t>(baseline_)].label;
  for (std::size_t arm = 0; arm < by_arm_.size(); ++arm) {
    const ReplayArm& who = replay_->head.arms[arm];
    const bool is_baseline = who.baseline || who.repeats == baseline;
    for (const Placed& placed : by_arm_[arm]) {
      for (const ToolCall& call : placed.at.reply->calls) {
        if (call.name.empty() || call.name.size() > kLongestName) continue;
        if (is_offered(placed.context, call.name)) continue;
        hallucinated_.insert(call.name);
        if (is_baseline) known_failures_.insert(call.name);
      }
    }
  }
}

void ReplayTable::complete_competitors() {
  for (auto& [id, competitors] : by_tools_)
    for (const std::string& name : hallucinated_)
      if (competitors.offered.count(name) == 0) competitors.names.push_back(name);
}

const Competitors& ReplayTable::competitors_of(std::size_t context) const {
  static const Competitors kNone;
  const auto found = by_tools_.find(replay_->contexts[context].tools_id);
  return found == by_tools_.end() ? kNone : found->second;
}

bool ReplayTable::is_offered(std::size_t context, std::string_view name) const {
  return competitors_of(context).offered.count(name) > 0;
}

std::vector<ReplyPair> ReplayTable::pairs_with(std::size_t arm) const {
  std::map<std::pair<std::size_t, int>, ReplyAt> baseline;
  for (const Placed& placed : by_arm_[static_cast<std::size_t>(baseline_)])
    baseline.emplace(std::pair(placed.context, placed.at.reply->sample), placed.at);
  std::vector<ReplyPair> pairs;
  for (const Placed& placed : by_arm_[arm]) {
    const auto partner = baseline.find({placed.context, placed.at.reply->sample});
    if (partner == baseline.end()) continue;
    pairs.push_back({placed.context, task_of_[placed.context], partner->second, placed.at});
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const ReplyPair& a, const ReplyPair& b) {
    return std::tie(a.context, a.baseline.reply->sample) <
           std::tie(b.context, b.baseline.reply->sample);
  });
  return pairs;
}

namespace {

// Puts a row among the others, or counts why it is not there.
void add_row(MarginPair row, PairedMargins& out) {
  // Sampled, or split over several tokens: what the reply has is not the likeliest.
  if (row.baseline.known != Margin::Known::AtLeast && row.baseline.value < 0) {
    ++out.off_top;
    return;
  }
  const std::optional<bool> flip = is_flip(row.candidate);
  if (!flip) {
    ++out.undetermined;
    return;
  }
  row.flip = *flip;
  out.rows.push_back(std::move(row));
}

// Whether a reply left the path of a choice that it prefers, before all competitors had parted.
bool left_by_draw(const ToolMargin& margin) {
  return margin.left && !margin.beyond.empty() && is_flip(margin.margin) == false;
}

// The margin against the competitors that the other reply still saw; `seen` keeps its indices into
// all `names`.
std::optional<ToolMargin> margin_without(const std::vector<std::size_t>& beyond,
                                         const NameDecision& reply, const std::string& choice,
                                         const std::vector<std::string>& names) {
  std::vector<std::string> kept;
  std::vector<std::size_t> index;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(beyond.begin(), beyond.end(), i) != beyond.end()) continue;
    kept.push_back(names[i]);
    index.push_back(i);
  }
  std::optional<ToolMargin> margin = tool_margin(reply, choice, kept);
  if (!margin) return std::nullopt;
  for (CompetitorMargin& competitor : margin->seen)
    competitor.competitor = index[competitor.competitor];
  return margin;
}

// The name a drawn reply would prefer: the choice unless it flips, else the closest competitor;
// among equally close ones (one token leads to several) the one it wrote. What it wrote where no
// competitor was seen.
std::string preferred_name(bool flip, const std::string& choice, const ToolMargin& candidate,
                           const std::string& wrote, const std::vector<std::string>& names) {
  constexpr double kEqual = 1e-9;
  if (!flip) return choice;
  if (candidate.seen.empty()) return wrote;
  for (const CompetitorMargin& competitor : candidate.seen)
    if (names[competitor.competitor] == wrote &&
        competitor.margin <= candidate.seen.front().margin + kEqual)
      return wrote;
  return names[candidate.seen.front().competitor];
}

// The reply's first token, where it stands before the name and is no part of it.
std::optional<std::string_view> opening_of(const Decision& decision) {
  if (!decision.first || !decision.name || decision.name->tokens.empty()) return std::nullopt;
  const std::string_view first = decision.first->token;
  if (first == decision.name->tokens.front().token) return std::nullopt;
  return first;
}

}  // namespace

bool same_before_name(const ReplyAt& a, const ReplyAt& b) {
  if (a.reply->text != b.reply->text) return false;
  const std::optional<std::string_view> x = opening_of(*a.decision);
  const std::optional<std::string_view> y = opening_of(*b.decision);
  return !x || !y || x->starts_with(*y) || y->starts_with(*x);
}

PairedMargins paired_tool_margins(const ReplayTable& table, std::span<const ReplyPair> pairs) {
  PairedMargins out;
  for (const ReplyPair& pair : pairs) {
    const Decision* const b = pair.baseline.decision;
    const Decision* const c = pair.candidate.decision;
    if (b == nullptr || c == nullptr || !b->name || !c->name) continue;
    if (!same_before_name(pair.baseline, pair.candidate)) {
      ++out.other_text;
      continue;
    }
    const std::vector<std::string>& names = table.competitors_of(pair.context).names;
    const std::string& choice = b->name->name;
    std::optional<ToolMargin> baseline = tool_margin(*b->name, choice, names);
    const std::optional<ToolMargin> candidate = tool_margin(*c->name, choice, names);
    if (!baseline || !candidate) continue;
    if (left_by_draw(*candidate)) {
      baseline = margin_without(candidate->beyond, *b->name, choice, names);
      if (!baseline) continue;
    }
    MarginPair row{&pair, baseline->margin, candidate->margin, false, {}, {}, {}};
    row.prefers = table.replay().head.greedy
                      ? c->name->name
                      : preferred_name(is_flip(candidate->margin).value_or(false), choice,
                                       *candidate, c->name->name, names);
    row.seen = std::move(baseline->seen);
    const ReplyAt again = table.asked_again(pair.context, pair.baseline.reply->sample);
    if (again.decision != nullptr && again.decision->name &&
        same_before_name(pair.baseline, again)) {
      const std::optional<ToolMargin> repeated = tool_margin(*again.decision->name, choice, names);
      if (repeated && !left_by_draw(*repeated)) row.again = repeated->margin;
    }
    add_row(std::move(row), out);
  }
  return out;
}

PairedMargins paired_act_margins(const ReplayTable& table, std::span<const ReplyPair> pairs) {
  PairedMargins out;
  const FirstTokens& tokens = table.first_tokens();
  for (const ReplyPair& pair : pairs) {
    const Decision* const b = pair.baseline.decision;
    const Decision* const c = pair.candidate.decision;
    if (b == nullptr || c == nullptr || !b->first || !c->first) continue;
    const std::optional<Act> act = act_of(*b->first, tokens);
    if (!act || !act_of(*c->first, tokens)) continue;
    const std::optional<Margin> baseline = act_margin(*b->first, *act, tokens);
    const std::optional<Margin> candidate = act_margin(*c->first, *act, tokens);
    if (!baseline || !candidate) continue;
    MarginPair row{&pair, *baseline, *candidate, false, {}, {}, {}};
    const Decision* const again =
        table.asked_again(pair.context, pair.baseline.reply->sample).decision;
    if (again != nullptr && again->first && act_of(*again->first, tokens))
      row.again = act_margin(*again->first, *act, tokens);
    add_row(std::move(row), out);
  }
  return out;
}

}  // namespace unmask
