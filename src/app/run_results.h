// From a run's store to what the audit reads.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/grid.h"
#include "base/result.h"
#include "rollout/episode_store.h"
#include "rollout/run_plan.h"

namespace unmask {

// The arms of the plan in each domain as a grid: files are OUT/results/ARM_DOMAIN.json, whether
// they are there or not.
std::vector<GridArm> planned_grid(const RunPlan& plan);

// Of these, the ones that have another arm to be compared with.
std::vector<GridArm> comparable(const std::vector<GridArm>& arms);

// It will be clear which arm is each cell's baseline.
// Errors   InvalidArgument, as cells_of_grid.
Result<Done> check_baselines(const RunPlan& plan);

// Reads the episodes of one arm and domain.
// Errors   those of stored_log and ingest.
Result<Run> stored_run(const StoreContents& contents, const RunInfo& info, const std::string& arm,
                       const std::string& domain);

struct RunResults {
  std::vector<GridArm> written;  // arms with a results file
  bool has_grid = false;         // OUT/arms.toml was written: there is something to compare
};

// Writes OUT/results/*.json in τ²-bench's form and OUT/arms.toml for `unmask audit --grid OUT`,
// from the episodes that are there; arms without any are left out. Errors   Unavailable: cannot be
// written. Those of stored_run.
Result<RunResults> write_results(const RunPlan& plan, const StoreContents& contents);

}  // namespace unmask
