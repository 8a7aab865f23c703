// The true difference of a task has the variance V(baseline) + V(candidate) - 2 C, all three from
// products of different trials (stats/task_variance.h), which chance within a trial leaves alone.
#include "compare/spread.h"

#include <algorithm>
#include <cmath>

namespace unmask {
namespace {

template <typename Trial>
TaskTrials trials_of(const Arm& arm, const Trial& trial) {
  TaskTrials out;
  for (const TaskEpisodes& task : arm.tasks) {
    std::vector<TrialRatio>& trials = out.emplace_back();
    for (std::size_t e = task.begin; e < task.end; ++e) {
      const std::optional<TrialRatio> one = trial(arm.episodes[e]);
      if (one) trials.push_back(*one);
    }
  }
  return out;
}

// Standard deviation of a task's true candidate / per_candidate - baseline / per_baseline.
std::optional<double> between(const TaskTrials& baseline, const TaskTrials& candidate,
                              double per_baseline, double per_candidate) {
  if (!(per_baseline > 0) || !(per_candidate > 0)) return std::nullopt;
  const Result<double> b = variance_between_tasks(baseline);
  const Result<double> c = variance_between_tasks(candidate);
  const Result<double> both = covariance_between_tasks(baseline, candidate);
  if (!b || !c || !both) return std::nullopt;
  const double variance = *b / (per_baseline * per_baseline) +
                          *c / (per_candidate * per_candidate) -
                          2 * *both / (per_baseline * per_candidate);
  return std::sqrt(std::max(0.0, variance));
}

}  // namespace

TaskTrials failure_trials(const Arm& arm, Channel channel) {
  const auto index = static_cast<std::size_t>(channel);
  return trials_of(arm, [index](const EpisodeFacts& episode) -> std::optional<TrialRatio> {
    if (episode.excluded) return std::nullopt;
    return TrialRatio{static_cast<double>(episode.agent_channel[index]),
                      static_cast<double>(episode.agent_calls)};
  });
}

TaskTrials success_trials(const Arm& arm) {
  return trials_of(arm, [](const EpisodeFacts& episode) -> std::optional<TrialRatio> {
    if (!is_evaluated(episode)) return std::nullopt;
    return TrialRatio{*episode.success ? 1.0 : 0.0, 1};
  });
}

TaskTrials masked_trials(const Arm& arm, int k_tight, BudgetRule rule, BudgetCount count) {
  const int limit = rule == BudgetRule::AtMost ? k_tight : k_tight - 1;
  return trials_of(arm, [=](const EpisodeFacts& episode) -> std::optional<TrialRatio> {
    if (!is_evaluated(episode)) return std::nullopt;
    const int errors = count == BudgetCount::All ? episode.errors_all : episode.errors_agent;
    return TrialRatio{*episode.success && errors > limit ? 1.0 : 0.0, 1};
  });
}

void add_spread_between_tasks(const PairedArms& arms, bool trials_are_copies, std::optional<int> k0,
                              const CompareOptions& options, CellComparison& cell) {
  if (trials_are_copies) return;
  cell.between_delta = between(success_trials(arms.baseline), success_trials(arms.candidate), 1, 1);
  if (k0 && options.k_tight < *k0) {
    const auto masked = [&](const Arm& arm) {
      return masked_trials(arm, options.k_tight, options.rule, options.count);
    };
    cell.between_unmasked = between(masked(arms.baseline), masked(arms.candidate), 1, 1);
  }
  for (auto& [channel, comparison] : cell.channels) {
    const TaskTrials b = failure_trials(arms.baseline, channel);
    const TaskTrials c = failure_trials(arms.candidate, channel);
    comparison.between_difference = between(b, c, 1, 1);
    comparison.between_log_ratio = between(b, c, pooled_ratio(b), pooled_ratio(c));
  }
}

}  // namespace unmask
