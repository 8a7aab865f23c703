// The domains: one row of a table each, and what is read from the data folder when one is loaded.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "environment/data_folder.h"
#include "environment/toolkit.h"
#include "environment/value.h"
#include "trace/episode.h"

namespace unmask {

// The state of one episode.
class World {
 public:
  World() = default;
  World(Value agent, Value user) : agent_(std::move(agent)), user_(std::move(user)) {}

  Value& agent_db() { return agent_; }
  Value& user_db() { return one_ ? agent_ : user_; }
  const Value& agent_db() const { return agent_; }
  const Value& user_db() const { return one_ ? agent_ : user_; }

  // From now on both toolkits act on this one database (upstream's set_state does that when a task
  // has initialization data).
  void share(Value database) {
    agent_ = std::move(database);
    one_ = true;
  }
  void set_agent_db(Value database) { agent_ = std::move(database); }

  int generated_ids = 0;
  Value class_state;  // see ToolScope

 private:
  Value agent_;
  Value user_;  // None where the domain has no user tools
  bool one_ = false;
};

struct Databases {
  Value agent;
  Value user;
};

struct Domain;
struct DomainRow;
struct Task;

// Worlds made by code instead of read from the data folder: every task has one of its own, tools
// and policy included.
struct GeneratedWorlds {
  std::vector<Task> (*tasks)(const DomainRow& row);  // of the splits "base" and "test"
  // Any task there is, by its id. Errors   NotFound.
  Result<Task> (*task)(const DomainRow& row, std::string_view id);
  Result<std::shared_ptr<const Domain>> (*world)(const DomainRow& row, std::string_view task_id);
  std::string_view user_guidelines;  // for a model that plays the user
};

struct DomainRow {
  std::string_view name;           // as typed: "telecom-workflow"
  std::string_view folder;         // below domains/: "telecom"
  std::string_view default_split;  // "base"; empty: all tasks
  bool solo;                       // the agent may also use the user's tools
  const Toolkit& (*agent_tools)();
  const Toolkit* (*user_tools)();  // nullptr, or returns nullptr: the user has no tools
  Result<Databases> (*databases)(const DataFolder& data);
  Result<std::string> (*policy)(const DataFolder& data, bool solo);
  void (*sync)(World& world);  // upstream's sync_tools; nullptr: nothing; throws PythonError
  const GeneratedWorlds* generated = nullptr;  // nullptr: its worlds are in the data folder
};

std::span<const DomainRow> domain_rows();
const DomainRow* find_domain(std::string_view name);

// A domain with its initial state, immutable and shared by all episodes and threads.
struct Domain {
  const DomainRow* row = nullptr;
  const Toolkit* agent_tools = nullptr;
  const Toolkit* user_tools = nullptr;  // nullptr: none
  Databases initial;
  std::string policy;
  std::string solo_policy;  // empty where there is no solo mode
  // Of the world of one task: whose it is, and its tools.
  std::string task_id;
  std::shared_ptr<const Toolkit> own_tools[2];

  const Toolkit* toolkit(Side side) const { return side == Side::Agent ? agent_tools : user_tools; }
};

// Errors   NotFound: no such domain (the message lists them), or a missing file; Malformed.
Result<std::shared_ptr<const Domain>> load_domain(const DataFolder& data, std::string_view name);

// The world of a task: the domain itself, but where every task has its own.
// Errors   NotFound: no such task.
Result<std::shared_ptr<const Domain>> domain_of_task(const std::shared_ptr<const Domain>& domain,
                                                     std::string_view task_id);

}  // namespace unmask
