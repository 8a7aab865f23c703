// unmask power [PILOT [CANDIDATE_PILOT]]: how many tasks and trials.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/arm_argument.h"
#include "app/command_line.h"
#include "app/power_flags.h"
#include "arm_shelf.h"
#include "compare/decision_pilot.h"
#include "ingest/replay.h"
#include "report/power_report.h"

namespace unmask {
namespace {

constexpr const char* kPowerDescription =
    "Says how many tasks and trials would settle a question, before they are run: by simulation\n"
    "with tasks as clusters, through the audit's own tests.\n"
    "\n"
    "Planned from a pilot (one log of the baseline, or a pair of logs; for decisions a replay), "
    "or\n"
    "from stated rates.\n"
    "PILOT is a file, a folder, '-' (standard input) or a comma list of pieces.\n";

constexpr const char* kPowerExamples =
    "examples:\n"
    "  unmask power bf16-pilot.json                       (amplification of 2, U of 10 points)\n"
    "  unmask power bf16-pilot.json int4-pilot.json --comparisons 10\n"
    "  unmask power --failure-rate 0.2 --success 0.7 --amplification 1.5 --tasks 50,114,300\n"
    "  unmask power --replay replay.jsonl                 (how many decisions)\n"
    "  unmask power --goals decisions --discordance 0.08 --decision-difference 1.5\n";

Result<std::vector<ArmSource>> pilots_of(const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& labels) {
  if (arguments.size() > 2)
    return Error{ErrorKind::InvalidArgument,
                 "a pilot is one log or a pair: pieces of one log have commas between them; see "
                 "unmask power --help",
                 ""};
  if (labels.size() > arguments.size())
    return Error{ErrorKind::InvalidArgument,
                 fmt::format("--label is given {} times for {} pilots; see unmask power --help",
                             labels.size(), arguments.size()),
                 ""};
  std::vector<ArmSource> sources;
  std::vector<NamedPath> named;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    Result<std::vector<std::string>> paths = arm_paths(arguments[i]);
    if (!paths) return paths.error();
    for (const std::string& path : *paths)
      named.emplace_back(path, i == 0 ? "baseline" : "candidate");
    const std::string label = i < labels.size() ? labels[i] : "";
    sources.push_back({std::move(*paths), label, !label.empty()});
  }
  const Result<Done> distinct = check_distinct(named);
  if (!distinct) return distinct.error();
  return sources;
}

std::vector<std::string> paths_of(const std::vector<ArmSource>& sources) {
  std::vector<std::string> paths;
  for (const ArmSource& source : sources)
    paths.insert(paths.end(), source.paths.begin(), source.paths.end());
  return paths;
}

void take_warnings(const std::vector<LoadedArm>& arms, PowerReport& report) {
  for (const LoadedArm& arm : arms) {
    report.from.labels.push_back(arm.arm.label);
    for (Warning warning : arm.warnings) {
      if (warning.where.empty()) warning.where = arm.arm.label;
      report.warnings.push_back(std::move(warning));
    }
    for (const Dropped& dropped : arm.dropped) report.dropped.push_back(dropped);
  }
}

Result<Pilot> pilot_of_logs(const std::vector<LoadedArm>& arms, const PowerPlan& plan,
                            const CompareOptions& options) {
  if (arms.size() == 1) return pilot_of(arms[0].arm, plan.channel, plan.effects, options);
  const Result<PairedArms> paired = pair_tasks(arms[0].arm, arms[1].arm);
  if (!paired) return paired.error();
  return pilot_of(*paired, plan.channel, plan.effects, options);
}

bool plans_decisions(const PowerReport& report) {
  const std::vector<PowerGoal>& goals = report.options.goals;
  return std::find(goals.begin(), goals.end(), PowerGoal::Decisions) != goals.end();
}

// Of a log's decisions no two arms' are of one context: it shows how failures cluster, and nothing
// of discordance.
void take_decisions(const Pilot& pilot, bool has_replay, PowerReport& report) {
  if (!plans_decisions(report) || has_replay) return;
  const bool shown = pilot.trials > 1 && pilot.failures > 0;
  const bool taken = shown && report.decisions_from.correlation == TakenFrom::Assumed;
  if (taken) {
    report.model.decisions.correlation = pilot.model.failure.baseline.correlation;
    report.decisions_from.correlation = TakenFrom::Pilot;
  }
  report.notes.push_back(
      fmt::format("A log shows no decisions that two arms made in the same context: {} taken from "
                  "the pilot for them. A replay of both arms (--replay) shows their discordance "
                  "and their difference; else state --discordance and --decision-difference.",
                  taken ? "only the correlation of failures within its tasks is" : "nothing is"));
}

// What is not stated is the replay's.
void take_decisions(const DecisionPilot& pilot, PowerReport& report) {
  DecisionHabits& decisions = report.model.decisions;
  DecisionsFrom& from = report.decisions_from;
  const auto take = [](TakenFrom& place, double& to, double shown) {
    if (place != TakenFrom::Assumed) return;
    to = shown;
    place = TakenFrom::Replay;
  };
  take(from.discordance, decisions.discordance, pilot.decisions.discordance);
  take(from.difference, decisions.difference, pilot.decisions.difference);
  if (pilot.correlated)
    take(from.correlation, decisions.correlation, pilot.decisions.correlation);
  else if (from.correlation == TakenFrom::Assumed)
    report.notes.push_back(
        fmt::format("The replay does not show how discordant decisions cluster in tasks: a "
                    "correlation of {:g} is assumed.",
                    decisions.correlation));
  if (from.difference == TakenFrom::Replay)
    report.notes.push_back(
        "The difference of decisions is the replay's own, which a small replay misses by chance: "
        "state the smallest that would matter (--decision-difference).");
}

// Goals the pilot has no numbers for leave the list, with a note.
void drop_unmeasured(const Pilot& pilot, PowerReport& report) {
  const auto drop = [&](PowerGoal goal, const std::string& why) {
    std::vector<PowerGoal>& goals = report.options.goals;
    if (std::erase(goals, goal) > 0) report.notes.push_back(why);
  };
  if (!pilot.graded)
    drop(PowerGoal::Equivalence, "The pilot is not graded: equivalence cannot be planned from it.");
  if (!pilot.budget)
    drop(PowerGoal::UnmaskedGap,
         "The pilot has no budget in force above the tight one, or no grades: an unmasked gap "
         "cannot be planned from it; --max-errors states a budget.");
}

void add_notes(const Pilot& pilot, const PowerPlan& plan, bool pair, PowerReport& report) {
  report.notes = pilot.notes;
  report.notes.push_back(
      fmt::format("A pilot of {} tasks speaks for other numbers of tasks only if new tasks are of "
                  "the same kind: drawn as these were, neither easier nor harder.",
                  pilot.tasks));
  const bool all_stated =
      plan.effects.amplification && plan.effects.delta && plan.effects.unmasked_gap;
  if (pair && !all_stated)
    report.notes.push_back(
        "Effects that are not stated are the pilot's own, which a small pilot misses by chance: "
        "state the smallest effect that would matter.");
}

void join_pilot_tasks(int pilot, const PowerPlan& plan, PowerOptions& options) {
  if (plan.tasks_stated || pilot < 2) return;
  std::vector<int>& tasks = options.tasks;
  const auto at = std::lower_bound(tasks.begin(), tasks.end(), pilot);
  if (at == tasks.end() || *at != pilot) tasks.insert(at, pilot);
}

Result<Done> plan_from_logs(const std::vector<ArmSource>& sources, const PowerPlan& plan,
                            const AuditOptions& options, bool has_replay, PowerReport& report) {
  AuditOptions counts_only = options;
  counts_only.keep_decisions = false;
  ArmShelf shelf(counts_only);
  for (const ArmSource& source : sources) {
    const Result<Done> read = shelf.read(source, shelf.arms().empty() ? "baseline" : "candidate");
    if (!read) return read.error();
  }
  if (const std::optional<Error> clash = shelf.tell_apart()) return *clash;
  std::vector<LoadedArm> arms;
  for (const ShelvedArm& shelved : shelf.arms()) arms.push_back(shelved.loaded);
  take_warnings(arms, report);
  Result<Pilot> pilot = pilot_of_logs(arms, plan, options.compare);
  if (!pilot) return pilot.error();
  report.model = pilot->model;
  report.model.decisions = plan.decisions;
  report.from.tasks = pilot->tasks;
  report.from.trials = pilot->trials;
  report.from.failures = pilot->failures;
  add_notes(*pilot, plan, sources.size() == 2, report);
  take_decisions(*pilot, has_replay, report);
  drop_unmeasured(*pilot, report);
  join_pilot_tasks(pilot->tasks, plan, report.options);
  return Done{};
}

Result<Done> plan_from_replay(const PowerFlags& flags, const PowerPlan& plan, PowerReport& report) {
  Result<ReplayReport> read = read_replay(flags.replay);
  if (!read) return read.error();
  const Result<DecisionPilot> pilot =
      pilot_of_decisions(read->replay, std::string(to_string(plan.channel)), flags.candidate);
  if (!pilot) return Error{pilot.error().kind, pilot.error().message, flags.replay};
  take_decisions(*pilot, report);
  report.replay = ReplayPlannedFrom{pilot->baseline, pilot->candidate,     pilot->tasks,
                                    pilot->pairs,    pilot->only_baseline, pilot->only_candidate};
  join_pilot_tasks(pilot->tasks, plan, report.options);
  std::move(read->warnings.begin(), read->warnings.end(), std::back_inserter(report.warnings));
  std::move(read->dropped.begin(), read->dropped.end(), std::back_inserter(report.dropped));
  return Done{};
}

Result<PowerReport> planned(const PowerFlags& flags, const std::vector<ArmSource>& sources,
                            Progress& progress) {
  const Result<PowerPlan> plan = power_plan(flags, !sources.empty());
  if (!plan) return plan.error();
  PowerReport report;
  report.channel = plan->channel;
  report.k_tight = flags.analysis.audit.compare.k_tight;
  report.options = plan->options;
  report.decisions_from = plan->decisions_from;
  if (sources.empty()) {
    const Result<PowerModel> model = stated_model(flags, *plan);
    if (!model) return model.error();
    report.model = *model;
  } else {
    const Result<Done> read =
        plan_from_logs(sources, *plan, flags.analysis.audit, !flags.replay.empty(), report);
    if (!read) return read.error();
  }
  if (!flags.replay.empty()) {
    progress.step("reading " + flags.replay);
    const Result<Done> read = plan_from_replay(flags, *plan, report);
    if (!read) return read.error();
  }
  report.options.progress = [&](const std::string& step) { progress.step(step); };
  Result<std::vector<GoalPower>> goals = power_of_designs(report.model, report.options);
  if (!goals) return goals.error();
  report.goals = std::move(*goals);
  return report;
}

}  // namespace

ExitStatus run_power(const Invocation& invocation) {
  CLI::App app(kPowerDescription, "power");
  app.footer(kPowerExamples);
  PowerFlags flags;
  std::vector<std::string> arguments;
  app.add_option("pilot", arguments)->type_name("[PILOT [CANDIDATE_PILOT]]");
  add_power_flags(app, flags);
  const Result<Parsed> parsed = parse_arguments(app, invocation);
  if (!parsed) return fail(parsed.error());
  if (*parsed == Parsed::HelpShown) return ExitStatus::Done;
  const Result<Done> completed = complete(flags.analysis);
  if (!completed) return fail(completed.error());
  const Result<std::vector<ArmSource>> sources = pilots_of(arguments, flags.analysis.labels);
  if (!sources) return fail(sources.error());
  std::vector<std::string> inputs = paths_of(*sources);
  if (!flags.replay.empty()) inputs.push_back(flags.replay);
  const Result<Done> kept = check_inputs_kept(flags.analysis, inputs, {});
  if (!kept) return fail(kept.error());

  Progress progress(flags.analysis.quiet);
  flags.analysis.audit.progress = [&](const std::string& step) { progress.step(step); };
  flags.analysis.audit.read.progress = [&](std::uint64_t done, std::uint64_t total) {
    progress.bytes(done, total);
  };
  Result<PowerReport> report = planned(flags, *sources, progress);
  progress.finish();
  if (!report) return fail(with_its_option(report.error(), flags, !sources->empty()));
  report->provenance = {UNMASK_VERSION, invocation.command_line, report->options.seed, 0};
  print_warnings(flags.analysis, report->warnings, report->dropped);
  Renderings renderings;
  renderings.json = [&] { return to_json(*report); };
  renderings.terminal = [&](const TerminalStyle& style) { return to_terminal(*report, style); };
  return deliver(flags.analysis, renderings);
}

}  // namespace unmask
