// What a τ²-bench results file says about the run: info, tasks, simulation_index
// (tau2/data_model/simulation.py: Info, Results, SimulationIndexEntry).
#include <utility>
#include <vector>

#include "ingest/field_reader.h"
#include "ingest/json_scan.h"
#include "ingest/json_tree.h"
#include "ingest/tau2_episode.h"
#include "ingest/text_hash.h"

namespace unmask {
namespace {

std::string sorted_settings(std::string_view text, const FieldReader& fields) {
  JsonRepairs repairs;
  const Result<JsonTree> settings = JsonTree::parse(text, &repairs);
  if (settings) return settings->root().to_sorted_json();
  fields.notes().warn("unreadable_settings", "'llm_args' is not readable JSON, ignored",
                      fields.where());
  return "";
}

void read_party(LazyValue value, const FieldReader& fields, std::string& model,
                std::string& implementation, std::string& settings) {
  value.each_member([&](std::string_view key, LazyValue member) {
    if (key == "llm") {
      fields.text(member, key, model);
    } else if (key == "implementation") {
      fields.text(member, key, implementation);
    } else if (key == "llm_args") {
      if (fields.object(member, key)) settings = sorted_settings(member.text(), fields);
    }
  });
}

void read_environment(LazyValue value, const FieldReader& fields, RunInfo& info) {
  value.each_member([&](std::string_view key, LazyValue member) {
    if (key == "domain_name") {
      fields.text(member, key, info.domain);
    } else if (key == "policy") {
      std::string policy;
      fields.text(member, key, policy);
      info.policy_hash = text_hash(policy);
    }
  });
}

void read_info_member(std::string_view key, LazyValue value, const FieldReader& fields,
                      SeenFields& seen, RunInfo& info) {
  if (key == "git_commit" && seen.first(0, key, fields)) {
    fields.text(value, key, info.git_commit);
  } else if (key == "num_trials" && seen.first(1, key, fields)) {
    fields.small(value, key, info.num_trials);
  } else if (key == "max_steps" && seen.first(2, key, fields)) {
    fields.small(value, key, info.max_steps);
  } else if (key == "max_errors" && seen.first(3, key, fields)) {
    fields.small(value, key, info.max_errors);
  } else if (key == "seed" && seen.first(4, key, fields)) {
    fields.integer(value, key, info.seed);
  } else if (key == "agent_info" && seen.first(5, key, fields)) {
    if (fields.object(value, key))
      read_party(value, fields, info.model, info.agent_implementation, info.agent_settings);
  } else if (key == "user_info" && seen.first(6, key, fields)) {
    if (fields.object(value, key))
      read_party(value, fields, info.user_model, info.user_implementation, info.user_settings);
  } else if (key == "environment_info" && seen.first(7, key, fields)) {
    if (fields.object(value, key)) read_environment(value, fields, info);
  }
}

}  // namespace

void parse_tau2_info(std::string_view text, const std::string& where, RunInfo& info, Notes& notes) {
  LazyRecord json;
  const FieldReader fields(notes, where);
  SeenFields seen;
  const bool read = text.substr(0, 1) == "{" && json.load(text) && json.visit([&](LazyValue root) {
    root.each_member([&](std::string_view key, LazyValue value) {
      read_info_member(key, value, fields, seen, info);
    });
  });
  if (!read) notes.warn("unreadable_info", "'info' is not a readable JSON object", where);
  fields.repairs(json.repairs());
}

namespace {

// The ids of the objects in a list. One by one: the tasks of a log may be large.
std::vector<std::string> ids_of(std::string_view text, std::string_view part,
                                const std::string& where, Notes& notes) {
  std::vector<std::string> ids;
  const FieldReader fields(notes, where);
  if (text.substr(0, 1) != "[") {
    if (text != "null")
      notes.warn("wrong_type", "'" + std::string(part) + "' is not a list, ignored", where);
    return ids;
  }
  LazyRecord json;
  JsonWalk walk(text, 0);
  while (const std::optional<JsonWalk::Item> item = walk.next()) {
    std::string id;
    const std::string_view element = text.substr(item->begin, item->end - item->begin);
    const bool read = json.load(element) && json.visit([&](LazyValue root) {
      root.each_member([&](std::string_view key, LazyValue value) {
        if (key == "id") fields.label(value, std::string(part) + " id", id);
      });
    });
    fields.repairs(json.repairs());
    if (read && !id.empty()) {
      ids.push_back(std::move(id));
    } else {
      notes.warn("entry_without_id", "an entry of '" + std::string(part) + "' has no readable id",
                 where);
    }
  }
  return ids;
}

}  // namespace

void parse_tau2_tasks(std::string_view text, const std::string& where, RunInfo& info,
                      Notes& notes) {
  info.task_ids = ids_of(text, "tasks", where, notes);
}

std::set<std::string> parse_tau2_index(std::string_view text, const std::string& where,
                                       Notes& notes) {
  const std::vector<std::string> ids = ids_of(text, "simulation_index", where, notes);
  return {ids.begin(), ids.end()};
}

}  // namespace unmask
