#include "metrics/arm.h"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace unmask {
namespace {

bool all_digits(std::string_view text) {
  return !text.empty() && text.size() < 19 &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

// A total order, so that an arm does not depend on the order its files were read in: ties between
// duplicates are broken by content.
bool episode_less(const EpisodeFacts& a, const EpisodeFacts& b) {
  if (a.domain != b.domain) return a.domain < b.domain;
  if (a.task_id != b.task_id) return comes_before(a.task_id, b.task_id);
  return std::tie(a.trial, a.id, a.trajectory_hash) < std::tie(b.trial, b.id, b.trajectory_hash);
}

std::vector<TaskEpisodes> group_by_task(const EpisodeList& episodes) {
  std::vector<TaskEpisodes> tasks;
  for (std::size_t i = 0; i < episodes.size(); ++i) {
    const EpisodeFacts& episode = episodes[i];
    if (tasks.empty() || tasks.back().id != episode.task_id ||
        tasks.back().domain != episode.domain)
      tasks.push_back({episode.domain, episode.task_id, i, i});
    tasks.back().end = i + 1;
  }
  return tasks;
}

// An episode of which nothing is known but the outcome it is given: no calls.
EpisodeFacts stand_in_of(TaskTrial place, ReadAs outcome) {
  EpisodeFacts stand_in;
  stand_in.domain = std::move(place.domain);
  stand_in.task_id = std::move(place.task);
  stand_in.trial = place.trial;
  stand_in.assumed = true;
  stand_in.termination = Termination::UnexpectedError;
  stand_in.success = outcome == ReadAs::Passed;
  stand_in.reward = outcome == ReadAs::Passed ? 1.0 : 0.0;
  return stand_in;
}

}  // namespace

bool comes_before(std::string_view a, std::string_view b) {
  const bool a_number = all_digits(a);
  const bool b_number = all_digits(b);
  if (a_number != b_number) return a_number;
  if (a_number) {
    const long long x = std::stoll(std::string(a));
    const long long y = std::stoll(std::string(b));
    if (x != y) return x < y;
  }
  return a < b;
}

std::string_view to_string(BudgetCount count) {
  return count == BudgetCount::All ? "all" : "agent";
}

std::string_view to_string(BudgetRule rule) {
  return rule == BudgetRule::AtMost ? "at_most" : "live";
}

Arm make_arm(std::string label, std::vector<std::string> sources, RunInfo info,
             std::vector<EpisodeFacts> episodes) {
  std::vector<EpisodeList::Shared> shared;
  shared.reserve(episodes.size());
  for (EpisodeFacts& episode : episodes)
    shared.push_back(std::make_shared<const EpisodeFacts>(std::move(episode)));
  return make_arm(std::move(label), std::move(sources), std::move(info), std::move(shared));
}

Arm make_arm(std::string label, std::vector<std::string> sources, RunInfo info,
             std::vector<EpisodeList::Shared> episodes) {
  Arm arm;
  arm.label = std::move(label);
  arm.sources = std::move(sources);
  arm.info = std::move(info);
  for (EpisodeList::Shared& episode : episodes) {
    if (!episode->domain.empty() || arm.info.domain.empty()) continue;
    EpisodeFacts named = *episode;
    named.domain = arm.info.domain;
    episode = std::make_shared<const EpisodeFacts>(std::move(named));
  }
  std::stable_sort(episodes.begin(), episodes.end(),
                   [](const EpisodeList::Shared& a, const EpisodeList::Shared& b) {
                     return episode_less(*a, *b);
                   });
  arm.episodes = EpisodeList(std::move(episodes));
  arm.tasks = group_by_task(arm.episodes);
  return arm;
}

std::optional<int> budget_in_force(const Arm& arm) {
  return arm.info.max_errors;
}

long successes_beyond(const Arm& arm, int max_errors) {
  return std::count_if(arm.episodes.begin(), arm.episodes.end(), [&](const EpisodeFacts& episode) {
    return is_evaluated(episode) && *episode.success && episode.errors_all >= max_errors;
  });
}

Arm select_tasks(const Arm& arm, std::span<const std::size_t> tasks) {
  Arm selected;
  selected.label = arm.label;
  selected.sources = arm.sources;
  selected.info = arm.info;
  for (const std::size_t t : tasks) {
    const TaskEpisodes& task = arm.tasks.at(t);
    for (std::size_t i = task.begin; i < task.end; ++i)
      selected.episodes.push_back(arm.episodes.shared(i));
  }
  selected.tasks = group_by_task(selected.episodes);
  for (std::size_t t = 0; t < tasks.size(); ++t)
    selected.tasks[t].weight = arm.tasks[tasks[t]].weight;
  return selected;
}

Arm with_excluded_as(const Arm& arm, ReadAs outcome) {
  Arm changed = arm;
  if (outcome == ReadAs::LeftOut) return changed;
  for (std::size_t i = 0; i < changed.episodes.size(); ++i) {
    if (!changed.episodes[i].excluded) continue;
    EpisodeFacts& episode = changed.episodes.edit(i);
    // What it did before it broke off is not evidence.
    EpisodeFacts stand_in = stand_in_of({episode.domain, episode.task_id, episode.trial}, outcome);
    stand_in.id = episode.id;
    stand_in.where = episode.where;
    episode = std::move(stand_in);
  }
  return changed;
}

Arm with_ungraded_as(const Arm& arm, ReadAs outcome) {
  Arm changed = arm;
  if (outcome == ReadAs::LeftOut) return changed;
  for (std::size_t i = 0; i < changed.episodes.size(); ++i) {
    if (changed.episodes[i].excluded || changed.episodes[i].success) continue;
    EpisodeFacts& episode = changed.episodes.edit(i);
    episode.success = outcome == ReadAs::Passed;
    episode.reward = outcome == ReadAs::Passed ? 1.0 : 0.0;
  }
  return changed;
}

Arm with_missing_as(const Arm& arm, std::span<const TaskTrial> missing, ReadAs outcome) {
  if (outcome == ReadAs::LeftOut) return arm;
  std::vector<EpisodeList::Shared> episodes;
  for (std::size_t i = 0; i < arm.episodes.size(); ++i) episodes.push_back(arm.episodes.shared(i));
  for (const TaskTrial& place : missing)
    episodes.push_back(std::make_shared<const EpisodeFacts>(stand_in_of(place, outcome)));
  return make_arm(arm.label, arm.sources, arm.info, std::move(episodes));
}

bool is_evaluated(const EpisodeFacts& episode) {
  return !episode.excluded && episode.success.has_value();
}

}  // namespace unmask
