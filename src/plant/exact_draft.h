// Exact mode between the model and the words: what each episode of an arm will hold, in numbers.
#pragma once

#include <string>
#include <vector>

#include "plant/exact_names.h"
#include "plant/model.h"

namespace unmask {

// One episode, task-major: episode = task * trials + trial.
struct Draft {
  int failures = 0;  // of the agent
  int ok = 0;        // the agent's calls that succeed
  int recovered = 0;
  int user_calls = 0;
  int user_failures = 0;
  bool cut = false;  // the budget ends it
  double score = 0;  // the successes are the highest
  bool success = false;
};

// One arm of exact mode under construction.
class ArmDraft {
 public:
  ArmDraft(const ExactOptions& options, const ExactArm& arm, std::string name)
      : options_(options), arm_(arm), name_(std::move(name)) {}

  // Draws every episode from the model, then chooses the successes.
  Result<Done> draw(const ArmModel& model, const std::vector<PairedLatents>& latents,
                    std::uint64_t seed);

  // Mean success per task, what flatness is judged by.
  std::vector<double> task_success() const;

  // Moves the drawn numbers to the asked sums.
  Result<Done> settle_counts(std::uint64_t seed);

  // The episodes as scripts, kinds and names dealt out.
  std::vector<ScriptedEpisode> scripts(const std::vector<int>& name_counts,
                                       std::uint64_t seed) const;

 private:
  Result<Done> settle_failures(Rng& rng);
  Result<Done> settle_ok(Rng& rng);
  Result<Done> settle_recovered(Rng& rng);
  Result<Done> settle_user_calls(Rng& rng);
  int all_failures() const;

  const ExactOptions& options_;
  const ExactArm& arm_;
  std::string name_;
  std::vector<Draft> drafts_;
};

}  // namespace unmask
