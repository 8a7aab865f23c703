// Named cells. The random presets' options were chosen so that what is left after the budget has
// cut episodes short (Planter::expected_*) is the cell asked for; presets_test.cc holds them to it.
#include <fmt/format.h>

#include "plant/plant.h"

namespace unmask {

PlantOptions preset_damaged() {
  PlantOptions options;
  options.task_correlation = 0.3;
  options.success_correlation = 0.65;
  options.length_spread = 0.85;
  options.names = 20;
  PlantedArm& baseline = options.baseline;
  baseline.label = "planted-bf16";
  baseline.tool_name_rate = 0.202;
  baseline.schema_rate = 0.006;
  baseline.entity_rate = 0.008;
  baseline.rejected_rate = 0.006;
  baseline.success = 0.667;
  baseline.coupling = 0.3;
  baseline.calls_per_episode = 7.55;
  options.candidate = baseline;
  PlantedArm& candidate = options.candidate;
  candidate.label = "planted-int4";
  candidate.tool_name_rate = 0.406;
  candidate.novel_share = 0.0018;
  candidate.success = 0.654;
  candidate.calls_per_episode = 10.85;
  return options;
}

PlantOptions preset_clean() {
  PlantOptions options;
  // A dozen failures in as many tasks are enough to bound the propensity; in bursts they are not.
  options.task_correlation = 0;
  options.success_correlation = 0.6;
  PlantedArm& baseline = options.baseline;
  baseline.label = "planted-bf16";
  baseline.tool_name_rate = 0.0035;
  baseline.entity_rate = 0.0035;
  baseline.rejected_rate = 0.0035;
  baseline.recovery = std::nullopt;
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

ExactOptions exact_damaged() {
  ExactOptions options;
  options.name_correlation = 0.97;
  options.flat_within = 0.075;
  options.task_correlation = 0.3;
  options.success_correlation = 0.65;
  options.length_spread = 0.8;
  options.coupling = 0.3;
  ExactArm& baseline = options.baseline;
  baseline.label = "planted-bf16";
  baseline.agent_calls = 3328;
  baseline.tool_name = 649;
  baseline.schema = 20;
  baseline.entity = 27;
  baseline.rejected = 20;
  baseline.successes = 304;
  baseline.successes_tight = 240;
  ExactArm& candidate = options.candidate;
  candidate.label = "planted-int4";
  candidate.agent_calls = 4298;
  candidate.tool_name = 1646;
  candidate.novel = 3;
  candidate.schema = 24;
  candidate.entity = 33;
  candidate.rejected = 25;
  candidate.successes = 298;
  candidate.successes_tight = 164;
  return options;
}

ExactOptions exact_clean() {
  ExactOptions options;
  options.flat_within = 0.075;
  options.task_correlation = 0;
  options.success_correlation = 0.6;
  ExactArm& baseline = options.baseline;
  baseline.label = "planted-bf16";
  baseline.agent_calls = 3330;
  baseline.tool_name = 12;
  baseline.entity = 11;
  baseline.rejected = 12;
  baseline.recovery = 0.9;
  baseline.successes = 319;
  baseline.successes_tight = 319;
  options.candidate = baseline;
  ExactArm& candidate = options.candidate;
  candidate.label = "planted-int4";
  candidate.agent_calls = 3338;
  candidate.tool_name = 11;
  candidate.rejected = 13;
  return options;
}

std::vector<PlantedPreset> planted_presets() {
  return {
      {"damaged",
       "the paper's damaged cell: Gemma-4 dense, telecom, BF16 to INT4; flat score, 2.5 times the "
       "hallucinated calls",
       true},
      {"clean", "a near-zero cell such as Qwen-3.6: few failures, no amplification, no gap", true},
      {"aa", "two arms with the same truth: one hallucinated call in five, in bursts", false},
  };
}

namespace {

Error no_preset(std::string_view name, bool exact) {
  std::string names;
  for (const PlantedPreset& preset : planted_presets())
    if (preset.exact || !exact) names += (names.empty() ? "" : ", ") + std::string(preset.name);
  return Error{ErrorKind::NotFound,
               fmt::format("no {} preset is called \"{}\"; there are {}",
                           exact ? "exact" : "random", name, names),
               ""};
}

}  // namespace

Result<PlantOptions> random_preset(std::string_view name) {
  if (name == "damaged") return preset_damaged();
  if (name == "clean") return preset_clean();
  if (name == "aa") return preset_aa(0.2, 0.2, true);
  return no_preset(name, false);
}

Result<ExactOptions> exact_preset(std::string_view name) {
  if (name == "damaged") return exact_damaged();
  if (name == "clean") return exact_clean();
  return no_preset(name, true);
}

}  // namespace unmask
