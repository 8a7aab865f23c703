#include "metrics/episode_decisions.h"

#include <gtest/gtest.h>

namespace unmask {
namespace {

Message message(Role role, const std::string& text) {
  Message out;
  out.role = role;
  out.text = text;
  return out;
}

Message call(const std::string& name, const std::string& decision = "{}") {
  Message out;
  ToolCall made;
  made.name = name;
  made.arguments = "{}";
  out.calls = {made};
  out.decision = decision;
  return out;
}

Message result(const std::string& text, bool failed = false) {
  Message out = message(Role::Tool, text);
  out.result = ToolResult{};
  out.result->text = text;
  out.result->failed = failed;
  return out;
}

// Decisions are told by one word of theirs here; "bad" cannot be read.
std::optional<Decision> read(std::string_view json) {
  if (json == "bad") return std::nullopt;
  return Decision{TokenDecision{std::string(json), 0, {}}, std::nullopt};
}

std::shared_ptr<const EpisodeDecisions> decisions_of(const Episode& episode) {
  RunInfo run;
  const Classifier classifier(run, nullptr);
  return episode_decisions(run, episode, classifier.classify(episode), classifier, read);
}

Episode episode() {
  Episode out;
  out.agent_tools = {{"open", ""}, {"close", ""}};
  out.messages = {message(Role::Agent, "Hi"),
                  message(Role::User, "hello"),
                  call("open"),
                  result("opened"),
                  call("shut"),
                  result("none", true)};
  return out;
}

TEST(EpisodeDecisions, AreTheAgentsMessagesAfterTheGreeting) {
  const auto got = decisions_of(episode());
  ASSERT_TRUE(got);
  ASSERT_EQ(got->decisions.size(), 2u);
  EXPECT_EQ(got->decisions[0].message, 2);
  EXPECT_EQ(got->decisions[0].calls[0].name, "open");
  EXPECT_EQ(got->decisions[0].channel, "");
  EXPECT_EQ(got->decisions[1].channel, "tool_name");
  EXPECT_TRUE(got->decisions[0].decision);
  EXPECT_EQ(*got->offered, (std::vector<std::string>{"open", "close"}));
}

TEST(EpisodeDecisions, KnowWhatAMessageSaidBeforeItsCall) {
  Episode spoken = episode();
  spoken.messages[2].text = "I open it.";
  const auto silent = decisions_of(episode());
  const auto text = decisions_of(spoken);
  spoken.messages[2].reasoning = "The door is shut.";
  const auto thought = decisions_of(spoken);
  EXPECT_EQ(silent->decisions[0].said, 0u);
  EXPECT_NE(text->decisions[0].said, 0u);
  EXPECT_NE(thought->decisions[0].said, text->decisions[0].said);
  EXPECT_EQ(thought->decisions[0].history, silent->decisions[0].history);
}

TEST(EpisodeDecisions, NothingIsKeptWithoutLogProbabilities) {
  Episode without = episode();
  for (Message& each : without.messages) each.decision.clear();
  EXPECT_FALSE(decisions_of(without));
}

TEST(EpisodeDecisions, TheHistoryIsAllThatWasSaidBefore) {
  const auto original = decisions_of(episode());
  const auto histories = [](const Episode& changed) {
    const auto got = decisions_of(changed);
    return std::pair(got->decisions[0].history, got->decisions[1].history);
  };
  const std::pair same(original->decisions[0].history, original->decisions[1].history);
  EXPECT_NE(same.first, same.second);
  EXPECT_EQ(histories(episode()), same);

  Episode other = episode();
  other.messages[2].calls[0].arguments = "{\"id\": 1}";
  EXPECT_EQ(histories(other).first, same.first);
  EXPECT_NE(histories(other).second, same.second);
  other = episode();
  other.messages[3].result->text = "open already";
  EXPECT_NE(histories(other).second, same.second);
  other = episode();
  other.messages[1].text = "hullo";
  EXPECT_NE(histories(other).first, same.first);
  other = episode();
  other.policy_hash = "another";
  EXPECT_NE(histories(other).first, same.first);
  other = episode();
  other.agent_tools->pop_back();
  EXPECT_NE(histories(other).first, same.first);

  // What no model is told.
  other = episode();
  other.messages[2].calls[0].id = "call_1";
  other.messages[3].result->call_id = "call_1";
  other.messages[2].reasoning = "hm";
  other.messages[2].seconds = 3;
  EXPECT_EQ(histories(other), same);
}

TEST(EpisodeDecisions, AMessageHandedBackIsADecisionOfItsOwn) {
  Episode repaired = episode();
  Attempt attempt;
  ToolCall broken;
  broken.name = "opn";
  broken.arguments = "{}";
  attempt.calls = {broken};
  attempt.channel = "tool_name";
  attempt.feedback = "There is no opn.";
  repaired.messages[2].attempts = {attempt};
  const auto got = decisions_of(repaired);
  ASSERT_EQ(got->decisions.size(), 3u);
  EXPECT_EQ(got->decisions[0].attempt, 0);
  EXPECT_EQ(got->decisions[0].calls[0].name, "opn");
  EXPECT_EQ(got->decisions[0].channel, "tool_name");
  EXPECT_FALSE(got->decisions[0].decision);
  EXPECT_EQ(got->decisions[1].attempt, 1);
  EXPECT_EQ(got->decisions[1].channel, "");  // repaired
  EXPECT_TRUE(got->decisions[1].decision);
  // The first was in the context of the unrepaired log's; what came of it was not.
  const auto plain = decisions_of(episode());
  EXPECT_EQ(got->decisions[0].history, plain->decisions[0].history);
  EXPECT_NE(got->decisions[1].history, plain->decisions[0].history);
}

TEST(EpisodeDecisions, AMessageStillBrokenKeepsItsChannel) {
  Episode broken = episode();
  Attempt attempt;
  attempt.calls = broken.messages[4].calls;
  attempt.channel = "tool_name";
  attempt.feedback = "There is no shut.";
  broken.messages[4].attempts = {attempt};
  const auto got = decisions_of(broken);
  ASSERT_EQ(got->decisions.size(), 3u);
  EXPECT_EQ(got->decisions[2].channel, "tool_name");
}

TEST(EpisodeDecisions, UnreadableLogProbabilitiesAreCounted) {
  Episode damaged = episode();
  damaged.messages[4].decision = "bad";
  const auto got = decisions_of(damaged);
  EXPECT_EQ(got->unreadable, 1);
  EXPECT_TRUE(got->decisions[0].decision);
  EXPECT_FALSE(got->decisions[1].decision);
}

TEST(EpisodeDecisions, ContradictoryLogProbabilitiesAreCounted) {
  const ReadDecision contradictory = [](std::string_view) {
    return std::optional<Decision>(
        Decision{TokenDecision{"a", -0.1, {{"a", -1.5}, {"b", -2.0}}}, std::nullopt});
  };
  RunInfo run;
  const Classifier classifier(run, nullptr);
  const Episode logged = episode();
  const auto got =
      episode_decisions(run, logged, classifier.classify(logged), classifier, contradictory);
  EXPECT_EQ(got->contradictory, 2);
  EXPECT_EQ(decisions_of(logged)->contradictory, 0);
}

TEST(EpisodeDecisions, UnknownToolsStayUnknown) {
  Episode custom = episode();
  custom.agent_tools.reset();
  custom.domain = "spaceport";
  EXPECT_FALSE(decisions_of(custom)->offered);
  custom.domain = "retail";
  EXPECT_TRUE(decisions_of(custom)->offered);
}

}  // namespace
}  // namespace unmask
