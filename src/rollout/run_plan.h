// What a run is to do: arms × domains × tasks × trials, as plain values. docs/plan.md says what
// each means to the one who writes it; app/plan_toml.h reads it from a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "llm/llama.h"
#include "trace/episode.h"

namespace unmask {

// A server that answers as OpenAI's does.
struct Endpoint {
  std::string base_url;     // "http://localhost:8000/v1"; empty for a scripted model
  std::string api_key_env;  // the NAME of the variable that holds the key; empty: no key is sent
  int max_concurrency = 8;  // episodes that may use it at once
  double connect_timeout_seconds = 10;
  double first_byte_timeout_seconds = 300;
  double timeout_seconds = 600;  // one request, from beginning to end
  int retries = 5;

  bool operator==(const Endpoint&) const = default;
};

// Absent: the server decides; of a model in a file, LlamaSampling's defaults.
struct Sampling {
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<int> max_tokens;
  std::optional<int> top_k;  // of a model in a file
  std::string extra_body;    // a JSON object as text with sorted keys, merged into each request
  int logprobs = 0;          // alternatives asked for at each token; 0: none

  bool operator==(const Sampling&) const = default;
};

struct ModelPlan {
  std::string model;  // what the server calls it, "scripted:...", or the file as the plan has it
  Endpoint endpoint;
  std::optional<LlamaSettings> engine;  // of a model in a file, which is played in this process
  Sampling sampling;
  bool send_reasoning = false;  // earlier thoughts go back to the server
  std::optional<double> prompt_usd_per_million;
  std::optional<double> completion_usd_per_million;

  bool operator==(const ModelPlan&) const = default;
};

// Reflective repair (METHOD 9).
struct RepairPlan {
  std::vector<std::string> channels = {"tool_name"};  // of tool_name, malformed, schema
  int attempts = 3;
  bool spends_budget = false;

  bool operator==(const RepairPlan&) const = default;
};

struct ArmPlan {
  std::string label;  // unique in the plan
  std::string family;
  std::string architecture;  // may be empty
  std::string precision;     // "BF16"
  bool baseline = false;
  ModelPlan agent;
  std::optional<int> max_errors;  // nullopt: the plan's
  std::optional<RepairPlan> repair;
  bool constrain_names = false;
  std::string
      constraint;     // how, once the server was probed: "strict tools"; not of the plan's file
  std::string where;  // "plan.toml:12"

  bool operator==(const ArmPlan&) const = default;
};

struct RunPlan {
  std::string name;
  std::string out;  // the run's folder
  std::vector<std::string> domains;
  std::string split;               // empty: all tasks
  std::vector<std::string> tasks;  // ids; empty: those of the split
  int trials = 1;
  std::uint64_t seed = 300;
  int max_steps = 200;
  int max_errors = 10;
  int concurrency = 0;  // episodes at once; 0: as many as the endpoints allow
  std::string tau2;     // folder of the data; empty: the command line or environment says it
  std::string surface;  // folder of surface files; empty: none asked for
  ModelPlan user;
  std::optional<ModelPlan> judge;
  std::vector<ArmPlan> arms;

  bool operator==(const RunPlan&) const = default;
};

int max_errors_of(const RunPlan& plan, const ArmPlan& arm);

// Sampling as compact JSON with sorted keys; "{}" where the server decides everything.
std::string settings_of(const Sampling& sampling);

// The head of the logs of an arm in a domain.
RunInfo run_info(const RunPlan& plan, const ArmPlan& arm, std::string_view domain);

// "scripted:KIND?name=value&name=value": a model of the program's own, for trying a plan.
struct ScriptedModel {
  std::string kind;
  std::vector<std::pair<std::string, std::string>> options;

  const std::string* option(std::string_view name) const;  // nullptr: not given
};

bool is_scripted(std::string_view model);  // begins with "scripted:"
// Errors   InvalidArgument: no kind, an option without a value or given twice.
Result<ScriptedModel> scripted_model(std::string_view model);

// The name of the setting that says how an arm's names are constrained.
std::string constraint_setting(const std::string& arm);

// A setting that shapes what an episode is, by a name for people: ("arm 'BF16' temperature", "0").
using Setting = std::pair<std::string, std::string>;

// Those of the plan, without the contents of files (run_stage.h), sorted by name; no secret, and
// nothing that only says how many episodes there are or how fast they run: name, out, domains,
// tasks, trials, concurrency, timeouts, retries.
std::vector<Setting> settings_of(const RunPlan& plan);

struct Drift {
  std::string name;
  std::string saved;
  std::string present;

  bool operator==(const Drift&) const = default;
};

// Settings that both have with different values. What only one has, an arm for instance, differs
// from nothing.
std::vector<Drift> drift_between(const std::vector<Setting>& saved,
                                 const std::vector<Setting>& present);

}  // namespace unmask
