// The contexts of a replay are those a run sent: episodes are played with a model that remembers
// what it was given, and rebuilt from what is logged of them.
#include "rollout/replay_context.h"

#include <gtest/gtest.h>

#include "environment/json.h"
#include "llm/chat_request.h"
#include "rollout/chat_double_for_tests.h"
#include "rollout/conversation.h"
#include "rollout/episode.h"
#include "rollout/llm_agent.h"
#include "rollout/mock_domain_for_tests.h"
#include "rollout/repair.h"
#include "rollout/scripted.h"

namespace unmask {
namespace {

using Speaker = ReplayMessage::Speaker;

Task task_of(const char* json) {
  return *read_task(*parse_json(json));
}

// An agent with repair, as a plan's arm has it, at a user who says what they are told to.
struct Recorded {
  Recorded(std::vector<Result<ChatReply>> replies, std::vector<Result<TurnMessage>> says,
           Task played_task = task_of(R"({"id": "t", "user_scenario": {"instructions": "x"}})"))
      : task(std::move(played_task)),
        surface(own_surface(*mock())),
        model(std::move(replies)),
        inner(model, agent_prompt(surface), chat_tools(agent_tools(surface, false))),
        agent(inner, offered_tools(agent_tools(surface, false)), all_channels()),
        user(Script(std::move(says), text_message(Speaker::User, "###STOP###"))),
        played(*play_episode(mock(), task, agent, &user)),
        view(*view_of_world(surface, *mock(), &task, false)),
        conversation(conversation_of(played.episode, view)) {}

  static RepairOptions all_channels() {
    RepairOptions options;
    options.channels = {Channel::ToolName, Channel::Malformed, Channel::Schema};
    options.attempts = 2;
    return options;
  }

  // Every request the model had is the context of the decision of that number, byte for byte.
  void expect_the_same_requests() const {
    ASSERT_EQ(conversation.decisions.size(), model.received.size());
    for (std::size_t i = 0; i < model.received.size(); ++i) {
      const std::span<const ChatMessage> heard =
          std::span(conversation.messages).first(conversation.decisions[i].heard);
      EXPECT_EQ(chat_context_json(heard, view.tools),
                chat_context_json(model.received[i].messages, model.received[i].tools))
          << "request " << i;
    }
  }

  Task task;
  Surface surface;
  ChatDouble model;
  LlmAgent inner;
  RepairingAgent agent;
  ScriptedUser user;
  PlayedEpisode played;
  AgentView view;
  AgentConversation conversation;
};

TurnMessage says(std::string text) {
  return text_message(Speaker::User, std::move(text));
}

ChatReply with_text(ChatReply reply, std::optional<std::string> text, std::string reasoning = "") {
  reply.message.content = std::move(text);
  reply.message.reasoning = std::move(reasoning);
  return reply;
}

TEST(ReplayContext, IsWhatTheModelWasSentBeforeEachMessage) {
  const Recorded recorded(
      {ChatDouble::chat_text("Which?"), ChatDouble::chat_call("get_users", "{ \"a\" :1}"),
       with_text(ChatDouble::chat_call("get_users", "{}", "z"), "Let me look: é"),
       ChatDouble::chat_text("Done.")},
      {says("hi"), says("that one")});
  recorded.expect_the_same_requests();
  const std::vector<AgentDecision>& decisions = recorded.conversation.decisions;
  ASSERT_GE(decisions.size(), 4u);
  EXPECT_EQ(decisions[0].message, 2u) << "the greeting is no decision";
  EXPECT_EQ(decisions[0].heard, 3u) << "prompt, greeting, user";
  EXPECT_EQ(decisions[3].turn, 3);
  EXPECT_EQ(decisions[3].call_index, 2);
  EXPECT_EQ(recorded.conversation.turns, static_cast<int>(decisions.size()));
}

TEST(ReplayContext, HasAttemptsWithWhatTheyWereAnswered) {
  ChatReply several = ChatDouble::chat_call("get_users", "{}", "a");
  several.message.calls.push_back({"b", "open_case", "{\"n\": 1}"});
  const Recorded recorded(
      {several, ChatDouble::chat_call("get_users", "{\"n\": ", "c"),
       ChatDouble::chat_call("get_users"),
       ChatDouble::chat_text("<tool_call>{\"name\": \"get_users\", \"arguments\": {}}</tool_call>"),
       with_text(ChatDouble::chat_call("create_task", "{}", "d"), "", "I guess"),
       ChatDouble::chat_call("delete_all", "{}", "e"), ChatDouble::chat_text("Sorry.")},
      {says("hi"), says("go on")});
  recorded.expect_the_same_requests();
  const Message& repaired = recorded.played.episode.messages.at(2);
  ASSERT_EQ(repaired.attempts.size(), 2u);
  const std::vector<AgentDecision>& decisions = recorded.conversation.decisions;
  EXPECT_EQ(decisions[1].attempt, 1u);
  EXPECT_EQ(decisions[2].attempt, 2u);
  EXPECT_EQ(recorded_action(recorded.played.episode, decisions[0]).calls.at(1).name, "open_case");
  EXPECT_EQ(recorded_action(recorded.played.episode, decisions[1]).calls.at(0).arguments,
            "{\"n\": ");
  EXPECT_EQ(recorded_action(recorded.played.episode, decisions[2]).calls, repaired.calls);
}

TEST(ReplayContext, KeepsApartAnEmptyTextAndNone) {
  const Recorded recorded(
      {with_text(ChatDouble::chat_call("get_users"), ""),
       with_text(ChatDouble::chat_call("get_users"), std::nullopt), ChatDouble::chat_text("Done.")},
      {says("hi")});
  recorded.expect_the_same_requests();
  EXPECT_EQ(recorded.conversation.messages.at(3).content, std::optional<std::string>(""));
  EXPECT_EQ(recorded.conversation.messages.at(5).content, std::nullopt);
}

TEST(ReplayContext, HasThoughtsAndUnreadableArgumentsAsTheyGoBack) {
  RepairOptions none;
  const Recorded recorded(
      {with_text(ChatDouble::chat_text("Hm."), "Hm.", "thoughts"),
       ChatDouble::chat_call("get_users", "[1]"), ChatDouble::chat_call("get_users", ""),
       ChatDouble::chat_call("get_users", "{\"a\": NaN"), ChatDouble::chat_text("Done.")},
      {says("hi"), says("go on")});
  recorded.expect_the_same_requests();
  EXPECT_EQ(recorded.conversation.messages.at(3).reasoning, "thoughts");
}

TEST(ReplayContext, BeginsAfterTheHistoryOfATask) {
  const Recorded recorded(
      {ChatDouble::chat_text("And now?"), ChatDouble::chat_text("Bye.")}, {says("thanks")},
      task_of(R"({"id": "t", "user_scenario": {"instructions": "x"}, "initial_state":
        {"message_history": [{"role": "assistant", "content": "Hello"},
         {"role": "user", "content": "List the users."},
         {"role": "assistant", "content": "I can create tasks."},
         {"role": "user", "content": "Then do that."}]}})"));
  recorded.expect_the_same_requests();
  EXPECT_EQ(recorded.conversation.decisions.at(0).message, 4u);
}

TEST(ReplayContext, NeedsTheTaskOfAnAgentThatIsAlone) {
  const Surface surface = own_surface(*mock());
  EXPECT_FALSE(view_of_world(surface, *mock(), nullptr, true));
  Task task =
      task_of(R"({"id": "t", "user_scenario": {"instructions": "x"}, "ticket": "Broken."})");
  const Result<AgentView> alone = view_of_world(surface, *mock(), &task, true);
  ASSERT_TRUE(alone);
  Episode episode;
  Message first;
  first.role = Role::Agent;
  first.text = "I begin.";
  episode.messages = {first};
  const AgentConversation conversation = conversation_of(episode, *alone);
  ASSERT_EQ(conversation.decisions.size(), 1u) << "alone, the agent opens";
  EXPECT_EQ(conversation.decisions[0].heard, 1u);
}

// A log that has its own prompt and tools: its texts go back as they are.
TEST(ReplayContext, TakesPromptAndToolsOfALogThatHoldsThem) {
  Episode episode;
  const auto add = [&](Role role, std::string text) -> Message& {
    Message message;
    message.role = role;
    message.text = std::move(text);
    episode.messages.push_back(std::move(message));
    return episode.messages.back();
  };
  add(Role::System, "Rules.");
  add(Role::User, "Hi");
  add(Role::Agent, "").calls.push_back({"x", "find", "{\"a\":1,  \"b\":2}", true, "", Side::Agent});
  EXPECT_FALSE(view_of_log(episode)) << "no list of tools";
  episode.agent_tools = std::vector<OfferedTool>{{"find", "{}"}};
  EXPECT_FALSE(view_of_log(episode)) << "no definition";
  episode.agent_tools->front().definition = R"({"type":"function","function":{"name":"find"}})";
  const std::optional<AgentView> view = view_of_log(episode);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->tools, R"([{"type":"function","function":{"name":"find"}}])");
  add(Role::Agent, "Found.");
  const AgentConversation conversation = conversation_of(episode, *view);
  ASSERT_EQ(conversation.decisions.size(), 2u);
  EXPECT_EQ(conversation.messages.at(0).role, ChatMessage::Role::System);
  EXPECT_EQ(conversation.messages.at(2).calls.at(0).arguments, "{\"a\":1,  \"b\":2}");
}

TEST(ReplayContext, LeavesOutWhatOnlyTheUserSees) {
  Episode episode;
  Message user;
  user.role = Role::User;
  user.text = "One moment.";
  user.calls.push_back({"u", "check_status", "{}", true, "", Side::User});
  Message result;
  result.role = Role::Tool;
  result.result = ToolResult{"u", "ok", false, "", Side::User};
  Message words;
  words.role = Role::User;
  words.text = "It is off.";
  Message agent;
  agent.role = Role::Agent;
  agent.text = "Turn it on.";
  episode.messages = {user, result, words, agent};
  const AgentConversation conversation = conversation_of(episode, AgentView{});
  ASSERT_EQ(conversation.messages.size(), 2u);
  EXPECT_EQ(conversation.messages[0].content, std::optional<std::string>("It is off."));
}

}  // namespace
}  // namespace unmask
