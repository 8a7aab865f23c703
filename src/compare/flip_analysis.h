// Flips against margins, and what noise models make of them. Internal to compare.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compare/mechanism.h"
#include "compare/replay_table.h"

namespace unmask {

// Noise of the baseline asked again: its margins against those of its repeats, both exact. nullopt:
// no repeat, or fewer than 2 such pairs.
std::optional<MeasurementNoise> replay_noise_of(const PairedMargins& margins);

// The baseline's margin that models are fitted to and predict from; nullopt: the row takes no part.
// Without replay noise it is the margin, where that is known exactly. Where the baseline was asked
// twice, the first margin chooses the row (known exactly, and 3 standard deviations of the noise
// within reach) and the second is its value: stats/noise_model.h says why.
std::optional<double> measured(const MarginPair& row, const std::optional<MeasurementNoise>& noise);

// Models fitted to the other half of the tasks: [task] of the half a task is in.
struct CrossFit {
  std::vector<int> half_of_task;
  std::vector<NoiseModels> other_half;  // [half]: fitted to the tasks not in it

  const NoiseModels& for_task(int task) const {
    return other_half[static_cast<std::size_t>(half_of_task[static_cast<std::size_t>(task)])];
  }
};

struct FlipFits {
  FlipAnalysis analysis;
  std::optional<CrossFit> cross;
};
FlipFits analyse_flips(const ReplayTable& table, DecisionKind kind, const PairedMargins& margins,
                       const MechanismOptions& options);

// The failures that models of the other half foretell. `additive`: which of the two.
std::optional<FailurePrediction> predict_failures(const ReplayTable& table,
                                                  const PairedMargins& margins,
                                                  const FlipFits& fits, bool additive,
                                                  const MechanismOptions& options);

MarginScreen screen_by_margins(const ReplayTable& table, const MechanismOptions& options);

}  // namespace unmask
