#include "rollout/llm_agent.h"

#include <gtest/gtest.h>

#include "environment/json.h"
#include "failure/classify.h"
#include "llm/chat_reply.h"
#include "llm/chat_request.h"
#include "rollout/chat_double_for_tests.h"
#include "rollout/episode.h"
#include "rollout/llm_user.h"
#include "rollout/mock_domain_for_tests.h"
#include "rollout/scripted.h"

namespace unmask {
namespace {

using Speaker = ReplayMessage::Speaker;
using ChatRole = ChatMessage::Role;

Task task_of(const std::string& more = "") {
  return *read_task(
      *parse_json(R"({"id": "t", "user_scenario": {"instructions": "x"})" + more + "}"));
}

TurnMessage says(const std::string& text) {
  return text_message(Speaker::User, text);
}

// An episode of the mock domain between a scripted model and a user who speaks once.
struct Played {
  explicit Played(std::vector<Result<ChatReply>> replies, TurnOptions options = {})
      : model(std::move(replies)),
        agent(model, "You help.", chat_tools(own_surface(*mock()).agent_tools)),
        user(Script({says("hi")}, says("###STOP###"))),
        episode(*play_episode(mock(), task_of(), agent, &user, options)) {}

  ChatDouble model;
  LlmAgent agent;
  ScriptedUser user;
  PlayedEpisode episode;
};

TEST(LlmAgent, SendsItsPromptItsToolsAndWhatWasSaid) {
  const Played played({ChatDouble::chat_text("Done.")}, {.seed = 17});
  const ChatDouble::Received& first = played.model.received.at(0);
  ASSERT_EQ(first.messages.size(), 3u);
  EXPECT_EQ(first.messages[0].role, ChatRole::System);
  EXPECT_EQ(first.messages[0].content, "You help.");
  EXPECT_EQ(first.messages[1].role, ChatRole::Assistant) << "the greeting is the agent's own";
  EXPECT_EQ(first.messages[2].role, ChatRole::User);
  EXPECT_EQ(first.messages[2].content, "hi");
  EXPECT_EQ(first.seed, 17);
  EXPECT_NE(first.tools.find("\"create_task\""), std::string::npos);
  EXPECT_EQ(first.tools.find("mutates_state"), std::string::npos) << "not OpenAI's";
}

TEST(LlmAgent, UsesTheSeedOfTheEpisodeForEveryRequest) {
  const Played played({ChatDouble::chat_call("get_users"), ChatDouble::chat_text("ok")},
                      {.seed = 5});
  ASSERT_EQ(played.model.received.size(), 2u);
  EXPECT_EQ(played.model.received[1].seed, 5);
}

TEST(LlmAgent, GetsResultsByTheIdsOfItsCalls) {
  ChatReply both = ChatDouble::chat_call("get_users", "{}", "a");
  both.message.calls.push_back({"b", "no_such_tool", "{}"});
  both.message.reasoning = "thoughts";
  const Played played({both, ChatDouble::chat_text("ok")});
  const std::vector<ChatMessage>& seen = played.model.received.at(1).messages;
  ASSERT_EQ(seen.size(), 6u);
  EXPECT_EQ(seen[3].reasoning, "thoughts") << "kept for the model to send back or not";
  EXPECT_EQ(seen[4].call_id, "a");
  EXPECT_EQ(seen[5].call_id, "b");
  EXPECT_EQ(seen[5].content, "Error: Tool 'no_such_tool' not found.");
}

TEST(LlmAgent, KeepsTextBesideCallsAndLetsTheCallsDecide) {
  ChatReply mixed = ChatDouble::chat_call("get_users");
  mixed.message.content = "Let me look.";
  const Played played({mixed, ChatDouble::chat_text("ok")});
  const Message& message = played.episode.episode.messages.at(2);
  EXPECT_EQ(message.text, "Let me look.");
  ASSERT_EQ(message.calls.size(), 1u);
  EXPECT_EQ(played.episode.episode.messages.at(3).role, Role::Tool);
}

TEST(LlmAgent, UnreadableArgumentsAreTheAgentsFailure) {
  for (const char* arguments : {"{\"a\": ", "[1]", "", "null"}) {
    const Played played(
        {ChatDouble::chat_call("create_task", arguments), ChatDouble::chat_text("ok")});
    const Episode& episode = played.episode.episode;
    EXPECT_EQ(played.episode.error_count, 1) << arguments;
    EXPECT_EQ(episode.termination, Termination::UserStop) << played.episode.failure;
    EXPECT_TRUE(episode.reward) << "it can be graded";
    const ToolCall& call = episode.messages.at(2).calls.at(0);
    EXPECT_EQ(call.arguments, arguments);
    EXPECT_FALSE(call.arguments_are_object);
    EXPECT_EQ(episode.messages.at(3).result->text,
              "Error: the arguments of this call are not a JSON object.");
    RunInfo info;
    info.domain = "mock";
    const ClassifiedEpisode classified = Classifier(info, nullptr).classify(episode);
    EXPECT_EQ(classified.calls.at(0).channel, Channel::Malformed);
    EXPECT_EQ(classified.calls.at(0).kind, SubKind::BadJson);
    EXPECT_TRUE(classified.calls.at(0).in_budget);
    const std::string sent = played.model.received.at(1).messages.at(3).calls.at(0).arguments;
    EXPECT_EQ(sent, sendable_arguments(arguments));
    EXPECT_TRUE(parse_json(sent)->is_dict()) << "servers refuse anything else: " << sent;
  }
}

TEST(LlmAgent, WhatTheServerCouldNotReadIsItsFailureAndTheEpisodeGoesOn) {
  for (
      const char* error :
      {R"({"error":{"message":"The model produced output that does not match the expected x format"}})",
       R"({"error":{"message":"Failed to parse input at pos 3: <tool_call>{\"name\": \"a\"}"}})"}) {
    const Played played({*read_unread_output(error, 1), ChatDouble::chat_text("ok")});
    const Episode& episode = played.episode.episode;
    EXPECT_EQ(played.episode.error_count, 1);
    EXPECT_EQ(episode.termination, Termination::UserStop) << played.episode.failure;
    EXPECT_EQ(episode.messages.at(2).raw_data, error);
    RunInfo info;
    info.domain = "mock";
    const ClassifiedEpisode classified = Classifier(info, nullptr).classify(episode);
    ASSERT_EQ(classified.calls.size(), 1u);
    EXPECT_EQ(classified.calls[0].channel, Channel::Malformed);
  }
}

TEST(LlmAgent, AnUnreadableCallDoesNotMeetAGoldenAction) {
  ChatDouble model({ChatDouble::chat_call("get_users", "{"), ChatDouble::chat_text("ok")});
  LlmAgent agent(model, "", "");
  ScriptedUser user(Script({says("hi")}, says("###STOP###")));
  const Task task = task_of(
      R"(, "evaluation_criteria": {"actions": [{"action_id": "1", "name": "get_users",
      "arguments": {}}], "reward_basis": ["ACTION"]})");
  const PlayedEpisode played = *play_episode(mock(), task, agent, &user);
  EXPECT_EQ(played.episode.reward, 0.0);
}

TEST(LlmAgent, AnEmptyReplyIsItsError) {
  const Played played({ChatDouble::chat_text("  ")});
  EXPECT_EQ(played.episode.episode.termination, Termination::AgentError);
}

TEST(LlmAgent, ErrorsOfTheModelEndTheEpisodeAsWhatTheyAre) {
  const Played gone({Error{ErrorKind::Unavailable, "no answer", ""}});
  EXPECT_EQ(gone.episode.episode.termination, Termination::InfrastructureError);
  const Played full({Error{ErrorKind::InvalidArgument, "too long", std::string(kContextWindow)}});
  EXPECT_EQ(full.episode.episode.termination, Termination::ContextWindowExceeded);
}

TEST(LlmAgent, KeepsWhatTheServerSent) {
  ChatReply reply = ChatDouble::chat_text("Hello");
  reply.raw = R"({"choices": [{"message": {"content": "<x>Hello", "tool_calls": [{}]}}]})";
  reply.cost_usd = 0.25;
  reply.usage = TokenUsage{10, 2};
  reply.seconds = 1.5;
  const Played played({reply});
  const Message& message = played.episode.episode.messages.at(2);
  EXPECT_EQ(message.raw_data, reply.raw);
  EXPECT_EQ(message.raw_text, "<x>Hello");
  EXPECT_EQ(message.raw_calls, 1);
  EXPECT_EQ(message.cost_usd, 0.25);
  EXPECT_EQ(message.usage, (TokenUsage{10, 2}));
  EXPECT_EQ(message.seconds, 1.5);
}

TEST(LlmAgent, PassesTheStopAndTheConstraintOn) {
  ChatDouble model({});
  std::stop_source source;
  LlmAgent agent(model, "", "[{}]", {.constrain_names = true, .stop = source.get_token()});
  ASSERT_TRUE(agent.next({}));
  EXPECT_TRUE(model.received.at(0).constrain_names);
  EXPECT_TRUE(model.received.at(0).stop_possible);
}

TEST(LlmAgent, AloneItEndsByCallingDone) {
  const Surface surface = own_surface(*mock());
  const Value tools = agent_tools(surface, true);
  EXPECT_EQ(tools.size(), surface.agent_tools.size() + surface.user_tools.size() + 1);
  ChatDouble model({ChatDouble::chat_call("get_users"), ChatDouble::chat_call("done")});
  const Task task = task_of(R"(, "ticket": "Say nothing.")");
  LlmAgent agent(model, solo_prompt(surface, *mock(), task), chat_tools(tools), {}, true);
  const PlayedEpisode played = *play_episode(mock(), task, agent, nullptr);
  EXPECT_EQ(played.episode.termination, Termination::AgentStop) << played.failure;
  EXPECT_EQ(played.episode.messages.back().text, "###STOP###");
  EXPECT_NE(model.received.at(0).messages.at(0).content->find("Say nothing."), std::string::npos);
}

TEST(LlmUser, SeesItselfAsTheAssistant) {
  ChatDouble model({ChatDouble::chat_text("My order!"), ChatDouble::chat_text("###STOP###")});
  LlmUser user(model, "You want something.", "");
  ScriptedAgent agent(Script({text_message(Speaker::Agent, "Which?")}, says("")));
  const PlayedEpisode played = *play_episode(mock(), task_of(), agent, &user);
  EXPECT_EQ(played.episode.termination, Termination::UserStop);
  const std::vector<ChatMessage>& seen = model.received.at(1).messages;
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen[1].role, ChatRole::User) << "the agent's greeting";
  EXPECT_EQ(seen[2].role, ChatRole::Assistant);
  EXPECT_EQ(seen[2].content, "My order!");
  EXPECT_EQ(seen[3].content, "Which?");
  EXPECT_TRUE(model.received[0].tools.empty());
}

TEST(LlmUser, GetsTheResultsOfItsOwnCallsOnly) {
  ChatDouble model(
      {ChatDouble::chat_call("toggle_data", "{}", "u1"), ChatDouble::chat_text("###STOP###")});
  LlmUser user(model, "", "[{}]");
  ScriptedAgent agent(Script({}, says("")));
  const PlayedEpisode played = *play_episode(mock(), task_of(), agent, &user);
  const std::vector<ChatMessage>& seen = model.received.at(1).messages;
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen[3].role, ChatRole::Tool);
  EXPECT_EQ(seen[3].call_id, "u1");
  EXPECT_EQ(played.episode.messages.at(1).calls.at(0).side, Side::User);
  EXPECT_EQ(played.error_count, 1) << "mock gives the user no tools";
}

TEST(LlmUser, PromptHasGuidelinesWithoutPersonaAndTheScenario) {
  const Task task = task_of();
  const std::string prompt =
      user_prompt(own_surface(*mock()), "Be brief.<PERSONA_GUIDELINES> Stay calm.", task);
  EXPECT_NE(prompt.find("Be brief. Stay calm."), std::string::npos);
  EXPECT_NE(prompt.find(task.user_scenario), std::string::npos);
}

}  // namespace
}  // namespace unmask
