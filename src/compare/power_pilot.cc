// Every quantity is a mean and a variance between tasks. With one trial a task the latter cannot be
// told from chance and is assumed, and said so.
#include "compare/power_pilot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/units.h"
#include "compare/budget_comparison.h"
#include "compare/spread.h"

namespace unmask {
namespace {

// Fewer followed failures than this say nothing about how failures follow each other.
constexpr long kFewestFollowed = 20;

TaskTrials call_trials(const Arm& arm) {
  TaskTrials out;
  for (const TaskEpisodes& task : arm.tasks) {
    std::vector<TrialRatio>& trials = out.emplace_back();
    for (std::size_t e = task.begin; e < task.end; ++e)
      if (!arm.episodes[e].excluded)
        trials.push_back({static_cast<double>(arm.episodes[e].agent_calls), 1});
  }
  return out;
}

struct Followed {
  long failures = 0;  // with a call after them
  long by_failure = 0;
};

void count_followed(const Arm& arm, Channel channel, Followed& followed) {
  for (const EpisodeFacts& episode : arm.episodes) {
    if (episode.excluded) continue;
    const int calls = episode.agent_calls + episode.unanswered + episode.system;
    std::set<int> positions;
    for (const FailedCall& call : episode.failures)
      if (call.side == Side::Agent && call.channel == channel) positions.insert(call.position);
    for (const int position : positions) {
      if (position + 1 >= calls) continue;
      ++followed.failures;
      if (positions.contains(position + 1)) ++followed.by_failure;
    }
  }
}

double share(double a, double b) {
  return b > 0 ? a / b : 0;
}

// Builds one pilot; what it had to assume goes into the notes.
class PilotBuilder {
 public:
  PilotBuilder(const Arm& baseline, const Arm* candidate, Channel channel,
               const StatedEffects& effects, const CompareOptions& options)
      : baseline_(baseline),
        candidate_(candidate),
        channel_(channel),
        effects_(effects),
        options_(options) {}

  Result<Pilot> build();

 private:
  void describe();
  void add_calls();
  void add_following();
  void add_failures();
  void add_success();
  void add_masked();
  Propensity propensity(const TaskTrials& trials, const std::optional<double>& stated, double top,
                        const std::string& what);
  PairedPropensity paired(const TaskTrials& baseline, const TaskTrials& candidate,
                          const std::optional<double>& stated, double top, const std::string& what);
  double pairing(const TaskTrials& baseline, const TaskTrials& candidate, const std::string& what);
  void note(const std::string& sentence) { pilot_.notes.push_back(sentence); }
  const Arm& other() const { return candidate_ != nullptr ? *candidate_ : baseline_; }

  const Arm& baseline_;
  const Arm* candidate_;
  const Channel channel_;
  const StatedEffects& effects_;
  const CompareOptions& options_;
  Pilot pilot_;
};

void PilotBuilder::describe() {
  pilot_.tasks = static_cast<int>(baseline_.tasks.size());
  for (const TaskEpisodes& task : baseline_.tasks)
    pilot_.trials = std::max(pilot_.trials, static_cast<int>(task.end - task.begin));
  for (const EpisodeFacts& episode : baseline_.episodes)
    if (!episode.excluded)
      pilot_.failures += episode.agent_channel[static_cast<std::size_t>(channel_)];
}

// calls = 1 + Poisson(further x task's factor x episode's factor), factors log-normal of mean 1:
// the variance between tasks is further^2 (exp(t^2) - 1), what is left beyond Poisson's is the
// episodes'.
void PilotBuilder::add_calls() {
  CallHabits& habits = pilot_.model.calls;
  const TaskTrials calls = call_trials(baseline_);
  habits.baseline = std::max(1.0, pooled_ratio(calls));
  habits.candidate = std::max(1.0, pooled_ratio(call_trials(other())));
  const double further = habits.baseline - 1;
  if (further <= 0) {
    habits.task_spread = habits.episode_spread = 0;
    return;
  }
  double total = 0;
  double n = 0;
  for (const std::vector<TrialRatio>& task : calls)
    for (const TrialRatio& trial : task) {
      total += (trial.numerator - habits.baseline) * (trial.numerator - habits.baseline);
      ++n;
    }
  const Result<double> between = variance_between_tasks(calls);
  const double task = between ? std::max(0.0, *between) : 0;
  const double episode = std::max(0.0, share(total, n - 1) - task - further);
  const double task_factor = 1 + task / (further * further);
  habits.task_spread = std::sqrt(std::log(task_factor));
  habits.episode_spread = std::sqrt(std::log(1 + episode / (further * further * task_factor)));
}

void PilotBuilder::add_following() {
  Followed followed;
  count_followed(baseline_, channel_, followed);
  if (candidate_ != nullptr) count_followed(*candidate_, channel_, followed);
  std::optional<double>& leave = pilot_.model.calls.leave;
  leave = std::nullopt;
  if (followed.failures < kFewestFollowed) {
    note(
        fmt::format("Only {} failures are followed by another call, too few to see bursts: "
                    "calls of an episode are taken as independent.",
                    followed.failures));
    return;
  }
  leave = std::clamp(
      1 - share(static_cast<double>(followed.by_failure), static_cast<double>(followed.failures)),
      0.05, 1.0);
}

Propensity PilotBuilder::propensity(const TaskTrials& trials, const std::optional<double>& stated,
                                    double top, const std::string& what) {
  Propensity out;
  out.mean = std::min(pooled_ratio(trials), top);
  const double most = largest_correlation(out.mean, top);
  if (stated) {
    out.correlation = std::min(*stated, most);
    return out;
  }
  const Result<double> between = variance_between_tasks(trials);
  if (!between) {
    out.correlation = std::min(kAssumedCorrelation, most);
    note(
        fmt::format("One trial a task cannot tell the tasks' {} from chance: a correlation "
                    "within tasks of {:.2g} is assumed.",
                    what, out.correlation));
    return out;
  }
  const double chance = out.mean * (1 - out.mean);
  out.correlation = std::clamp(share(*between, chance), 0.0, most);
  return out;
}

double PilotBuilder::pairing(const TaskTrials& baseline, const TaskTrials& candidate,
                             const std::string& what) {
  if (effects_.pairing) return *effects_.pairing;
  if (candidate_ == nullptr) return kAssumedPairing;
  const Result<double> b = variance_between_tasks(baseline);
  const Result<double> c = variance_between_tasks(candidate);
  const Result<double> both = covariance_between_tasks(baseline, candidate);
  if (b && c && both && *b > 0 && *c > 0) return std::clamp(*both / std::sqrt(*b * *c), 0.0, 1.0);
  note(
      fmt::format("The pilot does not show how alike the arms' tasks are in {}: a pairing of "
                  "{:.2g} is assumed.",
                  what, kAssumedPairing));
  return kAssumedPairing;
}

PairedPropensity PilotBuilder::paired(const TaskTrials& baseline, const TaskTrials& candidate,
                                      const std::optional<double>& stated, double top,
                                      const std::string& what) {
  PairedPropensity out;
  out.baseline = propensity(baseline, stated, top, what);
  out.candidate = candidate_ != nullptr ? propensity(candidate, stated, top, what) : out.baseline;
  out.pairing = pairing(baseline, candidate, what);
  return out;
}

void PilotBuilder::add_failures() {
  pilot_.model.failure =
      paired(failure_trials(baseline_, channel_), failure_trials(other(), channel_),
             effects_.task_correlation, largest_propensity(pilot_.model.calls.leave), "failures");
}

void PilotBuilder::add_success() {
  pilot_.graded = std::any_of(baseline_.episodes.begin(), baseline_.episodes.end(), is_evaluated);
  if (!pilot_.graded) return;
  pilot_.model.success = paired(success_trials(baseline_), success_trials(other()),
                                effects_.success_correlation, 1, "success");
}

void PilotBuilder::add_masked() {
  const std::optional<int> k0 = budget_in_force(baseline_);
  pilot_.budget = pilot_.graded && k0 && options_.k_tight < *k0;
  if (!pilot_.budget) return;
  const auto masked = [&](const Arm& arm) {
    return masked_trials(arm, options_.k_tight, options_.rule, options_.count);
  };
  PowerModel& model = pilot_.model;
  model.masked = paired(masked(baseline_), masked(other()), effects_.success_correlation, 1,
                        "successes beyond the tight budget");
  model.masked.baseline.mean = std::min(model.masked.baseline.mean, model.success.baseline.mean);
  model.masked.candidate.mean = std::min(model.masked.candidate.mean, model.success.candidate.mean);
}

Result<Pilot> PilotBuilder::build() {
  describe();
  if (pilot_.tasks < 2)
    return Error{ErrorKind::Undefined, "a pilot needs at least 2 tasks to show how they differ",
                 ""};
  if (!(pooled_ratio(call_trials(baseline_)) > 0))
    return Error{ErrorKind::Undefined, "the pilot has no calls of the agent", ""};
  add_calls();
  add_following();
  add_failures();
  add_success();
  add_masked();
  StatedEffects effects = effects_;
  if (candidate_ != nullptr) {
    // What the candidate's own log shows stands unless an effect is stated.
    const PowerModel& model = pilot_.model;
    if (!effects.amplification && model.failure.baseline.mean > 0)
      effects.amplification = model.failure.candidate.mean / model.failure.baseline.mean;
    if (!effects.delta) effects.delta = model.success.candidate.mean - model.success.baseline.mean;
    if (!effects.unmasked_gap)
      effects.unmasked_gap = model.masked.candidate.mean - model.masked.baseline.mean;
  }
  // What the pilot has no numbers for has no effect either.
  if (!pilot_.graded) effects.delta = 0;
  if (!pilot_.budget) effects.unmasked_gap = 0;
  const Result<Done> applied = apply_effects(effects, pilot_.model);
  if (!applied) return applied.error();
  return std::move(pilot_);
}

struct Effect {
  const char* name;
  const char* moved;  // what of the candidate
  const char* limit;  // why it cannot be more; may be empty
};

// The candidate's mean, with its correlation kept as far as the mean allows.
Result<Done> move_mean(Propensity& candidate, double mean, double top, const Effect& effect) {
  constexpr double kRounding = 1e-9;
  if (!(mean >= -kRounding && mean <= top + kRounding))
    return Error{ErrorKind::InvalidArgument,
                 fmt::format("would bring the candidate's {} to {:.3g} %, and it must lie from 0 % "
                             "to {:.3g} %{}",
                             effect.moved, points(mean), points(top), effect.limit),
                 effect.name};
  candidate.mean = std::clamp(mean, 0.0, top);
  candidate.correlation = std::min(candidate.correlation, largest_correlation(candidate.mean, top));
  return Done{};
}

}  // namespace

Result<Done> apply_effects(const StatedEffects& effects, PowerModel& model) {
  const auto assumed = [&](PowerGoal goal, double of_goal, double none) {
    const bool wanted =
        std::find(effects.goals.begin(), effects.goals.end(), goal) != effects.goals.end();
    return wanted ? of_goal : none;
  };
  const double ratio =
      effects.amplification.value_or(assumed(PowerGoal::Amplification, kAssumedAmplification, 1));
  const double gap =
      effects.unmasked_gap.value_or(assumed(PowerGoal::UnmaskedGap, kAssumedUnmaskedGap, 0));
  const double most_failures = largest_propensity(model.calls.leave);
  const bool failures_move = effects.amplification || ratio != 1;
  Result<Done> moved = Done{};
  if (failures_move)
    moved = move_mean(model.failure.candidate, ratio * model.failure.baseline.mean, most_failures,
                      {"amplification", "failure rate", ""});
  if (!moved) return moved;
  moved =
      move_mean(model.success.candidate, model.success.baseline.mean + effects.delta.value_or(0), 1,
                {"change in success", "success rate", ""});
  if (!moved) return moved;
  // Where nothing is masked in the baseline its tasks do not show how they would differ.
  if (model.masked.baseline.mean <= 0 && model.masked.candidate.mean <= 0)
    model.masked.candidate.correlation = effects.success_correlation.value_or(kAssumedCorrelation);
  if (!effects.unmasked_gap && gap == 0) return Done{};
  return move_mean(
      model.masked.candidate, model.masked.baseline.mean + gap, model.success.candidate.mean,
      {"unmasked gap", "share of successes beyond the tight budget", ", its success rate"});
}

Result<Pilot> pilot_of(const Arm& baseline, Channel channel, const StatedEffects& effects,
                       const CompareOptions& options) {
  return PilotBuilder(baseline, nullptr, channel, effects, options).build();
}

Result<Pilot> pilot_of(const PairedArms& arms, Channel channel, const StatedEffects& effects,
                       const CompareOptions& options) {
  PairedArms held = arms;
  held.baseline.info.max_errors = settle_budget(held, options);
  return PilotBuilder(held.baseline, &held.candidate, channel, effects, options).build();
}

}  // namespace unmask
