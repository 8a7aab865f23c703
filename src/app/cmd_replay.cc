// unmask replay LOG... --model A --model B: the same contexts to each arm, one call a decision.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <climits>
#include <filesystem>
#include <memory>
#include <optional>

#include "app/arm_argument.h"
#include "app/command_line.h"
#include "app/console.h"
#include "app/interrupt_watch.h"
#include "app/participants.h"
#include "app/replay_arms.h"
#include "app/replay_source.h"
#include "base/units.h"
#include "report/screen.h"
#include "rollout/replay_run.h"
#include "rollout/replay_tally.h"
#include "rollout/runner.h"

namespace unmask {
namespace {

constexpr const char* kReplayDescription =
    "Gives the contexts in which a log's agent decided to other models: for each of its messages "
    "the\n"
    "prompt, the tools and the conversation so far are rebuilt as the agent saw them, and each arm "
    "is\n"
    "asked for its next action. One call of a model a decision; no user, no environment.\n"
    "\n"
    "Replies are appended to a file as they come; the same command goes on where it broke off.\n"
    "`unmask margins` compares the arms in it. docs/replay.md has the rest.\n";

constexpr const char* kReplayExamples =
    "examples:\n"
    "  unmask replay bf16.json --model bf16.gguf --model q4=model-q4_0.gguf\n"
    "  unmask replay results.json --tau2 ~/tau2-bench --decisions 500 --repeat-baseline \\\n"
    "      --model my-model@http://10.0.0.1:8000/v1 --model my-awq@http://10.0.0.2:8000/v1\n"
    "  unmask replay results.json --plan plan.toml --baseline BF16 --out replay.jsonl\n"
    "  unmask margins replay.jsonl\n";

struct ReplayArguments {
  std::vector<std::string> logs;
  std::string out;
  ReplayArmFlags arms;
  ReplaySourceFlags source;
  std::string decisions;
  std::string seed = "20260731";
  std::string concurrency;
  bool timings = false;
  bool dry_run = false;
  bool quiet = false;
};

// Everything known before a model is asked.
struct StagedReplay {
  ReplayArms arms;
  ReplaySources logs;
  ReplayHead head;
  std::vector<PreparedContext> contexts;
  std::string out;
};

class ReplayProgress : public ReplayObserver {
 public:
  ReplayProgress(std::size_t total, bool quiet) : total_(total), progress_(quiet) {
    redraws_ = ::isatty(STDERR_FILENO) != 0;
    if (redraws_) progress_.step(fmt::format("asking for {} replies", total));
  }
  void answered(std::size_t done) override {
    progress_.bytes(done, total_);
    const std::size_t tenth = done * 10 / std::max<std::size_t>(1, total_);
    if (redraws_ || tenth == told_) return;
    told_ = tenth;
    progress_.step(fmt::format("{} of {} replies", done, total_));
  }
  void finish() { progress_.finish(); }

 private:
  std::size_t total_;
  Progress progress_;
  bool redraws_ = false;
  std::size_t told_ = 0;
};

Result<std::vector<std::string>> log_paths(const std::vector<std::string>& arguments) {
  if (arguments.empty())
    return Error{ErrorKind::InvalidArgument,
                 "replay needs a log: unmask replay LOG --model MODEL; see unmask replay --help",
                 ""};
  std::vector<std::string> paths;
  std::vector<NamedPath> named;
  for (const std::string& argument : arguments) {
    const Result<std::vector<std::string>> pieces = arm_paths(argument);
    if (!pieces) return pieces.error();
    for (const std::string& path : *pieces) {
      paths.push_back(path);
      named.emplace_back(path, "this replay");
    }
  }
  const Result<Done> distinct = check_distinct(named);
  if (!distinct) return distinct.error();
  return paths;
}

// "results.json" -> "results.replay.jsonl", "runs/one/" -> "runs/one.replay.jsonl".
std::string usual_out(const std::string& log) {
  std::filesystem::path path(log);
  if (!path.has_filename()) path = path.parent_path();
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  const std::string stem = folder ? path.filename().string() : path.stem().string();
  return (path.parent_path() / (stem + ".replay.jsonl")).string();
}

void tell_what_is_without(const ReplaySources& logs) {
  for (const auto& [why, episodes] : logs.without)
    print_error(safe_lines(fmt::format("unmask: {} cannot be replayed: {}\n",
                                       counted(static_cast<long>(episodes), "episode"), why)));
}

// The replay is a file of its own. One that begins anew in a folder of logs may be there.
Result<Done> check_out_is_no_input(const StagedReplay& staged, const ReplayArguments& arguments,
                                   std::vector<std::string> inputs) {
  inputs.push_back(arguments.arms.plan);
  inputs.push_back(arguments.source.tools);
  for (const ArmPlan& arm : staged.arms.plan.arms)
    if (arm.agent.engine) inputs.push_back(arm.agent.engine->file);
  for (const std::string& input : inputs)
    if (!input.empty() && is_same_file(staged.out, input))
      return Error{ErrorKind::InvalidArgument,
                   "--out would replace what is read: give it another place", staged.out};
  return Done{};
}

Result<Done> choose_contexts(const ReplayArguments& arguments, StagedReplay& staged) {
  const ReplaySources& logs = staged.logs;
  std::vector<ReplayItem> items = all_decisions(logs.sources, arguments.source.threads);
  ReplayHead& head = staged.head;
  head.eligible = static_cast<long>(items.size());
  if (items.empty())
    return Error{ErrorKind::InvalidArgument,
                 logs.without.empty()
                     ? "no message of an agent is in the log"
                     : "no context of the log can be rebuilt: " + logs.without.begin()->first,
                 head.log};
  if (const std::optional<long long> count = to_whole_number(arguments.decisions))
    items = sampled(logs.sources, items, static_cast<std::size_t>(*count), head.seed);
  head.selected = static_cast<long>(items.size());
  staged.contexts = prepared(logs.sources, items, arguments.source.threads);
  return Done{};
}

Result<Done> stage(const ReplayArguments& arguments, const Invocation& invocation,
                   StagedReplay& staged) {
  const Result<std::vector<std::string>> paths = log_paths(arguments.logs);
  if (!paths) return paths.error();
  Result<ReplayArms> arms = replay_arms(arguments.arms);
  if (!arms) return arms.error();
  staged.arms = std::move(*arms);
  staged.out = arguments.out.empty() ? usual_out(paths->front()) : arguments.out;
  const Result<Done> apart = check_out_is_no_input(staged, arguments, *paths);
  if (!apart) return apart;
  ReplaySourceFlags source = arguments.source;
  const RunPlan& plan = staged.arms.plan;
  if (source.surface.empty()) source.surface = plan.surface;
  if (source.world.tau2.empty()) source.world.tau2 = plan.tau2;
  Progress progress(arguments.quiet);
  Result<ReplaySources> logs = read_replay_sources(*paths, source, progress);
  progress.finish();
  if (!logs) return logs.error();
  staged.logs = std::move(*logs);
  ReplayHead& head = staged.head;
  head.log = fmt::format("{}", fmt::join(*paths, ","));
  head.format = staged.logs.format;
  head.domain = staged.logs.domain;
  head.seed = static_cast<std::uint64_t>(to_whole_number(arguments.seed).value_or(0));
  head.version = UNMASK_VERSION;
  head.command = invocation.command_line;
  head.samples = arguments.arms.samples;
  head.greedy = is_greedy(plan);
  if (!arguments.quiet) print_warnings(staged.logs.warnings);
  tell_what_is_without(staged.logs);
  return choose_contexts(arguments, staged);
}

Result<Done> prepare(StagedReplay& staged, ModelFactory& factory, bool quiet,
                     const std::stop_token& stop) {
  RunPlan& plan = staged.arms.plan;
  const Result<Done> prepared = factory.prepare(plan, stop);
  if (!prepared) return prepared;
  for (const FoundConstraint& constraint : factory.constraints()) {
    for (ArmPlan& arm : plan.arms)
      if (arm.label == constraint.arm) arm.constraint = constraint.form;
    if (!quiet)
      print_error(safe_lines(fmt::format("unmask: arm '{}': names are constrained by {}: {}\n",
                                         constraint.arm, constraint.form, constraint.sentence)));
  }
  return Done{};
}

ReplayPlan plan_of(const StagedReplay& staged, const ReplayArguments& arguments,
                   const ModelFactory& factory) {
  const RunPlan& plan = staged.arms.plan;
  const EndpointTable endpoints = endpoints_of(plan);
  ReplayPlan replay{staged.logs.sources, staged.contexts, {}, endpoints.slots};
  for (std::size_t i = 0; i < plan.arms.size(); ++i) {
    const ArmPlan& arm = plan.arms[i];
    const std::size_t endpoint = endpoints.index(arm.agent);
    replay.arms.push_back({staged.head.arms[i], factory.agent_model(arm), arm.constrain_names,
                           endpoint,
                           fmt::format("arm '{}' ({})", arm.label, endpoints.names[endpoint])});
  }
  replay.concurrency =
      static_cast<int>(to_whole_number(arguments.concurrency).value_or(plan.concurrency));
  replay.samples = staged.head.samples;
  replay.seed = staged.head.seed;
  replay.timings = arguments.timings;
  return replay;
}

std::string share(long part, long whole) {
  return whole == 0 ? "-"
                    : fmt::format("{:.1f} %",
                                  100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

ExitStatus show(const StagedReplay& staged, const ReplayArguments& arguments) {
  const Result<std::vector<ReplayTally>> tallies = tally_replay(staged.out);
  if (!tallies) return fail(tallies.error());
  Table table;
  table.columns = {{"arm", false, 0, true}, {"replies"},
                   {"errors", true, 2},     {"calls", true, 1},
                   {"malformed", true},     {"tool_name", true},
                   {"schema", true},        {"same as baseline", true}};
  for (const ReplayTally& tally : *tallies) {
    std::vector<Span> row = {
        {safe_for_terminal(tally.label), tally.baseline ? Paint::Baseline : Paint::Candidate},
        {std::to_string(tally.replies)},
        {std::to_string(tally.errors)},
        {std::to_string(tally.calls)}};
    for (const long failures : tally.failures) row.push_back({share(failures, tally.calls)});
    row.push_back({tally.baseline ? "" : share(tally.same, tally.compared)});
    table.rows.push_back(std::move(row));
  }
  Screen screen(style_of_standard_output(arguments.source.world.color));
  screen.heading(safe_for_terminal(staged.head.log));
  screen.line({{fmt::format("  {} of {} decisions, in {}", staged.head.selected,
                            staged.head.eligible, safe_for_terminal(staged.out))}});
  screen.blank();
  screen.table(table);
  screen.paragraph("  ",
                   "Failures are per call of the arm, those that need no environment to be seen. "
                   "unmask margins has the comparison.",
                   Paint::Dim);
  return print_result(screen.take());
}

ExitStatus dry_run(const StagedReplay& staged) {
  std::string text = fmt::format("{}: {} of {} decisions, {} replies, into {}\n", staged.head.log,
                                 staged.head.selected, staged.head.eligible,
                                 staged.contexts.size() * staged.arms.plan.arms.size() *
                                     static_cast<std::size_t>(staged.head.samples),
                                 staged.out);
  for (const ArmPlan& arm : staged.arms.plan.arms)
    text += fmt::format("  {}{}\n", arm.label, arm.baseline ? " (baseline)" : "");
  return print_result(safe_lines(text));
}

ExitStatus ended(const StagedReplay& staged, const ReplayEnd& end) {
  const std::string saved =
      fmt::format("{} replies are in {}, {} are left: the same command goes on", end.written,
                  staged.out, end.left);
  if (end.error) {
    fail(*end.error);
    fail(saved);
    return ExitStatus::Unusable;
  }
  fail("interrupted; " + saved);
  return ExitStatus::Interrupted;
}

ExitStatus play(StagedReplay& staged, const ReplayArguments& arguments) {
  // Before the models, which take long to load.
  Result<ReplayLock> lock = ReplayLock::take(staged.out);
  if (!lock) return fail(lock.error());
  std::optional<InterruptWatch> watch;
  watch.emplace([&](int count) {
    if (arguments.quiet) return;
    print_error(count == 1 ? "unmask: finishing the replies in flight; Ctrl-C again gives them up\n"
                           : "unmask: giving up the replies in flight\n");
  });
  ModelFactory factory(environment_variables());
  const Result<Done> ready = prepare(staged, factory, arguments.quiet, watch->once());
  if (!ready && ready.error().where == kStopped) {
    fail("interrupted before the first reply");
    return ExitStatus::Interrupted;
  }
  if (!ready) return fail(ready.error());
  Result<std::vector<ReplayArm>> arms = described_arms(staged.arms);
  if (!arms) return fail(arms.error());
  staged.head.arms = std::move(*arms);
  Result<std::unique_ptr<ReplayFile>> file =
      ReplayFile::open(std::move(*lock), staged.head, staged.contexts);
  if (!file) return fail(file.error());
  ReplayProgress progress((*file)->total(), arguments.quiet);
  const ReplayEnd end = replay_decisions(plan_of(staged, arguments, factory), **file, progress,
                                         {watch->once(), watch->twice()});
  progress.finish();
  watch.reset();
  if (end.error || end.left > 0) return ended(staged, end);
  return show(staged, arguments);
}

void add_options(CLI::App& app, ReplayArguments& arguments) {
  app.add_option("log", arguments.logs)->type_name("LOG...");
  add_replay_arm_flags(app, arguments.arms);
  app.add_option("--decisions", arguments.decisions,
                 "a sample of N decisions, the same number of each task; all where not given")
      ->check(CLI::Validator(whole_number(1, LLONG_MAX), "", ""))
      ->type_name("N")
      ->group("replay");
  app.add_option("--seed", arguments.seed, "of the sample, and of replies that are drawn")
      ->check(CLI::Validator(whole_number(0, LLONG_MAX), "", ""))
      ->type_name("N")
      ->group("replay");
  app.add_option("--concurrency", arguments.concurrency, "requests at once in all")
      ->check(CLI::Validator(whole_number(1, 10000), "", ""))
      ->type_name("N")
      ->group("replay");
  app.add_flag("--timings", arguments.timings,
               "keep the seconds of each reply: the file is not the same twice")
      ->group("replay");
  app.add_flag("--dry-run", arguments.dry_run, "say what would be asked; ask nothing")
      ->group("replay");
  ReplaySourceFlags& source = arguments.source;
  app.add_option("--surface", source.surface,
                 "prompts and tools of the domains, one DOMAIN.json each (docs/environment.md)")
      ->type_name("DIR")
      ->group("data");
  app.add_option("--domain", source.domain, "of the log, where it does not say")
      ->type_name("NAME")
      ->check(suggested(domain_names()))
      ->group("data");
  app.add_option("--tools", source.tools,
                 "the agent's tools, where the log lacks their definitions")
      ->type_name("FILE")
      ->group("data");
  app.add_option("--format", source.format, "of the log, where it is not recognised")
      ->type_name("NAME")
      ->check(one_of(log_format_names()))
      ->group("data");
  app.add_option("--out,-o", arguments.out,
                 "where the replies go; LOG.replay.jsonl where not given")
      ->type_name("FILE")
      ->group("output");
  app.add_flag("-q,--quiet", arguments.quiet, "no progress and no warnings")->group("output");
  add_world_flags(app, source.world);
}

}  // namespace

ExitStatus run_replay(const Invocation& invocation) {
  CLI::App app(kReplayDescription, "replay");
  app.footer(kReplayExamples);
  ReplayArguments arguments;
  add_options(app, arguments);
  const Result<Parsed> parsed = parse_arguments(app, invocation);
  if (!parsed) return fail(parsed.error());
  if (*parsed == Parsed::HelpShown) return ExitStatus::Done;
  StagedReplay staged;
  const Result<Done> ready = stage(arguments, invocation, staged);
  if (!ready) return fail(ready.error());
  if (arguments.dry_run) return dry_run(staged);
  return play(staged, arguments);
}

}  // namespace unmask
