// plant: logs with a known truth, for tests, power and teaching. Shares no counting code with metrics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/episode.h"

namespace unmask {

// The truth of one planted arm. Rates are proportions.
struct PlantedArm {
  std::string label;       // also the model's name in the log
  double tool_name_rate = 0;  // hallucinated names per agent call
  double schema_rate = 0;
  double entity_rate = 0;
  double rejected_rate = 0;
  double malformed_rate = 0;
  double recovery = 0.55;  // P(the next call succeeds | a failure)
  double success = 0.65;   // final success rate
  double coupling = 0;     // how strongly an episode's errors lower its chance of success (log-odds
                           // per failed call)
  double novel_share = 0;  // share of hallucinated calls with names the baseline never uses
  double infrastructure_rate = 0;
};

struct PlantOptions {
  std::string domain = "telecom";
  int tasks = 114;
  int trials = 4;
  int max_errors = 10;
  int max_steps = 200;
  double calls_per_episode = 7.3;  // mean
  // Intra-task correlation of failures and of success, in [0, 1); 0: tasks are alike.
  double task_correlation = 0.2;
  double burst_mean = 1.0;   // mean run length of failures; 1: alone
  int names = 12;            // distinct hallucinated names, Zipf-like shares
  double user_calls_per_episode = 0;
  double user_failure_rate = 0;
  std::uint64_t seed = 20260731;
  PlantedArm baseline;
  PlantedArm candidate;
};

struct PlantedPair {
  Run baseline;
  Run candidate;
};

// Random mode: rates are expectations.
// Errors   InvalidArgument, naming the option, for values outside their range.
Result<PlantedPair> plant_random(const PlantOptions& options);

}  // namespace unmask
