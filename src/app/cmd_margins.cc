// unmask margins REPLAY...: what margins of decisions say of the arms that were replayed.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <climits>
#include <set>

#include "app/analysis_flags.h"
#include "app/chart_library.h"
#include "app/command_line.h"
#include "app/console.h"
#include "base/units.h"
#include "compare/mechanism.h"
#include "ingest/replay.h"
#include "report/margins_report.h"
#include "report/sentences.h"

namespace unmask {
namespace {

constexpr const char* kMarginsDescription =
    "Analyses replays of decisions: where a candidate chose otherwise than the baseline in the "
    "same\n"
    "context, how narrow the baseline's choice was there, and whether noise on the margins "
    "explains\n"
    "the flips and the failures (docs/mechanism.md).\n"
    "\n"
    "REPLAY is a file in the form unmask.replay/1, or '-' (standard input).\n";

constexpr const char* kMarginsExamples =
    "examples:\n"
    "  unmask margins replay.jsonl\n"
    "  unmask margins replay.jsonl --json margins.json --html margins.html\n"
    "  unmask margins bf16-only.jsonl --noise 0.8      (full precision alone: risk at that "
    "noise)\n";

struct MarginsArguments {
  std::vector<std::string> replays;
  std::string baseline;
  MechanismOptions options;
  std::optional<double> sigma;
  std::optional<double> lambda;
  std::optional<double> alpha;
  double screen_low_percent = 1;
  double screen_high_percent = 5;
  AnalysisFlags out;  // of these, where results go
};

void add_noise_options(CLI::App& app, MarginsArguments& a) {
  const char* group = "screen from full precision alone";
  app.add_option("--noise", a.sigma,
                 "foretell the baseline's hallucinated names under noise of this many nats")
      ->type_name("SIGMA")
      ->check(CLI::Validator(number(1e-9, 1000), "", ""))
      ->group(group);
  app.add_option("--shrink", a.lambda, "and margins multiplied by this (1)")
      ->type_name("LAMBDA")
      ->check(CLI::Validator(number(0, 1000), "", ""))
      ->group(group);
  app.add_option("--shift", a.alpha, "and moved by this many nats (0)")
      ->type_name("ALPHA")
      ->check(CLI::Validator(number(-1000, 1000), "", ""))
      ->group(group);
  app.add_option("--screen-low", a.screen_low_percent,
                 "low when the upper limit is under this percentage (1)")
      ->type_name("PERCENT")
      ->check(CLI::Validator(number(0, 100), "", ""))
      ->group(group);
  app.add_option("--screen-high", a.screen_high_percent,
                 "high when the lower limit is over this percentage (5)")
      ->type_name("PERCENT")
      ->check(CLI::Validator(number(0, 100), "", ""))
      ->group(group);
}

void add_options(CLI::App& app, MarginsArguments& a) {
  app.add_option("replay", a.replays)->type_name("REPLAY...");
  const char* group = "measuring";
  app.add_option("--arm", a.baseline, "the arm to take as the baseline, instead of the replay's")
      ->type_name("LABEL")
      ->group(group);
  app.add_option("--narrow", a.options.narrow, "margins below this many nats are narrow (1)")
      ->type_name("NATS")
      ->check(CLI::Validator(number(1e-6, 1000), "", ""))
      ->group(group);
  app.add_option("--seed", a.options.seed, "seed of the resampling and of halves (20260731)")
      ->type_name("N")
      ->check(CLI::Validator(whole_number(0, LLONG_MAX), "", ""))
      ->group(group);
  app.add_option("--bootstrap", a.options.resamples, "resamples for intervals and tests (10000)")
      ->type_name("N")
      ->check(CLI::Validator(whole_number(100, 10000000), "", ""))
      ->group(group);
  app.add_option("--threads", a.options.threads, "threads; 0: one per processor")
      ->type_name("N")
      ->check(CLI::Validator(whole_number(0, 4096), "", ""))
      ->group(group);
  add_noise_options(app, a);
  add_output_flags(app, a.out);
}

Result<Done> complete_options(MarginsArguments& a) {
  const auto usage = [](const std::string& message) {
    return Error{ErrorKind::InvalidArgument, message + "; see unmask margins --help", ""};
  };
  if (a.replays.empty()) return usage("margins needs a replay: unmask margins REPLAY");
  std::set<std::string> distinct;
  for (const std::string& replay : a.replays)
    if (!distinct.insert(replay).second)
      return usage(fmt::format("the replay '{}' is given twice", replay));
  if ((a.lambda || a.alpha) && !a.sigma) return usage("--shrink and --shift go with --noise");
  if (a.screen_low_percent > a.screen_high_percent)
    return usage("--screen-low must not be above --screen-high");
  a.options.screen_low = from_points(a.screen_low_percent);
  a.options.screen_high = from_points(a.screen_high_percent);
  if (a.sigma) a.options.noise = NoiseLevel{*a.sigma, a.lambda.value_or(1), a.alpha.value_or(0)};
  const Result<Done> completed = complete(a.out);
  if (!completed) return completed;
  return check_inputs_kept(a.out, a.replays, {});
}

// The baseline and its second asking change places: each is the other's second asking.
void exchange_askings(ReplayArm& asked_again, std::vector<ReplayArm>& arms) {
  const std::string first = asked_again.repeats;
  for (ReplayArm& arm : arms)
    if (arm.label == first || arm.repeats == first) arm.repeats = asked_again.label;
  asked_again.repeats.clear();
}

// Makes another arm the baseline.
Result<Done> choose_baseline(const std::string& label, const std::string& source, Replay& replay) {
  if (label.empty()) return Done{};
  bool found = false;
  std::string known;
  for (ReplayArm& arm : replay.head.arms) {
    arm.baseline = arm.label == label;
    if (arm.baseline && !arm.repeats.empty()) exchange_askings(arm, replay.head.arms);
    found = found || arm.baseline;
    known += (known.empty() ? "" : ", ") + arm.label;
  }
  if (found) return Done{};
  return Error{ErrorKind::NotFound, fmt::format("has no arm '{}' (it has {})", label, known),
               source};
}

Result<MarginsReport> analysed(const MarginsArguments& a, Progress& progress) {
  MarginsReport report;
  report.options = a.options;
  for (const std::string& path : a.replays) {
    progress.step("reading " + path);
    Result<ReplayReport> read = read_replay(path);
    if (!read) return read.error();
    const Result<Done> chosen = choose_baseline(a.baseline, path, read->replay);
    if (!chosen) return chosen.error();
    progress.step("comparing margins");
    Result<Mechanism> mechanism = analyse_mechanism(read->replay, read->decisions, a.options);
    if (!mechanism) return Error{mechanism.error().kind, mechanism.error().message, path};
    report.replays.push_back({path, std::move(*mechanism)});
    for (Warning& warning : read->warnings) report.warnings.push_back(std::move(warning));
    for (Dropped& dropped : read->dropped) report.dropped.push_back(std::move(dropped));
  }
  return report;
}

}  // namespace

ExitStatus run_margins(const Invocation& invocation) {
  CLI::App app(kMarginsDescription, "margins");
  app.footer(kMarginsExamples);
  MarginsArguments arguments;
  add_options(app, arguments);
  const Result<Parsed> parsed = parse_arguments(app, invocation);
  if (!parsed) return fail(parsed.error());
  if (*parsed == Parsed::HelpShown) return ExitStatus::Done;
  const Result<Done> completed = complete_options(arguments);
  if (!completed) return fail(completed.error());

  Progress progress(arguments.out.quiet);
  Result<MarginsReport> report = analysed(arguments, progress);
  progress.finish();
  if (!report) return fail(report.error());
  report->provenance = {UNMASK_VERSION, invocation.command_line, arguments.options.seed,
                        arguments.options.resamples};
  std::vector<Warning> warnings = report->warnings;
  for (const AnalysedReplay& replay : report->replays)
    warnings.insert(warnings.end(), replay.mechanism.warnings.begin(),
                    replay.mechanism.warnings.end());
  print_warnings(arguments.out, warnings, by_reason(report->dropped));
  return deliver(arguments.out,
                 {[&] { return to_json(*report); },
                  [&] { return to_markdown(*report); },
                  [&] { return to_html(*report, chart_library()); },
                  [&](const TerminalStyle& style) { return to_terminal(*report, style); },
                  {},
                  {},
                  {}});
}

}  // namespace unmask
