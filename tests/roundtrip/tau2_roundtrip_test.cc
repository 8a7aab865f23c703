// ingest(write(run)) == run for every field that tau2-bench's format can hold.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "ingest/ingest.h"
#include "plant/plant.h"
#include "trace/tau2_writer.h"

namespace unmask {
namespace {

namespace fs = std::filesystem;

// Where a record was read from is the reader's business.
Run without_places(Run run) {
  for (Episode& episode : run.episodes) episode.where.clear();
  run.info.failure_rule.clear();
  return run;
}

Run read_back(const std::string& text) {
  const Result<IngestReport> report = ingest_bytes(text, "memory.json", {});
  EXPECT_TRUE(report) << to_string(report.error());
  if (!report) return {};
  EXPECT_TRUE(report->dropped.empty());
  for (const Warning& warning : report->warnings) ADD_FAILURE() << warning.code << warning.message;
  return without_places(report->run);
}

void expect_same(const Run& read, const Run& written) {
  EXPECT_EQ(read.info, written.info);
  ASSERT_EQ(read.episodes.size(), written.episodes.size());
  for (std::size_t i = 0; i < read.episodes.size(); ++i) {
    const Episode& got = read.episodes[i];
    const Episode& want = written.episodes[i];
    ASSERT_EQ(got.messages.size(), want.messages.size()) << want.id;
    for (std::size_t m = 0; m < got.messages.size(); ++m)
      ASSERT_TRUE(got.messages[m] == want.messages[m]) << want.id << " message " << m;
    ASSERT_TRUE(got == want) << want.id;
  }
}

// A folder of this test's own, removed when the test ends.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& name)
      : path_(fs::temp_directory_path() / (name + std::to_string(::getpid()))) {
    fs::remove_all(path_);
  }
  ~ScratchFolder() { fs::remove_all(path_); }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

PlantedPair every_kind() {
  PlantOptions options;
  options.tasks = 12;
  options.max_errors = 5;
  options.parallel_share = 0.3;
  options.leaked_markup_share = 0.5;
  options.user_calls_per_episode = 2;
  options.user_failure_rate = 0.3;
  for (PlantedArm* arm : {&options.baseline, &options.candidate}) {
    arm->tool_name_rate = 0.1;
    arm->schema_rate = 0.05;
    arm->entity_rate = 0.05;
    arm->rejected_rate = 0.05;
    arm->malformed_rate = 0.08;
    arm->infrastructure_rate = 0.05;
  }
  const Result<PlantedPair> pair = plant_random(options);
  EXPECT_TRUE(pair) << to_string(pair.error());
  return pair ? *pair : PlantedPair{};
}

// Texts and fields that a planted log lacks.
Run awkward_run() {
  Run run;
  run.info.format = "tau2";
  run.info.domain = "mock";
  run.info.model = "m\"odel\\";
  run.info.user_model = "u";
  run.info.agent_settings = R"({"temperature":0.5,"top_p":1.0})";
  run.info.git_commit = "abc";
  run.info.num_trials = 1;
  run.info.max_steps = 30;
  run.info.max_errors = 10;
  run.info.task_ids = {"a/b", "ünï"};
  Episode episode;
  episode.id = "e1";
  episode.task_id = "ünï";
  episode.trial = 3;
  episode.seed = -7;
  episode.termination = Termination::AgentError;
  episode.reward = 0.25;
  episode.success = false;
  episode.duration_seconds = 1e-7;
  Message system;
  system.role = Role::System;
  system.text = "policy\twith\ncontrol \x01 and \x7f and \"quotes\"";
  Message agent;
  agent.role = Role::Agent;
  agent.text = "smile \xF0\x9F\x98\x80 <tool_call>{}</tool_call>";
  agent.raw_text = "smile and then some";
  agent.raw_calls = 2;
  agent.calls.push_back(
      {"c1", "get users", R"({"n": 1.50, "s": "\u00e9"})", true, "", Side::Agent});
  agent.calls.push_back({"c1", "broken", "{\"a\": ", false, "", Side::Agent});
  agent.usage = TokenUsage{10, 20};
  agent.cost_usd = 0.1 + 0.2;
  agent.seconds = 3;
  Message answer;
  answer.role = Role::Tool;
  answer.result = ToolResult{"c1", "", false, "", Side::Agent};
  Message refused = answer;
  refused.result->text = "Error: Tool 'broken' not found.";
  refused.result->failed = true;
  Message user;
  user.role = Role::User;
  user.calls.push_back({"", "check", "{}", true, "", Side::User});
  Message user_answer;
  user_answer.role = Role::Tool;
  user_answer.result = ToolResult{"", "ok", false, "", Side::User};
  episode.messages = {system, agent, answer, refused, user, user_answer};
  run.episodes.push_back(episode);
  Episode ungraded;
  ungraded.id = "e2";
  ungraded.task_id = "a/b";
  ungraded.termination_text = "cosmic_rays";
  run.episodes.push_back(ungraded);
  return run;
}

TEST(Tau2Writer, APlantedPairIsReadBackAsItWas) {
  const PlantedPair pair = every_kind();
  expect_same(read_back(tau2_results(pair.baseline)), without_places(pair.baseline));
  expect_same(read_back(tau2_results(pair.candidate)), without_places(pair.candidate));
}

TEST(Tau2Writer, AwkwardTextsAndAbsentFieldsAreReadBack) {
  const unmask::Run run = awkward_run();
  expect_same(read_back(tau2_results(run)), run);
}

Attempt refused_attempt() {
  Attempt attempt;
  attempt.text = "Let me \"look\".";
  attempt.calls.push_back({"r1", "get_userz", R"({"n": 1.50})", true, "", Side::Agent});
  attempt.calls.push_back({"r2", "get_users", "{\"n\": ", false, "", Side::Agent});
  attempt.refused = 1;
  attempt.channel = "malformed";
  attempt.feedback = "not\nan object";
  attempt.spends_budget = true;
  attempt.usage = TokenUsage{5, 6};
  return attempt;
}

TEST(Tau2Writer, AttemptsAndDecisionsAreReadBack) {
  unmask::Run run = awkward_run();
  Message& raw_and_own = run.episodes[0].messages[1];
  raw_and_own.attempts = {refused_attempt(), Attempt{"", {}, 0, "tool_name", "", false, {}}};
  raw_and_own.decision = R"({"first": {"token": "a", "logprob": -0.5, "top": [["a", -0.5]]}})";
  raw_and_own.attempts[1].empty_text = true;
  raw_and_own.attempts[1].reasoning = "I guess";
  raw_and_own.reasoning = "They \"want\" it.";
  run.episodes[0].messages[4].decision = "{}";
  run.episodes[0].messages[4].empty_text = true;
  expect_same(read_back(tau2_results(run)), run);
}

TEST(Tau2Writer, TheServersAnswerIsWrittenAsItIsAndReadAsRawTextAndCalls) {
  for (const char* blank : {"", " "}) {
    unmask::Run run = awkward_run();
    Message& message = run.episodes[0].messages[1];
    const std::string sent =
        R"("id": 7, "choices": [{"message": {"content": "smile and then some",
        "tool_calls": [{}, {}]}}])";
    message.raw_data = "{" + sent + blank + "}";
    message.attempts = {refused_attempt()};
    const std::string text = tau2_results(run);
    EXPECT_NE(text.find("\"raw_data\": {" + sent + ", \"unmask\": {\"attempts\": "),
              std::string::npos);
    message.raw_data.clear();
    expect_same(read_back(text), run);
  }
  unmask::Run empty = awkward_run();
  empty.episodes[0].messages[1].raw_data = "{}";
  expect_same(read_back(tau2_results(empty)), awkward_run());
}

TEST(Tau2Writer, WhatIsNoAttemptIsLeftOutAndSaid) {
  unmask::Run run = awkward_run();
  run.episodes[0].messages[4].raw_data =
      R"({"unmask": {"decision": [1], "attempts": [1, {}, {"channel": "schema", "refused": -4,
      "calls": "x", "usage": 3}]}})";
  const Result<IngestReport> report = ingest_bytes(tau2_results(run), "memory.json", {});
  ASSERT_TRUE(report) << to_string(report.error());
  const Message& read = report->run.episodes.at(0).messages.at(4);
  EXPECT_TRUE(read.decision.empty());
  ASSERT_EQ(read.attempts.size(), 1u);
  EXPECT_EQ(read.attempts[0], (Attempt{"", {}, 0, "schema", "", false, {}}));
  EXPECT_FALSE(report->warnings.empty());
}

TEST(Tau2Writer, TheDirectoryFormHoldsTheSameRun) {
  const ScratchFolder folder("unmask_directory_form");
  const PlantedPair pair = every_kind();
  const Result<Done> written = write_tau2_directory(pair.candidate, folder.path());
  ASSERT_TRUE(written) << to_string(written.error());
  const Result<IngestReport> report = ingest(folder.path(), {});
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_TRUE(report->dropped.empty());
  EXPECT_TRUE(report->warnings.empty());
  expect_same(without_places(report->run), without_places(pair.candidate));
}

TEST(Tau2Writer, RefusesAFolderThatHoldsAnotherRun) {
  const ScratchFolder folder("unmask_other_run");
  const PlantedPair pair = every_kind();
  ASSERT_TRUE(write_tau2_directory(pair.candidate, folder.path()));
  const Result<Done> again = write_tau2_directory(pair.candidate, folder.path());
  EXPECT_TRUE(again) << "the same run may be written again";
  const Result<Done> other = write_tau2_directory(pair.baseline, folder.path());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::InvalidArgument);
}

TEST(Tau2Writer, RefusesIdsThatAreNoFileNames) {
  const ScratchFolder folder("unmask_bad_ids");
  const std::vector<std::string> bad = {"", "a/b", "..", std::string(300, 'x')};
  for (const std::string& id : bad) {
    unmask::Run run = awkward_run();
    run.episodes[0].id = id;
    const Result<Done> written = write_tau2_directory(run, folder.path());
    ASSERT_FALSE(written) << id;
    EXPECT_EQ(written.error().kind, ErrorKind::InvalidArgument);
  }
  unmask::Run twice = awkward_run();
  twice.episodes[1].id = twice.episodes[0].id;
  EXPECT_FALSE(write_tau2_directory(twice, folder.path()));
  EXPECT_FALSE(fs::exists(folder.path())) << "checked before anything is created";
}

TEST(Tau2Writer, ASinkThatRefusesStopsTheWriting) {
  int pieces = 0;
  const Result<Done> written =
      write_tau2(awkward_run(), [&pieces](std::string_view) -> Result<Done> {
        ++pieces;
        return Error{ErrorKind::Unavailable, "disk full", ""};
      });
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "disk full");
  EXPECT_EQ(pieces, 1);
}

TEST(Tau2Writer, WritesTheGradersAccountAndReadsItsReward) {
  unmask::Run run;
  run.info.format = "tau2";
  Episode episode;
  episode.id = "a";
  episode.task_id = "1";
  episode.termination = Termination::UserStop;
  episode.reward = 1.0;
  episode.reward_info = R"({"db_check": {"db_match": true, "db_reward": 1.0}, "reward": 1.0})";
  episode.grade_evidence = R"({"db_difference_count": 2})";
  run.episodes = {episode};
  const std::string text = tau2_results(run);
  EXPECT_NE(text.find(R"("reward_info": {"db_check": {"db_match": true)"), std::string::npos);
  EXPECT_NE(text.find(R"("info": {"unmask": {"grading": {"db_difference_count": 2}}})"),
            std::string::npos);
  const unmask::Run back = read_back(text);
  ASSERT_EQ(back.episodes.size(), 1u);
  EXPECT_EQ(back.episodes[0].reward, 1.0);
  EXPECT_EQ(back.episodes[0].success, true);
}

TEST(Tau2Writer, KeepsTheToolsThatAnEpisodeOffered) {
  unmask::Run run;
  run.info.format = "tau2";
  Episode episode;
  episode.id = "a";
  episode.task_id = "1";
  episode.grade_evidence = R"({"db_difference_count": 2})";
  episode.agent_tools = {{"signalCheck", R"({"type": "object", "x": "\"\u00e9"})"},
                         {"line Get", ""}};
  episode.user_tools.emplace();
  run.episodes = {episode, episode};
  run.episodes[1].id = "b";
  run.episodes[1].agent_tools.reset();
  const std::string text = tau2_results(run);
  EXPECT_NE(text.find(R"("info": {"unmask": {"grading": {"db_difference_count": 2}, "tools": {)"),
            std::string::npos);
  const unmask::Run back = read_back(text);
  ASSERT_EQ(back.episodes.size(), 2u);
  EXPECT_EQ(back.episodes[0].agent_tools, episode.agent_tools);
  EXPECT_EQ(back.episodes[0].user_tools, episode.user_tools);
  EXPECT_EQ(back.episodes[1].agent_tools, std::nullopt);
  EXPECT_EQ(back.episodes[1].user_tools, episode.user_tools);
}

TEST(Tau2Writer, RealLogsSurviveReadingWritingAndReading) {
  const fs::path logs = fs::path(UNMASK_SHARED) / "logs";
  if (!fs::exists(logs)) GTEST_SKIP() << "the public logs are not at " << logs;
  int checked = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(logs)) {
    if (!entry.path().filename().string().starts_with("tau2_")) continue;
    const Result<IngestReport> first = ingest(entry.path().string(), {});
    ASSERT_TRUE(first) << to_string(first.error());
    unmask::Run run = without_places(first->run);
    run.info.policy_hash.clear();  // the policy's text is not in a Run
    for (Episode& episode : run.episodes) episode.policy_hash.clear();
    expect_same(read_back(tau2_results(run)), run);
    ++checked;
  }
  EXPECT_EQ(checked, 4);
}

}  // namespace
}  // namespace unmask
