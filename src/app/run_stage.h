// A plan with the worlds it takes place in, ready to be run or looked at.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "rollout/run_plan.h"
#include "rollout/runner.h"

namespace unmask {

// Loads each domain of the plan: its state, surface, guidelines and tasks.
//
// `tau2` is the data folder of the command line or environment, used where the plan names none.
// Errors   NotFound: no data, no such split or task (with the nearest); those of the data's files.
Result<Stages> load_stages(const RunPlan& plan, const std::string& tau2);

// settings_of(plan), the hashes of the files that models are in, and what the domains show a model:
// a fingerprint of each one's policy, tools and prompts.
//
// Errors   those of reading a model's file.
Result<std::vector<Setting>> run_settings(const RunPlan& plan, const Stages& stages);

// What --dry-run prints. `tau2` and the plan's own texts are made safe for a terminal.
std::string plan_summary(const RunPlan& plan, const Stages& stages,
                         const std::vector<PlannedEpisode>& episodes, const StoreContents& found,
                         const Shard& shard);

}  // namespace unmask
