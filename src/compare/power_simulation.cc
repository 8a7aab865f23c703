// Every simulated data set goes through the very test the audit applies: block_swap_test with the
// size rule of METHOD 4, tost, mean_t_test. Power is the share that passes.
//
// Between two designs of the grid the power is read off a straight line of probit(power) against
// sqrt(tasks), on which a test based on a mean lies but for Student's t: effect / SE grows so. A
// power of 0 or 1 is no point of such a line (of tasks that are all alike the power is a step), so
// the designs between are simulated until both ends of the line are.
#include "compare/power_simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "base/units.h"
#include "compare/channel_comparison.h"
#include "stats/distribution.h"
#include "stats/mean_test.h"
#include "stats/permutation.h"

namespace unmask {
namespace {

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

constexpr int kFewPermutations = 999;
constexpr double kRoundingNoise = 1e-9;  // of an effect that is a difference of stated numbers

// Enough permutations for 20 beyond the corrected level, within the audit's 10000; more where these
// hold less than 5, since of none beyond it no test could pass.
int permutations_for(const PowerOptions& options) {
  const double a_level = options.comparisons / options.alpha;  // permutations that hold one
  return static_cast<int>(
      std::max(std::clamp(20 * a_level, 0.0 + kFewPermutations, 9999.0), std::ceil(5 * a_level)));
}

double corrected_alpha(const PowerOptions& options) {
  return options.alpha / options.comparisons;
}

// Most tests that fail a level far below 5 % show it early. Of 999 permutations as many as this
// are as extreme by chance with a probability under 1e-6 where the true p is `level` (Chernoff's
// bound), so the others need not be drawn.
double too_many_of_few(double level) {
  const double mean = kFewPermutations * level;
  double hits = mean + 1;
  while (hits * std::log(hits / mean) - (hits - mean) < 6 * std::log(10.0)) ++hits;
  return hits;
}

bool passes_permutations(const DrawnCalls& drawn, bool use_difference, const PowerOptions& options,
                         Rng& rng) {
  const std::uint64_t seed = rng.next();
  const double level = corrected_alpha(options);
  const auto p_of = [&](int permutations) {
    const Result<PermutationTest> test =
        block_swap_test(drawn.failures_baseline, drawn.calls_baseline, drawn.failures_candidate,
                        drawn.calls_candidate, use_difference, permutations, seed);
    return test ? test->p : 1.0;
  };
  const int permutations = permutations_for(options);
  if (permutations > 10 * kFewPermutations &&
      p_of(kFewPermutations) * (kFewPermutations + 1) - 1 >= too_many_of_few(level))
    return false;
  return p_of(permutations) < level;
}

bool finds_amplification(const DrawnCalls& drawn, const PowerOptions& options, Rng& rng) {
  const double failures = sum_of(drawn.failures_baseline);
  ChannelComparison channel;
  channel.baseline = failures / sum_of(drawn.calls_baseline);
  channel.candidate = sum_of(drawn.failures_candidate) / sum_of(drawn.calls_candidate);
  channel.difference = *channel.candidate - *channel.baseline;
  channel.no_propensity = failures < static_cast<double>(kFewestFailuresForRatio);
  // The cheap half of the rule first: most of the time goes into permutations.
  if (!large_enough_to_amplify(channel)) return false;
  return passes_permutations(drawn, channel.no_propensity, options, rng);
}

bool finds_equivalence(const std::vector<double>& differences, const PowerOptions& options) {
  const Result<Equivalence> test = tost(differences, options.margin, options.alpha);
  return test && test->equivalent;
}

bool finds_increase(const std::vector<double>& differences, const PowerOptions& options) {
  const Result<MeanTest> test = mean_t_test(differences);
  return test && test->mean > 0 && test->p < corrected_alpha(options);
}

bool found(const PowerDraw& draw, PowerGoal goal, const Design& design, const PowerOptions& options,
           Rng& rng) {
  switch (goal) {
    case PowerGoal::Amplification:
      return finds_amplification(draw.calls(design.tasks, design.trials, rng), options, rng);
    case PowerGoal::Equivalence:
      return finds_equivalence(draw.success_differences(design.tasks, design.trials, rng), options);
    case PowerGoal::UnmaskedGap:
      return finds_increase(draw.masked_differences(design.tasks, design.trials, rng), options);
    case PowerGoal::Decisions:
      return finds_increase(draw.decision_differences(design.tasks, design.trials, rng), options);
  }
  return false;
}

double effect_of(const PowerModel& model, PowerGoal goal) {
  switch (goal) {
    case PowerGoal::Amplification:
      return model.failure.candidate.mean / model.failure.baseline.mean;
    case PowerGoal::Equivalence:
      return model.success.candidate.mean - model.success.baseline.mean;
    case PowerGoal::UnmaskedGap:
      return model.masked.candidate.mean - model.masked.baseline.mean;
    case PowerGoal::Decisions:
      return model.decisions.difference;
  }
  return 0;
}

// Where no design of any size would do.
std::optional<std::string> impossible(const PowerModel& model, PowerGoal goal,
                                      const PowerOptions& options) {
  const double effect = effect_of(model, goal);
  switch (goal) {
    case PowerGoal::Amplification:
      if (!(model.failure.baseline.mean > 0))
        return "the baseline has no failures in this channel: there is no propensity to amplify";
      // At the limit itself the estimate lies beyond it in half of the studies, however large.
      if (!(effect > kLeastAmplification + kRoundingNoise))
        return fmt::format(
            "the amplification is {:.2f}: the audit calls nothing below {} amplified, which chance "
            "decides at {} itself",
            effect, kLeastAmplification, kLeastAmplification);
      if (!(model.failure.candidate.mean - model.failure.baseline.mean >
            kLeastAmplifiedDifference + kRoundingNoise))
        return "the failure rate rises by no more than 1 point, less than which the audit does not "
               "call amplified";
      return std::nullopt;
    case PowerGoal::Equivalence:
      if (!(std::abs(effect) < options.margin - kRoundingNoise))
        return "a difference at or beyond the margin is not equivalent, whatever the design";
      return std::nullopt;
    case PowerGoal::UnmaskedGap:
    case PowerGoal::Decisions:
      if (!(effect > 0))
        return fmt::format("there is no increase to find: {:g} points is not above 0",
                           points(effect));
      return std::nullopt;
  }
  return std::nullopt;
}

const std::vector<int>& repeats_of(PowerGoal goal, const PowerOptions& options) {
  return goal == PowerGoal::Decisions ? options.decisions : options.trials;
}

double probit(double power, int simulations) {
  const double least = 0.5 / simulations;
  return normal_quantile(std::clamp(power, least, 1 - least));
}

auto first_enough(const std::vector<PowerPoint>& row, const PowerOptions& options) {
  return std::find_if(row.begin(), row.end(),
                      [&](const PowerPoint& point) { return point.power >= options.wanted; });
}

// Designs added to a row until the wanted power lies between two that are points of a line, or next
// to each other.
void simulate_between(const PowerDraw& draw, PowerGoal goal, const PowerOptions& options,
                      std::vector<PowerPoint>& row) {
  for (;;) {
    const auto enough = first_enough(row, options);
    if (enough == row.begin() || enough == row.end()) return;
    const PowerPoint& below = *std::prev(enough);
    if (below.power > 0 && enough->power < 1) return;
    if (enough->design.tasks - below.design.tasks <= 1) return;
    const double root = (std::sqrt(static_cast<double>(below.design.tasks)) +
                         std::sqrt(static_cast<double>(enough->design.tasks))) /
                        2;
    const Design between{std::clamp(static_cast<int>(std::lround(root * root)),
                                    below.design.tasks + 1, enough->design.tasks - 1),
                         below.design.trials};
    row.insert(enough, simulated_power(draw, goal, between, options));
  }
}

// `row`: ascending tasks at one number of trials.
TasksNeeded tasks_needed(const std::vector<PowerPoint>& row, const PowerOptions& options) {
  TasksNeeded needed{row.front().design.trials, std::nullopt, false};
  const auto enough = first_enough(row, options);
  if (enough == row.end()) return needed;
  needed.tasks = enough->design.tasks;
  needed.at_most = enough == row.begin();
  if (needed.at_most) return needed;
  const PowerPoint& below = *std::prev(enough);
  const double y0 = probit(below.power, options.simulations);
  const double y1 = probit(enough->power, options.simulations);
  const double x0 = std::sqrt(static_cast<double>(below.design.tasks));
  const double x1 = std::sqrt(static_cast<double>(enough->design.tasks));
  const double x = x0 + (normal_quantile(options.wanted) - y0) / (y1 - y0) * (x1 - x0);
  needed.tasks =
      std::clamp(static_cast<int>(std::ceil(x * x)), below.design.tasks + 1, enough->design.tasks);
  return needed;
}

// The cheapest of the needed designs, simulated. Where the line between two far designs of the grid
// promised too much, the new point joins its row and the line is drawn again.
void add_smallest(const PowerDraw& draw, std::vector<std::vector<PowerPoint>> rows,
                  const PowerOptions& options, GoalPower& goal) {
  constexpr int kMostLooks = 6;
  for (int look = 0; look < kMostLooks; ++look) {
    std::optional<std::size_t> best;  // row; goal.needed has one more, without end
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (!goal.needed[r].tasks) continue;
      const auto units = [&](std::size_t row) {
        return static_cast<long>(*goal.needed[row].tasks) * goal.needed[row].trials;
      };
      if (!best || units(r) < units(*best)) best = r;
    }
    if (!best) return;
    const Design design{*goal.needed[*best].tasks, goal.needed[*best].trials};
    goal.smallest = simulated_power(draw, goal.goal, design, options);
    if (goal.smallest->power >= options.wanted) return;
    std::vector<PowerPoint>& row = rows[*best];
    const auto at = std::lower_bound(
        row.begin(), row.end(), design.tasks,
        [](const PowerPoint& point, int tasks) { return point.design.tasks < tasks; });
    row.insert(at, *goal.smallest);
    goal.needed[*best] = tasks_needed(row, options);
  }
}

// Of a permutation test every second swap of task blocks is the other way round as extreme.
TrialsLimit trials_limit(const PowerDraw& draw, PowerGoal goal, int tasks,
                         const PowerOptions& options) {
  if (goal == PowerGoal::Amplification && std::exp2(1 - tasks) >= corrected_alpha(options))
    return TrialsLimit::FewTasks;
  if (draw.tasks_differ(goal)) return TrialsLimit::TasksDiffer;
  return goal == PowerGoal::Equivalence ? TrialsLimit::UnseenTasks : TrialsLimit::FewTasks;
}

GoalPower power_of_goal(const PowerModel& model, const PowerDraw& draw, PowerGoal goal,
                        const PowerOptions& options) {
  GoalPower out;
  out.goal = goal;
  out.undefined = impossible(model, goal, options);
  if (!out.undefined || model.failure.baseline.mean > 0 || goal != PowerGoal::Amplification)
    out.effect = effect_of(model, goal);
  if (out.undefined) return out;
  std::vector<std::vector<PowerPoint>> rows;  // by trials
  for (const int trials : repeats_of(goal, options)) {
    rows.emplace_back();
    for (const int tasks : options.tasks)
      rows.back().push_back(simulated_power(draw, goal, {tasks, trials}, options));
  }
  for (const int tasks : options.tasks)
    out.limit.push_back(simulated_power(draw, goal, {tasks, kEndlessTrials}, options));
  for (std::size_t i = 0; i < options.tasks.size(); ++i)
    for (const std::vector<PowerPoint>& row : rows) out.grid.push_back(row[i]);
  std::vector<PowerPoint> endless = out.limit;
  for (std::vector<PowerPoint>& row : rows) simulate_between(draw, goal, options, row);
  simulate_between(draw, goal, options, endless);
  for (const std::vector<PowerPoint>& row : rows) out.needed.push_back(tasks_needed(row, options));
  out.needed.push_back(tasks_needed(endless, options));
  add_smallest(draw, rows, options, out);
  find_where_trials_fail(options.wanted, out);
  if (out.trials_fail_up_to)
    out.trials_limit = trials_limit(draw, goal, *out.trials_fail_up_to, options);
  return out;
}

bool ascending(const std::vector<int>& values, int least, int most) {
  return !values.empty() && values.front() >= least && values.back() <= most &&
         std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
}

Result<Done> check_options(const PowerOptions& options) {
  const auto refuse = [](const std::string& message) {
    return Error{ErrorKind::InvalidArgument, message, ""};
  };
  if (!ascending(options.tasks, 2, 100000))
    return refuse("the numbers of tasks must ascend, from 2 to 100000");
  if (!ascending(options.trials, 1, 1000))
    return refuse("the numbers of trials must ascend, from 1 to 1000");
  if (!ascending(options.decisions, 1, 100000))
    return refuse("the numbers of decisions a task must ascend, from 1 to 100000");
  if (options.simulations < 10) return refuse("a power needs at least 10 simulations");
  if (!(options.wanted > 0 && options.wanted < 1) || !(options.alpha > 0 && options.alpha < 0.5))
    return refuse("power and alpha lie between 0 and 1");
  if (options.comparisons < 1 || options.comparisons > kMostComparisons)
    return refuse(fmt::format("the comparisons must be from 1 to {}", kMostComparisons));
  if (!(options.margin > 0)) return refuse("an equivalence margin must be positive");
  return Done{};
}

}  // namespace

std::string_view to_string(PowerGoal goal) {
  switch (goal) {
    case PowerGoal::Amplification:
      return "amplification";
    case PowerGoal::Equivalence:
      return "equivalence";
    case PowerGoal::UnmaskedGap:
      return "unmasked_gap";
    case PowerGoal::Decisions:
      return "decisions";
  }
  return "amplification";
}

std::string_view to_string(TrialsLimit limit) {
  switch (limit) {
    case TrialsLimit::TasksDiffer:
      return "tasks_differ";
    case TrialsLimit::UnseenTasks:
      return "unseen_tasks";
    case TrialsLimit::FewTasks:
      return "few_tasks";
  }
  return "tasks_differ";
}

bool GoalPower::falls_with_trials(int tasks) const {
  const auto endless = std::find_if(limit.begin(), limit.end(), [&](const PowerPoint& point) {
    return point.design.tasks == tasks;
  });
  if (endless == limit.end()) return false;
  return std::any_of(grid.begin(), grid.end(), [&](const PowerPoint& point) {
    return point.design.tasks == tasks &&
           point.power - endless->power > 2 * std::hypot(point.error, endless->error);
  });
}

std::optional<int> GoalPower::fewest_tasks_needed() const {
  std::optional<int> fewest;
  for (const TasksNeeded& at : needed)
    if (at.tasks && (!fewest || *at.tasks < *fewest)) fewest = at.tasks;
  return fewest;
}

void find_where_trials_fail(double wanted, GoalPower& goal) {
  goal.trials_fail_up_to.reset();
  goal.most_of_trials.reset();
  for (const PowerPoint& endless : goal.limit) {
    std::optional<PowerPoint> most = goal.most_of_trials;
    bool reached = false;
    const auto look_at = [&](const PowerPoint& point) {
      reached = reached || point.power + 2 * point.error >= wanted;
      if (!most || point.power > most->power) most = point;
    };
    for (const PowerPoint& point : goal.grid)
      if (point.design.tasks == endless.design.tasks) look_at(point);
    look_at(endless);
    if (reached) return;
    goal.trials_fail_up_to = endless.design.tasks;
    goal.most_of_trials = most;
  }
}

PowerPoint simulated_power(const PowerDraw& draw, PowerGoal goal, const Design& design,
                           const PowerOptions& options) {
  const std::string stream =
      fmt::format("power/{}/{}/{}", to_string(goal), design.tasks, design.trials);
  const std::uint64_t seed = Rng(options.seed, stream).next();
  std::vector<char> hits(static_cast<std::size_t>(options.simulations));
  parallel_for(hits.size(), resolve_threads(options.threads), [&](std::size_t i) {
    Rng rng(seed, i);
    hits[i] = found(draw, goal, design, options, rng) ? 1 : 0;
  });
  const double n = options.simulations;
  const auto passed = static_cast<double>(std::count(hits.begin(), hits.end(), 1));
  // With two of each added, so that none or all of the simulations do not look like certainty.
  const double drawn_in = (passed + 2) / (n + 4);
  return {design, passed / n, std::sqrt(drawn_in * (1 - drawn_in) / (n + 4))};
}

Result<std::vector<GoalPower>> power_of_designs(const PowerModel& model,
                                                const PowerOptions& options) {
  const Result<Done> options_fit = check_options(options);
  if (!options_fit) return options_fit.error();
  const Result<Done> model_fits = check_model(model, options.goals);
  if (!model_fits) return model_fits.error();
  const PowerDraw draw(model);
  std::vector<GoalPower> goals;
  for (const PowerGoal goal : options.goals) {
    if (options.progress) options.progress(fmt::format("simulating {}", to_string(goal)));
    goals.push_back(power_of_goal(model, draw, goal, options));
  }
  return goals;
}

}  // namespace unmask
