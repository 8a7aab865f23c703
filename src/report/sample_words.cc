#include "report/sample_words.h"

#include <fmt/format.h>

#include <vector>

#include "report/display.h"
#include "report/numbers.h"
#include "report/render.h"
#include "report/sentences.h"

namespace unmask {
namespace {

// Why a comparison leaves a task out, by how its line in unpaired_tasks begins.
struct LeftOut {
  std::vector<std::string_view> one_arm, never_ran, ungraded;
};

LeftOut left_out(const CellComparison& cell) {
  LeftOut out;
  for (const std::string& line : cell.unpaired_tasks) {
    const std::size_t colon = line.find(": ");
    const std::string_view task = colon == std::string::npos
                                      ? std::string_view(line)
                                      : std::string_view(line).substr(colon + 2);
    if (line.starts_with(kNeverRan))
      out.never_ran.push_back(task);
    else if (line.starts_with(kNotGraded))
      out.ungraded.push_back(task);
    else
      out.one_arm.push_back(task);
  }
  return out;
}

// "; 5 tasks of one kind are left out: 3, 7, 12 and 2 more"; empty without a task.
std::string left_out_text(const std::vector<std::string_view>& tasks, std::string_view kind,
                          std::string_view of_what) {
  constexpr std::size_t kTasksNamed = 3;
  constexpr std::size_t kTaskColumns = 60;
  if (tasks.empty()) return "";
  std::string names;
  for (std::size_t i = 0; i < tasks.size() && i < kTasksNamed; ++i)
    names += (names.empty() ? "" : ", ") + fit(safe_for_terminal(tasks[i]), kTaskColumns);
  if (tasks.size() > kTasksNamed)
    names += fmt::format(" and {} more", count_text(static_cast<long>(tasks.size() - kTasksNamed)));
  return fmt::format("; {} {} {} left out{}: {}", counted(static_cast<long>(tasks.size()), "task"),
                     kind, tasks.size() == 1 ? "is" : "are", of_what, names);
}

}  // namespace

std::string left_out_in_words(const CellComparison& cell) {
  const LeftOut tasks = left_out(cell);
  const std::string text =
      left_out_text(tasks.one_arm, "in one arm only", "") +
      left_out_text(tasks.never_ran, "of which an arm has only excluded episodes", "") +
      left_out_text(tasks.ungraded, "without a graded episode in an arm", " of the outcome");
  if (text.empty()) return "";
  // Calls are compared over all of them, success where both arms have a grade.
  const std::string in_outcome = cell.graded && cell.evaluated_tasks < cell.paired_tasks
                                     ? fmt::format(" by their calls, {} of them in the outcome",
                                                   count_text(cell.evaluated_tasks))
                                     : "";
  return fmt::format("{} compared{}{}", counted(cell.paired_tasks, "task"), in_outcome, text);
}

std::string episodes_in_words(const ArmSummary& arm, long evaluated) {
  std::string text = evaluated == arm.episodes_in_log
                         ? counted(arm.episodes_in_log, "episode")
                         : fmt::format("{} of {} evaluated", count_text(evaluated),
                                       counted(arm.episodes_in_log, "episode"));
  if (arm.tasks > 0) text += ", " + tasks_by_trials(arm);
  const auto add = [&](long episodes, std::string_view what) {
    if (episodes > 0) text += fmt::format("; {} {}", count_text(episodes), what);
  };
  add(arm.episodes_in_log - arm.episodes_total, "of tasks left out");
  add(arm.episodes_total - evaluated - arm.episodes_excluded - arm.episodes_ungraded,
      "of tasks left out of the outcome");
  add(arm.episodes_excluded, "excluded (infrastructure errors)");
  add(arm.episodes_ungraded, "ungraded");
  return text;
}

std::string_view counted_failures(BudgetCount count) {
  return count == BudgetCount::All ? "failed calls (both sides)" : "failed calls (agent)";
}

namespace {

// "×1.80, +9.1 points" of one comparison as a table shows it.
std::string shown(std::optional<double> amplification, std::optional<double> difference) {
  const std::string points = in_points(difference) + " points";
  return amplification ? fmt::format("×{}, {}", ratio(amplification), points) : points;
}

// As the pooled numbers beside it: a ratio where those have one.
std::string shown_weighed(const ChannelComparison& c) {
  return shown(c.amplification ? c.weighed_amplification : std::nullopt, c.weighed_difference);
}

}  // namespace

std::string_view weighed_mark(const ChannelComparison& c) {
  if (!c.weighed_difference) return "";
  return shown_weighed(c) == shown(c.amplification, c.difference) ? "" : " †";
}

std::string weighed_in_words(const CellComparison& cell) {
  std::string weighed;
  const auto add = [&weighed](std::string_view channel, const ChannelComparison& c) {
    if (weighed_mark(c).empty()) return;
    weighed += fmt::format("{}{} {}", weighed.empty() ? "" : "; ", channel, shown_weighed(c));
  };
  for (const auto& [channel, c] : cell.channels) add(to_string(channel), c);
  add("argument", cell.argument);
  if (weighed.empty()) return "";
  return "† The arms have different numbers of episodes of a task: rates, their ratios and "
         "intervals "
         "are pooled; p is the larger of the pooled comparison and one with each task weighed "
         "alike, "
         "which has " +
         weighed + ".";
}

}  // namespace unmask
