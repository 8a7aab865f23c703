// The random model of one arm: how many calls, which of them fail, and whether the episode
// succeeds. docs/plant.md gives the formulas.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "plant/plant.h"
#include "plant/script.h"

namespace unmask {

double logit(double p);     // of p kept within 1e-12 of 0 and 1
double logistic(double x);  // its inverse

// What a task is like for one arm.
struct TaskTraits {
  double failure = 0;  // stationary probability that a call fails
  double success = 0;  // chance of success before coupling and budget
  double length = 1;   // multiplies the mean number of further calls
};

// The latent numbers of a task, before an arm's rates give them meaning.
struct TaskLatents {
  double failure_quantile = 0.5;  // in (0, 1)
  double success_quantile = 0.5;
  double length_normal = 0;
};

// A task's latents in both arms: a part they share and the arm's own, correlated by `pairing`.
struct PairedLatents {
  TaskLatents baseline;
  TaskLatents candidate;
};
std::vector<PairedLatents> draw_latents(int tasks, double pairing, std::uint64_t seed);

class ArmModel {
 public:
  // `name` is "baseline" or "candidate", as errors call the arm. The options must have been
  // checked. reference_tasks: size of the population the success rate is solved on.
  static Result<ArmModel> make(const PlantOptions& options, const PlantedArm& arm,
                               const std::string& name, int reference_tasks = 32768);

  TaskTraits traits(const TaskLatents& latents) const;

  // The calls of one episode, cut where the budget or the steps run out; success undecided.
  ScriptedEpisode draw_calls(const TaskTraits& traits, Rng& rng) const;

  // P(Y = 1) for an episode with these calls.
  double success_probability(const TaskTraits& traits, const ScriptedEpisode& episode) const {
    return success_probability(traits.success, episode.end, agent_failures(episode));
  }

  const ExpectedArm& expected() const { return expected_; }

 private:
  struct Walk;    // one episode under way
  struct Sample;  // one episode of the reference population

  ArmModel(const PlantOptions& options, const PlantedArm& arm, int reference_tasks);
  Result<Done> set_recovery(const std::string& name);
  Result<Done> solve_success(const std::string& name);
  double success_probability(double task_success, ScriptEnd end, int failures) const;
  double length_factor(double normal) const;
  Sample sample(const TaskTraits& traits, Rng& rng) const;
  std::vector<Sample> reference_population() const;
  void expect(const std::vector<Sample>& samples);
  CallKind draw_kind(Rng& rng) const;
  ScriptedCall draw_user_call(Rng& rng) const;
  double next_failure(double p, bool failed) const;

  PlantOptions options_;
  PlantedArm arm_;
  int reference_tasks_ = 0;
  double rate_ = 0;  // all channels together
  double mean_calls_ = 1;
  double success_correlation_ = 0;
  std::optional<double>
      leave_;       // P(the next call succeeds | a failure); nullopt: independent calls
  double top_ = 1;  // the largest failure probability a task can have
  double intercept_ = 0;
  ExpectedArm expected_;
};

// InvalidArgument naming the first option out of its range.
Result<Done> check_options(const PlantOptions& options);

}  // namespace unmask
