// A power analysis as it is shown: what was planned from, and what each design would find.
#pragma once

#include <optional>
#include <string>
#include <string_view>
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

// The replay that decisions are planned from.
struct ReplayPlannedFrom {
  std::string baseline, candidate;  // labels
  int tasks = 0;
  long decisions = 0;      // to which both arms replied
  long only_baseline = 0;  // of these, the baseline alone fails
  long only_candidate = 0;
};

enum class TakenFrom { Assumed, Stated, Pilot, Replay };
std::string_view to_string(TakenFrom from);  // "assumed" ...

// Where each of the model's DecisionHabits comes from.
struct DecisionsFrom {
  TakenFrom discordance = TakenFrom::Assumed;
  TakenFrom difference = TakenFrom::Assumed;
  TakenFrom correlation = TakenFrom::Assumed;
};

struct PowerReport {
  PlannedFrom from;
  std::optional<ReplayPlannedFrom> replay;
  DecisionsFrom decisions_from;
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
