// A task has one latent normal a quantity and arm; its quantile in the arm's Beta distribution is
// the task's propensity there. The normals are correlated as much as it takes for the propensities
// to be correlated by `pairing`: for functions g and h of normals of correlation r,
//   cov(g, h) = sum over k >= 1 of r^k a_k b_k,  a_k = E[g(Z) He_k(Z)] / sqrt(k!)  (Mehler 1866).
//   Trials are Bernoulli given the
// task, calls a two-state chain that starts and stays at the propensity p: after a failure the next
// call is spared with probability q = leave, after a success it fails with p q / (1 - p).
//
// Example: success of mean 0.65, intra-task correlation 0.3: a task's own chance has a standard
// deviation of sqrt(0.3 x 0.65 x 0.35) = 0.26, and four trials add sqrt(0.7 x 0.2275 / 4) = 0.20.
#include "compare/power_draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>

#include "base/units.h"
#include "stats/distribution.h"

namespace unmask {
namespace {

constexpr int kTable = 2048;

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

// A multiplier of mean 1 whose logarithm is normal.
double log_normal_factor(double sd, Rng& rng) {
  return std::exp(sd * rng.normal() - sd * sd / 2);
}

double entry(const std::vector<double>& table, double normal) {
  const auto i = static_cast<std::size_t>(normal_cdf(normal) * kTable);
  return table[std::min<std::size_t>(i, kTable - 1)];
}

double share_of(double p, int trials, Rng& rng) {
  if (trials == kEndlessTrials) return p;
  int hits = 0;
  for (int j = 0; j < trials; ++j) hits += rng.bernoulli(p) ? 1 : 0;
  return static_cast<double>(hits) / trials;
}

constexpr int kTerms = 24;

// a_1 ... a_kTerms of a table of mid-point quantiles.
std::array<double, kTerms> hermite_terms(const std::vector<double>& table) {
  std::array<double, kTerms> terms{};
  for (int i = 0; i < kTable; ++i) {
    const double z = normal_quantile((i + 0.5) / kTable);
    double before = 1;  // normalised He_0 and He_1; sqrt(k + 1) h_(k+1) = z h_k - sqrt(k) h_(k-1)
    double here = z;
    for (int k = 1; k <= kTerms; ++k) {
      terms[static_cast<std::size_t>(k - 1)] += table[static_cast<std::size_t>(i)] * here / kTable;
      const double next = (z * here - std::sqrt(static_cast<double>(k)) * before) /
                          std::sqrt(static_cast<double>(k + 1));
      before = here;
      here = next;
    }
  }
  return terms;
}

// The correlation of the latent normals that gives the propensities theirs.
double latent_correlation(const std::vector<double>& baseline, const std::vector<double>& candidate,
                          double pairing) {
  if (pairing <= 0 || pairing >= 1) return std::clamp(pairing, 0.0, 1.0);
  const std::array<double, kTerms> a = hermite_terms(baseline);
  const std::array<double, kTerms> b = hermite_terms(candidate);
  double aa = 0;
  double bb = 0;
  for (int k = 0; k < kTerms; ++k) {
    const auto i = static_cast<std::size_t>(k);
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  if (!(aa > 0) || !(bb > 0)) return pairing;  // tasks alike: nothing to pair
  const auto correlation_at = [&](double r) {
    double sum = 0;
    for (int k = kTerms; k-- > 0;)
      sum = (sum + a[static_cast<std::size_t>(k)] * b[static_cast<std::size_t>(k)]) * r;
    return sum / std::sqrt(aa * bb);
  };
  double lo = 0;
  double hi = 1;
  for (int step = 0; step < 40; ++step) {
    const double middle = (lo + hi) / 2;
    (correlation_at(middle) < pairing ? lo : hi) = middle;
  }
  return (lo + hi) / 2;
}

struct Named {
  const char* quantity;
  double value;
  double lo;
  double hi;
};

Error out_of_range(std::string quantity, const std::string& message) {
  return Error{ErrorKind::InvalidArgument, message, std::move(quantity)};
}

Result<Done> check_ranges(std::initializer_list<Named> ranges) {
  for (const Named& range : ranges)
    if (!(range.value >= range.lo && range.value <= range.hi))
      return out_of_range(range.quantity, fmt::format("must be from {} to {}, not {:.4g}", range.lo,
                                                      range.hi, range.value));
  return Done{};
}

Result<Done> check_decisions(const DecisionHabits& decisions) {
  const Result<Done> ranges = check_ranges({
      {"discordance of decisions", decisions.discordance, 0, 1},
      {"correlation of decisions within a task", decisions.correlation, 0, 0.99},
  });
  if (!ranges) return ranges;
  if (std::abs(decisions.difference) <= decisions.discordance) return Done{};
  if (decisions.discordance == 0)
    return out_of_range("difference in decisions",
                        fmt::format("must be 0 points where the discordance is 0, not {:.4g}",
                                    points(decisions.difference)));
  return out_of_range("difference in decisions",
                      fmt::format("must be from -{0:.4g} to {0:.4g} points where the discordance "
                                  "is {1:.4g}, not {2:.4g}",
                                  points(decisions.discordance), decisions.discordance,
                                  points(decisions.difference)));
}

// `limit` is why `top` is the most, where that is not 1.
Result<Done> check_pair(const PairedPropensity& pair, double top, const std::string& what,
                        std::string_view limit = {}) {
  for (const auto& [propensity, arm] :
       {std::pair(pair.baseline, "baseline"), std::pair(pair.candidate, "candidate")}) {
    if (!(propensity.mean >= 0 && propensity.mean <= top))
      return out_of_range(fmt::format("{} of the {}", what, arm),
                          fmt::format("must be from 0 to {:.4g}{}, not {:.4g}", top,
                                      top < 1 ? limit : std::string_view(), propensity.mean));
    const double most = largest_correlation(propensity.mean, top);
    if (!(propensity.correlation >= 0 && propensity.correlation <= most))
      return out_of_range(
          fmt::format("correlation of the {} within a task", what),
          fmt::format("must be from 0 to {:.3f} where the {} of the {} is {:.4g}, not {:.4g}", most,
                      what, arm, propensity.mean, propensity.correlation));
  }
  return check_ranges({{"pairing", pair.pairing, 0, 1}});
}

// Successes beyond the tight budget are some of the successes.
Result<Done> check_masked(const PowerModel& model) {
  constexpr double kRounding = 1e-9;
  for (const auto& [masked, success, arm] :
       {std::tuple(model.masked.baseline.mean, model.success.baseline.mean, "baseline"),
        std::tuple(model.masked.candidate.mean, model.success.candidate.mean, "candidate")})
    if (masked > success + kRounding)
      return out_of_range(
          fmt::format("share of successes beyond the tight budget of the {}", arm),
          fmt::format("must be from 0 to {:.4g}, the share that succeeds at all, not {:.4g}",
                      success, masked));
  return Done{};
}

}  // namespace

CallHabits stated_calls(double calls, double spread, double recovery) {
  CallHabits habits;
  habits.baseline = habits.candidate = calls;
  habits.task_spread = 0.8 * spread;
  habits.episode_spread = 0.6 * spread;
  // A call is the last with probability 1 / calls whatever its fate.
  const double followed = calls > 1 ? 1 - 1 / calls : 1;
  habits.leave = std::min(1.0, recovery / followed);
  return habits;
}

double largest_propensity(const std::optional<double>& leave) {
  return leave ? 1 / (1 + *leave) : 1;
}

double largest_correlation(double mean, double top) {
  constexpr double kShort = 0.99;  // at the bound itself every task is at 0 or at the top
  if (mean <= 0 || mean >= top) return kShort;
  return kShort * (top - mean) / (1 - mean);
}

Result<Done> check_model(const PowerModel& model, std::span<const PowerGoal> goals) {
  const auto wanted = [&](PowerGoal goal) {
    return std::find(goals.begin(), goals.end(), goal) != goals.end();
  };
  const CallHabits& calls = model.calls;
  const Result<Done> ranges = check_ranges({
      {"calls an episode", calls.baseline, 1, 1000},
      {"calls an episode of the candidate", calls.candidate, 1, 1000},
      {"spread of lengths between tasks", calls.task_spread, 0, 3},
      {"spread of lengths within a task", calls.episode_spread, 0, 3},
      {"chance that a failure is not followed by another", calls.leave.value_or(1), 0.01, 1},
  });
  if (!ranges) return ranges;
  const Result<Done> decisions = check_decisions(model.decisions);
  if (!decisions) return decisions;
  if (wanted(PowerGoal::Amplification)) {
    const Result<Done> failure =
        check_pair(model.failure, largest_propensity(calls.leave), "failure rate",
                   " where so many failures are followed by a call that works");
    if (!failure) return failure;
  }
  const Result<Done> success = check_pair(model.success, 1, "success rate");
  if (!success) return success;
  if (!wanted(PowerGoal::UnmaskedGap)) return Done{};
  const Result<Done> masked =
      check_pair(model.masked, 1, "share of successes beyond the tight budget");
  if (!masked) return masked;
  return check_masked(model);
}

PowerDraw::Table PowerDraw::table(const Propensity& propensity, double top) {
  const double mean = propensity.mean;
  if (mean <= 0 || mean >= top || propensity.correlation <= 0) return Table(kTable, mean);
  // A Beta distribution stretched over [0, top] with the asked mean and variance.
  const double m = mean / top;
  const double within = propensity.correlation * (1 - mean) / (top - mean);
  const double size = (1 - within) / within;
  Table values;
  values.reserve(kTable);
  for (int i = 0; i < kTable; ++i)
    values.push_back(top * beta_quantile((i + 0.5) / kTable, m * size, (1 - m) * size));
  return values;
}

PowerDraw::Tables PowerDraw::tables(const PairedPropensity& pair, double top) {
  Tables out{table(pair.baseline, top), table(pair.candidate, top), 0};
  out.latent = latent_correlation(out.baseline, out.candidate, pair.pairing);
  return out;
}

PowerDraw::TaskPair PowerDraw::draw_task(const Tables& tables, Rng& rng) {
  const double shared = std::sqrt(tables.latent) * rng.normal();
  const double own = std::sqrt(1 - tables.latent);
  const double b = shared + own * rng.normal();
  const double c = shared + own * rng.normal();
  return {entry(tables.baseline, b), entry(tables.candidate, c)};
}

PowerDraw::PowerDraw(const PowerModel& model)
    : model_(model),
      failure_(tables(model.failure, largest_propensity(model.calls.leave))),
      success_(tables(model.success, 1)),
      masked_(tables(model.masked, 1)) {
  const DecisionHabits& d = model.decisions;
  discordance_ = table({d.discordance, d.correlation}, 1);
  const double upward = d.discordance > 0 ? (1 + d.difference / d.discordance) / 2 : 0.5;
  direction_ = table({upward, d.correlation}, 1);
}

bool PowerDraw::tasks_differ(PowerGoal goal) const {
  const auto constant = [](const Table& table) { return table.front() == table.back(); };
  const auto differ = [&](const Tables& tables) {
    const bool alike = constant(tables.baseline) && constant(tables.candidate);
    return !alike && !(tables.latent >= 1 && tables.baseline == tables.candidate);
  };
  switch (goal) {
    case PowerGoal::Amplification:
      return differ(failure_);
    case PowerGoal::Equivalence:
      return differ(success_);
    case PowerGoal::UnmaskedGap:
      return differ(masked_);
    case PowerGoal::Decisions:
      return !constant(discordance_) || !constant(direction_);
  }
  return true;
}

void PowerDraw::add_episode(double propensity, double further, Rng& rng, double& failures,
                            double& calls) const {
  const int n = 1 + poisson(further, rng);
  const std::optional<double>& leave = model_.calls.leave;
  const bool chained = leave && propensity < 1;
  const double after_success = chained ? propensity * *leave / (1 - propensity) : propensity;
  const double after_failure = chained ? 1 - *leave : propensity;
  double p = propensity;
  for (int i = 0; i < n; ++i) {
    const bool failed = rng.bernoulli(p);
    failures += failed ? 1 : 0;
    p = failed ? after_failure : after_success;
  }
  calls += n;
}

void PowerDraw::add_trials(double propensity, double mean_calls, double length, int trials,
                           Rng& rng, double& failures, double& calls) const {
  const double further = (mean_calls - 1) * length;
  if (trials == kEndlessTrials) {
    constexpr double kMany = 10000;  // so many that the 1/2 added to counts is nothing
    calls = kMany * (1 + further);
    failures = propensity * calls;
    return;
  }
  for (int j = 0; j < trials; ++j)
    add_episode(propensity, further * log_normal_factor(model_.calls.episode_spread, rng), rng,
                failures, calls);
}

DrawnCalls PowerDraw::calls(int tasks, int trials, Rng& rng) const {
  const std::vector<double> zeros(static_cast<std::size_t>(tasks), 0.0);
  DrawnCalls drawn{zeros, zeros, zeros, zeros};
  for (std::size_t t = 0; t < zeros.size(); ++t) {
    const TaskPair task = draw_task(failure_, rng);
    const double length = log_normal_factor(model_.calls.task_spread, rng);
    add_trials(task.baseline, model_.calls.baseline, length, trials, rng,
               drawn.failures_baseline[t], drawn.calls_baseline[t]);
    add_trials(task.candidate, model_.calls.candidate, length, trials, rng,
               drawn.failures_candidate[t], drawn.calls_candidate[t]);
  }
  return drawn;
}

std::vector<double> PowerDraw::differences(const Tables& tables, int tasks, int trials, Rng& rng) {
  std::vector<double> differences;
  differences.reserve(static_cast<std::size_t>(tasks));
  for (int t = 0; t < tasks; ++t) {
    const TaskPair task = draw_task(tables, rng);
    const double candidate = share_of(task.candidate, trials, rng);
    differences.push_back(candidate - share_of(task.baseline, trials, rng));
  }
  return differences;
}

std::vector<double> PowerDraw::success_differences(int tasks, int trials, Rng& rng) const {
  return differences(success_, tasks, trials, rng);
}

std::vector<double> PowerDraw::masked_differences(int tasks, int trials, Rng& rng) const {
  return differences(masked_, tasks, trials, rng);
}

std::vector<double> PowerDraw::decision_differences(int tasks, int decisions, Rng& rng) const {
  std::vector<double> differences;
  differences.reserve(static_cast<std::size_t>(tasks));
  for (int t = 0; t < tasks; ++t) {
    const double differs = entry(discordance_, rng.normal());
    const double upward = entry(direction_, rng.normal());
    if (decisions == kEndlessTrials) {
      differences.push_back(differs * (2 * upward - 1));
      continue;
    }
    int sum = 0;
    for (int i = 0; i < decisions; ++i)
      if (rng.bernoulli(differs)) sum += rng.bernoulli(upward) ? 1 : -1;
    differences.push_back(static_cast<double>(sum) / decisions);
  }
  return differences;
}

}  // namespace unmask
