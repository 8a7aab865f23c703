#include "rollout/turn_loop.h"

#include <gtest/gtest.h>

#include "environment/json.h"
#include "rollout/episode.h"
#include "rollout/mock_domain_for_tests.h"
#include "rollout/scripted.h"

namespace unmask {
namespace {

using Speaker = ReplayMessage::Speaker;
using Moves = std::vector<Result<TurnMessage>>;

Task task_of(const std::string& more = "") {
  Result<Task> task =
      read_task(*parse_json(R"({"id": "t", "user_scenario": {"instructions": "x"})" + more + "}"));
  EXPECT_TRUE(task) << to_string(task.error());
  return *task;
}

TurnMessage says(const std::string& text) {
  return text_message(Speaker::Agent, text);
}

ToolRequest request(const std::string& name, const std::string& arguments = "{}",
                    const std::string& id = "c") {
  return {id, name, *parse_json(arguments), Side::Agent};
}

TurnMessage calls(const std::string& name, const std::string& arguments = "{}") {
  return calls_message(Speaker::Agent, {request(name, arguments)});
}

TurnMessage mixed() {
  TurnMessage message = calls("get_users");
  message.content = "Let me look.";
  return message;
}

// One conversation with the loop that carried it.
struct Conversation {
  Conversation(Moves agent_moves, Moves user_moves, TurnOptions options = {},
               Task played = task_of(), bool stops = false)
      : task(std::move(played)),
        agent(Script(std::move(agent_moves), says("Anything else?")), stops),
        user(Script(std::move(user_moves), says("###STOP###"))),
        loop(task, *Environment::start(mock()), agent, &user, std::move(options)),
        result(loop.run()) {}

  Termination termination() const { return result ? result->termination : Termination::Unknown; }

  Task task;
  ScriptedAgent agent;
  ScriptedUser user;
  TurnLoop loop;
  Result<Simulation> result;
};

struct Alone {
  explicit Alone(Moves moves, Task played = task_of(), TurnOptions options = {})
      : task(std::move(played)),
        agent(Script(std::move(moves), says("###STOP###")), true),
        loop(task, *Environment::start(mock(), true), agent, nullptr, std::move(options)),
        result(loop.run()) {}

  Task task;
  ScriptedAgent agent;
  TurnLoop loop;
  Result<Simulation> result;
};

TEST(TurnLoop, BeginsWithTheAgentsGreeting) {
  const Conversation talk({}, {});
  ASSERT_TRUE(talk.result);
  ASSERT_EQ(talk.result->messages.size(), 2u);
  EXPECT_EQ(talk.result->messages[0].content, "Hi! How can I help you today?");
  EXPECT_EQ(talk.result->messages[0].cost_usd, 0.0);
  EXPECT_EQ(talk.result->messages[1].turn_index, 1);
  EXPECT_EQ(talk.user.script().history.size(), 0u) << "the greeting comes by next()";
  EXPECT_EQ(talk.agent.script().history.size(), 1u);
  EXPECT_EQ(talk.loop.step_count(), 1);
}

TEST(TurnLoop, TheUserEndsItByAnyOfTheTokens) {
  for (const char* token : {"###STOP###", "ok ###TRANSFER###", "###OUT-OF-SCOPE### bye"})
    EXPECT_EQ(Conversation({}, {says(token)}).termination(), Termination::UserStop) << token;
  EXPECT_EQ(Conversation({}, {says("STOP")}, {.max_steps = 3}).termination(),
            Termination::MaxSteps);
}

TEST(TurnLoop, AnOrdinaryAgentDoesNotEndItByTheToken) {
  EXPECT_EQ(Conversation({says("###STOP###")}, {says("hi")}).termination(), Termination::UserStop);
  EXPECT_EQ(Conversation({says("###STOP###")}, {says("hi")}, {}, task_of(), true).termination(),
            Termination::AgentStop);
}

TEST(TurnLoop, AnswersAllCallsOfAMessageTogether) {
  TurnMessage both = calls_message(
      Speaker::Agent, {request("get_users", "{}", "c1"), request("no_such_tool", "{}", "c2")});
  const Conversation talk({both}, {says("hi")});
  ASSERT_TRUE(talk.result);
  EXPECT_EQ(talk.loop.error_count(), 1);
  const auto& received = talk.agent.script().received;
  ASSERT_EQ(received.size(), 2u);
  ASSERT_EQ(received[1].size(), 2u);
  EXPECT_EQ(received[1][0].call_id, "c1");
  EXPECT_FALSE(received[1][0].error);
  EXPECT_EQ(received[1][1].content, "Error: Tool 'no_such_tool' not found.");
}

TEST(TurnLoop, TheUsersCallsGoToTheUsersTools) {
  const Conversation talk({}, {calls("check_notifications"), says("###STOP###")});
  ASSERT_TRUE(talk.result);
  EXPECT_EQ(talk.loop.error_count(), 0);
  EXPECT_EQ(talk.result->messages[1].calls[0].side, Side::User);
  EXPECT_EQ(talk.result->messages[2].side, Side::User);
}

TEST(TurnLoop, EndsAtTheLimitOfErrorsOfBothSides) {
  Moves failing(20, calls("no_such_tool"));
  const Conversation talk(failing, {calls("no_such_tool"), says("go")}, {.max_errors = 3});
  EXPECT_EQ(talk.termination(), Termination::TooManyErrors);
  EXPECT_EQ(talk.loop.error_count(), 3);
}

TEST(TurnLoop, LooksAtNoLimitWhileACallIsPending) {
  // Step 2 would be the last; the call made there is still answered.
  const Conversation talk({calls("get_users")}, {says("go")}, {.max_steps = 2});
  EXPECT_EQ(talk.termination(), Termination::MaxSteps);
  EXPECT_EQ(talk.loop.step_count(), 3);
  ASSERT_TRUE(talk.result);
  EXPECT_EQ(talk.result->messages.back().speaker, Speaker::Tool);
}

TEST(TurnLoop, ErrorsWinOverStepsAndBothOverAStop) {
  EXPECT_EQ(
      Conversation({calls("nope")}, {says("go")}, {.max_steps = 3, .max_errors = 1}).termination(),
      Termination::TooManyErrors);
  EXPECT_EQ(Conversation({}, {says("###STOP###")}, {.max_steps = 1}).termination(),
            Termination::MaxSteps);
}

TEST(TurnLoop, MixedMessagesAreRefusedOnlyWhenValidating) {
  EXPECT_EQ(Conversation({mixed()}, {says("hi")}).termination(), Termination::UserStop);
  const TurnOptions validating{.validate_communication = true};
  EXPECT_EQ(Conversation({mixed()}, {says("hi")}, validating).termination(),
            Termination::AgentError);
  EXPECT_EQ(Conversation({}, {mixed()}, validating).termination(), Termination::UserError);
  TurnMessage blank = calls("get_users");
  blank.content = " \n";
  EXPECT_EQ(Conversation({blank}, {says("hi")}, validating).termination(), Termination::UserStop)
      << "blanks are no text";
}

TEST(TurnLoop, AnEmptyMessageIsAnErrorEitherWay) {
  for (const bool validate : {false, true}) {
    const Conversation talk({says("  ")}, {says("hi")}, {.validate_communication = validate});
    ASSERT_FALSE(talk.result);
    EXPECT_EQ(to_string(talk.result.error()),
              "ValueError: AssistantMessage must have either content or tool_calls. Got "
              "AssistantMessage\nis_final_chunk: True");
    EXPECT_EQ(talk.loop.at_fault(), Party::Agent);
    EXPECT_FALSE(talk.loop.done());
  }
}

TEST(TurnLoop, AListOfCallsWithoutACallIsAnError) {
  const Conversation talk({calls_message(Speaker::Agent, {})}, {says("hi")});
  ASSERT_FALSE(talk.result);
  EXPECT_EQ(to_string(talk.result.error()), "IndexError: list index out of range");
  EXPECT_EQ(talk.loop.at_fault(), Party::Agent);
}

TEST(TurnLoop, AStopMayNotLeaveACallWaiting) {
  TurnMessage stop = calls("get_users");
  stop.content = "###STOP###";
  const Conversation talk({stop}, {says("hi")}, {}, task_of(), true);
  ASSERT_FALSE(talk.result);
  EXPECT_EQ(talk.result.error().message,
            "Environment should not receive the last message. Last message: AssistantMessage\n"
            "content: ###STOP###\nToolCalls:\nToolCall (from assistant)\nid: c\nname: get_users\n"
            "arguments:\n{}\nis_final_chunk: True");
}

TEST(TurnLoop, AddsCostsASideAtATime) {
  TurnMessage paid = says("a");
  paid.cost_usd = 0.25;
  const Conversation talk({paid}, {says("no cost"), says("###STOP###")});
  ASSERT_TRUE(talk.result);
  EXPECT_EQ(talk.result->agent_cost_usd, 0.25);
  EXPECT_EQ(talk.result->user_cost_usd, std::nullopt);
}

TEST(TurnLoop, HandsTheSeedToBothSides) {
  const Conversation talk({}, {}, {.seed = 17});
  EXPECT_EQ(talk.agent.script().seed, 17);
  EXPECT_EQ(talk.user.script().seed, 17);
  EXPECT_EQ(talk.result->seed, 17);
  EXPECT_EQ(Conversation({}, {}).agent.script().seed, std::nullopt);
}

TEST(TurnLoop, TimesOutByTheClockItIsGiven) {
  double now = 100.0;
  TurnOptions options;
  options.timeout_seconds = 3.0;
  options.clock = [&] { return now++; };
  const Conversation talk({}, Moves(50, says("more")), options);
  EXPECT_EQ(talk.termination(), Termination::Timeout);
  EXPECT_EQ(talk.loop.step_count(), 3);
  EXPECT_GE(talk.result->duration_seconds, 3.0);
}

TEST(TurnLoop, GoesOnWhereAHistoryEnds) {
  const std::string history = R"(, "initial_state": {"message_history": [
      {"role": "user", "content": "Add milk."},
      {"role": "assistant", "tool_calls": [{"id": "c1", "name": "create_task",
        "arguments": {"user_id": "ana", "title": "milk"}}]},
      {"role": "tool", "id": "c1", "requestor": "assistant", "content":
        "{\"task_id\": \"task_2\", \"title\": \"milk\", \"description\": null, \"status\": \"pending\"}"}
      ]})";
  const Conversation talk({says("Added.")}, {says("###STOP###")}, {}, task_of(history));
  ASSERT_TRUE(talk.result) << to_string(talk.result.error());
  EXPECT_EQ(talk.agent.script().history.size(), 2u);
  ASSERT_EQ(talk.agent.script().received.size(), 1u);
  EXPECT_EQ(talk.agent.script().received[0][0].speaker, Speaker::Tool);
  EXPECT_EQ(talk.user.script().history.size(), 1u) << "calls of the other side stay unseen";
  EXPECT_EQ(talk.result->messages.size(), 5u);
  EXPECT_NE(talk.loop.environment().agent_hash(), Environment::start(mock())->agent_hash());
}

TEST(TurnLoop, AHistoryThatHasEndedEndsAtOnce) {
  const Conversation talk({}, {}, {}, task_of(R"(, "initial_state": {"message_history": [
          {"role": "user", "content": "bye ###STOP###"}]})"));
  EXPECT_EQ(talk.termination(), Termination::UserStop);
  EXPECT_EQ(talk.loop.step_count(), 0);
}

TEST(History, EveryCallHasItsResult) {
  TurnMessage result = text_message(Speaker::Tool, "x");
  const auto problem = [](std::vector<TurnMessage> history) {
    const Result<Done> checked = check_history(history);
    return checked ? "" : checked.error().message;
  };
  EXPECT_EQ(problem({calls("f"), result}), "");
  EXPECT_EQ(problem({result}), "No tool messages expected.");
  EXPECT_EQ(problem({calls("f"), calls("f")}),
            "1 tool messages are missing. Got assistant message.");
  result.side = Side::User;
  EXPECT_EQ(problem({calls("f"), result}), "Got tool message from user, expected assistant.");
  EXPECT_EQ(problem({text_message(Speaker::Other, "x")}),
            "Invalid message type: <class 'tau2.data_model.message.SystemMessage'>");
}

TEST(SoloMode, TheAgentActsAloneUntilItStops) {
  const Alone solo(
      {calls("get_users"), calls("dismiss_notification", R"({"notification_id": "n1"})")});
  ASSERT_TRUE(solo.result) << to_string(solo.result.error());
  EXPECT_EQ(solo.result->termination, Termination::AgentStop);
  EXPECT_EQ(solo.loop.error_count(), 0) << "the user's tools are lent to it";
  EXPECT_EQ(solo.agent.script().received.front().size(), 0u) << "nothing is incoming at first";
}

TEST(SoloMode, WordsToNobodyAreTheAgentsError) {
  const Alone first({says("Hello?")});
  ASSERT_TRUE(first.result);
  EXPECT_EQ(first.result->termination, Termination::AgentError);
  const Alone later({calls("get_users"), says("Hello?")});
  ASSERT_TRUE(later.result);
  EXPECT_EQ(later.result->termination, Termination::AgentError);
  EXPECT_EQ(later.loop.to(), Party::User);
}

TEST(SoloMode, AHistoryThatWaitsForAUserCannotGoOn) {
  const Alone solo({}, task_of(R"(, "initial_state": {"message_history": [
      {"role": "assistant", "content": "Anybody?"}]})"));
  ASSERT_FALSE(solo.result);
  EXPECT_EQ(to_string(solo.result.error()),
            "NotImplementedError: DummyUser does not support generate_next_message");
}

PlayedEpisode played(Moves agent_moves, Moves user_moves, const Task& task = task_of()) {
  ScriptedAgent agent(Script(std::move(agent_moves), says("Anything else?")));
  ScriptedUser user(Script(std::move(user_moves), says("###STOP###")));
  Result<PlayedEpisode> episode = play_episode(mock(), task, agent, &user);
  EXPECT_TRUE(episode) << to_string(episode.error());
  return std::move(*episode);
}

TEST(PlayedEpisode, IsGradedAndReadsAsALogsEpisode) {
  const Task task = task_of(R"(, "evaluation_criteria": {"actions": [{"action_id": "a",
      "name": "create_task", "arguments": {"user_id": "ana", "title": "milk"}}]})");
  const PlayedEpisode good =
      played({calls("create_task", R"({"user_id": "ana", "title": "milk"})")}, {says("hi")}, task);
  EXPECT_EQ(good.episode.reward, 1.0);
  EXPECT_EQ(good.episode.success, true);
  EXPECT_EQ(good.episode.domain, "mock");
  ASSERT_EQ(good.episode.messages.size(), 6u);
  EXPECT_EQ(good.episode.messages[2].calls[0].arguments, R"({"user_id": "ana", "title": "milk"})");
  ASSERT_TRUE(good.episode.messages[3].result);
  EXPECT_EQ(good.episode.messages[3].result->call_id, "c");
  const PlayedEpisode bad = played({}, {says("hi")}, task);
  EXPECT_EQ(bad.episode.success, false);
  EXPECT_EQ(bad.grade->difference_count, 2u);
  // The account goes with the episode into whatever log it is written to.
  EXPECT_EQ(parse_json(bad.episode.reward_info)->find("reward")->as_float(), 0.0);
  EXPECT_EQ(parse_json(bad.episode.grade_evidence)->find("db_difference_count")->as_int(), 2);
  EXPECT_TRUE(good.episode.grade_evidence.empty());
}

TEST(PlayedEpisode, SaysWhoseFailureEndedIt) {
  const auto ending = [](Error error) {
    return played({Result<TurnMessage>(std::move(error))}, {says("hi")});
  };
  const PlayedEpisode lost = ending({ErrorKind::Unavailable, "no route", "http"});
  EXPECT_EQ(lost.episode.termination, Termination::InfrastructureError);
  EXPECT_EQ(lost.episode.reward, std::nullopt) << "it never ran, so it was not graded";
  EXPECT_EQ(lost.failure, "http: no route");
  const PlayedEpisode full =
      ending({ErrorKind::InvalidArgument, "too long", std::string(kContextWindow)});
  EXPECT_EQ(full.episode.termination, Termination::ContextWindowExceeded);
  EXPECT_EQ(full.episode.reward, 0.0);
  EXPECT_EQ(ending({ErrorKind::Malformed, "odd", ""}).episode.termination,
            Termination::UnexpectedError);
  EXPECT_EQ(played({says("")}, {says("hi")}).episode.termination, Termination::AgentError);
  EXPECT_EQ(played({}, {says("")}).episode.termination, Termination::UserError);
}

TEST(PlayedEpisode, RefusesATaskThatCannotBegin) {
  const Task task = task_of(R"(, "initial_state": {"initialization_actions": [
      {"env_type": "assistant", "func_name": "summon", "arguments": {}}]})");
  ScriptedAgent agent(Script({}, says("x")));
  ScriptedUser user(Script({}, says("x")));
  const Result<PlayedEpisode> episode = play_episode(mock(), task, agent, &user);
  ASSERT_FALSE(episode);
  EXPECT_EQ(to_string(episode.error()),
            "AttributeError: 'MockTools' object has no attribute 'summon'");
}

}  // namespace
}  // namespace unmask
