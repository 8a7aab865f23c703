// Idea. A key is looked up in layers: the file, then the files it includes, the last one first; for
// an arm its own table, then the [defaults] of the file and of what it includes. The first layer
// that has the key gives its value, so nothing is merged and each value keeps its file and line.
#include "app/plan_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "app/nearest.h"
#include "app/plan_toml.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "environment/domain.h"
#include "llm/chat_request.h"
#include "llm/endpoint_url.h"
#include "rollout/participant_factory.h"

namespace unmask {
namespace {

namespace fs = std::filesystem;

const Names kPlanKeys = {"include", "name", "out",       "domains",    "split",       "tasks",
                         "trials",  "seed", "max_steps", "max_errors", "concurrency", "tau2",
                         "surface", "user", "judge",     "defaults",   "arm"};
const Names kModelKeys = {"model",
                          "base_url",
                          "api_key_env",
                          "max_concurrency",
                          "connect_timeout_seconds",
                          "first_byte_timeout_seconds",
                          "timeout_seconds",
                          "retries",
                          "temperature",
                          "top_p",
                          "max_tokens",
                          "extra_body",
                          "logprobs",
                          "send_reasoning",
                          "prompt_usd_per_million",
                          "completion_usd_per_million",
                          "template",
                          "threads",
                          "gpu_layers",
                          "kv",
                          "context",
                          "parallel",
                          "deterministic",
                          "top_k"};
// Keys that make sense for one kind of model only.
const Names kServerKeys = {"api_key_env",
                           "max_concurrency",
                           "connect_timeout_seconds",
                           "first_byte_timeout_seconds",
                           "timeout_seconds",
                           "retries",
                           "extra_body",
                           "send_reasoning",
                           "prompt_usd_per_million",
                           "completion_usd_per_million"};
const Names kFileKeys = {"template", "threads",  "gpu_layers",    "kv",
                         "context",  "parallel", "deterministic", "top_k"};
const Names kArmOnlyKeys = {"label",    "family",     "architecture", "precision",
                            "baseline", "max_errors", "repair",       "constrain"};
const Names kRepairKeys = {"channels", "attempts", "spends_budget"};

Names both(Names a, const Names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const Names& arm_keys() {
  static const Names kKeys = both(kArmOnlyKeys, kModelKeys);
  return kKeys;
}

const Names& default_keys() {
  static const Names kKeys = [] {
    Names keys = arm_keys();
    std::erase(keys, "label");
    std::erase(keys, "baseline");
    return keys;
  }();
  return kKeys;
}

// In capitals: what is not may be the key itself, written into the wrong place.
bool is_variable_name(std::string_view text) {
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  return text.find_first_not_of(kAllowed) == std::string_view::npos &&
         (text.front() < '0' || text.front() > '9');
}

void append_json_value(JsonWriter& json, const TomlValue& node, Complaints& complaints) {
  using Kind = TomlValue::Kind;
  if (node.kind == Kind::Table) {
    json.begin_object();
    for (const auto& [key, value] : node.members) {  // sorted by key
      json.key(key);
      append_json_value(json, value, complaints);
    }
    json.end_object();
  } else if (node.kind == Kind::List) {
    json.begin_array();
    for (const TomlValue& item : node.items) append_json_value(json, item, complaints);
    json.end_array();
  } else if (node.kind == Kind::Text) {
    json.value(node.text);
  } else if (node.kind == Kind::Whole) {
    json.value(node.whole);
  } else if (node.kind == Kind::Flag) {
    json.value(node.flag);
  } else if (node.kind == Kind::Number && std::isfinite(node.number)) {
    json.value(node.number);
  } else {
    complaints.add(node, "'extra_body' holds what JSON cannot say");
    json.null();
  }
}

// One plan's text and everything it includes, looked at together.
class PlanReader {
 public:
  explicit PlanReader(const PlanSurroundings& surroundings) : surroundings_(surroundings) {}

  Result<RunPlan> read(std::string_view text, const std::string& path) {
    const Result<Done> loaded = load(text, path);
    if (!loaded) return loaded.error();
    Keys keys("a plan", kPlanKeys, files_, complaints_);
    RunPlan plan;
    read_grid(keys, plan);
    read_limits(keys, plan);
    read_arms(keys, plan);
    read_user_and_judge(keys, plan);
    if (complaints_.first()) return *complaints_.first();
    return plan;
  }

 private:
  // Parses a file and, after it, what it includes: the last one first, for it overrides the others.
  Result<Done> load(std::string_view text, const std::string& path) {
    constexpr std::size_t kMostFiles = 64;
    if (tables_.size() == kMostFiles)
      return Error{ErrorKind::Malformed, "includes too many files", path};
    const Result<const TomlValue*> table = parsed(text, path);
    if (!table) return table.error();
    Keys::check("a plan", kPlanKeys, **table, complaints_);
    files_.push_back(*table);
    if (complaints_.first()) return *complaints_.first();
    Keys keys("a plan", kPlanKeys, {*table}, complaints_);
    const Names includes = keys.texts("include");
    if (complaints_.first()) return *complaints_.first();
    open_.push_back(fs::path(path).lexically_normal().string());
    for (auto include = includes.rbegin(); include != includes.rend(); ++include) {
      const TomlValue& node = *(*table)->get("include");
      const std::string file = beside(node, *include);
      if (std::find(open_.begin(), open_.end(), file) != open_.end())
        return Error{ErrorKind::Malformed, fmt::format("includes itself through '{}'", *include),
                     node.place()};
      const Result<std::string> content = surroundings_.read(file);
      if (!content)
        return Error{content.error().kind,
                     fmt::format("includes '{}', which {}", *include, content.error().message),
                     node.place()};
      const Result<Done> loaded = load(*content, file);
      if (!loaded) return loaded.error();
    }
    open_.pop_back();
    return Done{};
  }

  Result<const TomlValue*> parsed(std::string_view text, const std::string& path) {
    Result<TomlValue> tree = read_toml_tree(text, path);
    if (!tree) return tree.error();
    tables_.push_back(std::make_unique<TomlValue>(std::move(*tree)));
    return tables_.back().get();
  }

  void read_grid(Keys& keys, RunPlan& plan) {
    plan.name = keys.needed_text("name");
    plan.out = path_of(keys, "out");
    if (plan.out.empty()) plan.out = beside(keys.self(), "runs/" + file_safe(plan.name));
    plan.tau2 = path_of(keys, "tau2");
    plan.surface = path_of(keys, "surface");
    if (!keys.find("domains")) keys.missing("domains");
    plan.domains = keys.texts("domains");
    Names known;
    for (const DomainRow& row : domain_rows()) known.emplace_back(row.name);
    for (const std::string& domain : plan.domains)
      if (std::find(known.begin(), known.end(), domain) == known.end())
        keys.wrong(*keys.find("domains"),
                   fmt::format("there is no domain '{}'{}", domain, did_you_mean(domain, known)));
    plan.split = keys.text("split");
    plan.tasks = keys.texts("tasks");
    if (!plan.tasks.empty() && !plan.split.empty())
      keys.wrong(*keys.find("tasks"), "'tasks' and 'split' both say which tasks: keep one");
    if (!plan.tasks.empty() && plan.domains.size() > 1)
      keys.wrong(*keys.find("tasks"), "'tasks' needs a plan of one domain");
  }

  static std::string file_safe(const std::string& name) {
    std::string out;
    for (const char c : name) out += c == '/' || c == '\\' ? '-' : c;
    return out.starts_with('.') ? "run" + out : out;
  }

  std::string path_of(Keys& keys, std::string_view key) {
    const std::string path = keys.text(key);
    return path.empty() ? path : beside(*keys.find(key), path);
  }

  void read_limits(Keys& keys, RunPlan& plan) {
    keys.whole("trials", 1, 10000, plan.trials);
    keys.whole("max_steps", 1, 100000, plan.max_steps);
    keys.whole("max_errors", 1, 100000, plan.max_errors);
    keys.whole("concurrency", 1, 10000, plan.concurrency);
    const std::optional<std::int64_t> seed =
        keys.whole("seed", std::int64_t{0}, std::numeric_limits<std::int64_t>::max());
    if (seed) plan.seed = static_cast<std::uint64_t>(*seed);
  }

  // The tables of this name in the files, each checked.
  Layers layers_of(std::string_view name, const Names& known) {
    Layers layers;
    for (const TomlValue* file : files_) {
      const TomlValue* node = file->get(name);
      if (!node) continue;
      if (node->kind != TomlValue::Kind::Table) {
        complaints_.add(*node, fmt::format("'{}' must be a table: [{}]", name, name));
        continue;
      }
      Keys::check(fmt::format("[{}]", name), known, *node, complaints_);
      layers.push_back(node);
    }
    return layers;
  }

  void read_arms(Keys& keys, RunPlan& plan) {
    const Layers defaults = layers_of("defaults", default_keys());
    const TomlValue* node = keys.find("arm");
    if (!node || node->items.empty()) {
      complaints_.add(node ? *node : keys.self(), "a plan needs arms: one [[arm]] for each");
      return;
    }
    for (const TomlValue& item : node->items) {
      if (item.kind != TomlValue::Kind::Table) {
        complaints_.add(item, "an arm must be a [[arm]] table");
        continue;
      }
      Keys::check("an arm", arm_keys(), item, complaints_);
      Layers layers = {&item};
      layers.insert(layers.end(), defaults.begin(), defaults.end());
      plan.arms.push_back(arm_of(Keys("an arm", arm_keys(), std::move(layers), complaints_), plan));
    }
    check_labels(node->items, plan);
  }

  void check_labels(const std::vector<TomlValue>& list, const RunPlan& plan) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < plan.arms.size() && plan.arms.size() == list.size(); ++i) {
      const std::string& label = plan.arms[i].label;
      constexpr std::size_t kLongest = 80;
      if (label.size() > kLongest) complaints_.add(list[i], "the label of an arm is too long");
      if (!seen.insert(label).second)
        complaints_.add(list[i],
                        fmt::format("two arms are called '{}': give each a 'label'", label));
    }
  }

  ArmPlan arm_of(Keys keys, const RunPlan& plan) {
    ArmPlan arm;
    arm.where = keys.self().place();
    arm.precision = keys.needed_text("precision");
    arm.family = keys.text("family", plan.name);
    arm.architecture = keys.text("architecture");
    arm.label = keys.text("label", arm.precision);
    keys.flag("baseline", arm.baseline);
    arm.agent = model_of(keys, 20);
    if (const auto most = keys.whole("max_errors", std::int64_t{1}, 100000))
      arm.max_errors = static_cast<int>(*most);
    arm.repair = repair_of(keys);
    const std::string constrain = keys.text("constrain", "none");
    if (constrain != "names" && constrain != "none")
      keys.wrong(*keys.find("constrain"), "'constrain' must be \"names\" or \"none\"");
    arm.constrain_names = constrain == "names";
    return arm;
  }

  std::optional<RepairPlan> repair_of(Keys& keys) {
    const TomlValue* node = keys.find("repair");
    if (!node) return std::nullopt;
    if (node->as_flag() == std::optional<bool>(false)) return std::nullopt;
    if (node->kind != TomlValue::Kind::Table) {
      keys.wrong(*node, "'repair' must be a table, or false");
      return std::nullopt;
    }
    Keys::check("repair", kRepairKeys, *node, complaints_);
    Keys inner("repair", kRepairKeys, {node}, complaints_);
    RepairPlan repair;
    const Names channels = inner.texts("channels");
    if (!channels.empty()) repair.channels = channels;
    const Names known = {"tool_name", "malformed", "schema"};
    for (const std::string& channel : channels)
      if (std::find(known.begin(), known.end(), channel) == known.end())
        keys.wrong(*inner.find("channels"),
                   fmt::format("repair knows tool_name, malformed and schema, not '{}'{}", channel,
                               did_you_mean(channel, known)));
    inner.whole("attempts", 1, 100, repair.attempts);
    inner.flag("spends_budget", repair.spends_budget);
    return repair;
  }

  ModelPlan model_of(Keys& keys, int usual_logprobs) {
    ModelPlan model;
    model.model = keys.needed_text("model");
    Sampling& sampling = model.sampling;
    sampling.temperature = keys.number("temperature", 0, 10);
    sampling.top_p = keys.number("top_p", 0, 1);
    if (const auto most = keys.whole("max_tokens", std::int64_t{1}, 10000000))
      sampling.max_tokens = static_cast<int>(*most);
    sampling.logprobs = usual_logprobs;
    keys.whole("logprobs", 0, 100, sampling.logprobs);
    if (const TomlValue* body = keys.find("extra_body")) {
      if (body->kind != TomlValue::Kind::Table) keys.wrong(*body, "'extra_body' must be a table");
      JsonWriter json;
      append_json_value(json, *body, complaints_);
      if (body->kind == TomlValue::Kind::Table) sampling.extra_body = json.take();
      const Result<Done> sound = check_extra_body(sampling.extra_body);
      if (!sound) keys.wrong(*body, sound.error().message);
    }
    keys.flag("send_reasoning", model.send_reasoning);
    read_endpoint(keys, model);
    constexpr double kDearest = 1e6;
    model.prompt_usd_per_million = keys.number("prompt_usd_per_million", 0, kDearest);
    model.completion_usd_per_million = keys.number("completion_usd_per_million", 0, kDearest);
    return model;
  }

  void read_endpoint(Keys& keys, ModelPlan& model) {
    Endpoint& endpoint = model.endpoint;
    endpoint.base_url = keys.text("base_url");
    endpoint.api_key_env = keys.text("api_key_env");
    keys.whole("max_concurrency", 1, 4096, endpoint.max_concurrency);
    keys.whole("retries", 0, 100, endpoint.retries);
    constexpr double kLongest = 86400;
    const auto seconds = [&](std::string_view key, double& value) {
      value = keys.number(key, 0.001, kLongest).value_or(value);
    };
    seconds("connect_timeout_seconds", endpoint.connect_timeout_seconds);
    seconds("first_byte_timeout_seconds", endpoint.first_byte_timeout_seconds);
    seconds("timeout_seconds", endpoint.timeout_seconds);
    const TomlValue* named = keys.find("model");
    if (!named || model.model.empty()) return;
    if (is_scripted(model.model)) {
      const Result<Done> checked = check_scripted(model.model);
      if (!checked) keys.wrong(*named, checked.error().message);
      refuse_keys(keys, kFileKeys, "is for models in files, and '{}' is a script", model);
      endpoint.base_url.clear();  // of [defaults]
      endpoint.api_key_env.clear();
      return;
    }
    if (model.model.ends_with(".gguf") && endpoint.base_url.empty()) {
      read_engine(keys, *named, model);
      return;
    }
    refuse_keys(keys, kFileKeys, "is for models in files, and '{}' is behind a server", model);
    check_address(keys, *named, model);
  }

  // What [defaults] and included files have for models of the other kind is passed over.
  void refuse_keys(Keys& keys, const Names& refused, const char* reason, const ModelPlan& model) {
    for (const std::string& key : refused)
      if (const TomlValue* node = keys.self().get(key))
        keys.wrong(*node,
                   fmt::format("'{}' {}", key, fmt::format(fmt::runtime(reason), model.model)));
  }

  void read_engine(Keys& keys, const TomlValue& named, ModelPlan& model) {
    refuse_keys(keys, kServerKeys, "is for models behind a server, and '{}' is a file", model);
    LlamaSettings engine;
    engine.file = beside(named, model.model);
    engine.template_file = path_of(keys, "template");
    keys.whole("threads", 1, 1024, engine.threads);
    keys.whole("gpu_layers", -1, 100000, engine.gpu_layers);
    keys.whole("context", 16, 100000000, engine.context);
    keys.whole("parallel", 1, 256, engine.parallel);
    keys.flag("deterministic", engine.deterministic);
    engine.kv = keys.text("kv", engine.kv);
    const Names known = {"f32", "f16", "bf16", "q8_0", "q4_0"};
    if (std::find(known.begin(), known.end(), engine.kv) == known.end())
      keys.wrong(*keys.find("kv"), fmt::format("'kv' must be one of {}, not '{}'",
                                               fmt::join(known, ", "), engine.kv));
    if (const auto most = keys.whole("top_k", std::int64_t{1}, 10000000))
      model.sampling.top_k = static_cast<int>(*most);
    model.endpoint = Endpoint{};
    model.endpoint.max_concurrency = engine.parallel;
    model.sampling.extra_body.clear();
    model.send_reasoning = false;
    model.engine = std::move(engine);
  }

  void check_address(Keys& keys, const TomlValue& named, const ModelPlan& model) {
    const Endpoint& endpoint = model.endpoint;
    const TomlValue* address = keys.find("base_url");
    if (!address) {
      keys.wrong(named, fmt::format("the model '{}' needs the key 'base_url'", model.model));
      return;
    }
    const std::string& url = endpoint.base_url;
    if (!url.starts_with("http://") && !url.starts_with("https://"))
      keys.wrong(*address, "'base_url' must begin with http:// or https://");
    else if (!chat_completions_url(url))
      keys.wrong(*address, "'base_url' is not an address such as http://127.0.0.1:8000/v1");
    if (url.find('@') != std::string::npos || url.find('?') != std::string::npos)
      keys.wrong(*address, "'base_url' must hold no name, key or query: see 'api_key_env'");
    if (endpoint.api_key_env.empty()) return;
    if (!is_variable_name(endpoint.api_key_env)) {  // perhaps the key itself: it is not shown
      keys.wrong(*keys.find("api_key_env"),
                 "'api_key_env' must be the name of an environment variable in capitals, such as "
                 "OPENAI_API_KEY; a key itself has no place in a plan");
      return;
    }
    const char* key = surroundings_.variable(endpoint.api_key_env.c_str());
    if (key == nullptr || *key == '\0')
      complaints_.add(
          *keys.find("api_key_env"),
          fmt::format("the environment variable {} should hold the key of {}, but is {}",
                      endpoint.api_key_env, url, key ? "empty" : "not set"),
          ErrorKind::InvalidArgument);
  }

  void read_user_and_judge(Keys& keys, RunPlan& plan) {
    const Layers user = layers_of("user", kModelKeys);
    const Layers judge = layers_of("judge", kModelKeys);
    const bool scripted = std::all_of(plan.arms.begin(), plan.arms.end(), [](const ArmPlan& arm) {
      return is_scripted(arm.agent.model);
    });
    if (!user.empty()) {
      Keys user_keys("[user]", kModelKeys, user, complaints_);
      plan.user = model_of(user_keys, 0);
    } else if (scripted) {
      plan.user.model = "scripted:reference";
      plan.user.endpoint.max_concurrency = 4096;  // the arms set the limit
    } else {
      keys.wrong(keys.self(), "a plan needs a [user] with a 'model'");
    }
    if (judge.empty()) return;
    Keys judge_keys("[judge]", kModelKeys, judge, complaints_);
    plan.judge = model_of(judge_keys, 0);
  }

  const PlanSurroundings& surroundings_;
  Complaints complaints_;
  std::vector<std::unique_ptr<TomlValue>> tables_;
  Layers files_;                   // the plan, then what it includes
  std::vector<std::string> open_;  // the files that are including right now
};

}  // namespace

Result<RunPlan> parse_plan(std::string_view toml, const std::string& path,
                           const PlanSurroundings& surroundings) {
  return PlanReader(surroundings).read(toml, path);
}

Result<RunPlan> read_plan(const std::string& path) {
  constexpr std::uint64_t kLargest = 16 << 20;
  const auto read = [](const std::string& file) { return read_file(file, kLargest); };
  const Result<std::string> text = read(path);
  if (!text) return text.error();
  return parse_plan(*text, path, {read, [](const char* name) { return std::getenv(name); }});
}

std::vector<std::string> plan_keys() {
  Names keys = kPlanKeys;
  for (const char* owner : {"user.", "judge."})
    for (const std::string& key : kModelKeys) keys.push_back(owner + key);
  for (const std::string& key : arm_keys()) keys.push_back("arm." + key);
  for (const std::string& key : kRepairKeys) keys.push_back("arm.repair." + key);
  return keys;
}

}  // namespace unmask
