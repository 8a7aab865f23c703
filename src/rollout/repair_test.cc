#include "rollout/repair.h"

#include <gtest/gtest.h>

#include "environment/json.h"
#include "rollout/chat_double_for_tests.h"
#include "rollout/conversation.h"
#include "rollout/episode.h"
#include "rollout/llm_agent.h"
#include "rollout/mock_domain_for_tests.h"
#include "rollout/scripted.h"

namespace unmask {
namespace {

using Speaker = ReplayMessage::Speaker;

const Task& plain_task() {
  static const Task kTask =
      *read_task(*parse_json(R"({"id": "t", "user_scenario": {"instructions": "x"}})"));
  return kTask;
}

struct Repaired {
  explicit Repaired(std::vector<Result<ChatReply>> replies, RepairOptions repair = {},
                    TurnOptions options = {})
      : model(std::move(replies)),
        inner(model, "", chat_tools(own_surface(*mock()).agent_tools)),
        agent(inner, offered_tools(own_surface(*mock()).agent_tools), std::move(repair)),
        user(
            Script({text_message(Speaker::User, "hi")}, text_message(Speaker::User, "###STOP###"))),
        played(*play_episode(mock(), plain_task(), agent, &user, options)) {}

  // The message that came of the refusals: the agent's first after its greeting.
  const Message& message() const { return played.episode.messages.at(2); }

  ChatDouble model;
  LlmAgent inner;
  RepairingAgent agent;
  ScriptedUser user;
  PlayedEpisode played;
};

TEST(Repair, HandsAnInventedNameBackBeforeTheEnvironmentSeesIt) {
  ChatReply bad = ChatDouble::chat_call("get_userz", "{\"a\": 1}", "x");
  bad.usage = TokenUsage{7, 3};
  const Repaired repaired({bad, ChatDouble::chat_call("get_users")});
  EXPECT_EQ(repaired.played.error_count, 0);
  ASSERT_EQ(repaired.message().attempts.size(), 1u);
  const Attempt& attempt = repaired.message().attempts[0];
  EXPECT_EQ(attempt.channel, "tool_name");
  EXPECT_EQ(attempt.calls.at(0).name, "get_userz");
  EXPECT_EQ(attempt.calls.at(0).arguments, "{\"a\": 1}");
  EXPECT_FALSE(attempt.spends_budget);
  EXPECT_EQ(attempt.usage, (TokenUsage{7, 3}));
  EXPECT_EQ(repaired.message().calls.at(0).name, "get_users");
  EXPECT_EQ(repaired.played.episode.messages.at(3).role, Role::Tool);
  EXPECT_FALSE(repaired.played.episode.messages.at(3).result->failed);
}

TEST(Repair, TellsWhatWasWrongAndWhichNamesThereAre) {
  const Repaired repaired({ChatDouble::chat_call("get_userz"), ChatDouble::chat_call("get_users")});
  const std::string& told = repaired.message().attempts.at(0).feedback;
  EXPECT_NE(told.find("'get_userz'"), std::string::npos);
  for (const Tool& tool : mock()->agent_tools->tools)
    EXPECT_NE(told.find("- " + tool.name), std::string::npos) << tool.name;
  const std::vector<ChatMessage>& seen = repaired.model.received.at(1).messages;
  EXPECT_EQ(seen.back().role, ChatMessage::Role::Tool) << "every call is answered";
  EXPECT_EQ(seen.back().content, told);
  EXPECT_EQ(repaired.model.received.at(2).messages.size(), seen.size() + 2)
      << "the refusal stays in the conversation";
}

TEST(Repair, PassesOnWhatStaysBroken) {
  const Repaired repaired(
      {ChatDouble::chat_call("a"), ChatDouble::chat_call("b"), ChatDouble::chat_call("c")},
      {.attempts = 2});
  ASSERT_EQ(repaired.message().attempts.size(), 2u);
  EXPECT_EQ(repaired.message().attempts[1].calls.at(0).name, "b");
  EXPECT_EQ(repaired.message().calls.at(0).name, "c");
  EXPECT_EQ(repaired.played.error_count, 1) << "the environment refuses it, once";
}

TEST(Repair, RefusalsSpendBudgetWhereAsked) {
  const RepairOptions spend{.refusals_spend_budget = true};
  const Repaired repaired({ChatDouble::chat_call("a"), ChatDouble::chat_call("get_users")}, spend);
  EXPECT_EQ(repaired.played.error_count, 1);
  EXPECT_TRUE(repaired.message().attempts.at(0).spends_budget);
  const Repaired stopped(
      {ChatDouble::chat_call("a"), ChatDouble::chat_call("b"), ChatDouble::chat_text("sorry")},
      spend, {.max_errors = 2});
  EXPECT_EQ(stopped.played.episode.termination, Termination::TooManyErrors);
}

TEST(Repair, AnAgentThatGivesUpKeepsItsAttempts) {
  const Repaired repaired({ChatDouble::chat_call("a"), ChatDouble::chat_text("I cannot.")});
  EXPECT_EQ(repaired.message().text, "I cannot.");
  EXPECT_EQ(repaired.message().attempts.size(), 1u);
  EXPECT_EQ(repaired.played.error_count, 0);
}

TEST(Repair, AnswersTheOtherCallsOfARefusedMessage) {
  ChatReply both = ChatDouble::chat_call("get_users", "{}", "good");
  both.message.calls.push_back({"bad", "nothing", "{}"});
  const Repaired repaired({both, ChatDouble::chat_text("ok")});
  EXPECT_EQ(repaired.message().attempts.at(0).refused, 1u);
  const std::vector<ChatMessage>& seen = repaired.model.received.at(1).messages;
  EXPECT_EQ(seen[seen.size() - 2].call_id, "good");
  EXPECT_NE(seen[seen.size() - 2].content, repaired.message().attempts[0].feedback);
  EXPECT_EQ(seen.back().content, repaired.message().attempts[0].feedback);
}

TEST(Repair, LeavesOtherChannelsAloneUnlessAsked) {
  const ChatReply broken = ChatDouble::chat_call("create_task", "{");
  const ChatReply missing = ChatDouble::chat_call("create_task", "{}");
  const ChatReply leaked = ChatDouble::chat_text(R"(<tool_call>{"name": "get_users",
      "arguments": {}}</tool_call>)");
  for (const ChatReply& reply : {broken, missing, leaked})
    EXPECT_TRUE(Repaired({reply}).message().attempts.empty());
  const RepairOptions all{.channels = {Channel::ToolName, Channel::Malformed, Channel::Schema}};
  const auto channel = [&](const ChatReply& reply) {
    const Repaired repaired({reply, ChatDouble::chat_text("ok")}, all);
    return repaired.message().attempts.empty() ? "" : repaired.message().attempts[0].channel;
  };
  EXPECT_EQ(channel(broken), "malformed");
  EXPECT_EQ(channel(missing), "schema");
  EXPECT_EQ(channel(leaked), "malformed");
  EXPECT_EQ(channel(ChatDouble::chat_call("get_users")), "");
}

TEST(Repair, CostsAndSecondsOfRefusedMessagesAreNotLost) {
  ChatReply bad = ChatDouble::chat_call("a");
  bad.cost_usd = 1.0;
  bad.seconds = 2.0;
  ChatReply good = ChatDouble::chat_call("get_users");
  good.cost_usd = 0.5;
  good.seconds = 1.0;
  const Repaired repaired({bad, good});
  EXPECT_EQ(repaired.message().cost_usd, 1.5);
  EXPECT_EQ(repaired.message().seconds, 3.0);
  good.cost_usd.reset();
  EXPECT_FALSE(Repaired({bad, good}).message().cost_usd) << "known together or not at all";
}

TEST(Repair, ChecksItsOptions) {
  EXPECT_TRUE(check(RepairOptions{}));
  EXPECT_FALSE(check(RepairOptions{.attempts = 0}));
  const Result<Done> entity = check(RepairOptions{.channels = {Channel::Entity}});
  ASSERT_FALSE(entity);
  EXPECT_NE(entity.error().message.find("'entity'"), std::string::npos);
}

}  // namespace
}  // namespace unmask
