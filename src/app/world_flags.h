// The options of the commands that need the simulated worlds: where their data is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/console.h"
#include "base/result.h"
#include "environment/data_folder.h"
#include "environment/domain.h"
#include "environment/task.h"

namespace CLI {
class App;
}

namespace unmask {

struct WorldFlags {
  std::string tau2;  // --tau2; empty: TAU2_DATA_DIR
  ColorChoice color = ColorChoice::Auto;
};

void add_world_flags(CLI::App& app, WorldFlags& flags);

// --tau2, else TAU2_DATA_DIR; empty: neither.
std::string tau2_folder(const WorldFlags& flags);

// Errors   NotFound: neither was given, or there is no data there; says what to download.
Result<DataFolder> open_data(const WorldFlags& flags);

// The same, but no data is needed for a domain that is made by code.
Result<DataFolder> open_data(const WorldFlags& flags, const DomainRow& row);

std::vector<std::string> domain_names();

// Errors   NotFound, with the nearest name there is.
Result<const DomainRow*> domain_named(const std::string& name);

// The task with this id, among `tasks`, those of the domain, or made for it where tasks are made by
// code. Errors   NotFound, with the nearest id there is.
Result<Task> task_named(const DomainRow& row, const std::vector<Task>& tasks,
                        const std::string& id);

}  // namespace unmask
