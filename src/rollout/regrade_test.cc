#include "rollout/regrade.h"

#include <gtest/gtest.h>

#include "environment/json.h"
#include "rollout/episode.h"
#include "rollout/mock_domain_for_tests.h"
#include "rollout/scripted.h"

namespace unmask {
namespace {

using Speaker = ReplayMessage::Speaker;

const Task& task() {
  static const Task kTask = *read_task(*parse_json(R"({"id": "milk",
      "user_scenario": {"instructions": "x"}, "evaluation_criteria": {"actions": [
        {"action_id": "a", "name": "create_task",
         "arguments": {"user_id": "ana", "title": "milk"}}],
      "nl_assertions": ["polite"], "reward_basis": ["DB", "NL_ASSERTION"]}})"));
  return kTask;
}

// The episode as it was played, with a reward written beside it.
Episode recorded(const std::string& title, std::optional<double> reward) {
  const ToolRequest call{"c", "create_task", Value::dict({{"user_id", "ana"}, {"title", title}}),
                         Side::Agent};
  ScriptedAgent agent(
      Script({calls_message(Speaker::Agent, {call})}, text_message(Speaker::Agent, "Done.")));
  ScriptedUser user(
      Script({text_message(Speaker::User, "Add it.")}, text_message(Speaker::User, "###STOP###")));
  Episode episode = play_episode(mock(), task(), agent, &user)->episode;
  episode.reward = reward;
  return episode;
}

RegradedEpisode only(const Episode& episode, std::span<const Task> tasks,
                     const RegradeOptions& options = {}) {
  Run run;
  run.episodes = {episode};
  const RegradeReport report = regrade(run, mock(), tasks, options);
  EXPECT_EQ(report.episodes.size(), 1u);
  EXPECT_EQ(report.count(report.episodes[0].status), 1u);
  return report.episodes[0];
}

RegradedEpisode only(const Episode& episode) {
  return only(episode, std::span(&task(), 1));
}

TEST(Regrade, AgreesWithAFailureItFindsToo) {
  const RegradedEpisode found = only(recorded("bread", 0.0));
  EXPECT_EQ(found.status, RegradeStatus::Same);
  EXPECT_EQ(found.obtained, 0.0);
  EXPECT_EQ(found.reason, "");
}

TEST(Regrade, ExplainsADifferentReward) {
  const RegradedEpisode found = only(recorded("bread", 1.0));
  EXPECT_EQ(found.status, RegradeStatus::Different);
  EXPECT_EQ(found.reason,
            "here DB 0; the databases differ in 1 place(s), first tasks.task_2.title: wanted "
            "\"milk\", is \"bread\"");
}

TEST(Regrade, SaysThatAJudgeIsMissing) {
  const RegradedEpisode found = only(recorded("milk", 1.0));
  EXPECT_EQ(found.status, RegradeStatus::Unsettled);
  EXPECT_EQ(found.reason, "NL_ASSERTION needs a judge; here DB 1");
}

TEST(Regrade, CountsRepliesOfOtherToolsUnlessStrict) {
  Episode episode = recorded("bread", 1.0);
  for (Message& message : episode.messages)
    if (message.result) message.result->text = "Added!";
  EXPECT_NE(only(episode).reason.find("1 replayed call(s) are answered otherwise"),
            std::string::npos);
  RegradeOptions strict;
  strict.strict = true;
  const RegradedEpisode found = only(episode, std::span(&task(), 1), strict);
  EXPECT_EQ(found.status, RegradeStatus::Failed);
  EXPECT_EQ(found.reason.rfind("ValueError: Tool call:", 0), 0u) << found.reason;
}

TEST(Regrade, SkipsWhatCannotBeGradedAndSaysWhy) {
  Episode broken = recorded("milk", std::nullopt);
  broken.termination = Termination::InfrastructureError;
  EXPECT_EQ(only(broken).status, RegradeStatus::Skipped);
  const RegradedEpisode unknown = only(recorded("milk", 1.0), {});
  EXPECT_EQ(unknown.status, RegradeStatus::Skipped);
  EXPECT_EQ(unknown.reason, "no task has this id");
  const RegradedEpisode bare = only(recorded("bread", std::nullopt));
  EXPECT_EQ(bare.status, RegradeStatus::Ungraded);
}

TEST(Regrade, KeepsTheOrderWhateverTheThreads) {
  unmask::Run run;
  for (int i = 0; i < 24; ++i) run.episodes.push_back(recorded(i % 3 ? "milk" : "bread", 0.0));
  RegradeOptions options;
  options.threads = 1;
  const RegradeReport one = regrade(run, mock(), std::span(&task(), 1), options);
  options.threads = 8;
  const RegradeReport many = regrade(run, mock(), std::span(&task(), 1), options);
  for (std::size_t i = 0; i < run.episodes.size(); ++i) {
    EXPECT_EQ(many.episodes[i].index, i);
    EXPECT_EQ(many.episodes[i].status, one.episodes[i].status);
  }
  EXPECT_EQ(one.count(RegradeStatus::Same), 8u);
  EXPECT_EQ(one.count(RegradeStatus::Unsettled), 16u);
}

TEST(TasksOfLog, AreNoneWhereTheFileCarriesNone) {
  const Result<std::vector<Task>> none = tasks_of_log("/nowhere/at/all.json");
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
}

}  // namespace
}  // namespace unmask
