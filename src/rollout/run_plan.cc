#include "rollout/run_plan.h"

#include <algorithm>
#include <map>

#include "base/json_writer.h"

namespace unmask {

namespace {

constexpr std::string_view kScripted = "scripted:";

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string yes_or_no(bool v) {
  return v ? "true" : "false";
}

// What decides the numbers; how many threads and conversations share the work does not, or only in
// their last bits.
std::string engine_text(const LlamaSettings& engine) {
  return "kv " + engine.kv + "; context " + std::to_string(engine.context) + "; gpu_layers " +
         std::to_string(engine.gpu_layers) + (engine.deterministic ? "; deterministic" : "");
}

void add_model(std::vector<Setting>& settings, const std::string& owner, const ModelPlan& model) {
  settings.emplace_back(owner + " model", model.model);
  settings.emplace_back(owner + " base_url", model.endpoint.base_url);
  settings.emplace_back(owner + " sampling", settings_of(model.sampling));
  settings.emplace_back(owner + " logprobs", std::to_string(model.sampling.logprobs));
  settings.emplace_back(owner + " send_reasoning", yes_or_no(model.send_reasoning));
  if (model.engine) settings.emplace_back(owner + " engine", engine_text(*model.engine));
}

std::string repair_text(const std::optional<RepairPlan>& repair) {
  if (!repair) return "none";
  return joined(repair->channels) + "; " + std::to_string(repair->attempts) + " attempts" +
         (repair->spends_budget ? "; spends the budget" : "");
}

// Keys sorted; `constraint` empty: names are not constrained.
std::string settings_text(const Sampling& sampling, const std::string& constraint) {
  JsonWriter json;
  json.begin_object();
  if (!constraint.empty()) json.field("constrain_names", constraint);
  if (!sampling.extra_body.empty()) json.key("extra_body").raw(sampling.extra_body);
  if (sampling.max_tokens) json.field("max_tokens", *sampling.max_tokens);
  if (sampling.temperature) json.field("temperature", *sampling.temperature);
  if (sampling.top_k) json.field("top_k", *sampling.top_k);
  if (sampling.top_p) json.field("top_p", *sampling.top_p);
  json.end_object();
  return json.take();
}

}  // namespace

std::string constraint_setting(const std::string& arm) {
  return "arm '" + arm + "' names constrained by";
}

int max_errors_of(const RunPlan& plan, const ArmPlan& arm) {
  return arm.max_errors.value_or(plan.max_errors);
}

std::string settings_of(const Sampling& sampling) {
  return settings_text(sampling, "");
}

RunInfo run_info(const RunPlan& plan, const ArmPlan& arm, std::string_view domain) {
  RunInfo info;
  info.format = "tau2";
  info.domain = domain;
  info.model = arm.agent.model;
  info.user_model = plan.user.model;
  info.agent_implementation = "llm_agent";
  info.user_implementation = "user_simulator";
  info.agent_settings = settings_text(arm.agent.sampling, arm.constraint);
  info.user_settings = settings_of(plan.user.sampling);
  info.seed = static_cast<std::int64_t>(plan.seed);
  info.num_trials = plan.trials;
  info.max_steps = plan.max_steps;
  info.max_errors = max_errors_of(plan, arm);
  return info;
}

const std::string* ScriptedModel::option(std::string_view name) const {
  for (const auto& [key, value] : options)
    if (key == name) return &value;
  return nullptr;
}

bool is_scripted(std::string_view model) {
  return model.starts_with(kScripted);
}

Result<ScriptedModel> scripted_model(std::string_view model) {
  const auto wrong = [&](const std::string& problem) {
    return Error{ErrorKind::InvalidArgument,
                 "'" + std::string(model) + "' " + problem + ": scripted:KIND?name=value&...", ""};
  };
  if (!is_scripted(model)) return wrong("is no scripted model");
  std::string_view rest = model.substr(kScripted.size());
  ScriptedModel out;
  const std::size_t question = std::min(rest.find('?'), rest.size());
  out.kind = rest.substr(0, question);
  if (out.kind.empty()) return wrong("names no kind of script");
  rest.remove_prefix(std::min(question + 1, rest.size()));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view piece = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == piece.size())
      return wrong("has an option without a name or value");
    if (out.option(piece.substr(0, equals))) return wrong("has an option twice");
    out.options.emplace_back(piece.substr(0, equals), piece.substr(equals + 1));
  }
  return out;
}

std::vector<Setting> settings_of(const RunPlan& plan) {
  std::vector<Setting> settings = {{"seed", std::to_string(plan.seed)},
                                   {"max_steps", std::to_string(plan.max_steps)}};
  add_model(settings, "user", plan.user);
  if (plan.judge) add_model(settings, "judge", *plan.judge);
  for (const ArmPlan& arm : plan.arms) {
    const std::string owner = "arm '" + arm.label + "'";
    add_model(settings, owner, arm.agent);
    settings.emplace_back(owner + " max_errors", std::to_string(max_errors_of(plan, arm)));
    settings.emplace_back(owner + " repair", repair_text(arm.repair));
    settings.emplace_back(owner + " constrain", arm.constrain_names ? "names" : "none");
    if (!arm.constraint.empty())
      settings.emplace_back(constraint_setting(arm.label), arm.constraint);
  }
  std::sort(settings.begin(), settings.end());
  return settings;
}

std::vector<Drift> drift_between(const std::vector<Setting>& saved,
                                 const std::vector<Setting>& present) {
  const std::map<std::string, std::string> before(saved.begin(), saved.end());
  std::vector<Drift> drift;
  for (const auto& [name, value] : present) {
    const auto found = before.find(name);
    if (found != before.end() && found->second != value)
      drift.push_back({name, found->second, value});
  }
  return drift;
}

}  // namespace unmask
