// Per-task numbers of two arms, drawn from a PowerModel: what counting the episodes of a run would
// give, without any episode.
#pragma once

#include <vector>

#include "base/rng.h"
#include "compare/power_model.h"

namespace unmask {

// A number of trials without end: every task's numbers are then its own truth, and what spread is
// left lies between the tasks.
inline constexpr int kEndlessTrials = 0;

struct DrawnCalls {  // index: task
  std::vector<double> failures_baseline, calls_baseline;
  std::vector<double> failures_candidate, calls_candidate;
};

// Threads  const members are safe to call concurrently, each with an Rng of its own.
class PowerDraw {
 public:
  // `model` must have passed check_model.
  explicit PowerDraw(const PowerModel& model);

  DrawnCalls calls(int tasks, int trials, Rng& rng) const;
  // Per task: mean of the candidate's trials - mean of the baseline's.
  std::vector<double> success_differences(int tasks, int trials, Rng& rng) const;
  std::vector<double> masked_differences(int tasks, int trials, Rng& rng) const;
  // Per task: mean over `decisions` of (candidate failed - baseline failed).
  std::vector<double> decision_differences(int tasks, int decisions, Rng& rng) const;

  // Whether what a goal tests differs between tasks once their truths are known.
  bool tasks_differ(PowerGoal goal) const;

 private:
  // Mid-point quantiles of the tasks' propensities in one arm.
  using Table = std::vector<double>;
  struct Tables {
    Table baseline;
    Table candidate;
    double latent = 1;  // correlation of the normals behind the arms' propensities
  };
  struct TaskPair {
    double baseline = 0;
    double candidate = 0;
  };
  static Table table(const Propensity& propensity, double top);
  static Tables tables(const PairedPropensity& pair, double top);
  static TaskPair draw_task(const Tables& tables, Rng& rng);
  static std::vector<double> differences(const Tables& tables, int tasks, int trials, Rng& rng);
  void add_episode(double propensity, double further, Rng& rng, double& failures,
                   double& calls) const;
  void add_trials(double propensity, double mean_calls, double length, int trials, Rng& rng,
                  double& failures, double& calls) const;

  PowerModel model_;
  Tables failure_;
  Tables success_;
  Tables masked_;
  Table discordance_;
  Table direction_;  // share of discordant decisions in which it is the candidate that fails
};

}  // namespace unmask
