#include "rollout/runner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <set>

#include "environment/data_folder.h"
#include "rollout/reference.h"

namespace unmask {
namespace {

namespace fs = std::filesystem;

// An agent that answers what a function says, else as the reference does.
class MoodyAgent : public ReferenceAgent {
 public:
  using Mood = std::function<std::optional<Error>()>;
  MoodyAgent(std::shared_ptr<ReferencePlan> plan, Mood mood)
      : ReferenceAgent(std::move(plan)), mood_(std::move(mood)) {}
  Result<TurnMessage> next(std::span<const TurnMessage> incoming) override {
    if (std::optional<Error> error = mood_()) return *error;
    return ReferenceAgent::next(incoming);
  }

 private:
  Mood mood_;
};

class MoodyFactory : public ParticipantFactory {
 public:
  std::function<std::optional<Error>(const Casting&)> mood = [](const Casting&) {
    return std::optional<Error>();
  };

  Result<Done> prepare(const RunPlan&, const std::stop_token&) override { return Done{}; }
  Result<Cast> cast(const Casting& casting) override {
    const auto solution = std::make_shared<ReferencePlan>(casting.task);
    Cast cast;
    cast.agent = std::make_unique<MoodyAgent>(
        solution, [this, copy = std::make_shared<Casting>(casting)] { return mood(*copy); });
    cast.user = std::make_unique<ReferenceUser>(solution, casting.task.user_scenario);
    return cast;
  }
};

class Listener : public RunObserver {
 public:
  void begun(const EpisodeKey&) override { ++begun_count; }
  void saved(const EpisodeKey& key, const Episode& episode) override {
    EXPECT_TRUE(outcomes.emplace(key, episode).second) << to_string(key) << " twice";
  }
  void left(const EpisodeKey&) override { ++left_count; }

  std::map<EpisodeKey, Episode> outcomes;
  int begun_count = 0;
  int left_count = 0;
};

class RunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "unmask-runner-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    const Result<DataFolder> data = DataFolder::open(UNMASK_TEST_DATA "/environment/tau2");
    ASSERT_TRUE(data);
    StagedDomain& stage = stages_["mock"];
    stage.domain = *load_domain(*data, "mock");
    stage.tasks = *load_tasks(*data, *stage.domain->row);
    plan_.domains = {"mock"};
    plan_.trials = 5;
    plan_.user.model = "scripted:reference";
    for (const char* label : {"BF16", "INT4"}) {
      plan_.arms.emplace_back();
      plan_.arms.back().label = label;
      plan_.arms.back().agent.model = "scripted:reference";
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  RunEnd run(const std::string& folder, const Shard& shard = {}) {
    Result<EpisodeStore> store =
        EpisodeStore::open({root_ + "/" + folder, shard, settings_of(plan_), false});
    EXPECT_TRUE(store) << to_string(store.error());
    return run_episodes(plan_, planned_episodes(plan_, stages_, shard), factory_, *store, listener_,
                        control_);
  }

  std::string root_;
  Stages stages_;
  RunPlan plan_;
  MoodyFactory factory_;
  Listener listener_;
  RunControl control_;
};

TEST_F(RunnerTest, PlaysAndGradesEveryEpisodeOnce) {
  const RunEnd end = run("run");
  EXPECT_FALSE(end.error) << to_string(*end.error);
  EXPECT_EQ(end.saved, 20u);
  EXPECT_EQ(end.left, 0u);
  EXPECT_EQ(listener_.outcomes.size(), 20u);
  for (const auto& [key, episode] : listener_.outcomes) {
    EXPECT_EQ(episode.seed, episode_seed(plan_.seed, key.domain, key.task, key.trial));
    EXPECT_TRUE(episode.success.has_value()) << to_string(key);
    EXPECT_EQ(episode.trial, key.trial);
  }
  EXPECT_EQ(read_store(root_ + "/run")->episodes.size(), 20u);
  EXPECT_EQ(run("run").saved, 0u) << "what is done is not played again";
}

// Without what a clock says.
std::string told(Episode episode) {
  episode.duration_seconds.reset();
  std::string text = to_string(EpisodeKey{"", episode.domain, episode.task_id, episode.trial}) +
                     std::to_string(episode.seed.value_or(-1));
  for (const Message& message : episode.messages) text += message.text;
  return text;
}

TEST_F(RunnerTest, PlaysTheSameEpisodesInAnyOrderAndAnyShards) {
  plan_.concurrency = 1;
  (void)run("one");
  const std::map<EpisodeKey, Episode> expected = std::move(listener_.outcomes);
  plan_.concurrency = 0;
  for (const int count : {1, 2, 3}) {
    listener_ = {};
    for (int index = count; index >= 1; --index)
      EXPECT_FALSE(run("shards" + std::to_string(count), {index, count}).error);
    ASSERT_EQ(listener_.outcomes.size(), expected.size());
    for (const auto& [key, episode] : expected)
      EXPECT_EQ(told(listener_.outcomes.at(key)), told(episode)) << to_string(key);
    EXPECT_EQ(read_store(root_ + "/shards" + std::to_string(count))->episodes.size(),
              expected.size());
  }
}

TEST_F(RunnerTest, StopsAtAContextWindowThatTheFirstRequestOverflows) {
  factory_.mood = [](const Casting&) {
    return Error{ErrorKind::Unavailable, "the conversation does not fit",
                 std::string(kContextWindow)};
  };
  plan_.concurrency = 1;
  const RunEnd end = run("run");
  ASSERT_TRUE(end.error);
  EXPECT_EQ(to_string(*end.error),
            "arm 'BF16' (scripted models): refuses every request: the conversation does not fit");
  EXPECT_EQ(end.saved, 0u);
}

TEST_F(RunnerTest, StopsAtAModelThatRefusesEverythingAndSavesNoneOfIt) {
  factory_.mood = [](const Casting&) {
    return Error{ErrorKind::InvalidArgument, "no such model", ""};
  };
  plan_.concurrency = 1;
  const RunEnd end = run("run");
  ASSERT_TRUE(end.error);
  EXPECT_EQ(to_string(*end.error),
            "arm 'BF16' (scripted models): refuses every request: no such model");
  EXPECT_EQ(end.saved, 0u);
  EXPECT_LE(listener_.begun_count, 8);
}

TEST_F(RunnerTest, SaysWhyFewEpisodesWereRefused) {
  factory_.mood = [](const Casting&) {
    return Error{ErrorKind::InvalidArgument, "no such model", ""};
  };
  plan_.arms.resize(1);
  plan_.trials = 1;
  const RunEnd end = run("run");
  ASSERT_TRUE(end.error);
  EXPECT_EQ(end.left, 2u);
}

TEST_F(RunnerTest, StopsAtAServerThatIsNotThere) {
  factory_.mood = [](const Casting&) {
    return Error{ErrorKind::Unavailable, "connection refused", ""};
  };
  const RunEnd end = run("run");
  ASSERT_TRUE(end.error);
  EXPECT_NE(end.error->message.find("does not answer: connection refused"), std::string::npos);
}

TEST_F(RunnerTest, GoesOnWhenSingleEpisodesAreLostAndPlaysThemAgain) {
  std::atomic<int> calls{0};
  plan_.concurrency = 1;
  factory_.mood = [&](const Casting&) -> std::optional<Error> {
    if (++calls % 7 == 0) return Error{ErrorKind::Unavailable, "timed out", ""};
    return std::nullopt;
  };
  const RunEnd end = run("run");
  EXPECT_FALSE(end.error);
  EXPECT_EQ(end.saved, 20u);
  std::size_t lost = 0;
  for (const auto& [key, episode] : listener_.outcomes)
    lost += ended_in_infrastructure_error(episode) ? 1 : 0;
  EXPECT_GT(lost, 0u);
  listener_ = {};
  factory_.mood = [](const Casting&) { return std::nullopt; };
  EXPECT_EQ(run("run").saved, lost);
  const StoreContents contents = *read_store(root_ + "/run");
  EXPECT_EQ(contents.episodes.size(), 20u);
  for (const auto& [key, stored] : contents.episodes) EXPECT_TRUE(contents.done(key));
}

TEST_F(RunnerTest, StopsAtAServerThatWentAway) {
  std::atomic<int> calls{0};
  plan_.concurrency = 1;
  plan_.trials = 50;
  factory_.mood = [&](const Casting&) -> std::optional<Error> {
    if (++calls > 20) return Error{ErrorKind::Unavailable, "connection refused", ""};
    return std::nullopt;
  };
  const RunEnd end = run("run");
  ASSERT_TRUE(end.error);
  EXPECT_NE(end.error->message.find("answers no longer"), std::string::npos)
      << to_string(*end.error);
  EXPECT_LT(listener_.begun_count, 60);
}

TEST_F(RunnerTest, FinishesTheEpisodesInFlightWhenAskedToDrain) {
  std::stop_source drain;
  plan_.concurrency = 2;
  control_.drain = drain.get_token();
  std::atomic<int> calls{0};
  factory_.mood = [&](const Casting&) -> std::optional<Error> {
    if (++calls == 5) drain.request_stop();
    return std::nullopt;
  };
  const RunEnd end = run("run");
  EXPECT_TRUE(end.stopped);
  EXPECT_GT(end.saved, 0u);
  EXPECT_EQ(end.saved + end.left, 20u);
  EXPECT_EQ(static_cast<int>(end.saved), listener_.begun_count);
}

TEST_F(RunnerTest, SavesNothingOfAnEpisodeThatWasGivenUp) {
  std::stop_source both;
  control_ = {both.get_token(), both.get_token()};
  plan_.concurrency = 1;
  std::atomic<int> calls{0};
  factory_.mood = [&](const Casting& casting) -> std::optional<Error> {
    if (++calls == 8) both.request_stop();
    if (casting.stop.stop_requested())
      return Error{ErrorKind::Unavailable, "given up", std::string(kStopped)};
    return std::nullopt;
  };
  const RunEnd end = run("run");
  EXPECT_TRUE(end.stopped);
  EXPECT_FALSE(end.error);
  EXPECT_EQ(listener_.left_count, 1);
  EXPECT_EQ(read_store(root_ + "/run")->episodes.size(), end.saved);
  for (const auto& [key, episode] : listener_.outcomes)
    EXPECT_FALSE(ended_in_infrastructure_error(episode));
}

TEST_F(RunnerTest, GivesEachArmItsBudget) {
  plan_.arms[1].max_errors = 3;
  EXPECT_EQ(*run_info(plan_, plan_.arms[0], "mock").max_errors, 10);
  EXPECT_EQ(*run_info(plan_, plan_.arms[1], "mock").max_errors, 3);
}

TEST(EndpointsOf, TakesABaseUrlForTheSameHoweverItEnds) {
  RunPlan plan;
  const std::pair<const char*, int> bases[] = {
      {"http://h/v1", 4}, {"http://h/v1/", 2}, {"http://h", 8}, {"http://other/v1", 3}};
  for (const auto& [base, slots] : bases) {
    ArmPlan arm;
    arm.agent.model = "m";
    arm.agent.endpoint.base_url = base;
    arm.agent.endpoint.max_concurrency = slots;
    plan.arms.push_back(arm);
  }
  plan.user = plan.arms.front().agent;
  const EndpointTable table = endpoints_of(plan);
  EXPECT_EQ(table.names, (std::vector<std::string>{"http://h/v1", "http://other/v1"}));
  EXPECT_EQ(table.slots, (std::vector<int>{2, 3}));
  EXPECT_EQ(table.index(plan.arms[2].agent), 0u);
  EXPECT_EQ(table.index(plan.arms[3].agent), 1u);
}

TEST(ScriptedModel, IsReadFromItsText) {
  const Result<ScriptedModel> model = scripted_model("scripted:stochastic?hallucinate=0.1&seed=3");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->kind, "stochastic");
  EXPECT_EQ(*model->option("seed"), "3");
  EXPECT_EQ(model->option("recover"), nullptr);
  for (const char* wrong : {"scripted:", "scripted:a?b", "scripted:a?=1",
                            "scripted:a?b=", "scripted:a?b=1&b=2", "reference"})
    EXPECT_FALSE(scripted_model(wrong)) << wrong;
}

TEST(CheckScripted, NamesUnknownKindsAndOptions) {
  EXPECT_TRUE(check_scripted("scripted:reference?delay_ms=5"));
  EXPECT_EQ(check_scripted("scripted:nothing").error().message.find("there is no script"), 0u);
  EXPECT_FALSE(check_scripted("scripted:reference?speed=5"));
}

}  // namespace
}  // namespace unmask
