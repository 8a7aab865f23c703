// The conditions of METHOD 10, one by one, each with its sentence: what judge() combines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.h"

namespace unmask {

inline constexpr double kVerdictAlpha = 0.05;
inline constexpr double kUnmaskedLimit = 0.05;      // one-sided upper limit of U
inline constexpr double kAmplificationLimit = 1.5;  // one-sided upper limit of A
inline constexpr double kDifferenceLimit = 0.02;    // ... or of the difference
inline constexpr double kPlanningPower = 0.80;
inline constexpr int kMostTrials = 100;  // beyond, more trials are no plan

// One condition of `clean`.
struct Condition {
  bool met = false;
  std::string name;                 // "outcome", "unmasked gap", "channel tool_name"
  std::string sentence;             // with the numbers
  std::optional<int> tasks_needed;  // where not met; nullopt: no number of tasks would settle it
  // Trials a task that would settle it on the present tasks; nullopt: none would (up to
  // kMostTrials), or the trials do not show what lies between tasks.
  std::optional<int> trials_needed;
};

// The most trials a task has in either arm; at least 1.
int present_trials(const CellComparison& cell);

Condition outcome_not_worse(const CellComparison& cell);
Condition unmasked_gap_small(const CellComparison& cell);
// One a failure channel.
std::vector<Condition> channels_not_amplified(const CellComparison& cell);

// Sentences on what was found, for the reasons of a verdict.
std::string outcome_sentence(const CellComparison& cell);
std::string unmasked_sentence(const CellComparison& cell);
std::string amplified_sentence(Channel channel, const CellComparison& cell);

// "-1.3 points"; "+0.4 points"; "0.0 points".
std::string signed_points(double proportion, int decimals = 1);
// "19.5 %".
std::string spaced_percent(double proportion, int decimals = 1);
// "p < 0.001", "p = 0.034".
std::string p_text(double p);

}  // namespace unmask
