// Calls of a task fail as a two-state chain with stationary probability p, which the task draws
// from a Beta distribution: p has the asked mean at every call, so the expected rate per call is
// the option whatever the correlation and the bursts. After a failure the next call succeeds with
// probability q; after a success it fails with p q / (1 - p), which keeps p stationary. That needs
// p <= 1 / (1 + q), so the Beta distribution is stretched over [0, 1 / (1 + q)]: every task then
// recovers alike.
//
// Example: p = 0.375, q = 0.6: a success is followed by a failure with probability 0.36, and of 8
// calls in the long run 3 fail, in runs of mean length 1 / 0.6 = 1.67.
#include "plant/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "stats/distribution.h"

namespace unmask {
namespace {

constexpr double kTaskLength = 0.8;  // the task's part of length_spread; with the episode's, 0.6,
constexpr double kEpisodeLength = 0.6;  // the squares sum to 1

// A multiplier of mean 1 whose logarithm is normal.
double log_normal_factor(double sd, double normal) {
  return std::exp(sd * normal - sd * sd / 2);
}

// Knuth's product of uniforms, in steps small enough for exp(-mean).
int poisson(double mean, Rng& rng) {
  int count = 0;
  while (mean > 0) {
    const double step = std::min(mean, 30.0);
    mean -= step;
    const double limit = std::exp(-step);
    for (double product = rng.uniform(); product > limit; product *= rng.uniform()) ++count;
  }
  return count;
}

// Quantile of a Beta distribution over [0, top] with this mean and variance
// correlation * mean * (1 - mean): the intra-class correlation of calls that fail with its draws.
double beta_of(double mean, double correlation, double top, double quantile) {
  if (mean <= 0 || mean >= top || correlation <= 0) return mean;
  const double m = mean / top;
  const double within = correlation * (1 - mean) / (top - mean);
  const double size = (1 - within) / within;
  return top * beta_quantile(quantile, m * size, (1 - m) * size);
}

}  // namespace

double logit(double p) {
  const double inside = std::clamp(p, 1e-12, 1 - 1e-12);
  return std::log(inside / (1 - inside));
}

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

// The episode under way: messages and budget as tau2-bench counts them. The budget and the steps
// are looked at between messages, never within one.
struct ArmModel::Walk {
  const PlantOptions& options;
  ScriptedEpisode episode;
  int spent = 0;
  int messages = 2;  // greeting and request

  void add(const ScriptedCall& call) {
    episode.calls.push_back(call);
    spent += spends_budget(call.kind) ? 1 : 0;
    messages += call.side == Side::User ? 4 : call.same_message ? 1 : 2;
  }

  bool over() {
    if (spent >= options.max_errors)
      episode.end = ScriptEnd::OutOfErrors;
    else if (messages >= options.max_steps)
      episode.end = ScriptEnd::OutOfSteps;
    return episode.end != ScriptEnd::Completed;
  }
};

ArmModel::ArmModel(const PlantOptions& options, const PlantedArm& arm, int reference_tasks)
    : options_(options),
      arm_(arm),
      reference_tasks_(reference_tasks),
      rate_(arm.tool_name_rate + arm.schema_rate + arm.entity_rate + arm.rejected_rate +
            arm.malformed_rate),
      mean_calls_(arm.calls_per_episode.value_or(options.calls_per_episode)),
      success_correlation_(options.success_correlation.value_or(options.task_correlation)) {}

Result<ArmModel> ArmModel::make(const PlantOptions& options, const PlantedArm& arm,
                                const std::string& name, int reference_tasks) {
  ArmModel model(options, arm, reference_tasks);
  Result<Done> solved = model.set_recovery(name);
  if (!solved) return solved.error();
  solved = model.solve_success(name);
  if (!solved) return solved.error();
  return model;
}

TaskTraits ArmModel::traits(const TaskLatents& latents) const {
  TaskTraits traits;
  traits.failure = beta_of(rate_, options_.task_correlation, top_, latents.failure_quantile);
  traits.success = beta_of(arm_.success, success_correlation_, 1, latents.success_quantile);
  traits.length = length_factor(latents.length_normal);
  return traits;
}

double ArmModel::length_factor(double normal) const {
  return log_normal_factor(kTaskLength * options_.length_spread, normal);
}

CallKind ArmModel::draw_kind(Rng& rng) const {
  const std::array<std::pair<CallKind, double>, 5> shares = {{
      {CallKind::ToolName, arm_.tool_name_rate},
      {CallKind::Schema, arm_.schema_rate},
      {CallKind::Entity, arm_.entity_rate},
      {CallKind::Rejected, arm_.rejected_rate},
      {CallKind::Malformed, arm_.malformed_rate},
  }};
  double rest = rng.uniform() * rate_;
  CallKind kind = CallKind::ToolName;
  for (const auto& [candidate, share] : shares) {
    if (share <= 0) continue;
    kind = candidate;
    if (rest < share) break;
    rest -= share;
  }
  if (kind == CallKind::Malformed && rng.bernoulli(options_.leaked_markup_share))
    return CallKind::LeakedMarkup;
  return kind;
}

ScriptedCall ArmModel::draw_user_call(Rng& rng) const {
  const bool fails = rng.bernoulli(options_.user_failure_rate);
  return {Side::User, fails ? CallKind::ToolName : CallKind::Ok, -1, false};
}

double ArmModel::next_failure(double p, bool failed) const {
  if (!leave_ || p >= 1) return p;
  return failed ? 1 - *leave_ : p * *leave_ / (1 - p);
}

ScriptedEpisode ArmModel::draw_calls(const TaskTraits& traits, Rng& rng) const {
  Walk walk{options_, {}};
  const double further = (mean_calls_ - 1) * traits.length *
                         log_normal_factor(kEpisodeLength * options_.length_spread, rng.normal());
  const int calls = 1 + poisson(further, rng);
  int user_calls = poisson(options_.user_calls_per_episode, rng);
  bool failed = false;
  bool last_leaked = false;
  for (int i = 0; i < calls; ++i) {
    const bool fails =
        rng.bernoulli(i == 0 ? traits.failure : next_failure(traits.failure, failed));
    const CallKind kind = fails ? draw_kind(rng) : CallKind::Ok;
    const bool leaked = kind == CallKind::LeakedMarkup;
    const bool same = i > 0 && !leaked && !last_leaked && rng.bernoulli(options_.parallel_share);
    if (!same) {
      if (walk.over()) return walk.episode;
      // Each user call still to come falls in one of the gaps left, all alike.
      for (int left = user_calls; left > 0; --left) {
        if (rng.below(static_cast<std::uint32_t>(calls - i + 1)) != 0) continue;
        --user_calls;
        walk.add(draw_user_call(rng));
        if (walk.over()) return walk.episode;
      }
    }
    walk.add({Side::Agent, kind, -1, same});
    failed = fails;
    last_leaked = leaked;
  }
  for (; user_calls > 0 && !walk.over(); --user_calls) walk.add(draw_user_call(rng));
  walk.over();
  return walk.episode;
}

double ArmModel::success_probability(double task_success, ScriptEnd end, int failures) const {
  if (end != ScriptEnd::Completed) return 0;
  if (arm_.success <= 0 || arm_.success >= 1) return arm_.success;
  return logistic(logit(task_success) + intercept_ - arm_.coupling * failures);
}

// METHOD 4 calls a last failure not recovered. A call is the last with probability 1 / mean calls
// whatever its fate, so the chain must leave failures that much more often.
Result<Done> ArmModel::set_recovery(const std::string& name) {
  const double followed = mean_calls_ > 1 ? 1 - 1 / mean_calls_ : 1;
  if (options_.burst_mean)
    leave_ = 1 / *options_.burst_mean;
  else if (arm_.recovery)
    leave_ = *arm_.recovery / followed;
  if (leave_ && *leave_ > 1)
    return Error{
        ErrorKind::InvalidArgument,
        fmt::format("{}.recovery must be at most {:.3f} with {} calls per episode, not {}: a "
                    "last failure is never recovered",
                    name, followed, mean_calls_, *arm_.recovery),
        ""};
  top_ = leave_ ? 1 / (1 + *leave_) : 1;
  if (rate_ > top_)
    return Error{
        ErrorKind::InvalidArgument,
        fmt::format("the sum of {}'s rates must be at most {:.3f} with this recovery, not {}", name,
                    top_, rate_),
        ""};
  const double highest = (top_ - rate_) / (1 - rate_);
  if (rate_ > 0 && options_.task_correlation > highest)
    return Error{
        ErrorKind::InvalidArgument,
        fmt::format("task_correlation must be at most {:.3f} with {}'s rates and recovery, "
                    "not {}",
                    highest, name, options_.task_correlation),
        ""};
  return Done{};
}

}  // namespace unmask
