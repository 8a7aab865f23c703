// Tasks of a domain as the data folder has them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "environment/value.h"
#include "trace/episode.h"

namespace unmask {

class DataFolder;
struct DomainRow;

// A call of an initialization action.
struct EnvironmentFunction {
  Side side = Side::Agent;
  std::string name;
  Value arguments;  // a Dict
};

struct EnvironmentAssertion : EnvironmentFunction {
  bool expected = true;
  std::optional<std::string> message;
};

// A call of the reference trajectory.
struct GoldenAction {
  std::string id;
  Side side = Side::Agent;
  std::string name;
  Value arguments;  // a Dict
  std::optional<std::string> info;
  std::optional<std::vector<std::string>> compare_arguments;
};

struct InitialState {
  std::optional<Value> agent_data;  // Dicts merged into the databases
  std::optional<Value> user_data;
  std::vector<EnvironmentFunction> actions;
  Value message_history;  // a List of messages in upstream's form; None: no history
};

enum class RewardPart { Db, EnvAssertion, NlAssertion, Action, Communicate };

std::string_view to_string(RewardPart part);  // "ENV_ASSERTION"

// nullopt and an empty list differ, as they do upstream.
struct EvaluationCriteria {
  std::optional<std::vector<GoldenAction>> actions;
  std::optional<std::vector<EnvironmentAssertion>> assertions;
  std::optional<std::vector<std::string>> communicate;
  std::optional<std::vector<std::string>> nl_assertions;
  std::vector<RewardPart> basis = {RewardPart::Db, RewardPart::Communicate};
};

struct Task {
  std::string id;
  std::string user_scenario;          // the text a user simulator is given
  std::optional<std::string> ticket;  // what a solo agent is given
  std::optional<InitialState> initial_state;
  std::optional<EvaluationCriteria> criteria;
  Value json;  // the task as the file has it
};

// One task from its JSON value.
// Errors   Malformed: one sentence that names the task and the field.
Result<Task> read_task(const Value& json);

// The tasks of a domain: all of them, or those of a split ("base", "train", ...), in the file's
// order.
// Errors   as read_task and DataFolder; NotFound: no such split (the message lists them).
Result<std::vector<Task>> load_tasks(const DataFolder& data, const DomainRow& domain,
                                     std::string_view split = "");
// The names of the splits, empty where the domain has none.
Result<std::vector<std::string>> task_splits(const DataFolder& data, const DomainRow& domain);

// The rules a simulated user is given; with_tools: the version for domains in which they act.
Result<std::string> user_guidelines(const DataFolder& data, bool with_tools);

}  // namespace unmask
