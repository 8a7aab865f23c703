// The options of `plant`: one row per field of PlantOptions and ExactOptions.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "plant/plant.h"
#include "plant/replay.h"

namespace CLI {
class App;
}

namespace unmask {

// Values as typed, by the option's name without dashes. Applied to a preset after parsing.
struct PlantFlags {
  std::map<std::string, std::string> random;  // rates, correlations: random mode only
  std::map<std::string, std::string> exact;   // counts: exact mode only
  std::map<std::string, std::string> shared;  // both modes
  std::map<std::string, std::string> replay;  // a replay of decisions only
};

void add_plant_flags(CLI::App& app, PlantFlags& flags);

// A value for both arms, or BASELINE,CANDIDATE.
// Errors   InvalidArgument, naming the option: not a number.
Result<Done> apply(const PlantFlags& flags, PlantOptions& options);
Result<Done> apply(const PlantFlags& flags, ExactOptions& options);
Result<Done> apply(const PlantFlags& flags, PlantedReplayOptions& options);

}  // namespace unmask
