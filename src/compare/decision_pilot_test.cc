#include "compare/decision_pilot.h"

#include <gtest/gtest.h>

#include "compare/replay_for_tests.h"

namespace unmask {
namespace {

// In each of 10 tasks 20 decisions. The candidate alone fails `more` of them in every second task,
// the baseline alone one in every task.
Hand planted(int more) {
  Hand hand;
  for (int task = 0; task < 10; ++task)
    for (int i = 0; i < 20; ++i) {
      const std::string id = std::to_string(task) + "/" + std::to_string(i);
      hand.context(id, "task " + std::to_string(task));
      hand.call(id, "bf16", i == 0 ? "made_up" : "open", {});
      hand.call(id, "int4", i > 0 && i <= more && task % 2 == 0 ? "made_up" : "open", {});
    }
  return hand;
}

TEST(DecisionPilot, CountsWhatOneArmAloneFails) {
  const Result<DecisionPilot> pilot = pilot_of_decisions(planted(10).replay, "tool_name", "");
  ASSERT_TRUE(pilot);
  EXPECT_EQ(pilot->pairs, 200);
  EXPECT_EQ(pilot->tasks, 10);
  EXPECT_EQ(pilot->most_decisions, 20);
  EXPECT_EQ(pilot->only_baseline, 10);
  EXPECT_EQ(pilot->only_candidate, 50);
  EXPECT_DOUBLE_EQ(pilot->decisions.discordance, 0.3);
  EXPECT_DOUBLE_EQ(pilot->decisions.difference, 0.2);
  // Shares of 11/20 and 1/20: products of different decisions of a task, 10/9 of their mean. With
  // e = d - 0.3: task sums of 5 and -5, sums of squares 11 x 0.49 + 9 x 0.09 and 0.49 + 19 x 0.09.
  const double products = 5 * (25 - 6.2) + 5 * (25 - 2.2);
  EXPECT_TRUE(pilot->correlated);
  EXPECT_NEAR(pilot->decisions.correlation, 10.0 / 9 * products / (10 * 380) / 0.21, 1e-12);
}

TEST(DecisionPilot, TakesCopiesOfAContextOnce) {
  Hand hand = planted(10);
  for (ReplayContext& context : hand.replay.contexts) context.sha256 = context.id;
  for (std::size_t i = 1; i <= 10; ++i) hand.replay.contexts[i].sha256 = "the same";
  const Result<DecisionPilot> pilot = pilot_of_decisions(hand.replay, "tool_name", "int4");
  ASSERT_TRUE(pilot);
  EXPECT_EQ(pilot->pairs, 191);
  EXPECT_EQ(pilot->only_candidate, 41);
}

TEST(DecisionPilot, AssumesTheCorrelationThatItDoesNotShow) {
  const Result<DecisionPilot> pilot = pilot_of_decisions(planted(10).replay, "schema", "");
  ASSERT_TRUE(pilot);
  EXPECT_EQ(pilot->decisions.discordance, 0);
  EXPECT_FALSE(pilot->correlated);
  EXPECT_EQ(pilot->decisions.correlation, 0.2);
}

TEST(DecisionPilot, RefusesWhatNoReplayShows) {
  Hand hand = planted(10);
  EXPECT_EQ(pilot_of_decisions(hand.replay, "rejected", "").error().kind,
            ErrorKind::InvalidArgument);
  EXPECT_EQ(pilot_of_decisions(hand.replay, "tool_name", "int3").error().message,
            "the replay has no candidate 'int3' (it has int4)");
  hand.replay.head.arms.push_back({"fp8", "", "", "", false, ""});
  EXPECT_EQ(pilot_of_decisions(hand.replay, "tool_name", "").error().message,
            "the replay has 2 candidates (int4, fp8): --candidate says which to plan for");
  EXPECT_EQ(pilot_of_decisions(hand.replay, "tool_name", "fp8").error().kind, ErrorKind::Undefined);
  hand.replay.head.arms.resize(1);
  std::erase_if(hand.replay.replies, [](const ReplayReply& r) { return r.arm != "bf16"; });
  EXPECT_EQ(pilot_of_decisions(hand.replay, "tool_name", "").error().kind, ErrorKind::Undefined);
}

}  // namespace
}  // namespace unmask
