// How often an audit would find what it looks for, by simulation with tasks as clusters.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compare/power_draw.h"

namespace unmask {

std::string_view to_string(PowerGoal goal);  // "amplification" ...

struct Design {
  int tasks = 0;
  int trials = 0;  // episodes a task and arm, or decisions a task; kEndlessTrials: without end
  long units() const { return static_cast<long>(tasks) * trials; }

  bool operator==(const Design&) const = default;
};

struct PowerPoint {
  Design design;
  double power = 0;
  double error = 0;  // standard error of the simulation
};

// Beyond these a permutation test that can pass its level would take too long to simulate.
inline constexpr int kMostComparisons = 1000;

struct PowerOptions {
  std::vector<int> tasks = {25, 50, 100, 200, 400};  // ascending
  std::vector<int> trials = {1, 2, 4, 8};            // ascending
  std::vector<int> decisions = {2, 5, 10, 20, 50};   // a task, ascending
  std::vector<PowerGoal> goals;
  double wanted = 0.8;
  double alpha = 0.05;
  // Tests in the family, at most kMostComparisons: each must pass alpha / comparisons, Holm's first
  // step, which is the hardest. Equivalence is not corrected, as in the audit.
  int comparisons = 1;
  double margin = 0.075;
  int simulations = 500;
  std::uint64_t seed = 20260731;
  int threads = 0;
  std::function<void(const std::string& step)> progress;  // may be empty
};

// Tasks that give the wanted power at a number of trials, between the tasks of the grid by probit
// against sqrt(tasks); where that line has no end, at a power of 0 or 1, by simulations between.
struct TasksNeeded {
  int trials = 0;
  std::optional<int> tasks;  // nullopt: more than the grid has
  bool at_most = false;      // the grid's smallest number is already enough
};

// Why trials without end do not do.
enum class TrialsLimit {
  TasksDiffer,  // each from the others
  UnseenTasks,  // all are the same, and leave room for others that were not seen
  FewTasks,     // so few cannot pass the test where all show the same
};
std::string_view to_string(TrialsLimit limit);  // "tasks_differ" ...

struct GoalPower {
  PowerGoal goal = PowerGoal::Amplification;
  // A; Delta; U; difference of decisions.
  double effect = 0;
  std::optional<std::string> undefined;  // why nothing can be planned; then the rest is empty
  std::vector<PowerPoint> grid;          // (tasks, trials), tasks-major
  std::vector<PowerPoint> limit;         // (tasks), with trials without end
  std::vector<TasksNeeded> needed;       // (trials), the last without end
  // Fewest episodes (or decisions) that reach the wanted power, fewest trials first; simulated
  // again at that design.
  std::optional<PowerPoint> smallest;
  // Up to this many tasks of the grid no number of trials reaches the wanted power, of those
  // simulated and without end: more trials may also find less, so the limit alone does not tell.
  std::optional<int> trials_fail_up_to;
  std::optional<PowerPoint> most_of_trials;  // the most that is reached there, fewest trials first
  std::optional<TrialsLimit> trials_limit;   // why, where they fail

  // Whether with so many tasks a number of trials of the grid finds it more often than trials
  // without end, by more than the simulation's chance.
  bool falls_with_trials(int tasks) const;
  // The least of the needed tasks at any number of trials.
  std::optional<int> fewest_tasks_needed() const;
};

// Fills trials_fail_up_to and most_of_trials from the grid and the limit. A power within two
// standard errors of the wanted one has not failed.
void find_where_trials_fail(double wanted, GoalPower& goal);

// One design. The draws depend on (seed, goal, design, simulation) alone: same numbers at any
// number of threads, and no others when a grid is extended.
PowerPoint simulated_power(const PowerDraw& draw, PowerGoal goal, const Design& design,
                           const PowerOptions& options);

// Every goal of the options over the grid.
// Errors   InvalidArgument: as check_model; an empty or descending grid; options out of range.
Result<std::vector<GoalPower>> power_of_designs(const PowerModel& model,
                                                const PowerOptions& options);

}  // namespace unmask
