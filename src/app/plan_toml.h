// A run's plan from TOML (docs/plan.md).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rollout/episode_key.h"
#include "rollout/run_plan.h"

namespace unmask {

// What a plan's text refers to.
struct PlanSurroundings {
  std::function<Result<std::string>(const std::string& path)> read;  // files it includes
  EnvironmentVariable variable;                                      // api_key_env
};

// `path` is what errors call the text; its folder is where relative paths begin.
//
// Errors   Malformed (file and line): no TOML, unknown keys (with the nearest known one), wrong
//          types, values out of range, what contradicts itself, includes in a circle.
//          InvalidArgument: a variable that should hold a key is
//          not set. Those of surroundings.read.
Result<RunPlan> parse_plan(std::string_view toml, const std::string& path,
                           const PlanSurroundings& surroundings);

// The same from a file and this process's environment.
Result<RunPlan> read_plan(const std::string& path);

// Every key there is: "trials", "user.model", "arm.repair.attempts".
std::vector<std::string> plan_keys();

}  // namespace unmask
