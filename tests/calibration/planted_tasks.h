// Planted numbers of two arms with a known truth, for the coverage study: what a task's episodes
// would give after counting, without any episode.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"

namespace unmask::calibration {

struct Setting {
  int tasks = 114;
  int trials = 4;
  double base_rate = 0.05;   // failures / calls of the baseline
  double amplification = 1;  // the candidate's rate over the baseline's
  double correlation = 0.2;  // of two calls (and two outcomes) of one task: beta-binomial
  double burst = 0;  // correlation of neighbouring calls; 0.75 makes runs of mean 4 at low rates
  double success_baseline = 0.65;
  double success_candidate = 0.65;
  double calls_baseline = 7.3;  // mean calls an episode; as in the paper's dense telecom cell
  double calls_candidate = 9.4;
};

struct ArmNumbers {  // index: task
  std::vector<double> failures, calls, success, recovered;
  std::vector<std::vector<double>>
      curve;  // (budget K = 0 ... 10, task): share succeeding with at most K failures
};

struct Dataset {
  ArmNumbers baseline, candidate;
};

// Draws datasets of one setting. The truth of rates, ratio and success is exact: every task's
// propensities are drawn from a table whose mean is known.
class Planter {
 public:
  explicit Planter(const Setting& setting);

  Dataset draw(Rng& rng) const;

  double rate_baseline() const { return rate_baseline_; }
  double rate_candidate() const { return rate_candidate_; }
  double success_baseline() const { return success_baseline_; }
  double success_candidate() const { return success_candidate_; }
  static constexpr double kRecovery = 0.55;  // of both arms
  static constexpr int kBudget = 10;

 private:
  Setting setting_;
  std::vector<double> rates_baseline_, rates_candidate_, passes_baseline_, passes_candidate_;
  double rate_baseline_, rate_candidate_, success_baseline_, success_candidate_;
};

}  // namespace unmask::calibration
