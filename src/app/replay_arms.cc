#include "app/replay_arms.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "app/command_line.h"
#include "app/nearest.h"
#include "app/plan_toml.h"
#include "environment/json.h"
#include "llm/endpoint_url.h"
#include "llm/file_hash.h"
#include "rollout/decision.h"

namespace unmask {
namespace {

constexpr std::string_view kAgain =
    " again";  // the label of the baseline's repetition ends with it

Error wrong(std::string sentence) {
  return Error{ErrorKind::InvalidArgument, std::move(sentence), ""};
}

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

// "LABEL=" of an argument; empty: it has none.
std::string label_of(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos || is_file(argument)) return "";
  const std::string label = argument.substr(0, equals);
  return label.find_first_of("/@:") == std::string::npos ? label : "";
}

ArmPlan file_arm(const std::string& path, const ReplayArmFlags& flags) {
  ArmPlan arm;
  arm.label = std::filesystem::path(path).stem().string();
  arm.agent.model = path;
  LlamaSettings engine;
  engine.file = path;
  engine.threads = flags.threads;
  engine.parallel = flags.parallel;
  engine.deterministic = flags.deterministic;
  arm.agent.engine = engine;
  return arm;
}

Result<ArmPlan> server_arm(const std::string& name, const std::string& address,
                           const ReplayArmFlags& flags) {
  if (!chat_completions_url(address))
    return wrong(fmt::format("'{}' is not an address such as http://127.0.0.1:8000/v1", address));
  if (address.find('@') != std::string::npos || address.find('?') != std::string::npos)
    return wrong("an address must hold no name, key or query: see --api-key-env");
  constexpr std::string_view kNames = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  if (flags.api_key_env.find_first_not_of(kNames) != std::string::npos)
    return wrong(
        "--api-key-env must be the name of a variable in capitals, such as OPENAI_API_KEY; a "
        "key itself has no place on a command line");
  if (!flags.api_key_env.empty() && std::getenv(flags.api_key_env.c_str()) == nullptr)
    return wrong(fmt::format("the environment variable {} is not set", flags.api_key_env));
  ArmPlan arm;
  arm.label = name;
  arm.agent.model = name;
  arm.agent.endpoint.base_url = address;
  arm.agent.endpoint.api_key_env = flags.api_key_env;
  return arm;
}

Result<ArmPlan> arm_of(const std::string& argument, const ReplayArmFlags& flags) {
  const std::string label = label_of(argument);
  const std::string model = label.empty() ? argument : argument.substr(label.size() + 1);
  const std::size_t at = model.find("@http");
  Result<ArmPlan> arm = wrong(fmt::format(
      "'{}' is neither a .gguf file nor NAME@URL, such as my-model@http://127.0.0.1:8000/v1",
      model));
  if (model.starts_with("http://") || model.starts_with("https://"))
    arm = server_arm("default", model, flags);
  else if (at != std::string::npos && at > 0)
    arm = server_arm(model.substr(0, at), model.substr(at + 1), flags);
  else if (model.ends_with(".gguf") || is_file(model))
    arm = file_arm(model, flags);
  if (!arm) return arm;
  if (!label.empty()) arm->label = label;
  arm->agent.endpoint.max_concurrency = flags.parallel;
  arm->agent.sampling.logprobs = static_cast<int>(kMostAlternatives);
  if (flags.max_tokens > 0) arm->agent.sampling.max_tokens = flags.max_tokens;
  return arm;
}

Result<Done> check_arms(const RunPlan& plan) {
  if (plan.arms.empty())
    return wrong("replay needs arms: --model FILE.gguf, --model NAME@URL or --plan PLAN.toml");
  std::set<std::string> labels;
  for (const ArmPlan& arm : plan.arms) {
    if (!labels.insert(arm.label).second)
      return wrong(fmt::format(
          "two arms are called '{}': --model LABEL=MODEL gives one another name", arm.label));
    if (is_scripted(arm.agent.model))
      return wrong(fmt::format("arm '{}' is a script: a replay asks models", arm.label));
  }
  return Done{};
}

Result<Done> choose_baseline(RunPlan& plan, const std::string& asked) {
  std::vector<std::string> labels;
  std::vector<std::string> marked;
  for (const ArmPlan& arm : plan.arms) {
    labels.push_back(arm.label);
    if (arm.baseline) marked.push_back(arm.label);
  }
  if (asked.empty() && marked.size() > 1)
    return wrong(fmt::format("the plan has several baselines ({}): choose one with --baseline",
                             fmt::join(marked, ", ")));
  const std::string baseline = !asked.empty()    ? asked
                               : !marked.empty() ? marked.front()
                                                 : labels.front();
  if (std::find(labels.begin(), labels.end(), baseline) == labels.end())
    return wrong(fmt::format("there is no arm '{}'{}", baseline, did_you_mean(baseline, labels)));
  for (ArmPlan& arm : plan.arms) arm.baseline = arm.label == baseline;
  return Done{};
}

Result<Done> set_temperature(RunPlan& plan, const ReplayArmFlags& flags) {
  if (flags.temperature != "plan") {
    const std::optional<double> temperature = to_number(flags.temperature);
    for (ArmPlan& arm : plan.arms) arm.agent.sampling.temperature = temperature;
  }
  if (flags.samples > 1 && is_greedy(plan))
    return wrong("--samples asks for replies that are drawn: give a --temperature above 0");
  return Done{};
}

Result<std::string> settings_text(const ArmPlan& arm, std::map<std::string, std::string>& hashes) {
  Result<Value> settings = parse_json(settings_of(arm.agent.sampling));
  if (!settings) return settings.error();
  settings->set("logprobs", arm.agent.sampling.logprobs);
  if (!arm.constraint.empty()) settings->set("constrain_names", arm.constraint);
  if (arm.agent.send_reasoning) settings->set("send_reasoning", true);
  if (!arm.agent.engine) {
    settings->set("base_url", arm.agent.endpoint.base_url);
    return dump_json(*settings, KeyOrder::Sorted);
  }
  const LlamaSettings& engine = *arm.agent.engine;
  settings->set("kv", engine.kv);
  settings->set("context", engine.context);
  settings->set("gpu_layers", engine.gpu_layers);
  if (engine.deterministic) settings->set("deterministic", true);
  for (const auto& [name, path] : {std::pair<const char*, std::string>{"sha256", engine.file},
                                   {"template_sha256", engine.template_file}}) {
    if (path.empty()) continue;
    if (!hashes.contains(path)) {
      const Result<std::string> hash = file_sha256(path);
      if (!hash) return hash.error();
      hashes[path] = *hash;
    }
    settings->set(name, hashes[path]);
  }
  return dump_json(*settings, KeyOrder::Sorted);
}

}  // namespace

void add_replay_arm_flags(CLI::App& app, ReplayArmFlags& flags) {
  app.add_option("--model", flags.models,
                 "an arm: a .gguf file, or NAME@URL behind a server; LABEL= before it names it")
      ->type_name("[LABEL=]MODEL")
      ->expected(1)
      ->take_all()
      ->group("arms");
  app.add_option("--plan", flags.plan, "the arms of a plan, as they stand there (docs/plan.md)")
      ->type_name("PLAN.toml")
      ->group("arms");
  app.add_option("--baseline", flags.baseline,
                 "which arm is the baseline; the plan's or the first where not given")
      ->type_name("LABEL")
      ->group("arms");
  app.add_flag("--repeat-baseline", flags.repeat_baseline,
               "ask the baseline twice: the noise of a replay")
      ->group("arms");
  app.add_option("--temperature", flags.temperature,
                 "of every arm; 'plan' leaves each its own (0: the most likely token)")
      ->check([](const std::string& text) {
        const std::optional<double> value = to_number(text);
        const bool good = text == "plan" || (value && *value >= 0 && *value <= 10);
        return good ? std::string()
                    : fmt::format("must be a number from 0 to 10, or 'plan', not '{}'", text);
      })
      ->type_name("T|plan")
      ->group("arms");
  const auto whole = [&](const char* name, int& value, long long least, long long most,
                         const char* help, const char* group) {
    app.add_option_function<std::string>(
           name,
           [&value](const std::string& text) {
             value = static_cast<int>(to_whole_number(text).value_or(value));
           },
           help)
        ->check(CLI::Validator(whole_number(least, most), "", ""))
        ->type_name("N")
        ->group(group);
  };
  whole("--samples", flags.samples, 1, 1000, "replies of each arm to each context", "arms");
  const char* const kModels = "arms of --model";
  app.add_option("--api-key-env", flags.api_key_env,
                 "the NAME of the variable that holds the servers' key")
      ->type_name("NAME")
      ->group(kModels);
  whole("--max-tokens", flags.max_tokens, 1, 10000000, "of a reply", kModels);
  whole("--threads", flags.threads, 1, 1024, "that decode each file", kModels);
  whole("--parallel", flags.parallel, 1, 256, "requests at once to each arm", kModels);
  app.add_flag("--deterministic", flags.deterministic,
               "the same bytes from a file at any --parallel, more slowly")
      ->group(kModels);
}

bool is_greedy(const RunPlan& plan) {
  return std::all_of(plan.arms.begin(), plan.arms.end(), [](const ArmPlan& arm) {
    return arm.agent.sampling.temperature == std::optional<double>(0.0);
  });
}

Result<ReplayArms> replay_arms(const ReplayArmFlags& flags) {
  ReplayArms arms;
  RunPlan& plan = arms.plan;
  if (!flags.plan.empty()) {
    Result<RunPlan> read = read_plan(flags.plan);
    if (!read) return read.error();
    plan = std::move(*read);
    plan.user = ModelPlan{};
    plan.judge.reset();
  }
  for (const std::string& argument : flags.models) {
    Result<ArmPlan> arm = arm_of(argument, flags);
    if (!arm) return arm.error();
    plan.arms.push_back(std::move(*arm));
  }
  for (ArmPlan& arm : plan.arms) arm.repair.reset();
  const Result<Done> sound = check_arms(plan);
  if (!sound) return sound.error();
  const Result<Done> chosen = choose_baseline(plan, flags.baseline);
  if (!chosen) return chosen.error();
  const Result<Done> sampled = set_temperature(plan, flags);
  if (!sampled) return sampled.error();
  if (!flags.repeat_baseline) return arms;
  ArmPlan again = *std::find_if(plan.arms.begin(), plan.arms.end(),
                                [](const ArmPlan& arm) { return arm.baseline; });
  again.label += kAgain;
  again.baseline = false;
  arms.again = plan.arms.size();
  plan.arms.push_back(std::move(again));
  const Result<Done> named = check_arms(plan);
  if (!named) return named.error();
  return arms;
}

Result<std::vector<ReplayArm>> described_arms(const ReplayArms& replayed) {
  std::map<std::string, std::string> hashes;
  std::vector<ReplayArm> arms;
  for (const ArmPlan& arm : replayed.plan.arms) {
    const Result<std::string> settings = settings_text(arm, hashes);
    if (!settings) return settings.error();
    ReplayArm described{arm.label, arm.precision, arm.agent.model, *settings, arm.baseline, ""};
    if (replayed.again == arms.size())
      described.repeats = arm.label.substr(0, arm.label.size() - kAgain.size());
    arms.push_back(std::move(described));
  }
  return arms;
}

}  // namespace unmask
