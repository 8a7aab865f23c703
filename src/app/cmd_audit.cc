// unmask audit BASELINE CANDIDATE: the verdict.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "app/analysis_flags.h"
#include "app/arm_argument.h"
#include "app/chart_library.h"
#include "app/command_line.h"
#include "app/console.h"
#include "app/gate_flag.h"
#include "app/grid.h"
#include "report/junit.h"
#include "report/model_card.h"

namespace unmask {
namespace {

constexpr const char* kAuditDescription =
    "Compares a candidate (quantized, repaired ...) with its baseline, both run on the same "
    "tasks,\n"
    "and says whether the score hides damage: degraded, masked, amplified, clean or inconclusive.\n"
    "\n"
    "BASELINE and CANDIDATE are a file, a folder, '-' (standard input) or a comma list of pieces.\n"
    "Several candidates are several comparisons with one baseline, corrected for their number.\n";

constexpr const char* kAuditExamples =
    "examples:\n"
    "  unmask audit bf16.json int4.json\n"
    "  unmask audit bf16.json fp8.json int4.json --label BF16 --label FP8 --label INT4\n"
    "  unmask audit bf16/ int4-a.json,int4-b.json --json audit.json --markdown comment.md\n"
    "  unmask audit bf16.json int4.json --baseline-rerun bf16-again.json\n"
    "  unmask audit bf16.json int4.json --gate gate.toml --junit gate.xml   (docs/gate.md)\n"
    "  unmask audit --grid study/        (a folder of logs, or its arms.toml; docs/grid.md)\n";

struct AuditArguments {
  std::vector<std::string> arms;
  std::string grid;
  std::string baseline_rerun;
  std::string candidate_rerun;
};

Error usage(const std::string& message) {
  return Error{ErrorKind::InvalidArgument, message + "; see unmask audit --help", ""};
}

// The paths of an argument, remembered under the arm's name for the check that all are different.
Result<ArmSource> source_of(const std::string& argument, const std::string& arm,
                            std::vector<NamedPath>& named) {
  Result<std::vector<std::string>> paths = arm_paths(argument);
  if (!paths) return paths.error();
  for (const std::string& path : *paths) named.emplace_back(path, arm);
  return ArmSource{std::move(*paths), ""};
}

Result<std::optional<ArmSource>> rerun_of(const std::string& argument, const std::string& arm,
                                          std::vector<NamedPath>& named) {
  if (argument.empty()) return std::optional<ArmSource>();
  Result<ArmSource> source = source_of(argument, arm, named);
  if (!source) return source.error();
  return std::optional<ArmSource>(std::move(*source));
}

std::string cell_name(const ArmSource& candidate, std::size_t number) {
  return candidate.label.empty() ? fmt::format("candidate {}: {}", number, candidate.paths.front())
                                 : candidate.label;
}

Result<Done> check_usage(const AuditArguments& arguments, const std::vector<std::string>& labels) {
  if (arguments.arms.size() < 2)
    return usage(arguments.arms.empty() ? "audit needs two logs: unmask audit BASELINE CANDIDATE"
                                        : "audit needs a candidate beside the baseline");
  if (labels.size() > arguments.arms.size())
    return usage(
        fmt::format("--label is given {} times for {} arms", labels.size(), arguments.arms.size()));
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (!labels[i].empty() &&
        std::find(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(i), labels[i]) !=
            labels.begin() + static_cast<std::ptrdiff_t>(i))
      return usage(fmt::format("--label '{}' is given to two arms", labels[i]));
  if (!arguments.candidate_rerun.empty() && arguments.arms.size() > 2)
    return usage("--candidate-rerun needs a single candidate");
  return Done{};
}

Result<std::vector<CellSources>> cells_of(const AuditArguments& arguments,
                                          const std::vector<std::string>& labels) {
  const Result<Done> usable = check_usage(arguments, labels);
  if (!usable) return usable.error();
  std::vector<NamedPath> named;
  std::vector<ArmSource> sources;
  for (std::size_t i = 0; i < arguments.arms.size(); ++i) {
    const std::string arm = i == 0                       ? "baseline"
                            : arguments.arms.size() == 2 ? "candidate"
                                                         : fmt::format("candidate {}", i);
    Result<ArmSource> source = source_of(arguments.arms[i], arm, named);
    if (!source) return source.error();
    if (i < labels.size()) source->label = labels[i];
    source->label_is_exclusive = !source->label.empty();
    sources.push_back(std::move(*source));
  }
  const Result<std::optional<ArmSource>> baseline_rerun =
      rerun_of(arguments.baseline_rerun, "baseline rerun", named);
  if (!baseline_rerun) return baseline_rerun.error();
  const Result<std::optional<ArmSource>> candidate_rerun =
      rerun_of(arguments.candidate_rerun, "candidate rerun", named);
  if (!candidate_rerun) return candidate_rerun.error();
  const Result<Done> distinct = check_distinct(named);
  if (!distinct) return distinct.error();
  std::vector<CellSources> cells;
  for (std::size_t i = 1; i < sources.size(); ++i)
    cells.push_back({sources.size() > 2 ? cell_name(sources[i], i) : "", sources[0], sources[i],
                     *baseline_rerun, *candidate_rerun});
  return cells;
}

Result<std::vector<CellSources>> all_cells(const AuditArguments& arguments,
                                           const std::vector<std::string>& labels) {
  if (arguments.grid.empty()) return cells_of(arguments, labels);
  if (!arguments.arms.empty() || !labels.empty() || !arguments.baseline_rerun.empty() ||
      !arguments.candidate_rerun.empty())
    return usage("--grid names all the arms itself: no other logs, labels or reruns beside it");
  return read_grid(arguments.grid);
}

// The grid where it is a file; of a folder only the logs are read.
std::string grid_file(const std::string& grid) {
  std::error_code ignored;
  return std::filesystem::is_directory(grid, ignored) ? "" : grid;
}

std::vector<std::string> logs_of(const std::vector<CellSources>& cells) {
  std::vector<std::string> logs;
  const auto add = [&](const ArmSource& arm) {
    logs.insert(logs.end(), arm.paths.begin(), arm.paths.end());
  };
  for (const CellSources& cell : cells) {
    add(cell.baseline);
    add(cell.candidate);
    if (cell.baseline_rerun) add(*cell.baseline_rerun);
    if (cell.candidate_rerun) add(*cell.candidate_rerun);
  }
  return logs;
}

}  // namespace

ExitStatus run_audit(const Invocation& invocation) {
  CLI::App app(kAuditDescription, "audit");
  app.footer(kAuditExamples);
  AnalysisFlags flags;
  AuditArguments arguments;
  GateFlag gate_flag;
  app.add_option("arms", arguments.arms)->type_name("BASELINE CANDIDATE...");
  app.add_option("--grid", arguments.grid, "many cells: a folder of logs, or an arms.toml")
      ->type_name("FOLDER|FILE")
      ->group("arms");
  app.add_option("--baseline-rerun", arguments.baseline_rerun,
                 "a second run of the baseline: its noise floor")
      ->type_name("LOG")
      ->group("arms");
  app.add_option("--candidate-rerun", arguments.candidate_rerun, "the same of the candidate")
      ->type_name("LOG")
      ->group("arms");
  add_gate_flag(app, gate_flag);
  add_analysis_flags(app, flags, true);
  const Result<Parsed> parsed = parse_arguments(app, invocation);
  if (!parsed) return fail(parsed.error());
  if (*parsed == Parsed::HelpShown) return ExitStatus::Done;
  const Result<Done> completed = complete(flags);
  if (!completed) return fail(completed.error());
  const Result<std::optional<GateCriteria>> criteria = gate_criteria(gate_flag);
  if (!criteria) return fail(criteria.error());
  const Result<std::vector<CellSources>> cells = all_cells(arguments, flags.labels);
  if (!cells) return fail(cells.error());
  const Result<Done> kept =
      check_inputs_kept(flags, logs_of(*cells), {gate_flag.given, grid_file(arguments.grid)});
  if (!kept) return fail(kept.error());

  Progress progress(flags.quiet);
  flags.audit.progress = [&](const std::string& step) { progress.step(step); };
  flags.audit.read.progress = [&](std::uint64_t done, std::uint64_t total) {
    progress.bytes(done, total);
  };
  Result<AuditReport> report = audit(*cells, flags.audit);
  progress.finish();
  if (!report) return fail(report.error());
  report->provenance = {UNMASK_VERSION, invocation.command_line, flags.audit.compare.seed,
                        flags.audit.compare.resamples};
  note_reading(flags, *report);
  if (*criteria) report->gate = gate(*report, **criteria);
  print_warnings(flags, report->warnings, report->dropped);
  const ExitStatus status =
      deliver(flags, {[&] { return to_json(*report); }, [&] { return to_markdown(*report); },
                      [&] { return to_html(*report, chart_library()); },
                      [&](const TerminalStyle& style) { return to_terminal(*report, style); },
                      [&] { return to_junit(*report); }, [&] { return to_model_card(*report); },
                      to_csv(*report)});
  if (status != ExitStatus::Done || !report->gate) return status;
  return exit_status(report->gate->status);
}

}  // namespace unmask
