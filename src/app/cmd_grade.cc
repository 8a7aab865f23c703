// unmask grade LOG...: grades trajectories again and compares with what the log says.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <set>

#include "app/arm_argument.h"
#include "app/command_line.h"
#include "app/console.h"
#include "app/world_flags.h"
#include "base/file.h"
#include "base/units.h"
#include "environment/json.h"
#include "ingest/ingest.h"
#include "report/screen.h"
#include "rollout/regrade.h"

namespace unmask {
namespace {

constexpr const char* kGradeDescription =
    "Replays the calls of each episode in the built-in worlds, grades what came of them, and "
    "compares\n"
    "with the rewards in the log. A difference is shown with its reason.\n"
    "\n"
    "Tasks are those the log carries, else those of the data folder. Parts of a reward that only "
    "a\n"
    "judge can grade stay open.\n";

constexpr const char* kGradeExamples =
    "examples:\n"
    "  unmask grade results.json --tau2 ~/tau2-bench\n"
    "  unmask grade results.json --strict\n"
    "  unmask grade bf16.json int4.json --json grades.json\n";

struct GradeArguments {
  std::vector<std::string> logs;
  std::string domain;
  std::string json;
  bool strict = false;
  bool quiet = false;
  std::string threads = "0";
  WorldFlags world;
};

struct GradedLog {
  std::string path;
  std::string domain;
  std::string tasks;  // where they come from
  std::string git_commit;
  IngestReport log;
  RegradeReport report;
};

// The tasks of the domain, with those of the run that its splits lack where tasks are made by code.
Result<std::vector<Task>> tasks_of(const DomainRow& row, const DataFolder& data, const Run& run) {
  Result<std::vector<Task>> tasks = load_tasks(data, row);
  if (!tasks || !row.generated) return tasks;
  std::set<std::string> known;
  for (const Task& task : *tasks) known.insert(task.id);
  for (const Episode& episode : run.episodes) {
    if (!known.insert(episode.task_id).second) continue;
    Result<Task> task = row.generated->task(row, episode.task_id);
    if (task) tasks->push_back(std::move(*task));
  }
  return tasks;
}

Result<GradedLog> grade_log(const std::string& path, const GradeArguments& arguments,
                            Progress& progress) {
  ReadOptions options;
  options.threads = static_cast<int>(to_whole_number(arguments.threads).value_or(0));
  options.progress = [&](std::uint64_t done, std::uint64_t total) { progress.bytes(done, total); };
  progress.step("reading " + path);
  Result<IngestReport> log = ingest(path, options);
  if (!log) return log.error();
  GradedLog graded;
  graded.path = path;
  graded.domain = arguments.domain.empty() ? log->run.info.domain : arguments.domain;
  if (graded.domain.empty())
    return Error{ErrorKind::InvalidArgument,
                 "the log does not say which domain it is of; give it with --domain", path};
  const Result<const DomainRow*> row = domain_named(graded.domain);
  if (!row) return Error{row.error().kind, row.error().message, path};
  const Result<DataFolder> data = open_data(arguments.world, **row);
  if (!data) return data.error();
  const Result<std::shared_ptr<const Domain>> domain = load_domain(*data, graded.domain);
  if (!domain) return domain.error();
  Result<std::vector<Task>> tasks = tasks_of_log(path);
  if (!tasks) return tasks.error();
  graded.tasks = "the log's own";
  if (tasks->empty() || (*row)->generated) {
    tasks = tasks_of(**row, *data, log->run);
    if (!tasks) return tasks.error();
    graded.tasks = (*row)->generated ? "made by code" : "of the data folder";
  }
  progress.step("grading " + path);
  RegradeOptions regrading;
  regrading.strict = arguments.strict;
  regrading.threads = options.threads;
  graded.report = regrade(log->run, *domain, *tasks, regrading);
  graded.git_commit = log->run.info.git_commit;
  graded.log = std::move(*log);
  return graded;
}

constexpr RegradeStatus kStatuses[] = {RegradeStatus::Same,      RegradeStatus::Different,
                                       RegradeStatus::Unsettled, RegradeStatus::Ungraded,
                                       RegradeStatus::Failed,    RegradeStatus::Skipped};

Paint paint_of(RegradeStatus status) {
  if (status == RegradeStatus::Same) return Paint::Good;
  const bool bad = status == RegradeStatus::Different || status == RegradeStatus::Failed;
  return bad ? Paint::Bad : Paint::Warn;
}

std::string reward_text(const std::optional<double>& reward) {
  return reward ? fmt::format("{}", *reward) : "-";
}

void put_log(Screen& screen, const GradedLog& graded) {
  screen.heading(safe_for_terminal(graded.path));
  std::vector<Span> counts = {{fmt::format(
      "  {} of {}", counted(static_cast<long>(graded.report.episodes.size()), "episode"),
      safe_for_terminal(graded.domain))}};
  for (const RegradeStatus status : kStatuses) {
    const std::size_t count = graded.report.count(status);
    if (count == 0 && status != RegradeStatus::Same && status != RegradeStatus::Different) continue;
    counts.push_back({counts.size() == 1 ? ": " : ", "});
    counts.push_back({fmt::format("{} {}", count, to_string(status)),
                      count == 0 ? Paint::Dim : paint_of(status)});
  }
  screen.line(counts);
  std::string about = "  tasks: " + graded.tasks;
  if (!graded.git_commit.empty())
    about += "; made with τ²-bench " + safe_for_terminal(graded.git_commit.substr(0, 8));
  screen.line({{about, Paint::Dim}});
  for (const RegradedEpisode& episode : graded.report.episodes) {
    if (episode.status == RegradeStatus::Same) continue;
    screen.blank();
    screen.line({{"  " + std::string(to_string(episode.status)), paint_of(episode.status)},
                 {fmt::format("  task {}, trial {}: recorded {}, here {}",
                              safe_for_terminal(episode.task_id), episode.trial,
                              reward_text(episode.recorded), reward_text(episode.obtained))}});
    screen.paragraph("    ", safe_for_terminal(episode.reason), Paint::Dim);
  }
  screen.blank();
}

Value number_or_none(const std::optional<double>& v) {
  return v ? Value(*v) : Value();
}

Value log_json(const GradedLog& graded) {
  Value counts = Value::dict();
  for (const RegradeStatus status : kStatuses)
    counts.set(to_string(status), graded.report.count(status));
  std::vector<Value> episodes;
  for (const RegradedEpisode& episode : graded.report.episodes)
    episodes.push_back(
        Value::dict({{"task_id", episode.task_id},
                     {"trial", episode.trial},
                     {"status", to_string(episode.status)},
                     {"recorded", number_or_none(episode.recorded)},
                     {"obtained", number_or_none(episode.obtained)},
                     {"reason", episode.reason.empty() ? Value() : Value(episode.reason)},
                     {"reward_info", episode.grade ? reward_info(*episode.grade) : Value()},
                     {"evidence", episode.grade ? grade_evidence(*episode.grade) : Value()}}));
  return Value::dict(
      {{"log", graded.path},
       {"domain", graded.domain},
       {"git_commit", graded.git_commit.empty() ? Value() : Value(graded.git_commit)},
       {"dropped", graded.log.dropped.size()},
       {"counts", counts},
       {"episodes", Value::list(std::move(episodes))}});
}

std::string json_of(const std::vector<GradedLog>& logs) {
  std::vector<Value> items;
  for (const GradedLog& log : logs) items.push_back(log_json(log));
  const Value document =
      Value::dict({{"schema", "unmask.grade/1"}, {"logs", Value::list(std::move(items))}});
  return dump_json_indented(document, 2) + "\n";
}

Result<std::vector<GradedLog>> grade_all(const GradeArguments& arguments) {
  if (arguments.logs.empty())
    return Error{ErrorKind::InvalidArgument,
                 "grade needs a log: unmask grade LOG; see unmask grade --help", ""};
  Progress progress(arguments.quiet);
  std::vector<GradedLog> logs;
  for (const std::string& argument : arguments.logs) {
    const Result<std::vector<std::string>> paths = arm_paths(argument);
    if (!paths) return paths.error();
    for (const std::string& path : *paths) {
      Result<GradedLog> graded = grade_log(path, arguments, progress);
      if (!graded) return graded.error();
      logs.push_back(std::move(*graded));
    }
  }
  progress.finish();
  return logs;
}

void add_options(CLI::App& app, GradeArguments& arguments) {
  app.add_option("log", arguments.logs)->type_name("LOG...");
  app.add_flag("--strict", arguments.strict,
               "a replayed call must be answered as recorded, else the episode fails")
      ->group("what");
  app.add_option("--domain", arguments.domain, "the domain, where the log does not name it")
      ->type_name("NAME")
      ->check(suggested(domain_names()))
      ->group("what");
  add_world_flags(app, arguments.world);
  app.add_option("--json", arguments.json, "write every grade with its evidence; - for the screen")
      ->type_name("FILE")
      ->group("output");
  app.add_flag("-q,--quiet", arguments.quiet, "no progress and no warnings")->group("output");
  app.add_option("--threads", arguments.threads, "0: one per processor")
      ->check(CLI::Validator(whole_number(0, 1024), "", ""))
      ->type_name("N")
      ->group("how");
}

}  // namespace

ExitStatus run_grade(const Invocation& invocation) {
  CLI::App app(kGradeDescription, "grade");
  app.footer(kGradeExamples);
  GradeArguments arguments;
  add_options(app, arguments);
  const Result<Parsed> parsed = parse_arguments(app, invocation);
  if (!parsed) return fail(parsed.error());
  if (*parsed == Parsed::HelpShown) return ExitStatus::Done;
  const Result<std::vector<GradedLog>> logs = grade_all(arguments);
  if (!logs) return fail(logs.error());
  if (!arguments.quiet)
    for (const GradedLog& log : *logs)
      for (const Dropped& record : log.log.dropped)
        print_error("warning: " + safe_for_terminal(record.where + ": not read: " + record.reason) +
                    "\n");
  if (arguments.json == "-") return print_result(json_of(*logs));
  if (!arguments.json.empty()) {
    const Result<Done> written = write_file(arguments.json, json_of(*logs));
    if (!written) return fail(written.error());
  }
  Screen screen(style_of_standard_output(arguments.world.color));
  for (const GradedLog& log : *logs) put_log(screen, log);
  return print_result(screen.take());
}

}  // namespace unmask
