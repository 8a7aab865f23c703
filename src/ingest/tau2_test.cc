#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "ingest/testing.h"
#include "trace/tau2_writer.h"

namespace unmask {
namespace {

using namespace unmask::testing;

TEST(Tau2, ReadsEveryFieldOfARunAndAnEpisode) {
  const Result<IngestReport> report = read_text(tau2_log({tau2_simulation("s1", "0", 1)}));
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_TRUE(report->warnings.empty());
  EXPECT_TRUE(report->dropped.empty());
  const RunInfo& info = report->run.info;
  EXPECT_EQ(info.format, "tau2");
  EXPECT_EQ(info.domain, "retail");
  EXPECT_EQ(info.model, "agent-model");
  EXPECT_EQ(info.user_model, "user-model");
  EXPECT_EQ(info.agent_implementation, "llm_agent");
  EXPECT_EQ(info.user_implementation, "user_simulator");
  EXPECT_EQ(info.user_settings, R"({"a":0.5,"b":1})");
  EXPECT_EQ(info.git_commit, "abc");
  EXPECT_EQ(info.timestamp, "2026-05-31T21:12:23");
  EXPECT_EQ(info.num_trials, 2);
  EXPECT_EQ(info.max_steps, 30);
  EXPECT_EQ(info.max_errors, 10);
  EXPECT_EQ(info.seed, 300);
  EXPECT_EQ(info.task_ids, (std::vector<std::string>{"0", "1"}));
  EXPECT_FALSE(info.failure_rule.empty());

  ASSERT_EQ(report->run.episodes.size(), 1u);
  const Episode& episode = report->run.episodes[0];
  EXPECT_EQ(episode.id, "s1");
  EXPECT_EQ(episode.task_id, "0");
  EXPECT_EQ(episode.trial, 1);
  EXPECT_EQ(episode.seed, 5);
  EXPECT_EQ(episode.termination, Termination::UserStop);
  EXPECT_EQ(episode.reward, 1.0);
  EXPECT_EQ(episode.success, true);
  EXPECT_EQ(episode.duration_seconds, 2.5);
  EXPECT_EQ(episode.agent_cost_usd, 0.5);
  EXPECT_EQ(episode.user_cost_usd, std::nullopt);
  EXPECT_EQ(episode.policy_hash, info.policy_hash);
  EXPECT_EQ(episode.policy_hash.size(), 16u);

  ASSERT_EQ(episode.messages.size(), 4u);
  EXPECT_EQ(episode.messages[0].role, Role::User);
  EXPECT_EQ(episode.messages[0].text, "hi");
  const Message& with_call = episode.messages[1];
  ASSERT_EQ(with_call.calls.size(), 1u);
  EXPECT_EQ(with_call.calls[0].id, "c1");
  EXPECT_EQ(with_call.calls[0].name, "get_order");
  EXPECT_EQ(with_call.calls[0].arguments, R"({"order_id": "#W1"})");
  EXPECT_TRUE(with_call.calls[0].arguments_are_object);
  EXPECT_EQ(with_call.calls[0].side, Side::Agent);
  EXPECT_EQ(with_call.cost_usd, 0.25);
  EXPECT_EQ(with_call.seconds, 1.5);
  EXPECT_EQ(with_call.usage, (TokenUsage{7, 3}));
  ASSERT_TRUE(episode.messages[2].result);
  EXPECT_EQ(*episode.messages[2].result, (ToolResult{"c1", "Error: x", true, "", Side::Agent}));
}

TEST(Tau2, TakesTheMembersInAnyOrder) {
  const std::string simulations = "\"simulations\": [" + tau2_simulation("s", "0", 0) + "]";
  const std::string info = "\"info\": " + tau2_info();
  const std::string tasks = R"("tasks": [{"id": "0"}, {"id": "1"}])";
  const std::string time = R"("timestamp": "2026-05-31T21:12:23")";
  const Result<IngestReport> usual =
      read_text("{" + joined({time, info, tasks, simulations}) + "}");
  ASSERT_TRUE(usual);
  for (const std::string& other :
       {"{" + joined({simulations, tasks, info, time}) + "}",
        "{" + joined({info, simulations, time, tasks}) + "}",
        "{" + joined({tasks, R"("simulation_index": null)", simulations, time, info}) + "}"}) {
    const Result<IngestReport> report = read_text(other);
    ASSERT_TRUE(report);
    ASSERT_EQ(report->run.episodes.size(), 1u);
    EXPECT_EQ(report->run.info, usual->run.info);
    EXPECT_EQ(report->run.episodes[0].messages, usual->run.episodes[0].messages);
    EXPECT_TRUE(report->warnings.empty());
  }
}

TEST(Tau2, UnfoldsMessagesWithSeveralResults) {
  const std::string messages = R"([{"role": "assistant", "tool_calls": [
      {"id": "a", "name": "x", "arguments": {}}, {"id": "b", "name": "y", "arguments": {}}]},
    {"role": "tool", "tool_messages": [
      {"id": "a", "role": "tool", "content": "1", "requestor": "assistant", "error": false},
      {"id": "b", "role": "tool", "content": "2", "requestor": "user", "error": true}]}])";
  const Result<IngestReport> report = read_text(
      tau2_log({R"({"id": "s", "task_id": 7, "trial": 0, "messages": )" + messages + "}"}));
  ASSERT_TRUE(report);
  const Episode& episode = report->run.episodes.at(0);
  EXPECT_EQ(episode.task_id, "7");
  ASSERT_EQ(episode.messages.size(), 3u);
  EXPECT_EQ(episode.messages[1].result, (ToolResult{"a", "1", false, "", Side::Agent}));
  EXPECT_EQ(episode.messages[2].result, (ToolResult{"b", "2", true, "", Side::User}));
  EXPECT_EQ(episode.reward, std::nullopt);
  EXPECT_EQ(episode.success, std::nullopt);
  EXPECT_EQ(episode.termination, Termination::Unknown);
}

// The only message of an episode made of one.
Message only_message(const std::string& message, IngestReport* whole = nullptr) {
  Result<IngestReport> report = read_text(
      tau2_log({R"({"id": "s", "task_id": "0", "trial": 0, "messages": [)" + message + "]}"}));
  if (!report || report->run.episodes.size() != 1 || report->run.episodes[0].messages.size() != 1) {
    ADD_FAILURE() << "not one message";
    return {};
  }
  Message only = report->run.episodes[0].messages[0];
  if (whole != nullptr) *whole = std::move(*report);
  return only;
}

TEST(Tau2, GivesTheUsersCallsToTheUser) {
  const Message stated = only_message(
      R"({"role": "user", "tool_calls": [{"name": "x", "arguments": {}, "requestor": "user"}]})");
  EXPECT_EQ(stated.calls.at(0).side, Side::User);
  const Message unstated =
      only_message(R"({"tool_calls": [{"name": "x", "arguments": {}}], "role": "user"})");
  EXPECT_EQ(unstated.calls.at(0).side, Side::User);
}

TEST(Tau2, KeepsArgumentsAsStrictJsonOrAsTheTextTheyWere) {
  const auto arguments = [](const std::string& written) {
    return only_message(R"({"role": "assistant", "tool_calls": [{"name": "x", "arguments": )" +
                        written + "}]}")
        .calls.at(0);
  };
  EXPECT_EQ(arguments(R"({"a": [1, {"b": "\""}]})").arguments, R"({"a": [1, {"b": "\""}]})");
  EXPECT_TRUE(arguments(R"("{\"a\": 1}")").arguments_are_object);
  EXPECT_EQ(arguments(R"("{\"a\": 1}")").arguments, R"({"a": 1})");
  EXPECT_FALSE(arguments(R"("{\"a\": ")").arguments_are_object);
  EXPECT_EQ(arguments(R"("{\"a\": ")").arguments, R"({"a": )");
  EXPECT_FALSE(arguments("[1]").arguments_are_object);
  EXPECT_FALSE(arguments("null").arguments_are_object);
  EXPECT_FALSE(arguments(R"("plain")").arguments_are_object);
  const ToolCall not_finite = arguments(R"({"a": NaN, "b": -Infinity})");
  EXPECT_TRUE(not_finite.arguments_are_object);
  EXPECT_EQ(not_finite.arguments, R"({"a": null, "b": null})");
}

TEST(Tau2, KeepsTheRawTextOnlyWhereItTellsMore) {
  const auto with_raw = [](const std::string& content, const std::string& raw) {
    return only_message(
        R"({"role": "assistant", "content": )" + content +
        R"(, "raw_data": {"id": "x", "choices": [{"message": {"content": )" + raw +
        R"(, "tool_calls": [{"id": 1}, {"id": 2}]}}, {"message": {"content": "2"}}]}})");
  };
  EXPECT_EQ(with_raw(R"("same")", R"("same")").raw_text, "");
  EXPECT_EQ(with_raw(R"("s\u0061me")", R"("same")").raw_text, "");
  EXPECT_EQ(with_raw(R"("cut")", R"("cut <tool_call>")").raw_text, "cut <tool_call>");
  EXPECT_EQ(with_raw(R"("<tool_call>{}")", R"("<tool_call>{}")").raw_text, "<tool_call>{}");
  EXPECT_EQ(with_raw("null", R"("lost")").raw_text, "lost");
  EXPECT_EQ(with_raw(R"("kept")", "null").raw_text, "");
  EXPECT_EQ(with_raw(R"("x")", R"([{"type": "text", "text": "x"}])").raw_text, "");
  EXPECT_EQ(with_raw(R"("x")", R"("x")").raw_calls, 2);
  EXPECT_EQ(only_message(R"({"role": "assistant", "raw_data": null})").raw_calls, std::nullopt);
}

TEST(Tau2, CountsWrongTypesInsteadOfSwallowingThem) {
  IngestReport report;
  only_message(
      R"({"role": "assistant", "content": 5, "cost": "much", "usage": [], "tool_calls": 3})",
      &report);
  std::vector<std::string> fields;
  for (const Warning& warning : report.warnings)
    if (warning.code == "wrong_type") fields.push_back(warning.message);
  EXPECT_EQ(fields.size(), 4u);
  const Result<IngestReport> twice =
      read_text(tau2_log({R"({"task_id": "0", "trial": "no", "messages": []})",
                          R"({"task_id": "1", "trial": "no", "messages": []})"}));
  ASSERT_TRUE(twice);
  const Warning* const warning = find_warning(*twice, "wrong_type");
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(warning->count, 2);
  EXPECT_NE(warning->where.find("simulation 0"), std::string::npos);
  EXPECT_EQ(find_warning(*twice, "missing_trial")->count, 2);
}

TEST(Tau2, ReadsNonFiniteNumbersAsNullAndWarns) {
  const Result<IngestReport> report = read_text(
      tau2_log({tau2_simulation("a", "0", 0, "NaN"), tau2_simulation("b", "0", 1, "-Infinity")}));
  ASSERT_TRUE(report);
  ASSERT_EQ(report->episodes, 2u);
  EXPECT_EQ(report->run.episodes[0].success, std::nullopt);
  ASSERT_NE(find_warning(*report, "not_finite"), nullptr);
  EXPECT_EQ(find_warning(*report, "not_finite")->count, 2);
}

TEST(Tau2, LetsTheFirstOfARepeatedKeyCount) {
  const Result<IngestReport> report = read_text(tau2_log(
      {R"({"id": "a", "task_id": "first", "task_id": "second", "trial": 0, "messages": []})"}));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->run.episodes.at(0).task_id, "first");
  EXPECT_NE(find_warning(*report, "duplicate_key"), nullptr);
  const Result<IngestReport> lists =
      read_text(R"({"info": {}, "simulations": [)" + tau2_simulation("a", "0", 0) +
                R"(], "simulations": [)" + tau2_simulation("b", "0", 0) + "]}");
  ASSERT_TRUE(lists);
  ASSERT_EQ(lists->episodes, 1u);
  EXPECT_EQ(lists->run.episodes[0].id, "a");
  EXPECT_NE(find_warning(*lists, "duplicate_key"), nullptr);
}

TEST(Tau2, DropsWhatIsNoSimulationAndReadsTheOthers) {
  const Result<IngestReport> report = read_text(
      tau2_log({tau2_simulation("a", "0", 0), R"({"id": "x", "trial": 0, "messages": []})", "17",
                "null", R"({"id": "y", "task_id": "1" "trial": 0})", tau2_simulation("b", "1", 0),
                R"({"id": "v", "task_id": "1", "trial": 0, "messages": null, "ticks": []})"}));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->episodes, 2u);
  EXPECT_EQ(report->run.episodes[1].id, "b");
  ASSERT_EQ(report->dropped.size(), 5u);
  EXPECT_EQ(report->dropped[0].code, "missing_task_id");
  EXPECT_EQ(report->dropped[1].code, "malformed_record");
  EXPECT_EQ(report->dropped[4].code, "unsupported_ticks");
  EXPECT_NE(report->dropped[3].where.find("byte"), std::string::npos);
}

TEST(Tau2, UsesWhatIsWholeOfATruncatedLogWhereverItIsCut) {
  const std::string log =
      tau2_log({tau2_simulation("a", "0", 0), tau2_simulation("b", "0", 1, "0.0", false)});
  const std::size_t first = log.find("\"simulations\"");
  for (std::size_t cut = 0; cut < log.size(); ++cut) {
    const Result<IngestReport> report = read_text(log.substr(0, cut), "tau2");
    if (!report) {
      EXPECT_FALSE(report.error().message.empty());
      EXPECT_LT(cut, first);
      continue;
    }
    // Something is missing, so something is said.
    EXPECT_FALSE(report->dropped.empty() && report->warnings.empty()) << cut;
    for (const Episode& episode : report->run.episodes) EXPECT_EQ(episode.messages.size(), 4u);
  }
  const Result<IngestReport> one = read_text(log.substr(0, log.find("\"id\": \"b\"") + 40));
  ASSERT_TRUE(one);
  EXPECT_EQ(one->episodes, 1u);
  ASSERT_NE(find_dropped(*one, "truncated_record"), nullptr);
  EXPECT_EQ(find_dropped(*one, "truncated_record")->where,
            "log.json: byte " + std::to_string(log.find("{\"id\": \"b\"")));
}

TEST(Tau2, RefusesAbsurdDepthOfARecordOnly) {
  const std::string deep = R"({"task_id": "0", "trial": 0, "messages": [], "x": )" +
                           std::string(100000, '[') + std::string(100000, ']') + "}";
  const Result<IngestReport> report = read_text(tau2_log({deep, tau2_simulation("a", "0", 0)}));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->episodes, 1u);
  EXPECT_NE(find_dropped(*report, "too_deep"), nullptr);
}

TEST(Tau2, MendsBrokenTextInOneRecordAndLeavesTheOthersAlone) {
  std::string broken = tau2_simulation("a", "0", 0);
  broken.replace(broken.find("done"), 4, "d\xFFn\xC3");
  const Result<IngestReport> report = read_text(tau2_log({broken, tau2_simulation("b", "0", 1)}));
  ASSERT_TRUE(report);
  ASSERT_EQ(report->episodes, 2u);
  EXPECT_EQ(report->run.episodes[0].messages[3].text, "d\xEF\xBF\xBDn\xEF\xBF\xBD");
  ASSERT_NE(find_warning(*report, "invalid_utf8"), nullptr);
  EXPECT_EQ(find_warning(*report, "invalid_utf8")->count, 1);
}

TEST(Tau2, SaysSoWhenThereIsNothingToRead) {
  const Result<IngestReport> none = read_text(tau2_log({}));
  ASSERT_TRUE(none);
  EXPECT_EQ(none->episodes, 0u);
  EXPECT_NE(find_warning(*none, "no_episodes"), nullptr);
  EXPECT_EQ(read_text("").error().message, "is empty");
  EXPECT_EQ(read_text("  \n ", "tau2").error().message, "is empty");
  EXPECT_FALSE(read_text("[]", "tau2"));
  EXPECT_FALSE(read_text("{}", "tau2"));
}

TEST(Tau2, SaysWhenSettingsCannotBeRead) {
  std::string log = tau2_log({tau2_simulation("a", "0", 0)});
  log.replace(log.find(R"({"temperature": 0.0})"), 20, R"({"temperature"::0.0})");
  const Result<IngestReport> report = read_text(log);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->episodes, 1u);
  EXPECT_EQ(report->run.info.agent_settings, "");
  EXPECT_NE(find_warning(*report, "unreadable_settings"), nullptr);
}

TEST(Tau2, ListsOnlySoManyDroppedRecordsAndCountsTheRest) {
  std::string numbers = "1";
  for (int i = 1; i < 12000; ++i) numbers += ",1";
  const Result<IngestReport> report = read_text(tau2_log({numbers}));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->dropped.size(), 10000u);
  ASSERT_NE(find_warning(*report, "more_dropped"), nullptr);
  EXPECT_EQ(find_warning(*report, "more_dropped")->count, 2000);
}

TEST(Tau2, KeepsUnknownTerminationsAsTheyWereWritten) {
  std::string simulation = tau2_simulation("a", "0", 0);
  simulation.replace(simulation.find("user_stop"), 9, "abducted");
  const Result<IngestReport> report = read_text(tau2_log({simulation}));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->run.episodes.at(0).termination, Termination::Unknown);
  EXPECT_EQ(report->run.episodes.at(0).termination_text, "abducted");
}

std::string folder_results(const std::string& index) {
  return R"({"timestamp": "t", "info": )" + tau2_info() + R"(, "tasks": [], "simulation_index": )" +
         index + "}";
}

TEST(Tau2Folder, ReadsTheFilesAndChecksTheIndexBothWays) {
  const TemporaryFolder folder;
  const std::string results =
      folder.write("results.json", folder_results(R"([{"id": "b", "task_id": "0", "trial": 1},
                                         {"id": "gone", "task_id": "0", "trial": 2}])"));
  folder.write("simulations/b.json", tau2_simulation("b", "0", 1));
  folder.write("simulations/a.json", tau2_simulation("a", "0", 0));
  folder.write("simulations/notes.txt", "not a simulation");
  for (const std::string& path : {folder.path(), results}) {
    const Result<IngestReport> report = ingest(path, {});
    ASSERT_TRUE(report) << to_string(report.error());
    ASSERT_EQ(report->episodes, 2u);
    EXPECT_EQ(report->run.episodes[0].id, "a");
    EXPECT_EQ(report->run.info.domain, "retail");
    ASSERT_EQ(report->dropped.size(), 1u);
    EXPECT_EQ(report->dropped[0].code, "missing_simulation_file");
    EXPECT_NE(report->dropped[0].where.find("gone.json"), std::string::npos);
    ASSERT_NE(find_warning(*report, "unlisted_simulation"), nullptr);
    EXPECT_NE(find_warning(*report, "unlisted_simulation")->where.find("a.json"),
              std::string::npos);
  }
}

TEST(Tau2Folder, DropsTheFilesItCannotReadOneByOne) {
  const TemporaryFolder folder;
  folder.write("results.json", folder_results("null"));
  folder.write("simulations/a.json.gz", gzipped(tau2_simulation("a", "0", 0)));
  folder.write("simulations/b.json", tau2_simulation("b", "0", 1).substr(0, 100));
  folder.write("simulations/c.json", "");
  folder.write("simulations/d.json", "[1]");
  folder.write("simulations/e.json", tau2_simulation("other", "0", 2) + " trailing");
  folder.write("simulations/f.json/inner.txt", "a folder named like a file");
  ASSERT_EQ(::mkfifo((folder.path() + "/simulations/g.json").c_str(), 0600), 0);  // would block
  const std::string loop = folder.path() + "/simulations/h.json";
  ASSERT_EQ(::symlink(loop.c_str(), loop.c_str()), 0);
  const Result<IngestReport> report = ingest(folder.path(), {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->episodes, 2u);
  EXPECT_EQ(report->dropped.size(), 6u);
  EXPECT_NE(find_warning(*report, "id_differs"), nullptr);
  EXPECT_NE(find_warning(*report, "trailing_bytes"), nullptr);
}

TEST(Tau2Folder, LeavesAStrayFolderBesideASingleFileAlone) {
  const TemporaryFolder folder;
  const std::string results =
      folder.write("results.json", tau2_log({tau2_simulation("inline", "0", 0)}));
  folder.write("simulations/stray.json", tau2_simulation("stray", "0", 0));
  for (const std::string& path : {folder.path(), results}) {
    const Result<IngestReport> report = ingest(path, {});
    ASSERT_TRUE(report);
    ASSERT_EQ(report->episodes, 1u);
    EXPECT_EQ(report->run.episodes[0].id, "inline");
    EXPECT_NE(find_warning(*report, "ignored_simulations_folder"), nullptr);
  }
}

TEST(Tau2Folder, WithoutResultsIsAClearError) {
  const TemporaryFolder folder;
  folder.write("readme.txt", "nothing here");
  EXPECT_EQ(ingest(folder.path(), {}).error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(ingest(folder.path(), forced("tau2")).error().kind, ErrorKind::NotFound);
}

TEST(Tau2, ReadsBackWhatTheWriterWrites) {
  const Result<IngestReport> original = read_text(
      tau2_log({tau2_simulation("a", "0", 0), tau2_simulation("b", "0", 1, "0.0", false)}));
  ASSERT_TRUE(original);
  const std::string written = tau2_results(original->run);
  const Result<IngestReport> again = read_text(written);
  ASSERT_TRUE(again);
  ASSERT_EQ(again->episodes, 2u);
  EXPECT_EQ(again->run.info.max_errors, 10);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(again->run.episodes[i].messages, original->run.episodes[i].messages);
}

// A clock that went back, and a cost that pays: nobody measured either.
TEST(Tau2, TakesANegativeDurationOrCostAsNotGiven) {
  const auto with = [](std::string simulation, const std::string& duration,
                       const std::string& cost) {
    simulation.replace(simulation.find("\"duration\": 2.5"), 15, "\"duration\": " + duration);
    simulation.replace(simulation.find("\"agent_cost\": 0.5"), 17, "\"agent_cost\": " + cost);
    return simulation;
  };
  const std::string log = tau2_log({with(tau2_simulation("s1", "0", 0), "2.5", "1e300"),
                                    with(tau2_simulation("s2", "0", 1), "-1e300", "0"),
                                    with(tau2_simulation("s3", "1", 0), "0", "-0.5")});
  const Result<IngestReport> report = ingest_bytes(log, "log.json", forced("tau2"));
  ASSERT_TRUE(report) << report.error().message;
  const std::vector<Episode>& episodes = report->run.episodes;
  ASSERT_EQ(episodes.size(), 3u);
  EXPECT_EQ(episodes[0].agent_cost_usd, 1e300);
  EXPECT_EQ(episodes[1].duration_seconds, std::nullopt);
  EXPECT_EQ(episodes[1].agent_cost_usd, 0);
  EXPECT_EQ(episodes[2].duration_seconds, 0);
  EXPECT_EQ(episodes[2].agent_cost_usd, std::nullopt);
  ASSERT_EQ(report->warnings.size(), 1u);
  EXPECT_EQ(report->warnings[0],
            (Warning{"not_a_measurement",
                     "2 durations or costs of the log, the first a duration of -1e+300, cannot "
                     "have been measured (negative or not finite) and are treated as not given",
                     episodes[1].where, 2}));
}

}  // namespace
}  // namespace unmask
