#include "metrics/task_numbers.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace unmask {
namespace {

// Mean of a number over the task's episodes that have one; nullopt where none has.
std::vector<std::optional<double>> task_means(const Arm& arm, const EpisodeNumber& number) {
  std::vector<std::optional<double>> means;
  means.reserve(arm.tasks.size());
  for (const TaskEpisodes& task : arm.tasks) {
    double sum = 0;
    int n = 0;
    for (std::size_t i = task.begin; i < task.end; ++i) {
      const std::optional<double> value = number(arm.episodes[i]);
      if (!value) continue;
      sum += *value;
      ++n;
    }
    means.push_back(n > 0 ? std::optional<double>(sum / n) : std::nullopt);
  }
  return means;
}

}  // namespace

std::optional<double> mean_of_task_means(const Arm& arm, const EpisodeNumber& number) {
  double sum = 0;
  int n = 0;
  for (const std::optional<double>& mean : task_means(arm, number)) {
    if (!mean) continue;
    sum += *mean;
    ++n;
  }
  if (n == 0) return std::nullopt;
  return sum / n;
}

namespace {

template <typename Count>
TaskCounts task_counts(const Arm& arm, const Count& failures_and_calls) {
  TaskCounts counts;
  for (const TaskEpisodes& task : arm.tasks) {
    double failures = 0;
    double calls = 0;
    double episodes = 0;
    for (std::size_t i = task.begin; i < task.end; ++i) {
      if (arm.episodes[i].excluded) continue;
      const std::pair<int, int> add = failures_and_calls(arm.episodes[i]);
      failures += add.first;
      calls += add.second;
      ++episodes;
    }
    counts.failures.push_back(task.weight * failures);
    counts.calls.push_back(task.weight * calls);
    counts.episodes.push_back(task.weight * episodes);
  }
  return counts;
}

// Calls visit(task index, episode, failed call) for each failed agent call of an episode that ran.
template <typename Visit>
void for_each_agent_failure(const Arm& arm, const Visit& visit) {
  for (std::size_t t = 0; t < arm.tasks.size(); ++t)
    for (std::size_t i = arm.tasks[t].begin; i < arm.tasks[t].end; ++i) {
      if (arm.episodes[i].excluded) continue;
      for (const FailedCall& call : arm.episodes[i].failures)
        if (call.side == Side::Agent) visit(t, arm.episodes[i], call);
    }
}

// What two failed calls share when they count as one name.
struct FailureKey {
  std::string_view tool;
  Channel channel = Channel::ToolName;
  bool operator==(const FailureKey&) const = default;
};
struct HashFailureKey {
  std::size_t operator()(const FailureKey& key) const {
    return std::hash<std::string_view>()(key.tool) * 31 + static_cast<std::size_t>(key.channel);
  }
};

// Sorts the names by count, then name, and makes the calls follow.
void sort_names(NamedFailures& failures) {
  std::vector<std::size_t> order(failures.names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const NameCount& x = failures.names[a];
    const NameCount& y = failures.names[b];
    return x.count != y.count ? x.count > y.count : x.name < y.name;
  });
  std::vector<NameCount> sorted;
  std::vector<std::size_t> place(order.size());
  for (const std::size_t i : order) {
    place[i] = sorted.size();
    sorted.push_back(std::move(failures.names[i]));
  }
  failures.names = std::move(sorted);
  for (NameOccurrence& call : failures.calls) call.name = place[call.name];
}

// Counts the failed calls that key_of gives a key, each name written by name_of(key).
template <typename KeyOf, typename NameOf>
NamedFailures named_failures(const Arm& arm, const KeyOf& key_of, const NameOf& name_of) {
  NamedFailures found;
  std::unordered_map<FailureKey, std::size_t, HashFailureKey> known;
  for_each_agent_failure(arm,
                         [&](std::size_t t, const EpisodeFacts& episode, const FailedCall& call) {
                           const std::optional<FailureKey> key = key_of(call);
                           if (!key) return;
                           const auto [entry, added] = known.emplace(*key, found.names.size());
                           if (added) found.names.push_back({name_of(*key), 0, call.kind});
                           ++found.names[entry->second].count;
                           found.calls.push_back({t, episode.trial, entry->second});
                         });
  sort_names(found);
  return found;
}

double choose(int n, int k) {
  double product = 1;
  for (int i = 0; i < k; ++i) product *= static_cast<double>(n - i) / (k - i);
  return product;
}

}  // namespace

std::vector<std::optional<double>> task_success(const Arm& arm) {
  return task_means(arm, [](const EpisodeFacts& episode) -> std::optional<double> {
    if (!is_evaluated(episode)) return std::nullopt;
    return *episode.success ? 1.0 : 0.0;
  });
}

std::vector<std::optional<double>> task_success_under_budget(const Arm& arm, int k, BudgetRule rule,
                                                             BudgetCount count) {
  const int limit = rule == BudgetRule::AtMost ? k : k - 1;
  return task_means(arm, [&](const EpisodeFacts& episode) -> std::optional<double> {
    if (!is_evaluated(episode)) return std::nullopt;
    const int errors = count == BudgetCount::All ? episode.errors_all : episode.errors_agent;
    return *episode.success && errors <= limit ? 1.0 : 0.0;
  });
}

TaskCounts task_channel_counts(const Arm& arm, Channel channel) {
  return task_counts(arm, [&](const EpisodeFacts& episode) {
    return std::pair(episode.agent_channel[static_cast<std::size_t>(channel)], episode.agent_calls);
  });
}

std::optional<double> failures_per_episode(const TaskCounts& counts) {
  double sum_of_means = 0;
  double tasks = 0;
  for (std::size_t t = 0; t < counts.failures.size(); ++t) {
    if (!(counts.episodes[t] > 0)) continue;
    sum_of_means += counts.failures[t] / counts.episodes[t];
    ++tasks;
  }
  if (tasks == 0) return std::nullopt;
  return sum_of_means / tasks;
}

TaskCounts task_argument_counts(const Arm& arm) {
  return task_counts(arm, [](const EpisodeFacts& episode) {
    return std::pair(episode.agent_channel[static_cast<std::size_t>(Channel::Schema)] +
                         episode.agent_channel[static_cast<std::size_t>(Channel::Entity)],
                     episode.agent_calls);
  });
}

TaskCounts task_position_counts(const Arm& arm, Channel channel, int bin) {
  const auto b = static_cast<std::size_t>(bin);
  return task_counts(arm, [&](const EpisodeFacts& episode) {
    return std::pair(episode.position_failures[b][static_cast<std::size_t>(channel)],
                     episode.position_calls[b]);
  });
}

TaskCounts task_quarter_counts(const Arm& arm, Channel channel, int quarter) {
  const auto q = static_cast<std::size_t>(quarter);
  return task_counts(arm, [&](const EpisodeFacts& episode) {
    return std::pair(episode.quarter_failures[q][static_cast<std::size_t>(channel)],
                     episode.quarter_calls[q]);
  });
}

TaskRecovery task_recovery(const Arm& arm) {
  TaskRecovery recovery;
  recovery.recovered.resize(arm.tasks.size());
  recovery.failures.resize(arm.tasks.size());
  for_each_agent_failure(arm, [&](std::size_t t, const EpisodeFacts&, const FailedCall& call) {
    if (call.recovery == FailedCall::Recovery::Censored) {
      ++recovery.censored;
      return;
    }
    recovery.failures[t] += 1;
    if (call.recovery == FailedCall::Recovery::Recovered) recovery.recovered[t] += 1;
  });
  return recovery;
}

std::map<int, double> pass_hat_k(const Arm& arm) {
  std::vector<std::pair<int, int>> tasks;  // (graded, passed)
  int k_max = std::numeric_limits<int>::max();
  for (const TaskEpisodes& task : arm.tasks) {
    int graded = 0;
    int passed = 0;
    for (std::size_t i = task.begin; i < task.end; ++i) {
      if (!is_evaluated(arm.episodes[i])) continue;
      ++graded;
      if (*arm.episodes[i].success) ++passed;
    }
    if (graded == 0) continue;
    tasks.emplace_back(graded, passed);
    k_max = std::min(k_max, graded);
  }
  std::map<int, double> result;
  if (tasks.empty()) return result;
  for (int k = 1; k <= k_max; ++k) {
    double sum = 0;
    for (const auto& [graded, passed] : tasks) sum += choose(passed, k) / choose(graded, k);
    result[k] = sum / static_cast<double>(tasks.size());
  }
  return result;
}

NamedFailures hallucinated_names(const Arm& arm) {
  return named_failures(
      arm,
      [](const FailedCall& call) -> std::optional<FailureKey> {
        if (call.channel != Channel::ToolName) return std::nullopt;
        return FailureKey{call.name, Channel::ToolName};
      },
      [](const FailureKey& key) { return std::string(key.tool); });
}

NamedFailures failing_pairs(const Arm& arm) {
  return named_failures(
      arm,
      [](const FailedCall& call) -> std::optional<FailureKey> {
        return FailureKey{call.name.empty() ? std::string_view("(none)") : call.name, call.channel};
      },
      [](const FailureKey& key) {
        return std::string(key.tool) + "/" + std::string(to_string(key.channel));
      });
}

LengthMeans length_means(const Arm& arm) {
  const auto mean = [&](auto number) {
    return mean_of_task_means(arm, [&](const EpisodeFacts& episode) -> std::optional<double> {
      if (episode.excluded) return std::nullopt;
      return number(episode);
    });
  };
  using Number = std::optional<double>;
  const auto whole = [](const std::optional<std::int64_t>& n) {
    return n ? Number(static_cast<double>(*n)) : std::nullopt;
  };
  LengthMeans means;
  means.steps = mean([](const EpisodeFacts& e) { return Number(e.steps); });
  means.agent_turns = mean([](const EpisodeFacts& e) { return Number(e.agent_turns); });
  means.agent_calls = mean([](const EpisodeFacts& e) { return Number(e.agent_calls); });
  means.user_calls = mean([](const EpisodeFacts& e) { return Number(e.user_calls); });
  means.prompt_tokens = mean([&](const EpisodeFacts& e) { return whole(e.prompt_tokens); });
  means.completion_tokens = mean([&](const EpisodeFacts& e) { return whole(e.completion_tokens); });
  means.seconds = mean([](const EpisodeFacts& e) { return e.seconds; });
  means.agent_cost_usd = mean([](const EpisodeFacts& e) { return e.agent_cost_usd; });
  return means;
}

Bursts bursts(const Arm& arm) {
  Bursts result;
  long runs = 0;
  long failures = 0;
  for (const EpisodeFacts& episode : arm.episodes) {
    if (episode.excluded) continue;
    for (const int length : episode.burst_lengths) {
      ++result.lengths[length];
      ++runs;
      failures += length;
    }
    result.repeated_after_failure += episode.repeated_after_failure;
  }
  if (runs > 0) result.mean_length = static_cast<double>(failures) / static_cast<double>(runs);
  return result;
}

}  // namespace unmask
