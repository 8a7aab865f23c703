// What a τ²-bench results file says about the run: info, tasks, simulation_index
// (tau2/data_model/simulation.py: Info, Results, SimulationIndexEntry).
#include <utility>

#include "ingest/field_reader.h"
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
                      RunInfo& info) {
  if (key == "git_commit") {
    fields.text(value, key, info.git_commit);
  } else if (key == "num_trials") {
    fields.small(value, key, info.num_trials);
  } else if (key == "max_steps") {
    fields.small(value, key, info.max_steps);
  } else if (key == "max_errors") {
    fields.small(value, key, info.max_errors);
  } else if (key == "seed") {
    fields.integer(value, key, info.seed);
  } else if (key == "agent_info") {
    if (fields.object(value, key))
      read_party(value, fields, info.model, info.agent_implementation, info.agent_settings);
  } else if (key == "user_info") {
    if (fields.object(value, key))
      read_party(value, fields, info.user_model, info.user_implementation, info.user_settings);
  } else if (key == "environment_info") {
    if (fields.object(value, key)) read_environment(value, fields, info);
  }
}

// Loads and visits `text`; what is wrong with it becomes a warning.
void visit_part(std::string_view text, std::string_view part, const std::string& where,
                Notes& notes, Visitor<void(LazyValue, const FieldReader&)> visit) {
  LazyRecord json;
  const FieldReader fields(notes, where);
  if (!json.load(text) || !json.visit([&](LazyValue root) { visit(root, fields); }))
    notes.warn("unreadable_" + std::string(part),
               "'" + std::string(part) + "' is not readable JSON: " + json.error(), where);
  fields.repairs(json.repairs());
}

}  // namespace

void parse_tau2_info(std::string_view text, const std::string& where, RunInfo& info, Notes& notes) {
  visit_part(text, "info", where, notes, [&](LazyValue root, const FieldReader& fields) {
    if (!fields.object(root, "info")) return;
    root.each_member(
        [&](std::string_view key, LazyValue value) { read_info_member(key, value, fields, info); });
  });
}

void parse_tau2_tasks(std::string_view text, const std::string& where, RunInfo& info,
                      Notes& notes) {
  visit_part(text, "tasks", where, notes, [&](LazyValue root, const FieldReader& fields) {
    if (!fields.array(root, "tasks")) return;
    root.each_element([&](LazyValue task) {
      std::string id;
      task.each_member([&](std::string_view key, LazyValue value) {
        if (key == "id") fields.label(value, "tasks id", id);
      });
      if (!id.empty()) info.task_ids.push_back(std::move(id));
    });
  });
}

std::set<std::string> parse_tau2_index(std::string_view text, const std::string& where,
                                       Notes& notes) {
  std::set<std::string> ids;
  visit_part(text, "simulation_index", where, notes,
             [&](LazyValue root, const FieldReader& fields) {
               root.each_element([&](LazyValue entry) {
                 std::string id;
                 entry.each_member([&](std::string_view key, LazyValue value) {
                   if (key == "id") fields.label(value, "simulation_index id", id);
                 });
                 if (!id.empty()) ids.insert(std::move(id));
               });
             });
  return ids;
}

}  // namespace unmask
