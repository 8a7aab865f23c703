// Pairing by hand-made histories; whole logs are in tests/cli/audit_decisions.
#include "compare/log_replay.h"

#include <gtest/gtest.h>

#include "metrics/episode_decisions.h"

namespace unmask {
namespace {

LoggedDecision decides(std::uint64_t history, const std::string& name, bool with_margin = true,
                       const std::string& channel = "") {
  LoggedDecision out;
  out.history = history;
  out.calls = {{name, 7}};
  out.channel = channel;
  const std::string other = name == "open" ? "close" : "open";
  if (with_margin)
    out.decision = Decision{TokenDecision{"<c>", -0.1, {{"<c>", -0.1}, {"I", -2.5}}},
                            NameDecision{name, {{name, -0.2, {{name, -0.2}, {other, -1.7}}}}}};
  return out;
}

EpisodeFacts episode(const std::string& task, int trial, std::vector<LoggedDecision> decisions,
                     bool offered = true) {
  EpisodeFacts facts;
  facts.domain = "doors";
  facts.task_id = task;
  facts.trial = trial;
  facts.success = true;
  EpisodeDecisions kept;
  if (offered) kept.offered = {"open", "close", "lock"};
  kept.decisions = std::move(decisions);
  facts.decisions = std::make_shared<const EpisodeDecisions>(std::move(kept));
  return facts;
}

Arm arm(const std::string& label, std::vector<EpisodeFacts> episodes) {
  RunInfo info;
  info.domain = "doors";
  return make_arm(label, {}, info, std::move(episodes));
}

// Contexts to which both arms, the baseline alone and the candidate alone replied.
struct Counts {
  long both = 0;
  long baseline = 0;
  long candidate = 0;
  bool operator==(const Counts&) const = default;
};

Counts counts_of(const LogReplay& logs) {
  std::map<std::string, int> who;
  for (const ReplayReply& reply : logs.replay.replies)
    who[reply.context_id] += reply.arm == logs.replay.head.arms[0].label ? 1 : 2;
  Counts out;
  for (const auto& [context, arms] : who)
    ++(arms == 3 ? out.both : arms == 1 ? out.baseline : out.candidate);
  return out;
}

TEST(LogReplay, PairsUntilTheHistoriesPart) {
  const Arm b = arm(
      "b",
      {episode("t", 0,
               {decides(1, "open"), decides(2, "open"), decides(3, "lock"), decides(9, "lock")})});
  const Arm c = arm("c", {episode("t", 0,
                                  {decides(1, "open"), decides(2, "close"), decides(4, "lock"),
                                   decides(9, "lock"), decides(5, "lock")})});
  const std::optional<LogReplay> logs = replay_of_logs(b, c);
  ASSERT_TRUE(logs);
  // The fourth has the same number again, behind the parting: no pair.
  EXPECT_EQ(counts_of(*logs), (Counts{2, 2, 3}));
  EXPECT_EQ(logs->decisions.size(), logs->replay.replies.size());
  const std::optional<Mechanism> mechanism = mechanism_of_logs(b, c, {});
  ASSERT_TRUE(mechanism);
  EXPECT_EQ(mechanism->candidates[0].contexts, 2);
  EXPECT_EQ(mechanism->candidates[0].flips[1].pairs, 2);
  EXPECT_EQ(mechanism->candidates[0].flips[1].flips, 1);
  EXPECT_EQ(mechanism->arms[0].replies, 4);
  EXPECT_EQ(mechanism->arms[1].replies, 5);
}

TEST(LogReplay, OtherTrialsAreNoPairs) {
  const Arm b =
      arm("b", {episode("t", 0, {decides(1, "open")}), episode("t", 1, {decides(1, "open")})});
  const Arm c =
      arm("c", {episode("t", 1, {decides(1, "open")}), episode("t", 2, {decides(1, "open")})});
  EXPECT_EQ(counts_of(*replay_of_logs(b, c)), (Counts{1, 1, 1}));
}

TEST(LogReplay, OfATrialThatIsThereTwiceTheFirstIsPaired) {
  const Arm b =
      arm("b", {episode("t", 0, {decides(1, "open")}), episode("t", 0, {decides(1, "open")})});
  const Arm c = arm("c", {episode("t", 0, {decides(1, "open")})});
  EXPECT_EQ(counts_of(*replay_of_logs(b, c)), (Counts{1, 1, 0}));
}

TEST(LogReplay, TasksOfOneArmAndEpisodesThatNeverRanTakeNoPart) {
  EpisodeFacts crashed = episode("t", 1, {decides(1, "open")});
  crashed.excluded = true;
  const Arm b = arm("b", {episode("t", 0, {decides(1, "open")}), crashed,
                          episode("only", 0, {decides(1, "open")})});
  const Arm c =
      arm("c", {episode("t", 0, {decides(1, "open")}), episode("t", 1, {decides(1, "open")})});
  EXPECT_EQ(counts_of(*replay_of_logs(b, c)), (Counts{1, 0, 1}));
}

TEST(LogReplay, AMissingDecisionIsAReplyWithoutAMargin) {
  const Arm b = arm("b", {episode("t", 0, {decides(1, "open", false), decides(2, "open")})});
  const Arm c = arm("c", {episode("t", 0, {decides(1, "open"), decides(2, "open")})});
  const std::optional<Mechanism> mechanism = mechanism_of_logs(b, c, {});
  ASSERT_TRUE(mechanism);
  EXPECT_EQ(mechanism->candidates[0].contexts, 2);
  EXPECT_EQ(mechanism->candidates[0].flips[1].pairs, 1);
  EXPECT_EQ(mechanism->arms[0].without, 1);
}

TEST(LogReplay, NamesBehindDifferentTextAreNoPairsOfMargins) {
  LoggedDecision talks_first = decides(2, "close");
  talks_first.said = 5;
  const Arm b = arm("b", {episode("t", 0, {decides(1, "open"), decides(2, "open")})});
  const Arm c = arm("c", {episode("t", 0, {decides(1, "open"), talks_first})});
  const std::optional<Mechanism> mechanism = mechanism_of_logs(b, c, {});
  ASSERT_TRUE(mechanism);
  EXPECT_EQ(mechanism->candidates[0].contexts, 2);
  EXPECT_EQ(mechanism->candidates[0].flips[1].pairs, 1);
  EXPECT_EQ(mechanism->candidates[0].flips[1].other_text, 1);
  EXPECT_EQ(mechanism->candidates[0].flips[1].flips, 0);
}

TEST(LogReplay, NothingWhereAnArmHasNoDecisions) {
  EpisodeFacts plain = episode("t", 0, {});
  plain.decisions = nullptr;
  const Arm b = arm("b", {episode("t", 0, {decides(1, "open")})});
  EXPECT_FALSE(replay_of_logs(b, arm("c", {plain})));
  EXPECT_FALSE(mechanism_of_logs(arm("c", {plain}), b, {}));
}

TEST(LogReplay, UnknownToolsAreTheNamesThatWorked) {
  const Arm b = arm(
      "b", {episode("t", 0, {decides(1, "open"), decides(2, "slam", true, "tool_name")}, false)});
  const Arm c = arm("c", {episode("t", 0, {decides(1, "open"), decides(2, "close")}, false)});
  const std::optional<LogReplay> logs = replay_of_logs(b, c);
  ASSERT_EQ(logs->replay.tools.size(), 1u);
  EXPECT_EQ(logs->replay.tools[0].names, (std::vector<std::string>{"close", "open"}));
}

TEST(LogReplay, GreedyOnlyWhereBothLogsSayTemperatureZero) {
  Arm b = arm("b", {episode("t", 0, {decides(1, "open")})});
  Arm c = arm("c", {episode("t", 0, {decides(1, "open")})});
  EXPECT_FALSE(replay_of_logs(b, c)->replay.head.greedy);
  b.info.agent_settings = R"({"max_tokens":64,"temperature":0.0})";
  c.info.agent_settings = R"({"temperature":0,"top_p":1})";
  EXPECT_TRUE(replay_of_logs(b, c)->replay.head.greedy);
  c.info.agent_settings = R"({"temperature":0.5})";
  EXPECT_FALSE(replay_of_logs(b, c)->replay.head.greedy);
}

TEST(LogReplay, ArmsOfOneNameStayTwo) {
  const Arm b = arm("same", {episode("t", 0, {decides(1, "open")})});
  EXPECT_EQ(counts_of(*replay_of_logs(b, b)), (Counts{1, 0, 0}));
}

}  // namespace
}  // namespace unmask
