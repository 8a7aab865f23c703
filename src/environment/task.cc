#include "environment/task.h"

#include <algorithm>

#include "environment/data_folder.h"
#include "environment/domain.h"

namespace unmask {

std::string_view to_string(RewardPart part) {
  switch (part) {
    case RewardPart::Db:
      return "DB";
    case RewardPart::EnvAssertion:
      return "ENV_ASSERTION";
    case RewardPart::NlAssertion:
      return "NL_ASSERTION";
    case RewardPart::Action:
      return "ACTION";
    case RewardPart::Communicate:
      return "COMMUNICATE";
  }
  return "";
}

namespace {

// The first problem met while a task is read; reading goes on with defaults, the caller looks at
// it.
class TaskReader {
 public:
  Result<Task> read(const Value& json);

 private:
  void complain(const std::string& field, std::string_view problem) {
    if (problem_.empty())
      problem_ = "task " + (id_.empty() ? std::string("without id") : "'" + id_ + "'") + ": " +
                 field + " " + std::string(problem);
  }

  // nullptr: absent or null.
  const Value* member(const Value& object, std::string_view name) const {
    const Value* v = object.find(name);
    return v && !v->is_none() ? v : nullptr;
  }

  std::string text(const Value& object, const std::string& name, bool required = true) {
    const Value* v = member(object, name);
    if (!v) {
      if (required) complain(name, "is missing");
      return "";
    }
    if (!v->is_str()) complain(name, "is not a text");
    return v->is_str() ? v->as_str() : "";
  }

  std::optional<std::string> optional_text(const Value& object, const std::string& name) {
    if (!member(object, name)) return std::nullopt;
    return text(object, name);
  }

  Value object(const Value& owner, const std::string& name) {
    const Value* v = member(owner, name);
    if (v && v->is_dict()) return *v;
    complain(name, v ? "is not an object" : "is missing");
    return Value::dict();
  }

  std::optional<Value> optional_object(const Value& owner, const std::string& name) {
    if (!member(owner, name)) return std::nullopt;
    return object(owner, name);
  }

  // The items of a list; nullopt: absent. Items of another kind than wanted are complained of.
  std::optional<std::vector<Value>> list(const Value& owner, const std::string& name,
                                         unmask::Kind wanted) {
    const Value* v = member(owner, name);
    if (!v) return std::nullopt;
    if (!v->is_list()) {
      complain(name, "is not a list");
      return std::nullopt;
    }
    std::vector<Value> items;
    for (const Value& item : v->items()) {
      if (item.kind() == wanted)
        items.push_back(item);
      else
        complain(name, wanted == unmask::Kind::Str ? "has an item that is not a text"
                                                   : "has an item that is not an object");
    }
    return items;
  }

  std::optional<std::vector<std::string>> texts(const Value& owner, const std::string& name) {
    const std::optional<std::vector<Value>> items = list(owner, name, unmask::Kind::Str);
    if (!items) return std::nullopt;
    std::vector<std::string> out;
    for (const Value& item : *items) out.push_back(item.as_str());
    return out;
  }

  Side side(const Value& owner, const std::string& name, bool required) {
    const std::string value = text(owner, name, required);
    if (value == "user") return Side::User;
    if (!value.empty() && value != "assistant") complain(name, "is neither 'assistant' nor 'user'");
    return Side::Agent;
  }

  EnvironmentFunction function(const Value& json) {
    return {side(json, "env_type", true), text(json, "func_name"), object(json, "arguments")};
  }

  EnvironmentAssertion assertion(const Value& json) {
    EnvironmentAssertion out;
    static_cast<EnvironmentFunction&>(out) = function(json);
    if (const Value* expected = member(json, "assert_value")) {
      if (expected->is_bool())
        out.expected = expected->as_bool();
      else
        complain("assert_value", "is neither true nor false");
    }
    out.message = optional_text(json, "message");
    return out;
  }

  GoldenAction action(const Value& json) {
    GoldenAction out;
    out.id = text(json, "action_id");
    out.side = side(json, "requestor", false);
    out.name = text(json, "name");
    out.arguments = object(json, "arguments");
    out.info = optional_text(json, "info");
    out.compare_arguments = texts(json, "compare_args");
    return out;
  }

  InitialState initial_state(const Value& json);
  EvaluationCriteria criteria(const Value& json);

  std::string id_;
  std::string problem_;
};

InitialState TaskReader::initial_state(const Value& json) {
  InitialState out;
  if (const std::optional<Value> data = optional_object(json, "initialization_data")) {
    out.agent_data = optional_object(*data, "agent_data");
    out.user_data = optional_object(*data, "user_data");
  }
  if (const auto actions = list(json, "initialization_actions", unmask::Kind::Dict))
    for (const Value& action : *actions) out.actions.push_back(function(action));
  if (const auto history = list(json, "message_history", unmask::Kind::Dict))
    out.message_history = Value::list(*history);
  return out;
}

EvaluationCriteria TaskReader::criteria(const Value& json) {
  EvaluationCriteria out;
  if (const auto actions = list(json, "actions", unmask::Kind::Dict)) {
    out.actions.emplace();
    for (const Value& each : *actions) out.actions->push_back(action(each));
  }
  if (const auto assertions = list(json, "env_assertions", unmask::Kind::Dict)) {
    out.assertions.emplace();
    for (const Value& each : *assertions) out.assertions->push_back(assertion(each));
  }
  out.communicate = texts(json, "communicate_info");
  out.nl_assertions = texts(json, "nl_assertions");
  if (const std::optional<std::vector<std::string>> basis = texts(json, "reward_basis")) {
    out.basis.clear();
    for (const std::string& name : *basis) {
      bool known = false;
      for (const RewardPart part :
           {RewardPart::Db, RewardPart::EnvAssertion, RewardPart::NlAssertion, RewardPart::Action,
            RewardPart::Communicate}) {
        if (to_string(part) != name) continue;
        out.basis.push_back(part);
        known = true;
      }
      if (!known) complain("reward_basis", "names '" + name + "', which is no part of a reward");
    }
  }
  return out;
}

// "\t" in front of every line that holds more than blanks.
std::string indented(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = text.find('\n', i);
    end = end == std::string::npos ? text.size() : end + 1;
    const std::string line = text.substr(i, end - i);
    if (line.find_first_not_of(" \t\r\n\v\f") != std::string::npos) out += '\t';
    out += line;
    i = end;
  }
  return out;
}

// The scenario as upstream prints it into the simulator's prompt.
std::string scenario_text(const Value& scenario) {
  std::string out;
  const Value* persona = scenario.find("persona");
  if (persona && persona->is_str()) out += "Persona:\n" + indented(persona->as_str()) + "\n";
  out += "Instructions:\n";
  const Value* instructions = scenario.find("instructions");
  if (!instructions) return out;
  if (instructions->is_str()) return out + indented(instructions->as_str());
  std::string lines;
  const auto line = [&](std::string_view field, std::string_view label, bool block) {
    const Value* v = instructions->find(field);
    if (!v || !v->is_str()) return;
    if (!lines.empty()) lines += "\n";
    lines += std::string(label) + ":" + (block ? "\n" + indented(v->as_str()) : " " + v->as_str());
  };
  line("domain", "Domain", false);
  line("reason_for_call", "Reason for call", true);
  line("known_info", "Known info", true);
  line("unknown_info", "Unknown info", true);
  line("task_instructions", "Task instructions", true);
  return out + indented(lines);
}

Result<Task> TaskReader::read(const Value& json) {
  if (!json.is_dict()) return Error{ErrorKind::Malformed, "a task is not an object", ""};
  Task task;
  task.json = json;
  id_ = text(json, "id");
  task.id = id_;
  task.user_scenario = scenario_text(object(json, "user_scenario"));
  task.ticket = optional_text(json, "ticket");
  if (const std::optional<Value> initial = optional_object(json, "initial_state"))
    task.initial_state = initial_state(*initial);
  if (const std::optional<Value> wanted = optional_object(json, "evaluation_criteria"))
    task.criteria = criteria(*wanted);
  if (!problem_.empty()) return Error{ErrorKind::Malformed, problem_, ""};
  return task;
}

std::string domain_file(const DomainRow& domain, std::string_view name) {
  return "domains/" + std::string(domain.folder) + "/" + std::string(name);
}

Result<Value> split_table(const DataFolder& data, const DomainRow& domain) {
  const std::string file = domain_file(domain, "split_tasks.json");
  if (!data.has(file)) return Value::dict();
  Result<Value> table = data.json(file);
  if (table && !table->is_dict())
    return Error{ErrorKind::Malformed, "the splits are not an object", data.path(file)};
  return table;
}

}  // namespace

namespace {

Result<std::vector<Task>> generated_tasks(const DomainRow& domain, std::string_view split) {
  if (split.empty() || split == "base" || split == "test") return domain.generated->tasks(domain);
  return Error{ErrorKind::NotFound,
               "no split is called '" + std::string(split) + "'; there are: base, test",
               std::string(domain.name)};
}

}  // namespace

Result<Task> read_task(const Value& json) {
  return TaskReader().read(json);
}

Result<std::vector<std::string>> task_splits(const DataFolder& data, const DomainRow& domain) {
  if (domain.generated) return std::vector<std::string>{"base", "test"};
  const Result<Value> table = split_table(data, domain);
  if (!table) return table.error();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < table->size(); ++i) names.push_back(table->key(i));
  return names;
}

Result<std::vector<Task>> load_tasks(const DataFolder& data, const DomainRow& domain,
                                     std::string_view split) {
  if (domain.generated) return generated_tasks(domain, split);
  const std::string file = domain_file(domain, "tasks.json");
  Result<Value> json = data.json(file);
  if (!json) return json.error();
  const Value* listed = json->is_dict() ? json->find("tasks") : &*json;
  if (!listed || !listed->is_list())
    return Error{ErrorKind::Malformed, "the tasks are not a list", data.path(file)};
  Value wanted;
  if (!split.empty()) {
    const Result<Value> table = split_table(data, domain);
    if (!table) return table.error();
    const Value* ids = table->find(split);
    if (!ids || !ids->is_list()) {
      std::string known;
      for (std::size_t i = 0; i < table->size(); ++i) known += (i ? ", " : "") + table->key(i);
      return Error{ErrorKind::NotFound,
                   "no split is called '" + std::string(split) + "'; there are: " + known,
                   data.path(domain_file(domain, "split_tasks.json"))};
    }
    wanted = *ids;
  }
  std::vector<Task> tasks;
  for (const Value& each : listed->items()) {
    Result<Task> task = read_task(each);
    if (!task) {
      Error error = task.error();
      error.where = data.path(file);
      return error;
    }
    const bool kept = split.empty() || std::any_of(wanted.items().begin(), wanted.items().end(),
                                                   [&](const Value& id) {
                                                     return id.is_str() && id.as_str() == task->id;
                                                   });
    if (kept) tasks.push_back(std::move(*task));
  }
  return tasks;
}

Result<std::string> user_guidelines(const DataFolder& data, bool with_tools) {
  return data.text(with_tools ? "user_simulator/simulation_guidelines_tools.md"
                              : "user_simulator/simulation_guidelines.md");
}

}  // namespace unmask
