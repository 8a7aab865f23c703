// unmask inspect LOG...: one arm.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/analysis_flags.h"
#include "app/arm_argument.h"
#include "app/chart_library.h"
#include "app/command_line.h"
#include "app/console.h"
#include "report/model_card.h"

namespace unmask {
namespace {

constexpr const char* kInspectDescription =
    "Looks at one arm: its failed calls by channel, success within a budget of K failed calls,\n"
    "recovery, hallucinated names, and how far the log can be trusted.\n"
    "\n"
    "LOG is a file, a folder, '-' (standard input) or a comma list; several are pieces of one "
    "arm.\n";

constexpr const char* kInspectExamples =
    "examples:\n"
    "  unmask inspect results.json\n"
    "  unmask inspect shard1.json shard2.json --label 'gemma INT4'\n"
    "  zstdcat results.json.zst | unmask inspect - --json report.json\n"
    "  unmask inspect chat.jsonl --map task_id=meta/id --max-errors 10\n";

// --gate and --junit are audit's, and what this command says to them is more than their absence.
bool asks_for_gate(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    const std::string name = argument.substr(0, argument.find('='));
    return name == "--gate" || name == "--junit";
  });
}

Result<ArmSource> arm_of(const std::vector<std::string>& arguments,
                         const std::vector<std::string>& labels) {
  if (arguments.empty())
    return Error{ErrorKind::InvalidArgument,
                 "inspect needs a log: unmask inspect LOG; see unmask inspect --help", ""};
  if (labels.size() > 1)
    return Error{ErrorKind::InvalidArgument, "inspect looks at one arm, so --label is given once",
                 ""};
  ArmSource source;
  std::vector<NamedPath> named;
  for (const std::string& argument : arguments) {
    const Result<std::vector<std::string>> paths = arm_paths(argument);
    if (!paths) return paths.error();
    for (const std::string& path : *paths) {
      source.paths.push_back(path);
      named.emplace_back(path, "this arm");
    }
  }
  const Result<Done> distinct = check_distinct(named);
  if (!distinct) return distinct.error();
  if (!labels.empty()) source.label = labels.front();
  return source;
}

}  // namespace

ExitStatus run_inspect(const Invocation& invocation) {
  CLI::App app(kInspectDescription, "inspect");
  app.footer(kInspectExamples);
  AnalysisFlags flags;
  std::vector<std::string> arguments;
  app.add_option("log", arguments)->type_name("LOG...");
  add_analysis_flags(app, flags, false);
  const Result<Parsed> parsed = parse_arguments(app, invocation);
  if (!parsed && asks_for_gate(invocation.arguments))
    return fail(
        "a gate holds a candidate against its baseline, so it needs both logs: unmask audit "
        "BASELINE "
        "CANDIDATE --gate (docs/gate.md)");
  if (!parsed) return fail(parsed.error());
  if (*parsed == Parsed::HelpShown) return ExitStatus::Done;
  const Result<Done> completed = complete(flags);
  if (!completed) return fail(completed.error());
  const Result<ArmSource> source = arm_of(arguments, flags.labels);
  if (!source) return fail(source.error());
  const Result<Done> kept = check_inputs_kept(flags, source->paths, {});
  if (!kept) return fail(kept.error());

  Progress progress(flags.quiet);
  flags.audit.progress = [&](const std::string& step) { progress.step(step); };
  flags.audit.read.progress = [&](std::uint64_t done, std::uint64_t total) {
    progress.bytes(done, total);
  };
  Result<InspectReport> report = inspect(*source, flags.audit);
  progress.finish();
  if (!report) return fail(report.error());
  report->provenance = {UNMASK_VERSION, invocation.command_line, flags.audit.compare.seed,
                        flags.audit.compare.resamples};
  print_warnings(flags, report->warnings, report->dropped);
  return deliver(flags, {[&] { return to_json(*report); },
                         [&] { return to_markdown(*report); },
                         [&] { return to_html(*report, chart_library()); },
                         [&](const TerminalStyle& style) { return to_terminal(*report, style); },
                         {},
                         [&] { return to_model_card(*report); },
                         to_csv(*report)});
}

}  // namespace unmask
