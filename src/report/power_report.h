// A power analysis as it is shown: what was planned from, and what each design would find.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/power_simulation.h"
#include "report/audit_report.h"
#include "report/render.h"

namespace unmask {

// Where the numbers of the model come from.
struct PlannedFrom {
  std::vector<std::string> labels;  // of the pilot's arms; empty: stated rates
  int tasks = 0;                    // of the pilot
  int trials = 0;
  long failures = 0;  // of the pilot's baseline, in the channel
};

struct PowerReport {
  PlannedFrom from;
  Channel channel = Channel::ToolName;
  int k_tight = 2;
  PowerModel model;
  std::vector<GoalPower> goals;
  PowerOptions options;
  std::vector<std::string> notes;  // what was assumed or left out
  std::vector<Warning> warnings;
  std::vector<Dropped> dropped;
  Provenance provenance;
};

// unmask.power/1 (docs/schema/power.schema.json).
std::string to_json(const PowerReport& report);
std::string to_terminal(const PowerReport& report, const TerminalStyle& style);

}  // namespace unmask
