#include "app/world_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "app/command_line.h"
#include "app/nearest.h"

namespace unmask {

void add_world_flags(CLI::App& app, WorldFlags& flags) {
  app.add_option("--tau2", flags.tau2,
                 "a τ²-bench checkout or its data folder; TAU2_DATA_DIR where not given")
      ->type_name("DIR")
      ->group("data");
  add_color_option(app, flags.color, "output");
}

std::string tau2_folder(const WorldFlags& flags) {
  if (!flags.tau2.empty()) return flags.tau2;
  const char* variable = std::getenv("TAU2_DATA_DIR");
  return variable ? variable : "";
}

Result<DataFolder> open_data(const WorldFlags& flags) {
  const std::string folder = tau2_folder(flags);
  if (folder.empty())
    return Error{ErrorKind::NotFound,
                 "this needs τ²-bench's data: get https://github.com/sierra-research/tau2-bench "
                 "and give its folder with --tau2 DIR or TAU2_DATA_DIR",
                 ""};
  return DataFolder::open(folder);
}

Result<DataFolder> open_data(const WorldFlags& flags, const DomainRow& row) {
  if (row.generated) return DataFolder::absent();
  return open_data(flags);
}

std::vector<std::string> domain_names() {
  std::vector<std::string> names;
  for (const DomainRow& row : domain_rows()) names.emplace_back(row.name);
  return names;
}

Result<const DomainRow*> domain_named(const std::string& name) {
  if (const DomainRow* row = find_domain(name)) return row;
  const std::vector<std::string> names = domain_names();
  return Error{ErrorKind::NotFound,
               fmt::format("there is no domain '{}'{}; there are: {}", name,
                           did_you_mean(name, names), fmt::join(names, ", ")),
               ""};
}

Result<Task> task_named(const DomainRow& row, const std::vector<Task>& tasks,
                        const std::string& id) {
  std::vector<std::string> ids;
  for (const Task& task : tasks) {
    if (task.id == id) return task;
    ids.push_back(task.id);
  }
  if (row.generated) return row.generated->task(row, id);
  return Error{ErrorKind::NotFound,
               fmt::format("there is no task '{}'{}", id, did_you_mean(id, ids)), ""};
}

}  // namespace unmask
