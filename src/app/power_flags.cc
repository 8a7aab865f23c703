#include "app/power_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <climits>
#include <span>

#include "app/command_line.h"
#include "app/nearest.h"
#include "base/units.h"

namespace unmask {
namespace {

constexpr double kStatedFailureRate = 0.05;
constexpr double kStatedCalls = 7.3;
constexpr double kStatedLengthSpread = 0.4;
constexpr double kStatedRecovery = 0.55;
constexpr double kStatedSuccess = 0.65;
constexpr double kStatedMasked = 0.05;

Error usage(const std::string& message) {
  return Error{ErrorKind::InvalidArgument, message + "; see unmask power --help", ""};
}

struct NumberFlag {
  const char* name;
  const char* description;
  std::optional<double> PowerFlags::*field;
  const char* type;
  double least;
  double most;
};

constexpr NumberFlag kEffects[] = {
    {"--amplification", "A to detect: candidate's failures per call over the baseline's (2)",
     &PowerFlags::amplification, "A", 0, 1000},
    {"--delta", "true change in success under which equivalence is to be shown (0)",
     &PowerFlags::delta_points, "POINTS", -100, 100},
    {"--unmasked-gap", "U to detect (10)", &PowerFlags::unmasked_gap_points, "POINTS", -100, 100},
    {"--discordance", "share of replayed decisions in which one arm alone fails (replay's; 0.1)",
     &PowerFlags::discordance, "X", 0, 1},
    {"--decision-difference", "more decisions that fail in the candidate (replay's; 2)",
     &PowerFlags::decision_difference_points, "POINTS", -100, 100},
};

constexpr NumberFlag kTasks[] = {
    {"--task-correlation",
     "correlation of failures, and of decisions, within a task (pilot's; 0.2)",
     &PowerFlags::task_correlation, "X", 0, 0.99},
    {"--success-correlation", "the same of success (pilot's; as --task-correlation)",
     &PowerFlags::success_correlation, "X", 0, 0.99},
    {"--pairing", "correlation of a task's difficulty between the arms (a pair's; 0.9)",
     &PowerFlags::pairing, "X", 0, 1},
};

constexpr NumberFlag kRates[] = {
    {"--failure-rate", "failures in the channel per agent call of the baseline (0.05)",
     &PowerFlags::failure_rate, "X", 0, 1},
    {"--calls", "agent calls an episode (7.3)", &PowerFlags::calls, "N", 1, 1000},
    {"--length-spread", "standard deviation of the log of an episode's length (0.4)",
     &PowerFlags::length_spread, "X", 0, 3},
    {"--recovery", "share of failures followed by a call that works (0.55)", &PowerFlags::recovery,
     "X", 0.01, 1},
    {"--success", "success rate of the baseline (0.65)", &PowerFlags::success, "X", 0, 1},
    {"--masked-share", "share of its episodes that succeed beyond the tight budget (0.05)",
     &PowerFlags::masked_share, "X", 0, 1},
};

void add_numbers(CLI::App& app, PowerFlags& flags, std::span<const NumberFlag> numbers,
                 const char* group) {
  for (const NumberFlag& flag : numbers)
    app.add_option(flag.name, flags.*flag.field, flag.description)
        ->type_name(flag.type)
        ->check(CLI::Validator(number(flag.least, flag.most), "", ""))
        ->group(group);
}

CLI::Validator not_empty() {
  return {[](std::string& text) {
            return text.empty() ? std::string("must not be empty") : std::string();
          },
          "", ""};
}

void add_design_flags(CLI::App& app, PowerFlags& flags) {
  const char* group = "designs";
  const auto list = [&](const char* name, std::string& target, const char* description) {
    app.add_option(name, target, description)
        ->type_name("N,N,...")
        ->check(not_empty())
        ->group(group);
  };
  list("--tasks", flags.tasks, "numbers of tasks (25,50,100,200,400 and the pilot's)");
  list("--trials", flags.trials, "numbers of trials (1,2,4,8)");
  list("--decisions", flags.decisions, "numbers of replayed decisions a task (2,5,10,20,50)");
  app.add_option("--power", flags.wanted, "the power wanted (0.8)")
      ->type_name("X")
      ->check(CLI::Validator(number(0.05, 0.999), "", ""))
      ->group(group);
  app.add_option("--margin,--equivalence-margin", flags.margin_points,
                 "points within which two scores count as equal (7.5)")
      ->type_name("POINTS")
      ->check(CLI::Validator(number(0.1, 100), "", ""))
      ->group(group);
  app.add_option("--comparisons", flags.comparisons,
                 "tests in the family: each must pass alpha/N, Holm's first step (1)")
      ->type_name("N")
      ->check(CLI::Validator(whole_number(1, kMostComparisons), "", ""))
      ->group(group);
  app.add_option("--simulations", flags.simulations, "simulated studies a design (500)")
      ->type_name("N")
      ->check(CLI::Validator(whole_number(10, 1000000), "", ""))
      ->group(group);
  app.add_option("--seed", flags.analysis.audit.compare.seed, "seed of the simulation (20260731)")
      ->type_name("N")
      ->check(CLI::Validator(whole_number(0, LLONG_MAX), "", ""))
      ->group(group);
  app.add_option("--threads", flags.analysis.audit.read.threads, "threads; 0: one per processor")
      ->type_name("N")
      ->check(CLI::Validator(whole_number(0, 4096), "", ""))
      ->group(group);
}

void add_result_flags(CLI::App& app, PowerFlags& flags) {
  const char* group = "results";
  app.add_option("--json", flags.analysis.json, "everything, as JSON; - is standard output")
      ->type_name("FILE|-")
      ->group(group);
  add_color_option(app, flags.analysis.color, group);
  app.add_flag("-q,--quiet", flags.analysis.quiet, "no progress and no warnings on standard error")
      ->group(group);
}

std::vector<std::string> pieces_of(const std::string& text) {
  std::vector<std::string> pieces;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    pieces.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return pieces;
}

struct ListFlag {
  const char* name;
  int least;
  int most;
};

Result<Done> read_numbers(const ListFlag& flag, const std::string& text,
                          std::vector<int>& numbers) {
  if (text.empty()) return Done{};
  numbers.clear();
  for (const std::string& piece : pieces_of(text)) {
    const std::optional<long long> value = to_whole_number(piece);
    if (!value || *value < flag.least || *value > flag.most)
      return usage(
          fmt::format("{} must be whole numbers from {} to {} with commas between, not '{}'",
                      flag.name, flag.least, flag.most, text));
    numbers.push_back(static_cast<int>(*value));
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return Done{};
}

std::vector<std::string> goal_names() {
  std::vector<std::string> names;
  for (const PowerGoal goal : kPowerGoals) names.emplace_back(to_string(goal));
  return names;
}

Result<std::vector<PowerGoal>> read_goals(const PowerFlags& flags, bool has_pilot) {
  if (flags.goals.empty()) {
    if (!flags.replay.empty() && !has_pilot) return std::vector<PowerGoal>{PowerGoal::Decisions};
    std::vector<PowerGoal> goals = {PowerGoal::Amplification, PowerGoal::Equivalence,
                                    PowerGoal::UnmaskedGap};
    if (flags.discordance || flags.decision_difference_points || !flags.decisions.empty() ||
        !flags.replay.empty())
      goals.push_back(PowerGoal::Decisions);
    return goals;
  }
  const std::vector<std::string> names = goal_names();
  std::vector<PowerGoal> goals;
  for (const std::string& piece : pieces_of(flags.goals)) {
    const auto found = std::find(names.begin(), names.end(), piece);
    if (found == names.end())
      return usage(fmt::format("--goals are of {}, not '{}'{}", fmt::join(names, ", "), piece,
                               did_you_mean(piece, names)));
    const PowerGoal goal = kPowerGoals[found - names.begin()];
    if (std::find(goals.begin(), goals.end(), goal) == goals.end()) goals.push_back(goal);
  }
  if (!flags.replay.empty() &&
      std::find(goals.begin(), goals.end(), PowerGoal::Decisions) == goals.end())
    return usage("--replay is the pilot of the goal decisions, which --goals leaves out");
  return goals;
}

std::vector<std::string> channel_names() {
  std::vector<std::string> names;
  for (const Channel channel : kFailureChannels) names.emplace_back(to_string(channel));
  return names;
}

Channel channel_named(const std::string& name) {  // checked by one_of
  const std::vector<std::string> names = channel_names();
  return kFailureChannels[std::find(names.begin(), names.end(), name) - names.begin()];
}

std::optional<double> proportion(const std::optional<double>& in_points) {
  if (!in_points) return std::nullopt;
  return from_points(*in_points);
}

Result<Done> read_grid(const PowerFlags& flags, PowerOptions& options) {
  Result<Done> read = read_numbers({"--tasks", 2, 100000}, flags.tasks, options.tasks);
  if (!read) return read;
  read = read_numbers({"--trials", 1, 1000}, flags.trials, options.trials);
  if (!read) return read;
  return read_numbers({"--decisions", 1, 100000}, flags.decisions, options.decisions);
}

// Whoever fails more than K calls makes more than K: of episodes that make so many on average, at
// most calls / (K + 1) do (Markov's inequality).
Result<Done> check_budget_is_reached(const PowerFlags& flags, const PowerPlan& plan,
                                     const PowerModel& model) {
  const std::vector<PowerGoal>& goals = plan.options.goals;
  if (std::find(goals.begin(), goals.end(), PowerGoal::UnmaskedGap) == goals.end()) return Done{};
  const int k = flags.analysis.audit.compare.k_tight;
  const double most = model.calls.baseline / (k + 1);
  const double planned = std::max(model.masked.baseline.mean, model.masked.candidate.mean);
  if (planned <= most) return Done{};
  return usage(
      fmt::format("--k-tight {}: of episodes of {:g} calls (--calls) at most {:.3g} % can fail "
                  "more than {}, and {:.3g} % are to succeed beyond it (--masked-share, "
                  "--unmasked-gap)",
                  k, model.calls.baseline, points(most), k, points(planned)));
}

}  // namespace

void add_power_flags(CLI::App& app, PowerFlags& flags) {
  app.add_option("--goals", flags.goals,
                 "of amplification,equivalence,unmasked_gap (these three) and decisions")
      ->type_name("LIST")
      ->check(suggested(goal_names()))
      ->check(not_empty())
      ->group("what is to be found");
  app.add_option("--channel", flags.channel, "the channel of failures (tool_name)")
      ->type_name("NAME")
      ->check(one_of(channel_names()))
      ->group("what is to be found");
  add_numbers(app, flags, kEffects, "what is to be found");
  app.add_option("--k-tight", flags.analysis.audit.compare.k_tight,
                 "the tight budget: failed calls allowed (2)")
      ->type_name("K")
      ->check(CLI::Validator(whole_number(0, 1000), "", ""))
      ->group("what is to be found");
  add_design_flags(app, flags);
  add_numbers(app, flags, kTasks, "how tasks differ");
  app.add_option("--replay", flags.replay,
                 "a replay of both arms: discordance, difference and correlation of decisions")
      ->type_name("FILE|-")
      ->check(not_empty())
      ->group("the pilot of decisions");
  app.add_option("--candidate", flags.candidate, "the replay's arm to plan for, of several")
      ->type_name("LABEL")
      ->check(not_empty())
      ->group("the pilot of decisions");
  add_numbers(app, flags, kRates, "the baseline, where there is no pilot");
  add_result_flags(app, flags);
  add_reading_flags(app, flags.analysis);
}

Result<PowerPlan> power_plan(const PowerFlags& flags, bool has_pilot) {
  if (has_pilot)
    for (const NumberFlag& flag : kRates)
      if (flags.*flag.field)
        return usage(fmt::format("{} is taken from the pilot, so it cannot be stated", flag.name));
  if (!flags.candidate.empty() && flags.replay.empty())
    return usage("--candidate is an arm of a replay: it goes with --replay");
  PowerPlan plan;
  plan.channel = channel_named(flags.channel);
  Result<std::vector<PowerGoal>> goals = read_goals(flags, has_pilot);
  if (!goals) return goals.error();
  plan.options.goals = std::move(*goals);
  const Result<Done> grid = read_grid(flags, plan.options);
  if (!grid) return grid.error();
  plan.tasks_stated = !flags.tasks.empty();
  plan.effects = {flags.amplification,
                  proportion(flags.delta_points),
                  proportion(flags.unmasked_gap_points),
                  flags.pairing,
                  flags.task_correlation,
                  flags.success_correlation ? flags.success_correlation : flags.task_correlation,
                  plan.options.goals};
  plan.decisions.discordance = flags.discordance.value_or(plan.decisions.discordance);
  plan.decisions.difference =
      proportion(flags.decision_difference_points).value_or(plan.decisions.difference);
  plan.decisions.correlation = flags.task_correlation.value_or(kAssumedCorrelation);
  const auto from = [](bool stated) { return stated ? TakenFrom::Stated : TakenFrom::Assumed; };
  plan.decisions_from = {from(flags.discordance.has_value()),
                         from(flags.decision_difference_points.has_value()),
                         from(flags.task_correlation.has_value())};
  plan.options.wanted = flags.wanted;
  plan.options.comparisons = flags.comparisons;
  plan.options.margin = from_points(flags.margin_points);
  plan.options.simulations = flags.simulations;
  plan.options.seed = flags.analysis.audit.compare.seed;
  plan.options.threads = flags.analysis.audit.read.threads;
  return plan;
}

Error with_its_option(const Error& error, const PowerFlags& flags, bool has_pilot) {
  if (error.kind != ErrorKind::InvalidArgument) return error;
  const bool success_alone = flags.success_correlation || !flags.task_correlation;
  const std::string_view of_success =
      success_alone ? "--success-correlation" : "--task-correlation";
  struct Option {
    std::string_view quantity;
    std::string_view name;
    bool of_pilot = false;                         // what a pilot shows is no option's
    std::optional<double> assumed = std::nullopt;  // as typed, where the option is not given
  };
  const auto unless = [](bool given, double value) {
    return given ? std::nullopt : std::optional<double>(value);
  };
  const Option options[] = {
      {"amplification", "--amplification", false,
       unless(flags.amplification.has_value(), kAssumedAmplification)},
      {"change in success", "--delta"},
      {"unmasked gap", "--unmasked-gap", false,
       unless(flags.unmasked_gap_points.has_value(), points(kAssumedUnmaskedGap))},
      {"difference in decisions", "--decision-difference"},
      {"discordance of decisions", "--discordance"},
      {"correlation of decisions within a task", "--task-correlation"},
      {"correlation of the failure rate within a task", "--task-correlation"},
      {"correlation of the success rate within a task", of_success},
      {"correlation of the share of successes beyond the tight budget within a task", of_success},
      {"pairing", "--pairing"},
      {"failure rate of the baseline", "--failure-rate", true},
      {"success rate of the baseline", "--success", true},
      {"share of successes beyond the tight budget of the baseline", "--masked-share", true},
      {"calls an episode", "--calls", true},
  };
  for (const Option& option : options) {
    if (option.quantity != error.where) continue;
    if (has_pilot && option.of_pilot)
      return Error{error.kind, fmt::format("the pilot's {} {}", error.where, error.message), ""};
    const std::string assumed =
        option.assumed ? fmt::format(" ({:g} where it is not stated)", *option.assumed) : "";
    return usage(fmt::format("{}{} {}", option.name, assumed, error.message));
  }
  return error;
}

Result<PowerModel> stated_model(const PowerFlags& flags, const PowerPlan& plan) {
  const double failures = plan.effects.task_correlation.value_or(kAssumedCorrelation);
  const double outcomes = plan.effects.success_correlation.value_or(kAssumedCorrelation);
  const double pairing = plan.effects.pairing.value_or(kAssumedPairing);
  PowerModel model;
  model.calls = stated_calls(flags.calls.value_or(kStatedCalls),
                             flags.length_spread.value_or(kStatedLengthSpread),
                             flags.recovery.value_or(kStatedRecovery));
  const auto both = [&](double mean, double correlation) {
    return PairedPropensity{{mean, correlation}, {mean, correlation}, pairing};
  };
  const double rate = flags.failure_rate.value_or(kStatedFailureRate);
  // What is assumed of the tasks gives way to what is stated of the rate.
  const double most = largest_correlation(rate, largest_propensity(model.calls.leave));
  model.failure = both(rate, flags.task_correlation ? failures : std::min(failures, most));
  model.success = both(flags.success.value_or(kStatedSuccess), outcomes);
  const double most_masked = std::min(kStatedMasked, model.success.baseline.mean);
  model.masked = both(flags.masked_share.value_or(most_masked), outcomes);
  model.decisions = plan.decisions;
  // First the baseline as it is stated, then what the effects make of it.
  const Result<Done> baseline_fits = check_model(model, plan.options.goals);
  if (!baseline_fits) return baseline_fits.error();
  const Result<Done> applied = apply_effects(plan.effects, model);
  if (!applied) return applied.error();
  const Result<Done> reached = check_budget_is_reached(flags, plan, model);
  if (!reached) return reached.error();
  return model;
}

}  // namespace unmask
