#include "ingest/inspect_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/json_writer.h"

namespace unmask {
namespace {

constexpr std::string_view kDomains[] = {"airline", "retail", "telecom", "mock"};
constexpr std::string_view kBenchmarks[] = {"tau2", "tau2bench", "taubench", "tau", "tau1", "tau3"};

std::optional<int> small_count(const JsonNode& node) {
  const std::optional<std::int64_t> value = node.integer();
  if (!value || *value < 1 || *value > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(*value);
}

std::string settings_of(const JsonNode& header) {
  std::map<std::string, std::string> settings;
  for (const JsonNode& config : {header["eval"]["model_generate_config"], header["plan"]["config"]})
    for (const auto& [key, value] : config.members())
      if (!value.missing()) settings[std::string(key)] = value.to_sorted_json();
  if (settings.empty()) return "";
  std::string out;
  for (const auto& [key, value] : settings) {
    out += out.empty() ? '{' : ',';
    append_json_string(out, key);
    out += ':';
    out += value;
  }
  return out + '}';
}

std::string solver_of(const JsonNode& header) {
  if (const std::optional<std::string_view> solver = header["eval"]["solver"].text())
    return std::string(*solver);
  std::string steps;
  for (const JsonNode& step : header["plan"]["steps"].elements()) {
    if (!steps.empty()) steps += " > ";
    steps += step["solver"].text_or("?");
  }
  return steps;
}

std::vector<std::string> ids_of(const JsonNode& list) {
  std::vector<std::string> ids;
  for (const JsonNode& id : list.elements()) {
    if (const std::optional<std::string_view> text = id.text())
      ids.emplace_back(*text);
    else if (const std::optional<std::int64_t> number = id.integer())
      ids.push_back(std::to_string(*number));
  }
  return ids;
}

void warn_status(const JsonNode& header, Notes& notes, const std::string& where) {
  const std::string_view status = header["status"].text_or("started");
  if (status == "success") return;
  notes.warn(
      "unfinished_log",
      fmt::format("the run did not finish (status {}): samples that were not run are missing",
                  status),
      where);
}

// "inspect_ai/match" is "match" in the samples.
std::string_view base_name(std::string_view name) {
  return name.substr(name.rfind('/') + 1);
}

void add_name(std::vector<std::string>& names, std::string_view name) {
  if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
    names.emplace_back(name);
}

}  // namespace

std::string inspect_domain(std::string_view task) {
  const std::string_view name = base_name(task);
  for (const std::string_view domain : kDomains) {
    if (!name.ends_with(domain)) continue;
    std::string before;
    for (const char c : task.substr(0, task.size() - domain.size()))
      if (c != '_' && c != '-') before += c;
    // "inspect_evals/tau2_airline": what stands before is a package, then the benchmark.
    const std::size_t package = before.find('/');
    if (package != before.npos && package + 1 < before.size()) before.erase(0, package + 1);
    if (before.ends_with('/')) before.pop_back();
    const bool known = before.empty() || std::find(std::begin(kBenchmarks), std::end(kBenchmarks),
                                                   before) != std::end(kBenchmarks);
    if (known) return std::string(domain);
  }
  return std::string(name);
}

std::vector<std::string> header_scorers(const JsonNode& header) {
  std::vector<std::string> names;
  for (const JsonNode& scorer : header["eval"]["scorers"].elements())
    add_name(names, base_name(scorer["name"].text_or("")));
  for (const JsonNode& score : header["results"]["scores"].elements())
    add_name(names, base_name(score["scorer"].text_or(score["name"].text_or(""))));
  add_name(names, header["results"]["scorer"]["name"].text_or(""));
  return names;
}

RunInfo inspect_run_info(const JsonNode& header, Notes& notes, const std::string& where) {
  const JsonNode eval = header["eval"];
  const JsonNode config = eval["config"];
  RunInfo info;
  info.format = "inspect";
  info.domain = inspect_domain(eval["task"].text_or(""));
  info.model = eval["model"].text_or("");
  info.user_model = eval["model_roles"]["user"]["model"].text_or("");
  info.agent_implementation = solver_of(header);
  info.agent_settings = settings_of(header);
  info.git_commit = eval["revision"]["commit"].text_or("");
  info.timestamp = eval["created"].text_or("");
  const std::optional<std::int64_t> seed = header["plan"]["config"]["seed"].integer();
  info.seed = seed ? seed : eval["model_generate_config"]["seed"].integer();
  info.num_trials = config["epochs"].missing() ? 1 : small_count(config["epochs"]);
  const JsonNode limit = config["message_limit"];
  info.max_steps = small_count(limit.missing() ? config["max_messages"] : limit);
  info.failure_rule =
      "the tool message has an error object, which Inspect adds when a tool call could not be made "
      "or raised an error";
  info.task_ids = ids_of(eval["dataset"]["sample_ids"]);
  warn_status(header, notes, where);
  return info;
}

}  // namespace unmask
