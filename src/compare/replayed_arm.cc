#include "compare/replayed_arm.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "compare/estimates.h"
#include "stats/survival.h"

namespace unmask {
namespace {

bool has_alternatives(const TokenDecision& token) {
  return std::any_of(token.top.begin(), token.top.end(), [&](const TokenAlternative& alternative) {
    return alternative.token != token.token;
  });
}

// The margin of a reply's own choice.
std::optional<Margin> own_margin(const ReplayTable& table, const ReplayTable::Placed& placed,
                                 DecisionKind kind) {
  const Decision* const decision = placed.at.decision;
  if (decision == nullptr) return std::nullopt;
  if (kind == DecisionKind::WhichTool) {
    if (!decision->name) return std::nullopt;
    const std::optional<ToolMargin> margin = tool_margin(
        *decision->name, decision->name->name, table.competitors_of(placed.context).names);
    if (!margin) return std::nullopt;
    return margin->margin;
  }
  if (!decision->first) return std::nullopt;
  const std::optional<Act> act = act_of(*decision->first, table.first_tokens());
  if (!act) return std::nullopt;
  return act_margin(*decision->first, *act, table.first_tokens());
}

std::string channel_of(const ReplayReply& reply) {
  return reply.channel.empty() ? "ok" : reply.channel;
}

struct TaskMargin {
  int task = 0;
  Bounded margin;
};

MarginDistribution distribution_of(DecisionKind kind, const std::string& channel,
                                   const std::vector<TaskMargin>& margins, int tasks,
                                   double narrow) {
  MarginDistribution out{kind, channel, static_cast<long>(margins.size()), 0, {}, 0, {}};
  std::vector<Bounded> values;
  std::vector<double> below(static_cast<std::size_t>(tasks), 0.0);
  std::vector<double> known(static_cast<std::size_t>(tasks), 0.0);
  for (const TaskMargin& row : margins) {
    values.push_back(row.margin);
    const bool bound = row.margin.known == Known::AtLeast;
    if (bound) ++out.bounds;
    if (bound && row.margin.value < narrow) continue;  // may lie on either side
    const auto task = static_cast<std::size_t>(row.task);
    known[task] += 1;
    if (bound || row.margin.value >= narrow) continue;
    below[task] += 1;
    ++out.narrow;
  }
  const std::vector<SurvivalStep> steps = survival(values);
  for (std::size_t i = 0; i < kMarginQuantiles.size(); ++i)
    out.quantiles[i] = survival_quantile(steps, kMarginQuantiles[i]);
  out.narrow_share = rate_estimate(below, known, static_cast<double>(tasks));
  return out;
}

// Why the choice of a tool has no margin.
void count_no_tool_margin(const NameDecision& name, const std::vector<std::string>& competitors,
                          MarginsMissing& out) {
  const bool alone = std::none_of(competitors.begin(), competitors.end(),
                                  [&](const std::string& other) { return other != name.name; });
  if (std::none_of(name.tokens.begin(), name.tokens.end(), has_alternatives))
    ++out.no_alternatives;
  else
    ++(alone ? out.no_competitor : out.not_seen);
}

void count_which_tool(const ReplayTable& table, const ReplayTable::Placed& placed,
                      ReplayedArm& out) {
  MarginsMissing& missing = out.no_margin[1];
  const std::optional<NameDecision>& name = placed.at.decision->name;
  if (!name) {
    if (!placed.at.reply->calls.empty()) ++missing.no_token;
    return;
  }
  const std::vector<std::string>& competitors = table.competitors_of(placed.context).names;
  const std::optional<ToolMargin> margin = tool_margin(*name, name->name, competitors);
  if (!margin) return count_no_tool_margin(*name, competitors, missing);
  if (margin->closer_stranger) ++out.strangers;
}

void count_whether_to_call(const ReplayTable& table, const ReplayTable::Placed& placed,
                           ReplayedArm& out) {
  MarginsMissing& missing = out.no_margin[0];
  const std::optional<TokenDecision>& first = placed.at.decision->first;
  if (!first) {
    ++missing.no_token;
    return;
  }
  const std::optional<Act> act = act_of(*first, table.first_tokens());
  if (!act) {
    ++out.undecided;
    return;
  }
  if (act_margin(*first, *act, table.first_tokens())) return;
  ++(has_alternatives(*first) ? missing.no_competitor : missing.no_alternatives);
}

void count_replies(const ReplayTable& table, std::size_t arm, ReplayedArm& out) {
  for (const ReplayTable::Placed& placed : table.replies_of(arm)) {
    ++out.replies;
    if (placed.at.decision == nullptr) {
      ++out.without;
      if (!placed.at.reply->decision.empty()) ++out.unreadable;
      continue;
    }
    count_whether_to_call(table, placed, out);
    count_which_tool(table, placed, out);
  }
}

}  // namespace

ReplayedArm describe_arm(const ReplayTable& table, std::size_t arm,
                         const MechanismOptions& options) {
  ReplayedArm out;
  out.arm = table.replay().head.arms[arm];
  for (const ReplayReply& reply : table.replay().replies)
    if (reply.arm == out.arm.label && !reply.error.empty()) ++out.errors;
  count_replies(table, arm, out);
  const long asked =
      static_cast<long>(table.replay().contexts.size()) * std::max(1, table.replay().head.samples);
  if (options.every_arm_asked) out.missing = std::max(0L, asked - out.replies - out.errors);
  for (const DecisionKind kind : kDecisionKinds) {
    std::map<std::string, std::vector<TaskMargin>> by_channel;
    for (const ReplayTable::Placed& placed : table.replies_of(arm)) {
      const std::optional<Margin> margin = own_margin(table, placed, kind);
      if (!margin) continue;
      const TaskMargin row{table.task_of(placed.context), bounded(*margin)};
      by_channel[""].push_back(row);
      by_channel[channel_of(*placed.at.reply)].push_back(row);
    }
    for (const auto& [channel, margins] : by_channel)
      out.margins.push_back(distribution_of(kind, channel, margins, table.tasks(), options.narrow));
  }
  return out;
}

}  // namespace unmask
