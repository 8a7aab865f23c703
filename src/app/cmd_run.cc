// unmask run PLAN.toml: arms × domains × tasks × trials, kept on disk as they are played.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include "app/command_line.h"
#include "app/console.h"
#include "app/gate_flag.h"
#include "app/interrupt_watch.h"
#include "app/output_place.h"
#include "app/participants.h"
#include "app/plan_toml.h"
#include "app/run_progress.h"
#include "app/run_results.h"
#include "app/run_stage.h"
#include "app/world_flags.h"
#include "base/units.h"
#include "llm/chat_model.h"
#include "rollout/runner.h"

namespace unmask {
namespace {

constexpr const char* kRunDescription =
    "Plays a plan: every arm at every task of its domains, trial by trial, against the models the\n"
    "plan names. Each episode is on the disk when it is reported done; the same command goes on\n"
    "where a run broke off, whatever ended it. A finished run prints the audit of its arms.\n"
    "\n"
    "Ctrl-C once finishes the episodes in flight, twice gives them up.\n"
    "docs/plan.md has every key of a plan.\n";

constexpr const char* kRunExamples =
    "examples:\n"
    "  unmask run plan.toml --dry-run\n"
    "  unmask run plan.toml\n"
    "  unmask run plan.toml --shard 2/4            (or --shard auto in a Slurm array)\n"
    "  unmask run plan.toml --export               (write the results of what is done so far)\n"
    "  unmask audit --grid runs/my-run --markdown report.md\n";

struct RunArguments {
  std::string plan;
  bool dry_run = false;
  bool export_only = false;
  bool allow_drift = false;
  bool json_progress = false;
  bool quiet = false;
  std::string shard;
  std::string concurrency;
  std::string json;
  std::string markdown;
  GateFlag gate;
  std::string html;
  WorldFlags world;
};

// Everything known before the first episode.
struct Staged {
  RunPlan plan;
  Shard shard;
  Stages stages;
  std::vector<PlannedEpisode> episodes;
};

Result<Done> stage_run(const RunArguments& arguments, Staged& staged) {
  if (arguments.plan.empty())
    return Error{ErrorKind::InvalidArgument,
                 "run needs a plan: unmask run PLAN.toml; see docs/plan.md", ""};
  Result<RunPlan> plan = read_plan(arguments.plan);
  if (!plan) return plan.error();
  staged.plan = std::move(*plan);
  if (const std::optional<long long> most = to_whole_number(arguments.concurrency))
    staged.plan.concurrency = static_cast<int>(*most);
  const Result<Done> baselines = check_baselines(staged.plan);
  if (!baselines) return baselines.error();
  if (!arguments.shard.empty()) {
    const Result<Shard> shard =
        parse_shard(arguments.shard, [](const char* name) { return std::getenv(name); });
    if (!shard) return shard.error();
    staged.shard = *shard;
  }
  Result<Stages> stages = load_stages(staged.plan, arguments.world.tau2);
  if (!stages) return stages.error();
  staged.stages = std::move(*stages);
  staged.episodes = planned_episodes(staged.plan, staged.stages, staged.shard);
  return Done{};
}

// What of the store belongs to the plan: an earlier one may have had more trials or tasks.
StoreContents of_the_plan(const StoreContents& contents, const Staged& staged) {
  std::set<EpisodeKey> keys;
  for (const PlannedEpisode& episode : planned_episodes(staged.plan, staged.stages, Shard{}))
    keys.insert(episode.key);
  StoreContents mine = contents;
  std::erase_if(mine.episodes, [&](const auto& entry) { return !keys.contains(entry.first); });
  return mine;
}

// Counts the episodes of earlier runs that are this shard's.
Result<Done> count_found(const Staged& staged, const StoreContents& found, RunProgress& progress) {
  std::set<EpisodeKey> keys;
  for (const PlannedEpisode& episode : staged.episodes) keys.insert(episode.key);
  for (const ArmPlan& arm : staged.plan.arms)
    for (const std::string& domain : staged.plan.domains) {
      const Result<Run> run =
          stored_run(found, run_info(staged.plan, arm, domain), arm.label, domain);
      if (!run) return run.error();
      for (const Episode& episode : run->episodes) {
        const EpisodeKey key{arm.label, domain, episode.task_id, episode.trial};
        if (keys.contains(key)) progress.count_found(key, episode);
      }
    }
  return Done{};
}

ExitStatus run_on(ExitStatus (*command)(const Invocation&), std::vector<std::string> arguments,
                  const RunArguments& options, const Invocation& invocation) {
  if (!options.json.empty()) arguments.insert(arguments.end(), {"--json", options.json});
  if (!options.markdown.empty())
    arguments.insert(arguments.end(), {"--markdown", options.markdown});
  if (!options.html.empty()) arguments.insert(arguments.end(), {"--html", options.html});
  if (options.quiet || options.json_progress) arguments.push_back("--quiet");
  const char* const color = options.world.color == ColorChoice::Always  ? "always"
                            : options.world.color == ColorChoice::Never ? "never"
                                                                        : "auto";
  arguments.insert(arguments.end(), {"--color", color});
  return command({std::move(arguments), invocation.command_line});
}

// Writes the results and shows what they say: the audit of arms that can be compared, else each arm
// by itself.
ExitStatus conclude(const Staged& staged, const RunArguments& options, const Invocation& invocation,
                    bool audited) {
  const Result<StoreContents> contents = read_store(staged.plan.out);
  if (!contents) return fail(contents.error());
  const Result<RunResults> results = write_results(staged.plan, of_the_plan(*contents, staged));
  if (!results) return fail(results.error());
  if (!audited) return ExitStatus::Done;
  if (results->written.empty()) return fail("no episode is done, so there is nothing to audit");
  if (results->has_grid) {
    std::vector<std::string> audit = {"--grid", staged.plan.out};
    if (!options.gate.given.empty())
      audit.push_back(options.gate.given == kDefaultGate ? "--gate"
                                                         : "--gate=" + options.gate.given);
    return run_on(run_audit, std::move(audit), options, invocation);
  }
  for (const GridArm& arm : results->written) {
    const ExitStatus status =
        run_on(run_inspect, {arm.files.front(), "--label", arm.label}, options, invocation);
    if (status != ExitStatus::Done) return status;
  }
  if (options.gate.given.empty()) return ExitStatus::Done;
  fail("the gate compares arms, and this plan has none to compare");
  return ExitStatus::GateInconclusive;
}

ProgressForm form_of(const RunArguments& arguments) {
  if (arguments.json_progress) return ProgressForm::Json;
  return arguments.quiet ? ProgressForm::Quiet : usual_progress_form();
}

std::string saved_so_far(const Staged& staged, const RunEnd& end) {
  return fmt::format("{} {} saved in {}, {} {} left: the same command goes on",
                     counted(static_cast<long>(end.saved), "episode"),
                     end.saved == 1 ? "was" : "were", staged.plan.out,
                     count_text(static_cast<long>(end.left)), end.left == 1 ? "is" : "are");
}

ExitStatus interrupted(const Staged& staged, const RunEnd& end) {
  fail("interrupted; " + saved_so_far(staged, end));
  return ExitStatus::Interrupted;
}

// Reaches the models, and takes up how the names of arms are constrained there: into the plan, for
// the logs, and into the run's folder, so that no later run goes on in another way.
Result<Done> prepare(Staged& staged, ParticipantFactory& factory, EpisodeStore& store,
                     const RunArguments& arguments, const std::stop_token& stop) {
  const Result<Done> prepared = factory.prepare(staged.plan, stop);
  if (!prepared) return prepared;
  std::vector<Setting> found;
  for (const FoundConstraint& constraint : factory.constraints()) {
    for (ArmPlan& arm : staged.plan.arms)
      if (arm.label == constraint.arm) arm.constraint = constraint.form;
    found.emplace_back(constraint_setting(constraint.arm), constraint.form);
    if (!arguments.quiet && !arguments.json_progress)
      print_error(safe_lines(fmt::format("unmask: arm '{}': names are constrained by {}: {}\n",
                                         constraint.arm, constraint.form, constraint.sentence)));
  }
  if (found.empty()) return Done{};
  const Result<std::vector<Warning>> settled = store.settle(found);
  if (!settled) return settled.error();
  print_warnings(*settled);
  return Done{};
}

// How names were constrained when the run was begun, for what is written without its servers.
Result<Done> recall_constraints(RunPlan& plan) {
  const Result<std::vector<Setting>> saved = read_settings(plan.out);
  if (!saved) return saved.error();
  for (ArmPlan& arm : plan.arms)
    for (const auto& [name, value] : *saved)
      if (arm.constrain_names && name == constraint_setting(arm.label)) arm.constraint = value;
  return Done{};
}

std::size_t not_done(const Staged& staged, const StoreContents& found) {
  return static_cast<std::size_t>(
      std::count_if(staged.episodes.begin(), staged.episodes.end(),
                    [&](const PlannedEpisode& episode) { return !found.done(episode.key); }));
}

ExitStatus play(Staged& staged, const RunArguments& arguments, const Invocation& invocation) {
  std::optional<InterruptWatch> watch;
  watch.emplace([&](int count) {
    if (arguments.quiet || arguments.json_progress) return;
    print_error(count == 1
                    ? "unmask: finishing the episodes in flight; Ctrl-C again gives them up\n"
                    : "unmask: giving up the episodes in flight\n");
  });
  Result<std::vector<Setting>> settings = run_settings(staged.plan, staged.stages);
  if (!settings) return fail(settings.error());
  Result<EpisodeStore> store = EpisodeStore::open(
      {staged.plan.out, staged.shard, std::move(*settings), arguments.allow_drift});
  if (!store) return fail(store.error());
  print_warnings(store->found().warnings);
  const std::unique_ptr<ParticipantFactory> factory = participant_factory(staged.plan);
  const Result<Done> prepared = prepare(staged, *factory, *store, arguments, watch->once());
  if (!prepared && prepared.error().where == kStopped)
    return interrupted(staged, {0, not_done(staged, store->found()), true, {}});
  if (!prepared) return fail(prepared.error());
  RunProgress progress(staged.plan, staged.episodes, form_of(arguments));
  const Result<Done> counted = count_found(staged, store->found(), progress);
  if (!counted) return fail(counted.error());
  progress.start();
  const RunEnd end = run_episodes(staged.plan, staged.episodes, *factory, *store, progress,
                                  {watch->once(), watch->twice()});
  watch.reset();  // from here on an interrupt ends the program, as elsewhere
  progress.finish(end);
  if (end.error) {
    fail(*end.error);
    fail(saved_so_far(staged, end));
    return ExitStatus::Unusable;
  }
  if (end.stopped) return interrupted(staged, end);
  if (staged.shard.whole()) return conclude(staged, arguments, invocation, true);
  if (!arguments.quiet && !arguments.json_progress)
    print_error(fmt::format("shard {} of {} is done; without --shard the command audits them all\n",
                            staged.shard.index, staged.shard.count));
  return ExitStatus::Done;
}

ExitStatus dry_run(const Staged& staged) {
  const Result<StoreContents> found = read_store(staged.plan.out);
  if (!found) return fail(found.error());
  return print_result(
      plan_summary(staged.plan, staged.stages, staged.episodes, *found, staged.shard));
}

void add_options(CLI::App& app, RunArguments& arguments) {
  app.add_option("plan", arguments.plan)->type_name("PLAN.toml");
  app.add_flag("--dry-run", arguments.dry_run,
               "print the grid, the calls to expect and what is done; play nothing")
      ->group("run");
  app.add_option("--shard", arguments.shard, "play part I of N: I/N, auto or auto/N")
      ->type_name("I/N")
      ->group("run");
  app.add_option("--concurrency", arguments.concurrency, "episodes at once, whatever the plan says")
      ->check(CLI::Validator(whole_number(1, 10000), "", ""))
      ->type_name("N")
      ->group("run");
  app.add_flag("--allow-drift", arguments.allow_drift,
               "go on although the plan has other settings than the run was begun with")
      ->group("run");
  app.add_flag("--export", arguments.export_only,
               "only write the results of the episodes that are done, for unmask audit --grid")
      ->group("run");
  app.add_option("--json", arguments.json, "the audit at the end as JSON ('-': standard output)")
      ->type_name("FILE|-")
      ->group("output");
  app.add_option("--markdown", arguments.markdown, "the same as Markdown")
      ->type_name("FILE|-")
      ->group("output");
  add_gate_flag(app, arguments.gate);
  app.add_option("--html", arguments.html, "the same as a page with charts")
      ->type_name("FILE")
      ->group("output");
  app.add_flag("--json-progress", arguments.json_progress,
               "progress as JSON, one object a line, on standard error")
      ->group("output");
  app.add_flag("--quiet", arguments.quiet, "no progress")->group("output");
  add_world_flags(app, arguments.world);
}

}  // namespace

ExitStatus run_run(const Invocation& invocation) {
  CLI::App app(kRunDescription, "run");
  app.footer(kRunExamples);
  RunArguments arguments;
  add_options(app, arguments);
  const Result<Parsed> parsed = parse_arguments(app, invocation);
  if (!parsed) return fail(parsed.error());
  if (*parsed == Parsed::HelpShown) return ExitStatus::Done;
  // A mistake in the criteria or a place for the results is told before hours of playing.
  const Result<std::optional<GateCriteria>> criteria = gate_criteria(arguments.gate);
  if (!criteria) return fail(criteria.error());
  for (const auto& [option, place] :
       {std::pair<std::string_view, const std::string&>{"--json", arguments.json},
        {"--markdown", arguments.markdown},
        {"--html", arguments.html}}) {
    const Result<Done> writable = check_output_file(option, place);
    if (!writable) return fail(writable.error());
  }
  Staged staged;
  const Result<Done> ready = stage_run(arguments, staged);
  if (!ready) return fail(ready.error());
  if (arguments.dry_run) return dry_run(staged);
  if (arguments.export_only) {
    const Result<Done> recalled = recall_constraints(staged.plan);
    if (!recalled) return fail(recalled.error());
    return conclude(staged, arguments, invocation, false);
  }
  return play(staged, arguments, invocation);
}

}  // namespace unmask
