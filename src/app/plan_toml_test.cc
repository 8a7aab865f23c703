#include "app/plan_toml.h"

#include <gtest/gtest.h>

#include <map>

#include "base/file.h"

namespace unmask {
namespace {

using Files = std::map<std::string, std::string>;

Result<RunPlan> parsed(const std::string& toml, const Files& files = {},
                       const std::map<std::string, std::string>& variables = {}) {
  PlanSurroundings surroundings;
  surroundings.read = [&](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return Error{ErrorKind::NotFound, "is not there", path};
    return found->second;
  };
  surroundings.variable = [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  return parse_plan(toml, "dir/plan.toml", surroundings);
}

constexpr const char* kHead = "name = 'p'\ndomains = ['mock']\n";
constexpr const char* kArm = "[[arm]]\nprecision = 'BF16'\nmodel = 'scripted:reference'\n";

// The sentence that refuses `toml`.
std::string complaint(const std::string& toml, const Files& files = {}) {
  const Result<RunPlan> plan = parsed(toml, files);
  return plan ? "accepted" : to_string(plan.error());
}

TEST(PlanToml, FillsInWhatIsAbsent) {
  const Result<RunPlan> plan = parsed(std::string(kHead) + kArm);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(plan->out, "dir/runs/p");
  EXPECT_EQ(plan->trials, 1);
  EXPECT_EQ(plan->max_errors, 10);
  EXPECT_EQ(plan->user.model, "scripted:reference");
  EXPECT_EQ(plan->arms.at(0).label, "BF16");
  EXPECT_EQ(plan->arms[0].family, "p");
  EXPECT_EQ(plan->arms[0].where, "dir/plan.toml:3");
  EXPECT_FALSE(plan->arms[0].repair);
}

TEST(PlanToml, ReadsEveryKey) {
  const Result<RunPlan> plan = parsed(R"(
name = "full"
out = "/runs/full"
domains = ["retail"]
tasks = ["1", "2"]
trials = 4
seed = 7
max_steps = 50
max_errors = 9
concurrency = 3
tau2 = "../tau2"
surface = "surface"
[user]
model = "u"
base_url = "https://host/v1"
api_key_env = "KEY"
[judge]
model = "j"
base_url = "http://host/v1"
[[arm]]
label = "four"
family = "f"
architecture = "moe"
precision = "INT4"
baseline = true
model = "m"
base_url = "http://other:8000/v1"
max_concurrency = 64
connect_timeout_seconds = 1
first_byte_timeout_seconds = 2.5
timeout_seconds = 3
retries = 0
temperature = 0.5
top_p = 1
max_tokens = 100
extra_body = { z = [1, true, "ü"], a = { b = 0.5 } }
logprobs = 5
send_reasoning = true
prompt_usd_per_million = 0.1
completion_usd_per_million = 2
max_errors = 3
repair = { channels = ["schema"], attempts = 2, spends_budget = true }
constrain = "names"
)",
                                      {}, {{"KEY", "secret"}});
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(plan->out, "/runs/full");
  EXPECT_EQ(plan->tau2, "tau2");
  EXPECT_EQ(plan->surface, "dir/surface");
  EXPECT_EQ(plan->tasks, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(plan->seed, 7u);
  EXPECT_EQ(plan->concurrency, 3);
  EXPECT_EQ(plan->user.endpoint.api_key_env, "KEY");
  EXPECT_EQ(plan->user.sampling.logprobs, 0);
  ASSERT_TRUE(plan->judge);
  EXPECT_EQ(plan->judge->model, "j");
  const ArmPlan& arm = plan->arms.at(0);
  EXPECT_EQ(arm.label, "four");
  EXPECT_TRUE(arm.baseline);
  const Endpoint endpoint{"http://other:8000/v1", "", 64, 1, 2.5, 3, 0};
  EXPECT_EQ(arm.agent.endpoint, endpoint);
  EXPECT_EQ(arm.agent.sampling.extra_body, R"({"a": {"b": 0.5}, "z": [1, true, "ü"]})");
  EXPECT_EQ(arm.agent.sampling.logprobs, 5);
  EXPECT_EQ(arm.agent.sampling.temperature, 0.5);
  EXPECT_EQ(arm.agent.completion_usd_per_million, 2);
  EXPECT_EQ(arm.max_errors, 3);
  ASSERT_TRUE(arm.repair);
  EXPECT_EQ(*arm.repair, (RepairPlan{{"schema"}, 2, true}));
  EXPECT_TRUE(arm.constrain_names);
}

TEST(PlanToml, TakesDefaultsForEachArmThatLacksAKey) {
  const Result<RunPlan> plan = parsed(std::string(kHead) +
                                      "[defaults]\nmodel = 'scripted:reference'\nfamily = 'g'\n"
                                      "repair = {}\n"
                                      "[[arm]]\nprecision = 'BF16'\n"
                                      "[[arm]]\nprecision = 'FP8'\nfamily = 'h'\nrepair = false\n");
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(plan->arms.at(0).family, "g");
  EXPECT_TRUE(plan->arms[0].repair);
  EXPECT_EQ(plan->arms.at(1).family, "h");
  EXPECT_FALSE(plan->arms[1].repair);
}

TEST(PlanToml, IncludesFilesUnderneathItsOwnKeys) {
  const Files files = {
      {"dir/a.toml", "trials = 2\nseed = 2\nmax_steps = 2\n[defaults]\nfamily = 'a'\n"},
      {"dir/sub/b.toml", "include = ['c.toml']\nseed = 3\nout = 'here'\n"},
      {"dir/sub/c.toml", "max_steps = 4\n[defaults]\nfamily = 'c'\narchitecture = 'moe'\n"}};
  const Result<RunPlan> plan =
      parsed("include = ['a.toml', 'sub/b.toml']\ntrials = 1\n" + std::string(kHead) + kArm, files);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(plan->trials, 1);
  EXPECT_EQ(plan->seed, 3u);
  EXPECT_EQ(plan->max_steps, 4);
  EXPECT_EQ(plan->out, "dir/sub/here");
  EXPECT_EQ(plan->arms.at(0).family, "c");
  EXPECT_EQ(plan->arms[0].architecture, "moe");
}

TEST(PlanToml, FindsCirclesAndMissingFiles) {
  const Files files = {{"dir/a.toml", "include = ['b.toml']"},
                       {"dir/b.toml", "\ninclude = ['sub/../a.toml']"}};
  EXPECT_EQ(complaint("include = ['a.toml']\n" + std::string(kHead) + kArm, files),
            "dir/b.toml:2: includes itself through 'sub/../a.toml'");
  EXPECT_EQ(complaint("include = ['plan.toml']\n", files),
            "dir/plan.toml:1: includes itself through 'plan.toml'");
  EXPECT_EQ(complaint("include = ['none.toml']\n"),
            "dir/plan.toml:1: includes 'none.toml', which is not there");
}

TEST(PlanToml, NamesMistakesInIncludedFilesByThatFile) {
  EXPECT_EQ(complaint("include = ['a.toml']\n" + std::string(kHead) + kArm,
                      {{"dir/a.toml", "\n\ntrails = 3"}}),
            "dir/a.toml:3: a plan has no key 'trails' (did you mean 'trials'?)");
}

struct Mistake {
  std::string toml;
  std::string sentence;
};

TEST(PlanToml, NamesEveryMistakeWithItsLine) {
  const std::string head = kHead;
  const std::string arm = kArm;
  const std::string remote = "[[arm]]\nprecision = 'B'\nmodel = 'm'\n";
  const Mistake mistakes[] = {
      {head + arm + "temprature = 0",
       "plan.toml:6: an arm has no key 'temprature' (did you mean 'temperature'?)"},
      {head + "trials = 0\n" + arm, "plan.toml:3: 'trials' must be a whole number from 1 to 10000"},
      {head + "trials = '4'\n" + arm,
       "plan.toml:3: 'trials' must be a whole number from 1 to 10000"},
      {head + "seed = -1\n" + arm, "plan.toml:3: 'seed' must be a whole number, at least 0"},
      {head + arm + "temperature = 11", "plan.toml:6: 'temperature' must be a number from 0 to 10"},
      {head + arm + "temperature = nan",
       "plan.toml:6: 'temperature' must be a number from 0 to 10"},
      {head + arm + "baseline = 1", "plan.toml:6: 'baseline' must be true or false"},
      {head + arm + "constrain = 'all'", "plan.toml:6: 'constrain' must be \"names\" or \"none\""},
      {head + arm + "repair = { channels = ['tool_names'] }",
       "plan.toml:6: repair knows tool_name, malformed and schema, not 'tool_names' (did you mean "
       "'tool_name'?)"},
      {head + arm + "repair = { tries = 3 }", "plan.toml:6: repair has no key 'tries'"},
      {head + arm + "extra_body = { a = 1979-05-27 }",
       "plan.toml:6: 'extra_body' holds what JSON cannot say"},
      {head + arm + arm, "plan.toml:6: two arms are called 'BF16': give each a 'label'"},
      {head, "plan.toml:1: a plan needs arms: one [[arm]] for each"},
      {"domains = ['mock']\n" + arm, "plan.toml:1: a plan needs the key 'name'"},
      {"name = 'p'\n" + arm, "plan.toml:1: a plan needs the key 'domains'"},
      {"name = 'p'\ndomains = ['retial']\n" + arm,
       "plan.toml:2: there is no domain 'retial' (did you mean 'retail'?)"},
      {"name = 'p'\ndomains = ['mock', 'mock']\n" + arm,
       "plan.toml:2: 'domains' names 'mock' twice"},
      {"name = 'p'\ndomains = 'mock'\n" + arm,
       "plan.toml:2: 'domains' must be a list of texts that is not empty"},
      {head + "tasks = ['1']\nsplit = 'base'\n" + arm,
       "plan.toml:3: 'tasks' and 'split' both say which tasks: keep one"},
      {"name = 'p'\ndomains = ['mock', 'retail']\ntasks = ['1']\n" + arm,
       "plan.toml:3: 'tasks' needs a plan of one domain"},
      {head + "[user]\n" + arm, "plan.toml:3: [user] needs the key 'model'"},
      {head + remote, "plan.toml:5: the model 'm' needs the key 'base_url'"},
      {head + remote + "base_url = 'localhost:8000'",
       "plan.toml:6: 'base_url' must begin with http:// or https://"},
      {head + remote + "base_url = 'http://me:key@host'",
       "plan.toml:6: 'base_url' must hold no name, key or query: see 'api_key_env'"},
      {head + remote + "base_url = 'http://host'",
       "plan.toml:1: a plan needs a [user] with a 'model'"},
      {head + "[[arm]]\nprecision = 'B'\nmodel = 'scripted:refrence'",
       "plan.toml:5: there is no script 'refrence'; there are: reference"},
      {head + "user = 3\n" + arm, "plan.toml:3: 'user' must be a table: [user]"},
      {head + "arm = 3", "plan.toml:3: a plan needs arms: one [[arm]] for each"},
  };
  for (const Mistake& mistake : mistakes) {
    const std::string said = complaint(mistake.toml);
    EXPECT_EQ(said.substr(0, ("dir/" + mistake.sentence).size()), "dir/" + mistake.sentence)
        << mistake.toml;
  }
}

TEST(PlanToml, TakesAModelInAFile) {
  const Result<RunPlan> plan = parsed(std::string(kHead) +
                                      "[user]\nmodel = 'scripted:reference'\n[defaults]\n"
                                      "timeout_seconds = 9\n[[arm]]\nprecision = 'Q4_0'\n"
                                      "model = 'models/x.gguf'\ntemplate = 't.jinja'\n"
                                      "threads = 2\ngpu_layers = 3\nkv = 'q8_0'\n"
                                      "context = 4096\nparallel = 5\ndeterministic = true\n"
                                      "top_k = 7\ntemperature = 0.5\n");
  ASSERT_TRUE(plan) << to_string(plan.error());
  const ModelPlan& model = plan->arms.at(0).agent;
  ASSERT_TRUE(model.engine);
  const LlamaSettings expected{"dir/models/x.gguf", "dir/t.jinja", 2, 3, "q8_0", 4096, 5, true};
  EXPECT_EQ(*model.engine, expected);
  EXPECT_EQ(model.model, "models/x.gguf");
  EXPECT_EQ(model.endpoint.max_concurrency, 5);
  EXPECT_EQ(model.sampling.top_k, 7);
  EXPECT_EQ(settings_of(model.sampling), R"({"temperature": 0.5, "top_k": 7})");
}

TEST(PlanToml, KeepsTheKeysOfServersAndOfFilesApart) {
  const std::string head =
      std::string(kHead) + "[user]\nmodel = 'scripted:reference'\n[[arm]]\nprecision = 'Q4_0'\n";
  EXPECT_EQ(complaint(head + "model = 'x.gguf'\nretries = 2\n"),
            "dir/plan.toml:8: 'retries' is for models behind a server, and 'x.gguf' is a file");
  EXPECT_EQ(complaint(head + "model = 'm'\nbase_url = 'http://h/v1'\nkv = 'q4_0'\n"),
            "dir/plan.toml:9: 'kv' is for models in files, and 'm' is behind a server");
  EXPECT_EQ(complaint(head + "model = 'scripted:reference'\nthreads = 2\n"),
            "dir/plan.toml:8: 'threads' is for models in files, and 'scripted:reference' is a "
            "script");
  EXPECT_EQ(complaint(head + "model = 'x.gguf'\nkv = 'q3'\n"),
            "dir/plan.toml:8: 'kv' must be one of f32, f16, bf16, q8_0, q4_0, not 'q3'");
  const Result<RunPlan> served = parsed(head + "model = 'x.gguf'\nbase_url = 'http://h/v1'\n");
  ASSERT_TRUE(served) << to_string(served.error());
  EXPECT_FALSE(served->arms[0].agent.engine) << "an address beside it makes it a server's";
}

TEST(PlanToml, WantsTheVariableOfAKeyToBeSet) {
  const std::string toml = std::string(kHead) +
                           "[user]\nmodel = 'scripted:reference'\n[[arm]]\nprecision = 'B'\n"
                           "model = 'm'\nbase_url = 'http://host/v1'\napi_key_env = 'THE_KEY'\n";
  EXPECT_EQ(complaint(toml),
            "dir/plan.toml:9: the environment variable THE_KEY should hold the key of "
            "http://host/v1, but is not set");
  const Result<RunPlan> empty = parsed(toml, {}, {{"THE_KEY", ""}});
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().message.find("but is empty"), std::string::npos);
  const Result<RunPlan> plan = parsed(toml, {}, {{"THE_KEY", "sk-secret"}});
  ASSERT_TRUE(plan) << to_string(plan.error());
  for (const Setting& setting : settings_of(*plan))
    EXPECT_EQ((setting.first + setting.second).find("sk-secret"), std::string::npos);
}

TEST(PlanToml, NeverShowsAKeyWrittenWhereItsVariableBelongs) {
  const std::string said =
      complaint(std::string(kHead) +
                "[user]\nmodel = 'scripted:reference'\n[[arm]]\nprecision = 'B'\nmodel = 'm'\n"
                "base_url = 'http://host/v1'\napi_key_env = 'sk-abc123'\n");
  EXPECT_EQ(said.find("sk-abc123"), std::string::npos) << said;
  EXPECT_EQ(said.find("dir/plan.toml:9: 'api_key_env' must be the name"), 0u) << said;
}

TEST(PlanToml, RefusesAtOnceWhatAnEndpointWouldRefuse) {
  const std::string arm = std::string(kHead) +
                          "[user]\nmodel = 'scripted:reference'\n[[arm]]\nprecision = 'B'\n"
                          "model = 'm'\n";
  EXPECT_NE(complaint(arm + "base_url = 'http://h /v1'\n").find("is not an address"),
            std::string::npos);
  EXPECT_NE(complaint(arm + "base_url = 'http://h:99999/v1'\n").find("is not an address"),
            std::string::npos);
  EXPECT_NE(complaint(arm + "base_url = 'http://h/v1'\nextra_body = { temperature = 1 }\n")
                .find("extra_body may not hold \"temperature\""),
            std::string::npos);
  EXPECT_NE(complaint(std::string(kHead) + "[[arm]]\nprecision = 'B'\n"
                                           "model = 'scripted:reference?delay_ms=-1'\n")
                .find("must be a number from 0"),
            std::string::npos);
}

TEST(PlanToml, RefusesWhatIsNoToml) {
  EXPECT_EQ(complaint("name = \n").find("dir/plan.toml:1: is not TOML"), 0u);
  for (const char* broken :
       {"[[+]]", "[{", "\xff", "a = [1", "[[arm]", "\xCE\xAB = 1", "x = \xCE\xAB"})
    EXPECT_NE(complaint(broken), "accepted") << broken;
}

TEST(PlanToml, IsDocumentedKeyByKey) {
  const Result<std::string> docs = read_file(UNMASK_DOCS "/plan.md");
  ASSERT_TRUE(docs);
  for (const std::string& key : plan_keys()) {
    const std::string cell = "| `" + key.substr(key.rfind('.') + 1) + "` |";
    EXPECT_NE(docs->find(cell), std::string::npos) << key;
  }
}

TEST(PlanToml, ReadsThePlansOfItsDocumentation) {
  const std::string docs =
      *read_file(UNMASK_DOCS "/plan.md") + *read_file(UNMASK_DOCS "/../README.md");
  constexpr std::string_view kOpen = "```toml\n";
  int plans = 0;
  for (std::size_t at = docs.find(kOpen); at != std::string::npos; at = docs.find(kOpen, at)) {
    at += kOpen.size();
    const std::string toml = docs.substr(at, docs.find("```", at) - at);
    const Result<RunPlan> plan = parsed(toml, {}, {{"OPENAI_API_KEY", "x"}});
    EXPECT_TRUE(plan) << to_string(plan.error());
    ++plans;
  }
  EXPECT_EQ(plans, 3);
}

TEST(Drift, IsWhatAnEpisodeIsNotHowManyThereAre) {
  const std::string toml = std::string(kHead) + "trials = 1\nseed = 1\n" + kArm;
  const std::string more =
      std::string(kHead) + "trials = 9\nseed = 1\nconcurrency = 2\n" + kArm +
      "retries = 1\n[[arm]]\nprecision = 'FP8'\nmodel = 'scripted:reference'\n";
  const std::string other = std::string(kHead) + "trials = 1\nseed = 2\n" + kArm + "top_p = 0.5\n";
  const std::vector<Setting> saved = settings_of(*parsed(toml));
  EXPECT_TRUE(drift_between(saved, settings_of(*parsed(more))).empty());
  EXPECT_EQ(
      drift_between(saved, settings_of(*parsed(other))),
      (std::vector<Drift>{{"arm 'BF16' sampling", "{}", R"({"top_p": 0.5})"}, {"seed", "1", "2"}}));
}

}  // namespace
}  // namespace unmask
