// Named cells. The random presets' options were chosen so that what is left after the budget has
// cut episodes short (Planter::expected_*) is the cell asked for; presets_test.cc holds them to it.
#include <fmt/format.h>

#include "plant/plant.h"

namespace unmask {

PlantOptions preset_damaged() {
  PlantOptions options;
  options.task_correlation = 0.3;
  options.success_correlation = 0.65;
  options.length_spread = 0.8;
  options.names = 20;
  PlantedArm& baseline = options.baseline;
  baseline.label = "planted-bf16";
  baseline.tool_name_rate = 0.198;
  baseline.schema_rate = 0.006;
  baseline.entity_rate = 0.008;
  baseline.rejected_rate = 0.006;
  baseline.success = 0.667;
  baseline.coupling = 0.3;
  baseline.calls_per_episode = 7.45;
  options.candidate = baseline;
  PlantedArm& candidate = options.candidate;
  candidate.label = "planted-int4";
  candidate.tool_name_rate = 0.402;
  candidate.novel_share = 0.0018;
  candidate.success = 0.654;
  candidate.calls_per_episode = 10.45;
  return options;
}

PlantOptions preset_clean() {
  PlantOptions options;
  options.success_correlation = 0.6;
  PlantedArm& baseline = options.baseline;
  baseline.label = "planted-bf16";
  baseline.tool_name_rate = 0.003;
  baseline.entity_rate = 0.003;
  baseline.rejected_rate = 0.003;
  baseline.success = 0.7;
  options.candidate = baseline;
  options.candidate.label = "planted-int4";
  return options;
}

PlantOptions preset_aa(double rate, double correlation, bool bursts) {
  PlantOptions options;
  options.task_correlation = correlation;
  PlantedArm& baseline = options.baseline;
  baseline.label = "planted-a";
  baseline.tool_name_rate = rate;
  baseline.recovery = bursts ? std::optional<double>(0.4) : std::nullopt;
  baseline.success = 0.65;
  options.candidate = baseline;
  options.candidate.label = "planted-b";
  return options;
}

}  // namespace unmask
