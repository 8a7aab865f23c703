// unmask domains: the simulated worlds there are.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/command_line.h"
#include "app/console.h"
#include "app/world_flags.h"
#include "environment/task.h"
#include "report/screen.h"

namespace unmask {
namespace {

constexpr const char* kDomainsDescription =
    "Lists the simulated worlds that are built in, those of τ²-bench and two small ones of our own "
    "that\n"
    "need no data, with their tools on either side and, where the data is at hand, their tasks.\n";

constexpr const char* kDomainsExamples =
    "examples:\n"
    "  unmask domains\n"
    "  unmask domains --tau2 ~/tau2-bench\n";

// "114: train 74, test 40"; "-" where there is no data.
Result<std::string> tasks_text(const std::optional<DataFolder>& data, const DomainRow& row) {
  if (!data) return std::string("-");
  const Result<std::vector<Task>> tasks = load_tasks(*data, row);
  if (!tasks && tasks.error().kind == ErrorKind::NotFound) return std::string("not in this folder");
  if (!tasks) return tasks.error();
  const Result<std::vector<std::string>> splits = task_splits(*data, row);
  if (!splits) return splits.error();
  std::vector<std::string> parts;
  for (const std::string& split : *splits) {
    const Result<std::vector<Task>> of_split = load_tasks(*data, row, split);
    if (!of_split) return of_split.error();
    // A split of everything, or of tasks that this folder lacks, says nothing.
    if (!of_split->empty() && of_split->size() < tasks->size())
      parts.push_back(fmt::format("{} {}", split, of_split->size()));
  }
  if (parts.empty()) return std::to_string(tasks->size());
  return fmt::format("{}: {}", tasks->size(), fmt::join(parts, ", "));
}

}  // namespace

ExitStatus run_domains(const Invocation& invocation) {
  CLI::App app(kDomainsDescription, "domains");
  app.footer(kDomainsExamples);
  WorldFlags flags;
  add_world_flags(app, flags);
  const Result<Parsed> parsed = parse_arguments(app, invocation);
  if (!parsed) return fail(parsed.error());
  if (*parsed == Parsed::HelpShown) return ExitStatus::Done;
  std::optional<DataFolder> data;
  if (!tau2_folder(flags).empty()) {
    Result<DataFolder> opened = open_data(flags);
    if (!opened) return fail(opened.error());
    data = std::move(*opened);
  }
  Table table{{{"domain", false}, {"tools"}, {"user's"}, {"solo", false, 1}, {"tasks", false}}, {}};
  for (const DomainRow& row : domain_rows()) {
    const Toolkit* user = row.user_tools ? row.user_tools() : nullptr;
    const std::optional<DataFolder> own = row.generated ? DataFolder::absent() : data;
    const Result<std::string> tasks = tasks_text(own, row);
    if (!tasks) return fail(tasks.error());
    table.rows.push_back({{std::string(row.name), Paint::Strong},
                          {std::to_string(row.agent_tools().tools.size())},
                          {user ? std::to_string(user->tools.size()) : "none"},
                          {row.solo ? "yes" : "no"},
                          {safe_for_terminal(*tasks)}});
  }
  Screen screen(style_of_standard_output(flags.color));
  screen.table(table);
  if (!data) {
    screen.blank();
    screen.paragraph("", "Tasks are counted where --tau2 DIR or TAU2_DATA_DIR names the data.",
                     Paint::Dim);
  }
  return print_result(screen.take());
}

}  // namespace unmask
