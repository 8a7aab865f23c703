// One pass over the episodes a topic; every number of an arm comes from EpisodeFacts and the
// per-task vectors of metrics, every interval from stats.

#include "compare/arm_summary.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "compare/estimates.h"

namespace unmask {
namespace {

void count_episodes(const Arm& arm, ArmSummary& summary) {
  summary.episodes_in_log = summary.episodes_total = static_cast<long>(arm.episodes.size());
  for (const EpisodeFacts& episode : arm.episodes) {
    ++summary.terminations[std::string(to_string(episode.termination))];
    if (episode.excluded) {
      ++summary.episodes_excluded;
      continue;
    }
    if (is_evaluated(episode)) {
      ++summary.episodes_evaluated;
    } else {
      ++summary.episodes_ungraded;
    }
    ++summary.tool_evidence[episode.tool_evidence];
  }
  for (const TaskEpisodes& task : arm.tasks) {
    int evaluated = 0;
    for (std::size_t e = task.begin; e < task.end; ++e) {
      if (is_evaluated(arm.episodes[e])) ++evaluated;
    }
    if (evaluated == 0) continue;
    ++summary.tasks;
    summary.trials_min = summary.tasks == 1 ? evaluated : std::min(summary.trials_min, evaluated);
    summary.trials_max = std::max(summary.trials_max, evaluated);
  }
}

// Distinct trajectories among a task's episodes that ran. A hash of 0 means the trajectory is
// unknown: such an episode takes no part.
void count_distinct_trajectories(const Arm& arm, ArmSummary& summary) {
  double distinct = 0;
  long tasks = 0;
  bool repeated = false;
  bool copies = true;
  for (const TaskEpisodes& task : arm.tasks) {
    std::set<std::uint64_t> hashes;
    int ran = 0;
    for (std::size_t e = task.begin; e < task.end; ++e) {
      if (arm.episodes[e].excluded || arm.episodes[e].trajectory_hash == 0) continue;
      hashes.insert(arm.episodes[e].trajectory_hash);
      ++ran;
    }
    if (ran == 0) continue;
    ++tasks;
    distinct += static_cast<double>(hashes.size());
    if (ran < 2) continue;
    repeated = true;
    copies = copies && hashes.size() == 1;
  }
  if (tasks == 0) return;
  summary.distinct_trajectories_per_task = distinct / static_cast<double>(tasks);
  summary.trials_are_copies = repeated && copies;
}

void count_calls(const Arm& arm, ArmSummary& summary) {
  for (const EpisodeFacts& episode : arm.episodes) {
    if (episode.excluded) continue;
    summary.agent_calls += episode.agent_calls;
    summary.user_calls += episode.user_calls;
    summary.unanswered += episode.unanswered;
    summary.system += episode.system;
    summary.repair.refused += episode.repair.refused;
    summary.repair.repaired += episode.repair.repaired;
    summary.repair.unrepaired += episode.repair.unrepaired;
    summary.repair.withdrawn += episode.repair.withdrawn;
    for (const Channel channel : kFailureChannels) {
      summary.failed_agent += episode.agent_channel[static_cast<std::size_t>(channel)];
    }
    for (const FailedCall& call : episode.failures) {
      if (!is_failure(call.channel)) continue;
      if (call.side == Side::User) {
        ++summary.failed_user;
      } else {
        ++summary.failing_tools[call.name];
      }
    }
  }
}

std::optional<Risk> screen(const Estimate& per_call, const CompareOptions& options) {
  if (!per_call.ci95) return std::nullopt;
  if (per_call.ci95->hi < options.screen_low) return Risk::Low;
  if (per_call.ci95->lo > options.screen_high) return Risk::High;
  return Risk::Watch;
}

// `channels` has one member, or schema and entity for `argument`.
ChannelSummary summarize_channel(const Arm& arm, std::span<const Channel> channels,
                                 const TaskCounts& counts, double independent_units,
                                 const CompareOptions& options) {
  ChannelSummary out;
  const auto failures_of = [&](const EpisodeFacts& episode) {
    long failures = 0;
    for (const Channel channel : channels)
      failures += episode.agent_channel[static_cast<std::size_t>(channel)];
    return failures;
  };
  for (const EpisodeFacts& episode : arm.episodes) {
    if (episode.excluded) continue;
    const long in_episode = failures_of(episode);
    out.count += in_episode;
    if (in_episode > 0) ++out.episodes_with;
    for (const FailedCall& call : episode.failures) {
      const bool here = std::find(channels.begin(), channels.end(), call.channel) != channels.end();
      if (here && call.side == Side::Agent && call.kind != SubKind::None) ++out.kinds[call.kind];
    }
  }
  out.per_call = rate_estimate(counts.failures, counts.calls, independent_units);
  out.per_episode = failures_per_episode(counts);
  out.share_with =
      mean_of_task_means(arm, [&](const EpisodeFacts& episode) -> std::optional<double> {
        if (episode.excluded) return std::nullopt;
        return failures_of(episode) > 0 ? 1.0 : 0.0;
      });
  out.screen = screen(out.per_call, options);
  return out;
}

void summarize_channels(const Arm& arm, const CompareOptions& options, ArmSummary& summary) {
  const double units = independent_units(arm, summary.trials_are_copies);
  for (const Channel channel : kFailureChannels) {
    summary.channels[channel] = summarize_channel(
        arm, std::span(&channel, 1), task_channel_counts(arm, channel), units, options);
  }
  constexpr std::array<Channel, 2> kArgument = {Channel::Schema, Channel::Entity};
  summary.argument = summarize_channel(arm, kArgument, task_argument_counts(arm), units, options);
}

// Linear interpolation between order statistics (type 7 of Hyndman & Fan 1996); values sorted.
double quantile(std::span<const double> sorted, double p) {
  const double position = p * static_cast<double>(sorted.size() - 1);
  const std::size_t below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

void summarize_errors(const Arm& arm, BudgetSummary& budget) {
  std::vector<double> errors;
  double mean_sum = 0;
  double near_sum = 0;
  double tasks = 0;
  for (const TaskEpisodes& task : arm.tasks) {
    double ran = 0;
    double task_errors = 0;
    double near = 0;
    for (std::size_t e = task.begin; e < task.end; ++e) {
      const EpisodeFacts& episode = arm.episodes[e];
      if (episode.excluded) continue;
      const int counted =
          budget.count == BudgetCount::All ? episode.errors_all : episode.errors_agent;
      errors.push_back(counted);
      ++ran;
      task_errors += counted;
      if (budget.k0 && episode.errors_all >= *budget.k0 - 2) ++near;
    }
    if (ran == 0) continue;
    ++tasks;
    mean_sum += task_errors / ran;
    near_sum += near / ran;
  }
  if (tasks == 0) return;
  budget.mean_errors = mean_sum / tasks;
  constexpr int kNear = 2;
  if (budget.k0 && *budget.k0 > kNear && budget.beyond_k0 == 0)
    budget.share_near_exhaustion = near_sum / tasks;
  std::sort(errors.begin(), errors.end());
  for (std::size_t q = 0; q < budget.error_quantiles.size(); ++q) {
    budget.error_quantiles[q] = quantile(errors, static_cast<double>(q) / 4.0);
  }
}

std::vector<CurvePoint> success_curve(const Arm& arm, BudgetRule rule,
                                      const BudgetSummary& budget) {
  std::vector<CurvePoint> curve;
  for (const int k : curve_budgets(budget.k0, rule)) {
    if (budget.beyond_k0 > 0 && k >= *budget.k0) {
      curve.push_back({k, std::nullopt, std::nullopt});
      continue;
    }
    const Estimate success = proportion_estimate(success_at(arm, k, budget.k0, rule, budget.count));
    curve.push_back({k, success.value, success.ci95});
  }
  return curve;
}

BudgetSummary summarize_budget(const Arm& arm, std::optional<int> k0,
                               const CompareOptions& options) {
  BudgetSummary budget;
  budget.k0 = k0;
  if (k0) budget.beyond_k0 = successes_beyond(arm, *k0);
  budget.rule = options.rule;
  budget.count = options.count;
  budget.curve = success_curve(arm, BudgetRule::AtMost, budget);
  budget.curve_live = success_curve(arm, BudgetRule::Live, budget);
  summarize_errors(arm, budget);
  return budget;
}

// P(Y = 1 | E >= 1). A condition on the outcome of the episode, so counts are pooled.
Estimate success_given_failure(const Arm& arm, BudgetCount count, bool trials_are_copies) {
  std::vector<double> passed;
  std::vector<double> failing;
  double units = 0;
  for (const TaskEpisodes& task : arm.tasks) {
    double task_passed = 0;
    double task_failing = 0;
    for (std::size_t e = task.begin; e < task.end; ++e) {
      const EpisodeFacts& episode = arm.episodes[e];
      const int errors = count == BudgetCount::All ? episode.errors_all : episode.errors_agent;
      if (!is_evaluated(episode) || errors < 1) continue;
      ++task_failing;
      if (*episode.success) ++task_passed;
    }
    passed.push_back(task_passed);
    failing.push_back(task_failing);
    units += trials_are_copies ? std::min(task_failing, 1.0) : task_failing;
  }
  return rate_estimate(passed, failing, units);
}

RecoverySummary summarize_recovery(const Arm& arm, BudgetCount count, bool trials_are_copies) {
  const TaskRecovery recovery = task_recovery(arm);
  RecoverySummary out;
  out.recovered = std::lround(sum(recovery.recovered));
  out.failures = std::lround(sum(recovery.failures));
  out.censored = recovery.censored;
  // Failures come in runs within an episode, so a task is the unit that is surely independent.
  const double tasks = static_cast<double>(std::count_if(
      recovery.failures.begin(), recovery.failures.end(), [](double n) { return n > 0; }));
  out.rate = rate_estimate(recovery.recovered, recovery.failures, tasks);
  out.success_given_failure = success_given_failure(arm, count, trials_are_copies);
  return out;
}

std::optional<double> rate_of(long failures, long calls) {
  if (calls == 0) return std::nullopt;
  return static_cast<double>(failures) / static_cast<double>(calls);
}

std::vector<PositionSummary> summarize_positions(const Arm& arm) {
  std::vector<PositionSummary> positions;
  for (int bin = 0; bin < kPositionBins; ++bin) {
    PositionSummary position;
    position.bin = bin;
    for (const Channel channel : kFailureChannels) position.failures[channel] = 0;
    for (const EpisodeFacts& episode : arm.episodes) {
      if (episode.excluded) continue;
      const std::size_t b = static_cast<std::size_t>(bin);
      position.calls += episode.position_calls[b];
      for (const Channel channel : kFailureChannels) {
        position.failures[channel] +=
            episode.position_failures[b][static_cast<std::size_t>(channel)];
      }
    }
    long failed = 0;
    for (const auto& [channel, n] : position.failures) failed += n;
    position.failed_per_call = rate_of(failed, position.calls);
    position.tool_name_per_call = rate_of(position.failures[Channel::ToolName], position.calls);
    positions.push_back(position);
  }
  return positions;
}

std::vector<TaskRow> summarize_tasks(const Arm& arm) {
  const std::vector<std::optional<double>> success = task_success(arm);
  std::vector<TaskRow> rows;
  for (std::size_t t = 0; t < arm.tasks.size(); ++t) {
    TaskRow row;
    row.domain = arm.tasks[t].domain;
    row.task = arm.tasks[t].id;
    row.success = success[t];
    for (std::size_t e = arm.tasks[t].begin; e < arm.tasks[t].end; ++e) {
      const EpisodeFacts& episode = arm.episodes[e];
      if (episode.excluded) continue;
      if (is_evaluated(episode)) ++row.episodes;
      row.calls += episode.agent_calls;
      row.tool_name += episode.agent_channel[static_cast<std::size_t>(Channel::ToolName)];
      for (const Channel channel : kFailureChannels) {
        row.failures += episode.agent_channel[static_cast<std::size_t>(channel)];
      }
    }
    row.failed_per_call = rate_of(row.failures, row.calls);
    row.tool_name_per_call = rate_of(row.tool_name, row.calls);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::string_view to_string(Risk risk) {
  switch (risk) {
    case Risk::Low:
      return "low";
    case Risk::Watch:
      return "watch";
    case Risk::High:
      return "high";
  }
  return "watch";
}

std::optional<int> effective_budget(const Arm& arm, const CompareOptions& options) {
  const std::optional<int> in_force = budget_in_force(arm);
  if (in_force) return std::max(*in_force, 0);
  if (options.assumed_max_errors > 0) return options.assumed_max_errors;
  return std::nullopt;
}

bool is_identified(const BudgetSummary& budget, int k) {
  if (!budget.k0 || k < *budget.k0) return true;
  return k == *budget.k0 && budget.rule == BudgetRule::Live && budget.beyond_k0 == 0;
}

ArmSummary summarize_arm(const Arm& arm, const CompareOptions& options) {
  return summarize_arm_at(arm, effective_budget(arm, options), options);
}

ArmSummary summarize_arm_at(const Arm& arm, std::optional<int> k0, const CompareOptions& options) {
  ArmSummary summary;
  summary.label = arm.label;
  summary.info = arm.info;
  summary.sources = arm.sources;
  count_episodes(arm, summary);
  count_distinct_trajectories(arm, summary);
  summary.success = proportion_estimate(task_success(arm));
  summary.pass_hat_k = pass_hat_k(arm);
  count_calls(arm, summary);
  summarize_channels(arm, options, summary);
  summary.budget = summarize_budget(arm, k0, options);
  summary.recovery = summarize_recovery(arm, options.count, summary.trials_are_copies);
  summary.names = hallucinated_names(arm).names;
  summary.positions = summarize_positions(arm);
  summary.by_task = summarize_tasks(arm);
  summary.bursts = bursts(arm);
  summary.length = length_means(arm);
  return summary;
}

}  // namespace unmask
