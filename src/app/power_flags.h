// The options of `power`: what is known beforehand, what is to be found, and in which designs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/analysis_flags.h"
#include "base/result.h"
#include "compare/power_pilot.h"
#include "compare/power_simulation.h"
#include "report/power_report.h"

namespace CLI {
class App;
}

namespace unmask {

// As typed: points where a difference, proportions where a rate.
struct PowerFlags {
  AnalysisFlags analysis;  // how the pilot is read, where results go
  std::string channel = "tool_name";
  std::string replay;     // of decisions; empty: none
  std::string candidate;  // the replay's arm
  std::string goals;      // these lists: empty where not given
  std::string tasks;
  std::string trials;
  std::string decisions;
  std::optional<double> amplification, delta_points, unmasked_gap_points;
  std::optional<double> task_correlation, success_correlation, pairing;
  // What a pilot shows by itself.
  std::optional<double> failure_rate, calls, length_spread, recovery, success, masked_share;
  std::optional<double> discordance, decision_difference_points;
  double margin_points = 7.5;
  double wanted = 0.8;
  int comparisons = 1;
  int simulations = 500;
};

void add_power_flags(CLI::App& app, PowerFlags& flags);

// What the flags come to, all checked.
struct PowerPlan {
  Channel channel = Channel::ToolName;
  StatedEffects effects;
  DecisionHabits decisions;  // as stated or assumed, before a pilot or a replay
  DecisionsFrom decisions_from;
  PowerOptions options;
  bool tasks_stated = false;  // the grid's tasks; else the pilot's number joins them
};

// Errors   InvalidArgument, naming the option.
Result<PowerPlan> power_plan(const PowerFlags& flags, bool has_pilot);

// An error whose place is a quantity of the model (check_model, apply_effects), with the option
// that states the quantity; any other error as it is.
Error with_its_option(const Error& error, const PowerFlags& flags, bool has_pilot);

// The model of stated rates.
Result<PowerModel> stated_model(const PowerFlags& flags, const PowerPlan& plan);

}  // namespace unmask
