// Does `unmask power` foretell what the audit finds? For each design two answers to the same
// question: the share of planted pairs (plant -> log -> ingest -> audit) in which the audit finds
// it, and the simulated power planned from a pilot, itself a planted pair of logs of other tasks
// read through the same door, at the true effects. Fails where they differ by more than 3 standard
// errors of both simulations and 3 points for what the pilot's own sampling moves.
//
//   power_calibration DRAWS [PILOT_TASKS]
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "base/parallel.h"
#include "compare/power_pilot.h"
#include "compare/power_simulation.h"
#include "planted_cells.h"

namespace {

using namespace unmask;
using namespace unmask::calibration;

constexpr double kPilotTolerance = 0.03;

bool audit_finds(PowerGoal goal, const CellComparison& cell) {
  switch (goal) {
    case PowerGoal::Amplification:
      return cell.channels.at(Channel::ToolName).amplified;
    case PowerGoal::Equivalence:
      return cell.outcome.tost && cell.outcome.tost->equivalent;
    case PowerGoal::UnmaskedGap:
      return cell.budget.unmasked.test && cell.budget.unmasked.test->mean > 0 &&
             cell.budget.unmasked.test->p < 0.05;
    case PowerGoal::Decisions:
      break;
  }
  return false;
}

struct Question {
  std::string name;
  PowerGoal goal;
  PlantOptions options;
  std::vector<Design> designs;
};

PlantOptions quiet_options() {
  PlantOptions options;
  options.pairing = 0.8;
  options.baseline.tool_name_rate = options.candidate.tool_name_rate = 0.04;
  return options;
}

std::vector<Question> questions() {
  PlantOptions rare = quiet_options();
  rare.candidate.tool_name_rate = 0.07;
  PlantOptions frequent = preset_damaged();
  frequent.pairing = 0.8;
  for (PlantedArm* arm : {&frequent.baseline, &frequent.candidate})
    arm->schema_rate = arm->entity_rate = arm->rejected_rate = 0;
  frequent.candidate.tool_name_rate = 0.28;
  PlantOptions flat = quiet_options();
  flat.success_correlation = 0.5;
  PlantOptions worse = flat;
  worse.candidate.success = 0.63;
  PlantOptions masked = preset_damaged();
  masked.pairing = 0.8;
  return {
      {"amplification, 4 % to 7 %", PowerGoal::Amplification, rare, {{60, 2}, {114, 4}}},
      {"amplification, 20 % to 28 %", PowerGoal::Amplification, frequent, {{40, 2}, {80, 4}}},
      {"equivalence, no change", PowerGoal::Equivalence, flat, {{114, 4}, {250, 2}}},
      {"equivalence, 2 points worse", PowerGoal::Equivalence, worse, {{114, 4}, {200, 4}}},
      {"unmasked gap, the damaged cell", PowerGoal::UnmaskedGap, masked, {{30, 2}, {60, 2}}},
  };
}

double brute_force(const Question& question, const Design& design, int draws) {
  PlantOptions options = question.options;
  options.tasks = design.tasks;
  options.trials = design.trials;
  const Planter planter = planter_of(options);
  std::vector<char> found(static_cast<std::size_t>(draws));
  const std::uint64_t base = 1'000'003ULL * static_cast<std::uint64_t>(design.units());
  parallel_for(found.size(), 0, [&](std::size_t i) {
    found[i] = audit_finds(question.goal, compare_planted(planter, base + i)) ? 1 : 0;
  });
  int sum = 0;
  for (const char one : found) sum += one;
  return static_cast<double>(sum) / draws;
}

// The true effects, so that a pilot's chance does not move them.
StatedEffects true_effects(const Planter& planter) {
  const ExpectedArm& b = planter.expected_baseline();
  const ExpectedArm& c = planter.expected_candidate();
  StatedEffects effects;
  effects.amplification = (c.tool_name / c.agent_calls) / (b.tool_name / b.agent_calls);
  effects.delta = c.success - b.success;
  effects.unmasked_gap = (c.success - c.success_within[2]) - (b.success - b.success_within[2]);
  return effects;
}

PowerModel planned(const Question& question, int tasks) {
  PlantOptions options = question.options;
  options.tasks = tasks;
  options.trials = 4;
  const Planter planter = planter_of(options);
  const PlantedPair pair = planter.draw(424242);
  const Result<PairedArms> arms =
      pair_tasks(read_back(pair.baseline, "baseline"), read_back(pair.candidate, "candidate"));
  Result<Pilot> pilot = pilot_of(*arms, Channel::ToolName, true_effects(planter), CompareOptions{});
  if (!pilot) {
    fmt::print(stderr, "{}\n", to_string(pilot.error()));
    std::exit(1);
  }
  return pilot->model;
}

bool compare_question(const Question& question, int draws, int pilot_tasks) {
  const PowerModel model = planned(question, pilot_tasks);
  const PowerDraw draw(model);
  PowerOptions options;
  options.simulations = 2000;
  bool agree = true;
  for (const Design& design : question.designs) {
    const double audited = brute_force(question, design, draws);
    const PowerPoint foretold = simulated_power(draw, question.goal, design, options);
    const double p = (audited * draws + 2) / (draws + 4);
    const double error = std::hypot(std::sqrt(p * (1 - p) / draws), foretold.error);
    const bool close = std::abs(foretold.power - audited) <= 3 * error + kPilotTolerance;
    agree = agree && close;
    fmt::print("| {} | {} × {} | {:.1f} | {:.1f} | {:.1f} | {} |\n", question.name, design.tasks,
               design.trials, 100 * foretold.power, 100 * audited, 100 * error,
               close ? "yes" : "NO");
    std::fflush(stdout);
  }
  return agree;
}

}  // namespace

int main(int argc, char** argv) {
  const int draws = argc > 1 ? std::atoi(argv[1]) : 400;
  const int pilot_tasks = argc > 2 ? std::atoi(argv[2]) : 8000;
  if (draws < 10 || pilot_tasks < 2) {
    fmt::print(stderr, "usage: power_calibration DRAWS [PILOT_TASKS]\n");
    return 2;
  }
  fmt::print(
      "| question | tasks × trials | `power` % | audits that find it % | standard error | agree |\n"
      "|---|---|---|---|---|---|\n");
  bool agree = true;
  for (const Question& question : questions())
    agree = compare_question(question, draws, pilot_tasks) && agree;
  return agree ? 0 : 1;
}
