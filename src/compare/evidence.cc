// Each question is one function that adds at most one warning; the list at the end is the order in
// which a reader sees them.

#include "compare/evidence.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/units.h"
#include "compare/tau2_history.h"

namespace unmask {
namespace {

using Warnings = std::vector<Warning>;

// Collects places and keeps the first few.
class Places {
 public:
  void add(std::string place) {
    constexpr std::size_t kShown = 5;
    if (shown_.size() < kShown) shown_.push_back(std::move(place));
    ++count_;
  }
  std::int64_t count() const { return count_; }
  std::string text() const {
    std::string out;
    for (const std::string& place : shown_) out += (out.empty() ? "" : "; ") + place;
    if (count_ > static_cast<std::int64_t>(shown_.size())) out += "; ...";
    return out;
  }

 private:
  std::vector<std::string> shown_;
  std::int64_t count_ = 0;
};

std::string place_of(const EpisodeFacts& episode) {
  return "task " + episode.task_id + " trial " + std::to_string(episode.trial);
}

template <typename Count>
std::int64_t total(const Arm& arm, Count count) {
  std::int64_t n = 0;
  for (const EpisodeFacts& episode : arm.episodes) {
    if (!episode.excluded) n += count(episode);
  }
  return n;
}

std::int64_t excluded(const Arm& arm) {
  return std::count_if(arm.episodes.begin(), arm.episodes.end(),
                       [](const EpisodeFacts& episode) { return episode.excluded; });
}

void warn_of_selection_window(const Arm& arm, Warnings& out) {
  const SelectionWindow window = selection_window(arm.info);
  if (window == SelectionWindow::Outside) return;
  const bool certain = window == SelectionWindow::ByCommit;
  const std::int64_t n = excluded(arm);
  std::string message = certain ? "The log's commit " + arm.info.git_commit.substr(0, 12) + " is "
                                : "The log's date " + arm.info.timestamp.substr(0, 10) + " falls ";
  message +=
      std::string("between tau2-bench v1.0.0 and its fix of 2026-04-29, when ") +
      (certain ? "" : "the code of that time ") +
      "retried an episode with an invented tool name and filed it as an infrastructure error: "
      "tool_name is understated";
  message += n > 0 ? ", and the " + counted(n, "excluded episode") + " may be such."
                   : "; no episode of this log was excluded, so it may have lost none.";
  out.push_back({"selection_window", message, "", n});
}

void warn_of_excluded(const Arm& arm, Warnings& out) {
  Places places;
  for (const EpisodeFacts& episode : arm.episodes) {
    if (episode.excluded) places.add(place_of(episode));
  }
  const std::int64_t n = places.count();
  if (n == 0) return;
  std::string message = counted(n, "episode") + " of " +
                        count_text(static_cast<long>(arm.episodes.size())) +
                        " ended in an infrastructure error and " + (n == 1 ? "is" : "are") +
                        " left out; what failed there is not counted.";
  if (arm.info.format.starts_with("tau2")) {
    message +=
        " In tau2-bench an unreadable arguments string ends that way too, so malformed may "
        "be understated.";
  }
  out.push_back({"excluded_episodes", message, places.text(), n});
}

void warn_of_ungraded(const Arm& arm, Warnings& out) {
  Places places;
  std::int64_t ran = 0;
  for (const EpisodeFacts& episode : arm.episodes) {
    if (episode.excluded) continue;
    ++ran;
    if (!episode.success) places.add(place_of(episode));
  }
  if (places.count() == 0) return;
  out.push_back(
      {"ungraded_episodes",
       counted(places.count(), "episode") + " of " + count_text(ran) +
           " that ran were not graded; they count in the channels and in no success rate.",
       places.text(), places.count()});
}

void warn_of_budget(const Arm& arm, Warnings& out) {
  const std::optional<int> budget = budget_in_force(arm);
  if (!budget) return;
  const int max_errors = std::max(*budget, 0);
  const long beyond = successes_beyond(arm, max_errors);
  if (beyond == 0) return;
  Places places;
  for (const EpisodeFacts& episode : arm.episodes) {
    if (is_evaluated(episode) && *episode.success && episode.errors_all >= max_errors)
      places.add(place_of(episode) + " (" + counted(episode.errors_all, "failed call") + ")");
  }
  out.push_back(
      {"budget_contradicted",
       counted(beyond, "successful episode") + (beyond == 1 ? " holds" : " hold") +
           " more failed calls than the stated error budget allows (max_errors = " +
           std::to_string(max_errors) + " ends an episode at " +
           counted(max_errors, "failed call") +
           " of both sides together), so that budget was not in force: the final score is not "
           "success within it.",
       places.text(), beyond});
}

void warn_of_tool_evidence(const Arm& arm, Warnings& out) {
  std::map<ToolEvidence, std::int64_t> used;
  for (const EpisodeFacts& episode : arm.episodes) {
    if (!episode.excluded) ++used[episode.tool_evidence];
  }
  const auto by_texts = used.find(ToolEvidence::ErrorTexts);
  if (by_texts != used.end()) {
    out.push_back({"tool_evidence",
                   "The offered tools of " + counted(by_texts->second, "episode") +
                       " are unknown; a name counts as hallucinated there only where the "
                       "environment's error text says so (a tools file would settle it).",
                   "", by_texts->second});
  } else if (used.size() > 1) {
    std::string sources;
    for (const auto& [evidence, episodes] : used) {
      sources += (sources.empty() ? "" : ", ") + std::string(to_string(evidence)) + " for " +
                 count_text(episodes);
    }
    out.push_back({"tool_evidence",
                   "The offered tools come from several sources (" + sources +
                       " episodes), so tool_name is not judged alike throughout.",
                   "", static_cast<std::int64_t>(used.size())});
  }
}

void warn_of_parser_loss(const Arm& arm, Warnings& out) {
  Places places;
  for (const EpisodeFacts& episode : arm.episodes) {
    if (episode.excluded) continue;
    for (const FailedCall& call : episode.failures) {
      if (call.side == Side::Agent && call.cause == Cause::Parser) places.add(place_of(episode));
    }
  }
  if (places.count() == 0) return;
  out.push_back({"parser_loss",
                 counted(places.count(), "call") +
                     " of the agent are in the raw completion and missing from the parsed message: "
                     "the server's parser lost them, which is not the model's damage.",
                 places.text(), places.count()});
}

void warn_of_unknown_texts(const Arm& arm, Warnings& out) {
  Places places;
  for (const EpisodeFacts& episode : arm.episodes) {
    if (episode.excluded) continue;
    for (const FailedCall& call : episode.failures) {
      if (call.side == Side::Agent && call.kind == SubKind::UnknownText)
        places.add(place_of(episode) + " (" + call.name + ")");
    }
  }
  if (places.count() == 0) return;
  out.push_back({"unknown_text",
                 counted(places.count(), "failed call") +
                     " of the agent carry an error text no rule knows; they are filed under "
                     "rejected and may belong to entity or schema.",
                 places.text(), places.count()});
}

void warn_of_odd_calls(const Arm& arm, Warnings& out) {
  const std::int64_t unanswered = total(arm, [](const EpisodeFacts& e) { return e.unanswered; });
  const std::int64_t system = total(arm, [](const EpisodeFacts& e) { return e.system; });
  const std::int64_t accepted = total(arm, [](const EpisodeFacts& e) { return e.not_offered_ok; });
  const std::int64_t orphans = total(arm, [](const EpisodeFacts& e) { return e.orphan_results; });
  if (unanswered > 0) {
    out.push_back({"unanswered_calls",
                   counted(unanswered, "call") +
                       " of the agent got no reply in the log; they are outside every rate.",
                   "", unanswered});
  }
  if (system > 0) {
    out.push_back({"system_calls",
                   counted(system, "call") +
                       " of the agent met a timeout or a fault of the harness; they are counted as "
                       "neither failed nor made.",
                   "", system});
  }
  if (accepted > 0) {
    out.push_back({"not_offered_accepted",
                   counted(accepted, "call") +
                       " used a name that is not among the offered tools, and the environment "
                       "accepted it; the list of tools may not be the one in force.",
                   "", accepted});
  }
  if (orphans > 0) {
    out.push_back(
        {"orphan_results",
         counted(orphans, "tool result") +
             " answer no call of the log; failed ones spend budget and belong to no channel.",
         "", orphans});
  }
}

using Grid = std::map<std::pair<std::size_t, int>, int>;  // (task, trial) -> episodes

Grid episodes_by_pair(const Arm& arm) {
  Grid grid;
  for (std::size_t t = 0; t < arm.tasks.size(); ++t) {
    for (std::size_t e = arm.tasks[t].begin; e < arm.tasks[t].end; ++e) {
      ++grid[{t, arm.episodes[e].trial}];
    }
  }
  return grid;
}

void warn_of_missing_pairs(const Arm& arm, Warnings& out) {
  Places places;
  for (const TaskTrial& pair : missing_pairs(arm))
    places.add("task " + pair.task + " trial " + std::to_string(pair.trial));
  if (places.count() == 0) return;
  out.push_back({"missing_pairs",
                 counted(places.count(), "pair") +
                     " of task and trial have no episode; if they are missing because they failed, "
                     "the rates are too good.",
                 places.text(), places.count()});
}

void warn_of_duplicate_pairs(const Arm& arm, Warnings& out) {
  Places places;
  for (const auto& [pair, episodes] : episodes_by_pair(arm)) {
    if (episodes > 1) {
      places.add("task " + arm.tasks[pair.first].id + " trial " + std::to_string(pair.second) +
                 " (" + std::to_string(episodes) + " times)");
    }
  }
  if (places.count() == 0) return;
  out.push_back({"duplicate_pairs",
                 counted(places.count(), "pair") +
                     " of task and trial have more than one episode; all of them are counted.",
                 places.text(), places.count()});
}

// Every task's every trial has a seed of its own: a plan that draws them by task and trial, and no
// mixture of runs, in which tasks would share seeds.
bool seeds_are_by_task_and_trial(const Arm& arm) {
  std::map<std::int64_t, std::pair<std::size_t, int>> owners;
  for (std::size_t t = 0; t < arm.tasks.size(); ++t) {
    for (std::size_t e = arm.tasks[t].begin; e < arm.tasks[t].end; ++e) {
      const EpisodeFacts& episode = arm.episodes[e];
      if (!episode.seed) return false;
      const std::pair<std::size_t, int> pair{t, episode.trial};
      if (owners.emplace(*episode.seed, pair).first->second != pair) return false;
    }
  }
  return true;
}

void warn_of_seeds(const Arm& arm, Warnings& out) {
  if (seeds_are_by_task_and_trial(arm)) return;
  std::map<int, std::set<std::int64_t>> by_trial;
  Places repeated;
  for (const TaskEpisodes& task : arm.tasks) {
    std::map<std::int64_t, std::set<int>> by_seed;
    for (std::size_t e = task.begin; e < task.end; ++e) {
      const EpisodeFacts& episode = arm.episodes[e];
      if (!episode.seed) continue;
      by_trial[episode.trial].insert(*episode.seed);
      by_seed[*episode.seed].insert(episode.trial);
    }
    for (const auto& [seed, trials] : by_seed) {
      if (trials.size() > 1) repeated.add("task " + task.id + " seed " + std::to_string(seed));
    }
  }
  Places several;
  for (const auto& [trial, seeds] : by_trial) {
    if (seeds.size() > 1)
      several.add("trial " + std::to_string(trial) + ": " +
                  counted(static_cast<std::int64_t>(seeds.size()), "seed"));
  }
  if (several.count() > 0) {
    out.push_back({"seeds_by_task",
                   "The seed is not a function of the trial: " +
                       counted(several.count(), "trial number") + " ran under several seeds.",
                   several.text(), several.count()});
  }
  if (repeated.count() > 0) {
    out.push_back({"seeds_repeat",
                   counted(repeated.count(), "task") +
                       " ran several trials under one seed; such trials may be copies.",
                   repeated.text(), repeated.count()});
  }
}

void warn_of_mixture(const Arm& arm, std::string EpisodeFacts::*field, const char* code,
                     const std::string& noun, Warnings& out) {
  std::map<std::string, std::int64_t> values;
  for (const EpisodeFacts& episode : arm.episodes) {
    const std::string& value = episode.*field;
    if (!value.empty()) ++values[value];
  }
  if (values.size() < 2) return;
  Places places;
  for (const auto& [value, episodes] : values) {
    places.add(value.substr(0, 60) + " (" + counted(episodes, "episode") + ")");
  }
  out.push_back({code,
                 "The arm mixes " + std::to_string(values.size()) + " " + noun +
                     "; an arm should be one model at one precision under one policy.",
                 places.text(), places.count()});
}

// Tasks with 2 or more trials, and those of them whose trials are one trajectory.
void warn_of_copies(const Arm& arm, Warnings& out) {
  std::int64_t repeated = 0;
  std::int64_t copied = 0;
  for (const TaskEpisodes& task : arm.tasks) {
    std::set<std::uint64_t> hashes;
    int ran = 0;
    for (std::size_t e = task.begin; e < task.end; ++e) {
      if (arm.episodes[e].excluded || arm.episodes[e].trajectory_hash == 0) continue;
      hashes.insert(arm.episodes[e].trajectory_hash);
      ++ran;
    }
    if (ran < 2) continue;
    ++repeated;
    if (hashes.size() == 1) ++copied;
  }
  if (copied == 0) return;
  if (copied == repeated) {
    out.push_back({"trials_are_copies",
                   "The trials of every task are one trajectory (greedy decoding?): the number of "
                   "independent observations is the number of tasks, and pass^k means nothing.",
                   "", copied});
    return;
  }
  out.push_back({"trials_are_copies",
                 "The trials of " + count_text(copied) + " of " + counted(repeated, "task") +
                     " are one trajectory; such trials add no evidence, and pass^k is too good.",
                 "", copied});
}

void warn_of_smallness(const Arm& arm, Warnings& out) {
  if (arm.tasks.size() == 1) {
    out.push_back(
        {"one_task",
         "The arm has one task; nothing can be said about others, and no interval exists.",
         "task " + arm.tasks.front().id, 1});
  }
  std::map<std::size_t, int> trials;
  for (const auto& [pair, episodes] : episodes_by_pair(arm)) ++trials[pair.first];
  const bool single =
      std::all_of(trials.begin(), trials.end(), [](const auto& task) { return task.second == 1; });
  if (!trials.empty() && single) {
    out.push_back(
        {"one_trial",
         "Every task was run once; how much the same settings vary by themselves cannot be "
         "seen.",
         "", static_cast<std::int64_t>(trials.size())});
  }
}

// Every trial number that occurs or, where the arm is one file, that its header announces.
std::set<int> trials_of_grid(const Arm& arm, bool one_file) {
  constexpr int kMostAnnounced = 10000;  // a damaged header must not make us count to 2^31
  std::set<int> trials;
  for (const EpisodeFacts& episode : arm.episodes) trials.insert(episode.trial);
  if (one_file && arm.info.num_trials && *arm.info.num_trials <= kMostAnnounced) {
    for (int j = 0; j < *arm.info.num_trials; ++j) trials.insert(j);
  }
  return trials;
}

}  // namespace

std::vector<TaskTrial> missing_pairs(const Arm& arm) {
  const bool one_file = arm.sources.size() <= 1;
  const std::set<int> trials = trials_of_grid(arm, one_file);
  const Grid grid = episodes_by_pair(arm);
  std::vector<TaskTrial> missing;
  std::set<std::string> ran;
  for (std::size_t t = 0; t < arm.tasks.size(); ++t) {
    ran.insert(arm.tasks[t].id);
    for (const int j : trials) {
      if (!grid.contains({t, j})) missing.push_back({arm.tasks[t].domain, arm.tasks[t].id, j});
    }
  }
  if (!one_file) return missing;
  for (const std::string& task : arm.info.task_ids) {
    if (ran.contains(task)) continue;
    for (const int j : trials) missing.push_back({arm.info.domain, task, j});
  }
  return missing;
}

std::vector<TaskTrial> missing_beside(const Arm& arm, const Arm& other) {
  std::set<std::pair<std::string, std::string>> tasks;
  for (const TaskEpisodes& task : other.tasks) tasks.emplace(task.domain, task.id);
  std::vector<TaskTrial> missing = missing_pairs(arm);
  const std::vector<TaskTrial> there = missing_pairs(other);
  const std::set<TaskTrial> in_both(there.begin(), there.end());
  std::erase_if(missing, [&](const TaskTrial& pair) {
    return !tasks.contains({pair.domain, pair.task}) || in_both.contains(pair);
  });
  return missing;
}

std::vector<Warning> evidence_warnings(const Arm& arm) {
  Warnings out;
  warn_of_selection_window(arm, out);
  warn_of_excluded(arm, out);
  warn_of_ungraded(arm, out);
  warn_of_budget(arm, out);
  warn_of_tool_evidence(arm, out);
  warn_of_parser_loss(arm, out);
  warn_of_unknown_texts(arm, out);
  warn_of_odd_calls(arm, out);
  warn_of_missing_pairs(arm, out);
  warn_of_duplicate_pairs(arm, out);
  warn_of_seeds(arm, out);
  warn_of_mixture(arm, &EpisodeFacts::model, "mixed_models", "models", out);
  warn_of_mixture(arm, &EpisodeFacts::policy_hash, "mixed_policies", "policies", out);
  warn_of_copies(arm, out);
  warn_of_smallness(arm, out);
  return out;
}

}  // namespace unmask
