// A replay of decisions whose margins follow a known noise model: the truth unmask margins has to
// find.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "trace/replay.h"

namespace unmask {

// Margins X of the baseline are exponential. What is asked of the baseline is X + u, u ~ N(0,
// replay_noise^2), drawn anew when it is asked again; the candidate's is alpha + lambda X + e, e ~
// N(0, sigma^2), of whose variance the decisions of a task share a part. Choosing to call or to
// talk and choosing a tool follow the same model, each with draws of its own.
struct PlantedReplayOptions {
  int tasks = 60;
  int decisions = 20;  // per task
  double alpha = 0;
  double lambda = 1;
  double sigma = 1;         // nats
  double replay_noise = 0;  // nats
  bool repeat_baseline = true;
  double task_share = 0.2;     // of the variance of e, in [0, 1)
  double mean_margin = 3;      // nats
  double reach = 10;           // alternatives farther than this below the likeliest are not given
  double candidate_reach = 0;  // of the candidate; 0: as `reach`
  double talk = 0.2;           // share of decisions in which the baseline talks
  double hallucinated = 0.1;   // share of the baseline's calls with a name that is not offered
  double tempting = 0.3;       // share of decisions whose closest competitor is such a name
  std::uint64_t seed = 20260731;
};

// Errors   InvalidArgument, naming the option, for values out of range.
Result<Replay> plant_replay(const PlantedReplayOptions& options);

}  // namespace unmask
