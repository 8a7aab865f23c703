// Success is asked of all episodes, but those cut by the budget fail and errors lower the chance of
// the others. The intercept that makes up for it is found by bisection on a large reference
// population, so that it does not depend on the seed and both arms of an A/A pair share it.
//
// The population is a rank-1 lattice over the three latents of a task (Roberts' R3 sequence:
// multiples of 1/g, 1/g^2, 1/g^3 with g^4 = g + 1), which leaves the episodes' own chance as its
// only noise: about 0.2 points of success at 32768 tasks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "plant/model.h"
#include "stats/distribution.h"

namespace unmask {
namespace {

constexpr int kGrid = 1024;  // quantiles computed of each distribution
constexpr std::uint64_t kReferenceSeed = 0x706c616e74;
constexpr std::array<double, 3> kLattice = {0.8191725133961645, 0.6710436067037893,
                                            0.5497004779019703};

double lattice_point(int i, int dimension) {
  const double turn = 0.5 + (i + 1) * kLattice[static_cast<std::size_t>(dimension)];
  return turn - std::floor(turn);
}

}  // namespace

// One episode of the reference population.
struct ArmModel::Sample {
  double task_success = 0;
  ScriptEnd end = ScriptEnd::Completed;
  int failures = 0;  // of the agent
  int spent = 0;
  std::array<int, kCallKinds> kinds{};  // the agent's calls
};

ArmModel::Sample ArmModel::sample(const TaskTraits& traits, Rng& rng) const {
  const ScriptedEpisode episode = draw_calls(traits, rng);
  Sample sample;
  sample.task_success = traits.success;
  sample.end = episode.end;
  sample.failures = agent_failures(episode);
  sample.spent = budget_spent(episode);
  for (const ScriptedCall& call : episode.calls)
    if (call.side == Side::Agent) ++sample.kinds[static_cast<std::size_t>(call.kind)];
  return sample;
}

std::vector<ArmModel::Sample> ArmModel::reference_population() const {
  std::vector<TaskTraits> grid(kGrid);
  for (int i = 0; i < kGrid; ++i) {
    const double quantile = (i + 0.5) / kGrid;
    grid[i] = traits({quantile, quantile, 0});
  }
  Rng rng(kReferenceSeed);
  std::vector<Sample> samples;
  samples.reserve(static_cast<std::size_t>(reference_tasks_));
  for (int i = 0; i < reference_tasks_; ++i) {
    TaskTraits task;
    task.failure = grid[static_cast<int>(lattice_point(i, 0) * kGrid)].failure;
    task.success = grid[static_cast<int>(lattice_point(i, 1) * kGrid)].success;
    task.length = length_factor(normal_quantile(lattice_point(i, 2)));
    samples.push_back(sample(task, rng));
  }
  return samples;
}

Result<Done> ArmModel::solve_success(const std::string& name) {
  const std::vector<Sample> samples = reference_population();
  const auto completed =
      static_cast<double>(std::count_if(samples.begin(), samples.end(), [](const Sample& sample) {
        return sample.end == ScriptEnd::Completed;
      }));
  if (arm_.success > completed / reference_tasks_)
    return Error{
        ErrorKind::InvalidArgument,
        fmt::format("{}.success must be at most {:.3f}: the budget or the steps run out in "
                    "the other episodes",
                    name, completed / reference_tasks_),
        ""};
  std::vector<double> log_odds;  // before the intercept, of the episodes that may succeed
  for (const Sample& s : samples)
    if (s.end == ScriptEnd::Completed)
      log_odds.push_back(logit(s.task_success) - arm_.coupling * s.failures);
  const auto mean_success = [this, &log_odds](double intercept) {
    double sum = 0;
    for (const double x : log_odds) sum += logistic(x + intercept);
    return sum / reference_tasks_;
  };
  // Without coupling and cuts the tasks' own chances already have the asked mean.
  const bool unchanged = arm_.coupling == 0 && completed == reference_tasks_;
  double lo = -40;
  double hi = 40;
  for (int step = 0; step < 32 && !unchanged; ++step) {
    const double middle = (lo + hi) / 2;
    (mean_success(middle) < arm_.success ? lo : hi) = middle;
  }
  intercept_ = unchanged ? 0 : (lo + hi) / 2;
  expect(samples);
  return Done{};
}

void ArmModel::expect(const std::vector<Sample>& samples) {
  const double weight = 1.0 / reference_tasks_;
  std::array<double, kCallKinds> kinds{};
  expected_.success_within.assign(static_cast<std::size_t>(options_.max_errors) + 1, 0);
  for (const Sample& s : samples) {
    for (std::size_t kind = 0; kind < s.kinds.size(); ++kind) kinds[kind] += weight * s.kinds[kind];
    const double success = weight * success_probability(s.task_success, s.end, s.failures);
    expected_.success += success;
    expected_.errors += weight * s.spent;
    expected_.cut += s.end == ScriptEnd::OutOfErrors ? weight : 0;
    for (int k = s.spent; k <= options_.max_errors; ++k)
      expected_.success_within[static_cast<std::size_t>(k)] += success;
  }
  const auto mean = [&kinds](CallKind kind) { return kinds[static_cast<std::size_t>(kind)]; };
  for (const double kind : kinds) expected_.agent_calls += kind;
  expected_.tool_name = mean(CallKind::ToolName);
  expected_.schema = mean(CallKind::Schema);
  expected_.entity = mean(CallKind::Entity);
  expected_.rejected = mean(CallKind::Rejected);
  expected_.malformed = mean(CallKind::Malformed) + mean(CallKind::LeakedMarkup);
}

}  // namespace unmask
