// unmask tasks DOMAIN: what there is to do, and by what it is graded.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/command_line.h"
#include "app/console.h"
#include "app/world_flags.h"
#include "environment/json.h"
#include "environment/task.h"
#include "report/render.h"

namespace unmask {
namespace {

constexpr const char* kTasksDescription =
    "Lists the tasks of a domain: how many calls the reference solution makes on either side, what "
    "is\n"
    "checked, and which parts make the reward. A line a task: calls of the agent and of the user "
    "in the\n"
    "reference solution, assertions on the world, statements owed to the user, reward, id.\n";

constexpr const char* kTasksExamples =
    "examples:\n"
    "  unmask tasks retail --tau2 ~/tau2-bench\n"
    "  unmask tasks telecom --split small\n"
    "  unmask tasks mock --json | jq '.[].id'\n";

struct TasksArguments {
  std::string domain;
  std::string split;
  bool json = false;
  WorldFlags world;
};

template <typename Items>
std::string count_of(const std::optional<Items>& items) {
  return items ? std::to_string(items->size()) : "-";
}

std::string actions_of(const std::optional<EvaluationCriteria>& criteria, Side side) {
  if (!criteria || !criteria->actions) return "-";
  int count = 0;
  for (const GoldenAction& action : *criteria->actions) count += action.side == side ? 1 : 0;
  return std::to_string(count);
}

std::string basis_of(const std::optional<EvaluationCriteria>& criteria) {
  if (!criteria) return "nothing";
  std::vector<std::string_view> names;
  for (const RewardPart part : criteria->basis) names.push_back(to_string(part));
  return fmt::format("{}", fmt::join(names, " x "));
}

// One line a task. The id comes last and is never cut, for it is what other commands take.
std::string list_of(const std::vector<Task>& tasks) {
  constexpr const char* kLine = "{:>5}  {:>4}  {:>10}  {:>10}  {:<28}  {}\n";
  std::string out =
      fmt::format(kLine, "agent", "user", "assertions", "statements", "reward", "task");
  for (const Task& task : tasks) {
    const std::optional<EvaluationCriteria>& criteria = task.criteria;
    out += fmt::format(kLine, actions_of(criteria, Side::Agent), actions_of(criteria, Side::User),
                       criteria ? count_of(criteria->assertions) : "-",
                       criteria ? count_of(criteria->communicate) : "-", basis_of(criteria),
                       safe_for_terminal(task.id));
  }
  return out;
}

Result<std::vector<Task>> tasks_of(const TasksArguments& arguments) {
  if (arguments.domain.empty())
    return Error{ErrorKind::InvalidArgument,
                 "tasks needs a domain: unmask tasks DOMAIN; see unmask domains", ""};
  const Result<const DomainRow*> row = domain_named(arguments.domain);
  if (!row) return row.error();
  const Result<DataFolder> data = open_data(arguments.world, **row);
  if (!data) return data.error();
  return load_tasks(*data, **row, arguments.split);
}

}  // namespace

ExitStatus run_tasks(const Invocation& invocation) {
  CLI::App app(kTasksDescription, "tasks");
  app.footer(kTasksExamples);
  TasksArguments arguments;
  app.add_option("domain", arguments.domain)->type_name("DOMAIN")->check(suggested(domain_names()));
  app.add_option("--split", arguments.split, "only the tasks of this split: base, train, test ...")
      ->type_name("NAME")
      ->group("data");
  app.add_flag("--json", arguments.json, "the tasks as their file has them, as JSON")
      ->group("output");
  add_world_flags(app, arguments.world);
  const Result<Parsed> parsed = parse_arguments(app, invocation);
  if (!parsed) return fail(parsed.error());
  if (*parsed == Parsed::HelpShown) return ExitStatus::Done;
  const Result<std::vector<Task>> tasks = tasks_of(arguments);
  if (!tasks) return fail(tasks.error());
  if (!arguments.json) return print_result(list_of(*tasks));
  std::vector<Value> items;
  for (const Task& task : *tasks) items.push_back(task.json);
  return print_result(dump_json_indented(Value::list(std::move(items)), 2) + "\n");
}

}  // namespace unmask
