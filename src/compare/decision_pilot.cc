// discordance = (b + c) / n and difference = (c - b) / n, where of n decisions b fail in the
// baseline alone and c in the candidate alone.
//
// Example: 200 decisions, b = 4, c = 10: a discordance of 7 %, and 3 points more that fail.
#include "compare/decision_pilot.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "compare/power_pilot.h"
#include "compare/replay_table.h"
#include "stats/task_variance.h"

namespace unmask {
namespace {

bool is_candidate(const ReplayArm& arm) {
  return !arm.baseline && arm.repeats.empty();
}

Result<std::size_t> candidate_of(const ReplayHead& head, const std::string& label) {
  std::vector<std::size_t> found;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < head.arms.size(); ++i) {
    if (!is_candidate(head.arms[i])) continue;
    labels.push_back(head.arms[i].label);
    if (label.empty() || label == head.arms[i].label) found.push_back(i);
  }
  if (found.size() == 1) return found.front();
  if (labels.empty())
    return Error{ErrorKind::Undefined,
                 "the replay has one arm alone, so it shows no decisions in which two differ", ""};
  if (found.empty())
    return Error{
        ErrorKind::NotFound,
        fmt::format("the replay has no candidate '{}' (it has {})", label, fmt::join(labels, ", ")),
        ""};
  return Error{ErrorKind::InvalidArgument,
               fmt::format("the replay has {} candidates ({}): --candidate says which to plan for",
                           labels.size(), fmt::join(labels, ", ")),
               ""};
}

// (task)(decision): 1 where one arm alone fails.
TaskTrials count_pairs(const ReplayTable& table, std::size_t arm, const std::string& channel,
                       DecisionPilot& pilot) {
  TaskTrials discordant(static_cast<std::size_t>(table.tasks()));
  std::set<std::pair<std::size_t, int>> seen;  // context, sample
  for (const ReplyPair& pair : table.pairs_with(arm)) {
    if (!seen.emplace(table.first_alike(pair.context), pair.baseline.reply->sample).second)
      continue;
    const bool b = pair.baseline.reply->channel == channel;
    const bool c = pair.candidate.reply->channel == channel;
    ++pilot.pairs;
    pilot.only_baseline += b && !c ? 1 : 0;
    pilot.only_candidate += c && !b ? 1 : 0;
    discordant[static_cast<std::size_t>(pair.task)].push_back({b != c ? 1.0 : 0.0, 1});
  }
  std::erase_if(discordant, [](const auto& decisions) { return decisions.empty(); });
  return discordant;
}

void estimate_correlation(const TaskTrials& discordant, DecisionPilot& pilot) {
  constexpr double kMost = 0.99;
  pilot.decisions.correlation = kAssumedCorrelation;
  const double mean = pilot.decisions.discordance;
  const Result<double> between = variance_between_tasks(discordant);
  pilot.correlated = between && mean > 0 && mean < 1;
  if (pilot.correlated)
    pilot.decisions.correlation = std::clamp(*between / (mean * (1 - mean)), 0.0, kMost);
}

}  // namespace

Result<DecisionPilot> pilot_of_decisions(const Replay& replay, const std::string& channel,
                                         const std::string& candidate) {
  if (channel != "malformed" && channel != "tool_name" && channel != "schema")
    return Error{ErrorKind::InvalidArgument,
                 fmt::format("a replay has no environment, so it knows no '{}' failures: --channel "
                             "must be malformed, tool_name or schema",
                             channel),
                 ""};
  const Result<std::size_t> arm = candidate_of(replay.head, candidate);
  if (!arm) return arm.error();
  const std::vector<const Decision*> no_margins(replay.replies.size(), nullptr);
  const ReplayTable table(replay, no_margins);
  DecisionPilot pilot;
  pilot.baseline = replay.head.arms[static_cast<std::size_t>(table.baseline())].label;
  pilot.candidate = replay.head.arms[*arm].label;
  const TaskTrials discordant = count_pairs(table, *arm, channel, pilot);
  pilot.tasks = static_cast<int>(discordant.size());
  if (pilot.tasks < 2)
    return Error{ErrorKind::Undefined,
                 fmt::format("'{}' and '{}' both replied in fewer than 2 tasks, which show no "
                             "differences between tasks",
                             pilot.baseline, pilot.candidate),
                 ""};
  for (const auto& decisions : discordant)
    pilot.most_decisions = std::max(pilot.most_decisions, static_cast<int>(decisions.size()));
  const auto n = static_cast<double>(pilot.pairs);
  pilot.decisions.discordance = static_cast<double>(pilot.only_baseline + pilot.only_candidate) / n;
  pilot.decisions.difference = static_cast<double>(pilot.only_candidate - pilot.only_baseline) / n;
  estimate_correlation(discordant, pilot);
  return pilot;
}

}  // namespace unmask
