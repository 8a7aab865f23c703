#include "rollout/regrade.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "base/parallel.h"
#include "environment/json.h"

namespace unmask {

namespace {

constexpr double kSameReward = 1e-6;
constexpr std::string_view kSoloAgent = "llm_agent_solo";

using TaskIndex = std::map<std::string_view, const Task*>;

std::string short_number(double v) {
  return v == std::floor(v) ? std::to_string(static_cast<long long>(v)) : std::to_string(v);
}

std::string parts_text(const Grading& grade) {
  if (!grade.note.empty()) return grade.note;
  std::string out;
  for (const auto& [part, reward] : grade.breakdown.value())
    out += (out.empty() ? "" : ", ") + std::string(to_string(part)) + " " + short_number(reward);
  return out.empty() ? "nothing to grade" : out;
}

std::string shown(const std::optional<std::string>& value) {
  constexpr std::size_t kMost = 60;
  if (!value) return "nothing";
  return value->size() <= kMost ? *value : value->substr(0, kMost) + "...";
}

// What most likely explains a reward that differs from the recorded one.
std::string explanation(const Grading& grade) {
  std::string out = "here " + parts_text(grade);
  if (grade.differing_replies > 0)
    out += "; " + std::to_string(grade.differing_replies) +
           " replayed call(s) are answered otherwise than recorded, so the log was made with other "
           "tools or data";
  if (!grade.differences.empty()) {
    const StateDifference& first = grade.differences.front();
    out += "; the databases differ in " + std::to_string(grade.difference_count) +
           " place(s), first " + first.path + ": wanted " + shown(first.wanted) + ", is " +
           shown(first.obtained);
  }
  return out;
}

void settle(RegradedEpisode& out, Grading grade) {
  out.obtained = grade.reward;
  if (!out.obtained) {
    out.status = RegradeStatus::Unsettled;
    out.reason = "NL_ASSERTION needs a judge; here " + parts_text(grade);
  } else if (!out.recorded) {
    out.status = RegradeStatus::Ungraded;
    out.reason = "the log has no reward; here " + parts_text(grade);
  } else if (std::abs(*out.obtained - *out.recorded) <= kSameReward) {
    out.status = RegradeStatus::Same;
  } else {
    out.status = RegradeStatus::Different;
    out.reason = explanation(grade);
  }
  out.grade = std::move(grade);
}

RegradedEpisode regraded(const Episode& episode, const std::shared_ptr<const Domain>& domain,
                         const TaskIndex& tasks, const GradingOptions& options) {
  RegradedEpisode out;
  out.task_id = episode.task_id;
  out.trial = episode.trial;
  out.recorded = episode.reward;
  const auto skip = [&](std::string reason) {
    out.status = RegradeStatus::Skipped;
    out.reason = std::move(reason);
    return out;
  };
  if (ended_in_infrastructure_error(episode))
    return skip("it ended in an infrastructure error, so it was never graded");
  const auto task = tasks.find(episode.task_id);
  if (task == tasks.end()) return skip("no task has this id");
  const std::vector<ReplayMessage> trajectory = replay_messages(episode.messages);
  Result<Grading> graded = grade(domain, *task->second, episode.termination, trajectory, options);
  if (!graded) {
    out.status = RegradeStatus::Failed;
    out.reason = to_string(graded.error());
    return out;
  }
  settle(out, std::move(*graded));
  return out;
}

}  // namespace

std::string_view to_string(RegradeStatus status) {
  switch (status) {
    case RegradeStatus::Same:
      return "same";
    case RegradeStatus::Different:
      return "different";
    case RegradeStatus::Unsettled:
      return "unsettled";
    case RegradeStatus::Ungraded:
      return "ungraded";
    case RegradeStatus::Failed:
      return "failed";
    case RegradeStatus::Skipped:
      return "skipped";
  }
  return "";
}

std::size_t RegradeReport::count(RegradeStatus status) const {
  return static_cast<std::size_t>(
      std::count_if(episodes.begin(), episodes.end(),
                    [&](const RegradedEpisode& episode) { return episode.status == status; }));
}

RegradeReport regrade(const Run& run, const std::shared_ptr<const Domain>& domain,
                      std::span<const Task> tasks, const RegradeOptions& options) {
  TaskIndex index;
  for (const Task& task : tasks) index.emplace(task.id, &task);
  GradingOptions grading;
  grading.strict = options.strict;
  grading.judge = options.judge;
  grading.solo = run.info.agent_implementation == kSoloAgent && domain->row->solo;
  RegradeReport report;
  report.episodes.resize(run.episodes.size());
  parallel_for(run.episodes.size(), options.threads, [&](std::size_t i) {
    report.episodes[i] = regraded(run.episodes[i], domain, index, grading);
    report.episodes[i].index = i;
  });
  return report;
}

Result<std::vector<Task>> tasks_of_log(const std::string& path) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  const std::string file = folder ? path + "/results.json" : path;
  std::vector<Task> tasks;
  const Result<std::string> text = read_file(file);
  if (!text) return tasks;
  const Result<Value> json = parse_json(*text);
  const Value* listed = json ? json->find("tasks") : nullptr;
  if (!listed || !listed->is_list()) return tasks;
  for (const Value& each : listed->items()) {
    Result<Task> task = read_task(each);
    if (!task) return Error{ErrorKind::Malformed, task.error().message, file};
    tasks.push_back(std::move(*task));
  }
  return tasks;
}

}  // namespace unmask
