// The arms of a replay: those of a plan as they stand there, and models named on the command line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "rollout/run_plan.h"
#include "trace/replay.h"

namespace CLI {
class App;
}

namespace unmask {

struct ReplayArmFlags {
  std::string plan;                 // --plan
  std::vector<std::string> models;  // --model
  std::string baseline;             // --baseline
  bool repeat_baseline = false;
  std::string temperature = "0";  // a number, or "plan": each arm's own
  int samples = 1;
  // Of the arms of --model.
  std::string api_key_env;
  int max_tokens = 0;  // 0: no limit of ours
  int threads = 0;
  int parallel = 8;
  bool deterministic = false;
};

// As a plan without a user.
struct ReplayArms {
  RunPlan plan;
  std::optional<std::size_t> again;  // the arm that is the baseline once more
};

void add_replay_arm_flags(CLI::App& app, ReplayArmFlags& flags);

// The plan's arms in its order, then the models, then the baseline
// once more where that is asked for. Exactly one is the baseline: --baseline, else the plan's, else
// the first.
//
// Errors   those of read_plan. InvalidArgument: no arm, a model that is neither a file nor behind
// an
//          address, two of one label, a script, several baselines, samples that would all be the
//          same.
Result<ReplayArms> replay_arms(const ReplayArmFlags& flags);

// The arms as the replay's file has them, once the constraints of their names are found.
// Errors   those of reading a model's file.
Result<std::vector<ReplayArm>> described_arms(const ReplayArms& arms);

// The most likely token always, of every arm.
bool is_greedy(const RunPlan& plan);

}  // namespace unmask
