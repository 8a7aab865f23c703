#include <gtest/gtest.h>

#include <string>

#include "ingest/testing.h"

namespace unmask {
namespace {

using namespace unmask::testing;

std::string trajectory(int task, int trial, const std::string& reward,
                       const std::string& system = "# Retail agent policy\\nBe kind.") {
  return R"({"task_id": )" + std::to_string(task) + R"(, "reward": )" + reward +
         R"(, "info": {"task": {"user_id": "x"}, "user_cost": 0.5}, "traj": [
    {"role": "system", "content": ")" +
         system + R"("}, {"role": "user", "content": "hi"},
    {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function",
       "function": {"name": "get_order_details", "arguments": "{\"order_id\": \"#W1\"}"}}]},
    {"role": "tool", "tool_call_id": "c1", "name": "get_order_details", "content": "Error: order not found"},
    {"role": "assistant", "content": null, "function_call": {"name": "nope", "arguments": "{bad"}},
    {"role": "tool", "tool_call_id": "", "content": "Unknown action nope"},
    {"role": "tool", "content": "No Error here"}], "trial": )" +
         std::to_string(trial) + "}";
}

TEST(Tau1, ReadsTrajectories) {
  const Result<IngestReport> report =
      read_text("[" + joined({trajectory(3, 1, "1.0"), trajectory(4, 0, "0.0")}) + "]");
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_EQ(report->run.info.format, "tau1");
  EXPECT_EQ(report->run.info.max_errors, std::nullopt);
  ASSERT_EQ(report->episodes, 2u);
  const Episode& episode = report->run.episodes[0];
  EXPECT_EQ(episode.task_id, "3");
  EXPECT_EQ(episode.trial, 1);
  EXPECT_EQ(episode.success, true);
  EXPECT_EQ(episode.termination, Termination::Unknown);
  EXPECT_EQ(episode.user_cost_usd, 0.5);
  ASSERT_EQ(episode.messages.size(), 7u);
  EXPECT_EQ(episode.messages[2].calls.at(0).name, "get_order_details");
  EXPECT_EQ(episode.messages[2].calls.at(0).arguments, R"({"order_id": "#W1"})");
  EXPECT_TRUE(episode.messages[2].calls.at(0).arguments_are_object);
  EXPECT_EQ(episode.messages[3].result->call_id, "c1");
  EXPECT_TRUE(episode.messages[3].result->failed);
  EXPECT_FALSE(episode.messages[4].calls.at(0).arguments_are_object);
  EXPECT_TRUE(episode.messages[5].result->failed);
  EXPECT_FALSE(episode.messages[6].result->failed);
  EXPECT_EQ(report->run.episodes[1].success, false);
}

TEST(Tau1, InfersTheDomainFromTheLogAndSaysHow) {
  const Result<IngestReport> by_policy = read_text("[" + trajectory(0, 0, "1.0") + "]");
  ASSERT_TRUE(by_policy);
  EXPECT_EQ(by_policy->run.info.domain, "retail");
  ASSERT_NE(find_warning(*by_policy, "domain_inferred"), nullptr);
  EXPECT_NE(find_warning(*by_policy, "domain_inferred")->message.find("policy"), std::string::npos);

  const Result<IngestReport> by_tools = read_text("[" + trajectory(0, 0, "1.0", "Help.") + "]");
  ASSERT_TRUE(by_tools);
  EXPECT_EQ(by_tools->run.info.domain, "retail");
  EXPECT_NE(find_warning(*by_tools, "domain_inferred")->message.find("tools"), std::string::npos);

  const Result<IngestReport> unknown =
      read_text(R"([{"task_id": 1, "trial": 0, "reward": 0, "traj": []}])");
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->run.info.domain, "");
  EXPECT_NE(find_warning(*unknown, "domain_unknown"), nullptr);
}

TEST(Tau1, LeavesCrashedEpisodesOutAsInfrastructureAndWarns) {
  const Result<IngestReport> report = read_text(
      R"([{"task_id": 1, "trial": 0, "reward": 0.0, "info": {"error": "JSONDecodeError", "traceback": "..."}, "traj": []}])");
  ASSERT_TRUE(report);
  ASSERT_EQ(report->episodes, 1u);
  EXPECT_TRUE(ended_in_infrastructure_error(report->run.episodes[0]));
  EXPECT_EQ(report->run.episodes[0].termination_text, "JSONDecodeError");
  EXPECT_NE(find_warning(*report, "crashed_episode"), nullptr);
}

TEST(Tau1, UsesWhatIsWholeOfATruncatedLog) {
  const std::string log = "[" + joined({trajectory(3, 1, "1.0"), trajectory(4, 0, "0.0")}) + "]";
  for (std::size_t cut = 1; cut < log.size(); ++cut) {
    const Result<IngestReport> report = read_text(log.substr(0, cut), "tau1");
    ASSERT_TRUE(report);
    EXPECT_FALSE(report->dropped.empty() && report->warnings.empty()) << cut;
    EXPECT_LE(report->episodes, 2u);
  }
  const Result<IngestReport> most = read_text(log.substr(0, log.size() - 20));
  ASSERT_TRUE(most);
  EXPECT_EQ(most->episodes, 1u);
  EXPECT_NE(find_dropped(*most, "truncated_record"), nullptr);
}

TEST(Tau1, DropsEntriesThatAreNoTrajectory) {
  const Result<IngestReport> report =
      read_text("[1, \"x\", [], {}, " + trajectory(3, 1, "null") + "] tail", "tau1");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->episodes, 1u);
  EXPECT_EQ(report->run.episodes[0].success, std::nullopt);
  EXPECT_EQ(report->dropped.size(), 5u);
  EXPECT_NE(find_dropped(*report, "trailing_bytes"), nullptr);
  EXPECT_FALSE(read_text("{}", "tau1"));
}

TEST(Tau1, TellsASinkTheFormat) {
  std::string seen;
  const Result<IngestReport> report =
      ingest_bytes("[" + trajectory(3, 1, "null") + "]", "log", ReadOptions{},
                   [&](const RunInfo& info, std::size_t, Episode&&) { seen = info.format; });
  ASSERT_TRUE(report);
  EXPECT_EQ(seen, "tau1");
}

}  // namespace
}  // namespace unmask
