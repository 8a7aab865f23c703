// The power analysis on a screen: for every goal the grid, the curve, and what would do.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "report/chart.h"
#include "report/numbers.h"
#include "report/power_report.h"
#include "report/screen.h"
#include "report/sections.h"

namespace unmask {
namespace {

constexpr std::size_t kCurveColumns = 40;

std::string whole_percent(double share) {
  return fmt::format("{:.0f}%", points(share));
}

std::string repeats_title(int trials) {
  return trials == kEndlessTrials ? "∞" : std::to_string(trials);
}

bool is_decisions(const GoalPower& goal) {
  return goal.goal == PowerGoal::Decisions;
}

// "4 trials", "20 decisions a task".
std::string repeats_in_words(const GoalPower& goal, int trials) {
  return is_decisions(goal) ? counted(trials, "decision") + " a task" : counted(trials, "trial");
}

std::string change_of(const PairedPropensity& pair) {
  return fmt::format("{} to {}", percent(pair.baseline.mean), percent(pair.candidate.mean));
}

std::string title_of(const GoalPower& goal, const PowerReport& report) {
  const PowerModel& model = report.model;
  switch (goal.goal) {
    case PowerGoal::Amplification:
      if (!(goal.effect > 0))
        return fmt::format("Detect amplification in {}", to_string(report.channel));
      return fmt::format("Detect amplification ×{} in {}", ratio(goal.effect),
                         to_string(report.channel));
    case PowerGoal::Equivalence:
      return fmt::format("Show the score equivalent within {:g} points",
                         points(report.options.margin));
    case PowerGoal::UnmaskedGap:
      if (!(goal.effect > 0)) return "Detect an unmasked gap";
      return fmt::format("Detect an unmasked gap of {} points", in_points(goal.effect, false));
    case PowerGoal::Decisions:
      if (!(goal.effect > 0)) return "Detect more failing decisions";
      return fmt::format("Detect {} points more failing decisions, with {} of all discordant",
                         in_points(goal.effect, false), percent(model.decisions.discordance));
  }
  return "";
}

std::string decisions_in_words(const DecisionHabits& decisions, const DecisionsFrom& from) {
  const auto whose = [](TakenFrom place) {
    return place == TakenFrom::Pilot    ? "of the pilot's failures"
           : place == TakenFrom::Replay ? "the replay's"
           : place == TakenFrom::Stated ? "stated"
                                        : "assumed";
  };
  return fmt::format(
      "discordance {} ({}), difference {} ({}); correlation within tasks {:.2f} ({})",
      percent(decisions.discordance), whose(from.discordance), in_points(decisions.difference),
      whose(from.difference), decisions.correlation, whose(from.correlation));
}

std::string assumed_of(const GoalPower& goal, const PowerReport& report) {
  const PowerModel& model = report.model;
  const auto tasks = [](const PairedPropensity& pair) {
    return fmt::format("correlation within tasks {:.2f}, between the arms' tasks {:.2f}",
                       pair.baseline.correlation, pair.pairing);
  };
  switch (goal.goal) {
    case PowerGoal::Amplification:
      return fmt::format("{} of calls; {:.1f} and {:.1f} calls an episode; {}",
                         change_of(model.failure), model.calls.baseline, model.calls.candidate,
                         tasks(model.failure));
    case PowerGoal::Equivalence:
      return fmt::format("true change {}, from {}; {}", in_points(goal.effect),
                         percent(model.success.baseline.mean), tasks(model.success));
    case PowerGoal::UnmaskedGap:
      return fmt::format("episodes that succeed beyond {} failed calls: {}; {}", report.k_tight,
                         change_of(model.masked), tasks(model.masked));
    case PowerGoal::Decisions:
      return decisions_in_words(model.decisions, report.decisions_from);
  }
  return "";
}

Span power_span(const PowerPoint& point, const PowerOptions& options) {
  return {whole_percent(point.power), point.power >= options.wanted ? Paint::Good : Paint::Plain};
}

void show_grid(Screen& screen, const GoalPower& goal, const PowerOptions& options) {
  Table table;
  table.columns = {{is_decisions(goal) ? "tasks \\ decisions" : "tasks \\ trials"}};
  for (const TasksNeeded& needed : goal.needed)
    table.columns.push_back({repeats_title(needed.trials)});
  const std::size_t repeats = goal.needed.size() - 1;
  for (std::size_t t = 0; t < goal.limit.size(); ++t) {
    std::vector<Span> row = {{count_text(goal.limit[t].design.tasks)}};
    for (std::size_t r = 0; r < repeats; ++r)
      row.push_back(power_span(goal.grid[t * repeats + r], options));
    row.push_back(power_span(goal.limit[t], options));
    table.rows.push_back(row);
  }
  std::vector<Span> last = {
      {fmt::format("tasks for {}", whole_percent(options.wanted)), Paint::Strong}};
  for (const TasksNeeded& needed : goal.needed) {
    const std::string most = count_text(goal.limit.back().design.tasks);
    last.push_back({!needed.tasks    ? ">" + most
                    : needed.at_most ? "≤" + count_text(*needed.tasks)
                                     : count_text(*needed.tasks),
                    Paint::Strong});
  }
  table.rows.push_back(last);
  screen.table(table);
}

// The power over tasks at the trials of the smallest design, or the most there are.
void show_curve(Screen& screen, const GoalPower& goal, const PowerOptions& options) {
  const std::size_t repeats = goal.needed.size() - 1;
  const int trials = goal.smallest ? goal.smallest->design.trials : goal.needed[repeats - 1].trials;
  screen.blank();
  screen.line(
      {{fmt::format("  power at {}, by tasks", repeats_in_words(goal, trials)), Paint::Dim}});
  const auto mark = static_cast<std::size_t>(std::lround(options.wanted * kCurveColumns));
  for (const PowerPoint& point : goal.grid) {
    if (point.design.trials != trials) continue;
    const std::string filled = bar(point.power, kCurveColumns);
    const auto drawn =
        static_cast<std::size_t>(std::ceil(point.power * static_cast<double>(kCurveColumns)));
    std::string rest(kCurveColumns - std::min(drawn, kCurveColumns), ' ');
    std::string tail = rest;
    if (drawn <= mark && mark - drawn < rest.size())
      tail = rest.substr(0, mark - drawn) + "┊" + rest.substr(mark - drawn + 1);
    screen.line({{fmt::format("  {:>6} ", count_text(point.design.tasks))},
                 {filled, point.power >= options.wanted ? Paint::Good : Paint::Plain},
                 {tail, Paint::Dim},
                 {" " + whole_percent(point.power)}});
  }
}

std::string smallest_in_words(const GoalPower& goal, const PowerOptions& options) {
  if (!goal.smallest)
    return fmt::format("No design of this grid reaches {}.", whole_percent(options.wanted));
  const PowerPoint& best = *goal.smallest;
  const long units = best.design.units();
  return fmt::format("Smallest: {} × {} = {}{} (power {} ± {:.1f} points, two standard errors).",
                     counted(best.design.tasks, "task"),
                     is_decisions(goal) ? counted(best.design.trials, "decision")
                                        : counted(best.design.trials, "trial"),
                     counted(units, is_decisions(goal) ? "paired decision" : "episode"),
                     is_decisions(goal) ? "" : " an arm", whole_percent(best.power),
                     points(2 * best.error));
}

std::string_view reason_of(TrialsLimit limit) {
  switch (limit) {
    case TrialsLimit::TasksDiffer:
      return "because the tasks themselves differ";
    case TrialsLimit::UnseenTasks:
      return "because so few tasks, though all alike, leave room for others that were not seen";
    case TrialsLimit::FewTasks:
      return "because so few tasks cannot pass the test where all of them show the same";
  }
  return "";
}

// Where trials without end reach less than some of the grid: at which the most is.
std::string where_the_most_is(const GoalPower& goal) {
  const Design& design = goal.most_of_trials->design;
  if (design.trials == kEndlessTrials || !goal.falls_with_trials(design.tasks)) return "";
  return fmt::format(", at {},", repeats_in_words(goal, design.trials));
}

// Numbers of tasks with which more trials find less.
std::string fall_in_words(const GoalPower& goal) {
  std::vector<std::string> tasks;
  for (const PowerPoint& point : goal.limit)
    if (goal.falls_with_trials(point.design.tasks)) tasks.push_back(count_text(point.design.tasks));
  if (tasks.empty()) return "";
  return fmt::format(
      "More {} are not always better here: with {} tasks fewer of them find it more often than {} "
      "without end (∞), which are judged by the same test, so that ∞ is no upper bound.",
      is_decisions(goal) ? "decisions" : "trials", fmt::join(tasks, ", "),
      is_decisions(goal) ? "decisions" : "trials");
}

// What more trials cannot do, and what would.
std::string limit_in_words(const GoalPower& goal) {
  if (!goal.trials_fail_up_to) return "";
  const std::string more = is_decisions(goal) ? "decisions" : "trials";
  std::string text = fmt::format(
      "More {} on the same tasks cannot do it with {} or fewer: {}{} is the most they "
      "reach there, {}.",
      more, counted(*goal.trials_fail_up_to, "task"), whole_percent(goal.most_of_trials->power),
      where_the_most_is(goal), reason_of(goal.trials_limit.value_or(TrialsLimit::TasksDiffer)));
  if (const std::optional<int> tasks = goal.fewest_tasks_needed())
    return text + fmt::format(" More tasks would: at least {}.", count_text(*tasks));
  return text + fmt::format(" It would take more than {}.",
                            counted(goal.limit.back().design.tasks, "task"));
}

void show_goal(Screen& screen, const GoalPower& goal, const PowerReport& report) {
  screen.heading(title_of(goal, report));
  screen.paragraph("  ", assumed_of(goal, report), Paint::Dim);
  if (goal.undefined) {
    screen.paragraph("  ", "Cannot be planned: " + *goal.undefined + ".", Paint::Warn);
    return;
  }
  show_grid(screen, goal, report.options);
  show_curve(screen, goal, report.options);
  screen.paragraph("  ", smallest_in_words(goal, report.options), Paint::Strong);
  const std::string limit = limit_in_words(goal);
  if (!limit.empty()) screen.paragraph("  ", limit, Paint::Warn);
  const std::string fall = fall_in_words(goal);
  if (!fall.empty()) screen.paragraph("  ", fall, Paint::Dim);
}

std::string source_in_words(const PowerReport& report) {
  const PlannedFrom& from = report.from;
  if (from.labels.empty())
    return report.replay ? "Planned from a replay." : "Planned from stated rates.";
  std::string arms;
  for (const std::string& label : from.labels)
    arms += (arms.empty() ? "" : " and ") + safe_for_terminal(label);
  return fmt::format("Planned from a pilot of {} × {}: {}; {} {} failures in the baseline.",
                     counted(from.tasks, "task"), counted(from.trials, "trial"), arms,
                     count_text(from.failures), to_string(report.channel));
}

std::string replay_in_words(const ReplayPlannedFrom& replay, Channel channel) {
  const std::string baseline = safe_for_terminal(replay.baseline);
  const std::string candidate = safe_for_terminal(replay.candidate);
  return fmt::format(
      "Decisions from a replay of {}, {} to which {} and {} both replied: {} has {} failures that "
      "are {}'s alone, and {} that are {}'s.",
      counted(replay.tasks, "task"), counted(replay.decisions, "decision"), baseline, candidate,
      to_string(channel), count_text(replay.only_baseline), baseline,
      count_text(replay.only_candidate), candidate);
}

std::string how_to_read(const PowerReport& report) {
  const PowerOptions& options = report.options;
  std::string text = fmt::format(
      "Each number is the share of {} simulated studies in which the audit's own test finds it, "
      "within at most {:.1f} points (two standard errors, at a power of 50%). ∞: every task's "
      "truth known, so that only the differences between tasks are left.",
      count_text(options.simulations), points(2 * std::sqrt(0.25 / options.simulations)));
  if (options.comparisons > 1)
    text += fmt::format(
        " Tests pass at {:g} / {}, the first step of Holm's correction over {} comparisons, which "
        "is the hardest; equivalence is not corrected, as in the audit.",
        options.alpha, options.comparisons, options.comparisons);
  return text;
}

}  // namespace

std::string to_terminal(const PowerReport& report, const TerminalStyle& style) {
  Screen screen(style);
  screen.line({{"POWER", Paint::Strong}, {"  tasks and trials that settle a question"}});
  screen.blank();
  screen.paragraph("", source_in_words(report));
  if (report.replay) screen.paragraph("", replay_in_words(*report.replay, report.channel));
  for (const GoalPower& goal : report.goals) show_goal(screen, goal, report);
  const bool any_number =
      std::any_of(report.goals.begin(), report.goals.end(),
                  [](const GoalPower& goal) { return !goal.undefined.has_value(); });
  if (any_number || !report.notes.empty()) screen.heading("How to read this");
  if (any_number) screen.paragraph("  ", how_to_read(report), Paint::Dim);
  for (const std::string& note : report.notes) screen.paragraph("  ", note, Paint::Dim);
  std::vector<std::string> evidence;
  for (const Warning& warning : report.warnings)
    evidence.push_back(warning.where.empty() ? warning.message
                                             : warning.where + ": " + warning.message);
  for (const Dropped& record : report.dropped)
    evidence.push_back("not read: " + record.where + ": " + record.reason);
  show_evidence(screen, evidence, 8);
  screen.blank();
  screen.paragraph("",
                   safe_for_terminal(fmt::format("unmask {}, seed {}, {} simulations a design",
                                                 report.provenance.version, report.options.seed,
                                                 count_text(report.options.simulations))),
                   Paint::Dim);
  if (!report.provenance.command.empty())
    screen.paragraph("", safe_for_terminal(report.provenance.command), Paint::Dim);
  return screen.take();
}

}  // namespace unmask
