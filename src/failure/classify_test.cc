#include "failure/classify.h"

#include <gtest/gtest.h>

#include <chrono>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"

namespace unmask {
namespace {

RunInfo info_of(const std::string& domain) {
  RunInfo info;
  info.format = "tau2";
  info.domain = domain;
  return info;
}

ToolCall make_call(const std::string& name, const std::string& arguments = "{}",
                   Side side = Side::Agent, const std::string& id = "") {
  ToolCall call;
  call.id = id;
  call.name = name;
  call.arguments = arguments;
  call.side = side;
  return call;
}

Message calling(std::initializer_list<ToolCall> calls) {
  Message message;
  message.calls = calls;
  message.role = calls.begin()->side == Side::User ? Role::User : Role::Agent;
  return message;
}

Message saying(const std::string& text, Role role = Role::Agent) {
  Message message;
  message.role = role;
  message.text = text;
  return message;
}

Message answering(const std::string& text, bool failed, Side side = Side::Agent,
                  const std::string& id = "", const std::string& error_type = "") {
  Message message;
  message.role = Role::Tool;
  message.result = ToolResult{id, text, failed, error_type, side};
  return message;
}

// One call and its failed answer, judged with the built-in lists of `domain`.
ClassifiedCall judge(const std::string& domain, const ToolCall& call, const std::string& text,
                     const std::string& error_type = "") {
  Episode episode;
  episode.messages = {calling({call}), answering(text, true, call.side, "", error_type)};
  const ClassifiedEpisode judged = Classifier(info_of(domain), nullptr).classify(episode);
  EXPECT_EQ(judged.calls.size(), 1u);
  return judged.calls.at(0);
}

void expect_judged(const ClassifiedCall& call, Channel channel, SubKind kind) {
  EXPECT_EQ(to_string(call.channel), to_string(channel)) << call.evidence;
  EXPECT_EQ(to_string(call.kind), to_string(kind)) << call.evidence;
}

TEST(Channels, AreSpelledAsTheReportPrintsThem) {
  EXPECT_EQ(to_string(Channel::ToolName), "tool_name");
  EXPECT_EQ(to_string(SubKind::OtherSide), "other_side");
  EXPECT_EQ(to_string(SubKind::UnknownText), "unknown_text");
  EXPECT_EQ(to_string(Cause::Parser), "parser");
  EXPECT_EQ(to_string(ToolEvidence::ErrorTexts), "error_texts");
}

TEST(ToolName, TellsOtherSideNearMissAndInventedApart) {
  expect_judged(judge("telecom", make_call("toggle_data"), "Error: Tool 'toggle_data' not found."),
                Channel::ToolName, SubKind::OtherSide);
  expect_judged(judge("telecom", make_call("resume_line", "{}", Side::User),
                      "Error: Tool 'resume_line' not found."),
                Channel::ToolName, SubKind::OtherSide);
  for (const char* name :
       {"functions.refuel_data", "Refuel_Data", "refuel-data", "refuelData", "tools.refuel_data",
        "default_api.refuel_data", "shop::refuel_data", "refuel_dat", "refuel_data()",
        "refuel_data{}", "functions.refuel_data:3", "refuel_data<|channel|>commentary",
        "mcp__telecom__refuel_data"}) {
    const ClassifiedCall call = judge("telecom", make_call(name), "Error: Tool not found.");
    expect_judged(call, Channel::ToolName, SubKind::NearMiss);
    EXPECT_EQ(call.evidence, "refuel_data") << name;
  }
  for (const char* name : {"", "search", "buy_more_data_now", "refuel", "___", "functions."}) {
    expect_judged(judge("telecom", make_call(name), "Error: Tool '' not found."), Channel::ToolName,
                  SubKind::Invented);
  }
}

TEST(ToolName, ComesBeforeATimeoutAndAfterUnreadableArguments) {
  expect_judged(judge("airline", make_call("search"), "timed out", "timeout"), Channel::ToolName,
                SubKind::Invented);
  ToolCall unreadable = make_call("search", "{\"q\":");
  unreadable.arguments_are_object = false;
  expect_judged(judge("airline", unreadable, "Error: Tool 'search' not found."), Channel::Malformed,
                SubKind::BadJson);
}

TEST(ToolName, AnyCallOfAUserWithoutToolsIsHallucinated) {
  expect_judged(
      judge("airline", make_call("calculate", "{}", Side::User), "Error: User tools not available"),
      Channel::ToolName, SubKind::OtherSide);
  expect_judged(
      judge("retail", make_call("open_app", "{}", Side::User), "Error: User tools not available"),
      Channel::ToolName, SubKind::Invented);
  // The same without any list: the environment's word.
  expect_judged(
      judge("shop", make_call("open_app", "{}", Side::User), "Error: User tools not available"),
      Channel::ToolName, SubKind::Invented);
}

TEST(ToolName, WithoutAListOnlyTheEnvironmentsWordCounts) {
  for (const char* text : {"Error: Tool 'find_hat' not found.", "Unknown action find_hat",
                           "Tool find_hat not found", "Function 'find_hat' not found in tools"}) {
    const ClassifiedCall call = judge("shop", make_call("find_hat"), text);
    expect_judged(call, Channel::ToolName, SubKind::Invented);
    EXPECT_EQ(call.evidence, text);
  }
  expect_judged(judge("shop", make_call("find_hat"), "Hat not found"), Channel::Entity,
                SubKind::None);
  // A shop that sells tools.
  expect_judged(judge("shop", make_call("get_price"), "Tool hammer not found"), Channel::Entity,
                SubKind::None);
  expect_judged(judge("shop", make_call(""), "no"), Channel::ToolName, SubKind::Invented);
}

TEST(ToolName, ANameNotOfferedButAcceptedIsOkAndMarked) {
  Episode episode;
  episode.messages = {calling({make_call("think")}), answering("", false),
                      calling({make_call("calculate")}), answering("4", false)};
  const ClassifiedEpisode judged = Classifier(info_of("airline"), nullptr).classify(episode);
  EXPECT_EQ(judged.calls[0].channel, Channel::Ok);
  EXPECT_TRUE(judged.calls[0].not_offered);
  EXPECT_FALSE(judged.calls[1].not_offered);
  RunInfo tau1 = info_of("airline");
  tau1.format = "tau1";
  EXPECT_FALSE(Classifier(tau1, nullptr).classify(episode).calls[0].not_offered);
}

TEST(ToolName, AnOfferedToolTheEnvironmentDeniesDependsOnWhereTheListIsFrom) {
  Episode episode;
  episode.messages = {calling({make_call("calculate")}),
                      answering("Error: Tool 'calculate' not found.", true)};
  const Classifier classifier(info_of("airline"), nullptr);
  expect_judged(classifier.classify(episode).calls[0], Channel::ToolName, SubKind::Invented);
  episode.agent_tools = std::vector<OfferedTool>{{"calculate", ""}};
  expect_judged(classifier.classify(episode).calls[0], Channel::System, SubKind::None);
}

TEST(ToolName, ASoloAgentIsOfferedTheUsersTools) {
  RunInfo info = info_of("telecom");
  info.agent_implementation = "llm_agent_solo";
  Episode episode;
  episode.messages = {calling({make_call("toggle_data")}),
                      answering("Mobile Data is now ON.", false)};
  EXPECT_FALSE(Classifier(info, nullptr).classify(episode).calls[0].not_offered);
  EXPECT_TRUE(Classifier(info_of("telecom"), nullptr).classify(episode).calls[0].not_offered);
}

TEST(ToolEvidence, TakesTheFileThenTheLogThenTheDomainThenTheTexts) {
  Episode episode;
  episode.messages = {calling({make_call("zap")}), answering("no", true)};
  const ToolsFile file{{{"zap", ""}}, {}};
  EXPECT_EQ(Classifier(info_of("shop"), nullptr).classify(episode).tool_evidence,
            ToolEvidence::ErrorTexts);
  EXPECT_EQ(Classifier(info_of("telecom-workflow"), nullptr).classify(episode).tool_evidence,
            ToolEvidence::Domain);
  episode.agent_tools = std::vector<OfferedTool>{{"zip", ""}};
  const ClassifiedEpisode by_log = Classifier(info_of("telecom"), nullptr).classify(episode);
  EXPECT_EQ(by_log.tool_evidence, ToolEvidence::Log);
  expect_judged(by_log.calls[0], Channel::ToolName, SubKind::Invented);
  const ClassifiedEpisode by_file = Classifier(info_of("telecom"), &file).classify(episode);
  EXPECT_EQ(by_file.tool_evidence, ToolEvidence::ToolsFile);
  expect_judged(by_file.calls[0], Channel::Rejected, SubKind::UnknownText);
}

TEST(ToolEvidence, AnEpisodesOwnDomainIsTakenBeforeTheRuns) {
  Episode episode;
  episode.domain = "retail";
  episode.messages = {calling({make_call("get_order_details")}),
                      answering("Order not found", true)};
  const ClassifiedEpisode judged = Classifier(info_of("airline"), nullptr).classify(episode);
  expect_judged(judged.calls[0], Channel::Entity, SubKind::None);
}

TEST(Malformed, UnreadableArgumentsCountWithOrWithoutAReply) {
  ToolCall call = make_call("calculate", "{\"expression\": ");
  call.arguments_are_object = false;
  Episode episode;
  episode.messages = {calling({call})};
  const ClassifiedCall silent = Classifier(info_of("airline"), nullptr).classify(episode).calls[0];
  expect_judged(silent, Channel::Malformed, SubKind::BadJson);
  EXPECT_EQ(silent.cause, Cause::Unknown);
  EXPECT_FALSE(silent.answered);
  EXPECT_FALSE(silent.in_budget);
  episode.messages.push_back(answering("{}", false));
  EXPECT_EQ(Classifier(info_of("airline"), nullptr).classify(episode).calls[0].channel,
            Channel::Ok);
}

TEST(Malformed, AReadersErrorOnTheCallIsTheEvidence) {
  ToolCall call = make_call("calculate");
  call.parse_error = "JSONDecodeError";
  const ClassifiedCall judged = judge("airline", call, "Error parsing");
  expect_judged(judged, Channel::Malformed, SubKind::BadJson);
  EXPECT_EQ(judged.evidence, "JSONDecodeError");
}

ClassifiedEpisode judge_message(const Message& message) {
  Episode episode;
  episode.messages = {message};
  return Classifier(info_of("retail"), nullptr).classify(episode);
}

TEST(Malformed, LeakedMarkupIsOneCallOutsideTheBudget) {
  const ClassifiedEpisode judged = judge_message(
      saying("Let me see.\n<tool_call>\n{\"name\": \"get_order_details\", \"arguments\": {}}"));
  ASSERT_EQ(judged.calls.size(), 1u);
  expect_judged(judged.calls[0], Channel::Malformed, SubKind::LeakedMarkup);
  EXPECT_EQ(judged.calls[0].name, "get_order_details");
  EXPECT_EQ(judged.calls[0].cause, Cause::Unknown);
  EXPECT_FALSE(judged.calls[0].in_budget);
  EXPECT_FALSE(judged.calls[0].answered);
}

TEST(Malformed, TheParserIsTheCauseWhereTheRawCompletionHoldsTheCall) {
  Message message = saying("One moment.");
  message.raw_text =
      "One moment.<tool_call>{\"name\": \"calculate\", \"arguments\": {}}</tool_call>";
  const ClassifiedEpisode by_text = judge_message(message);
  ASSERT_EQ(by_text.calls.size(), 1u);
  EXPECT_EQ(by_text.calls[0].cause, Cause::Parser);
  EXPECT_EQ(by_text.calls[0].name, "calculate");

  Message counted = calling({make_call("calculate")});
  counted.raw_calls = 3;
  const ClassifiedEpisode by_count = judge_message(counted);
  ASSERT_EQ(by_count.calls.size(), 2u);
  expect_judged(by_count.calls[1], Channel::Malformed, SubKind::LeakedMarkup);
  EXPECT_EQ(by_count.calls[1].cause, Cause::Parser);
  EXPECT_EQ(by_count.calls[1].position, 1);

  // The raw text of an extracted call holds markup by nature.
  Message extracted = calling({make_call("calculate")});
  extracted.raw_text = message.raw_text;
  extracted.raw_calls = 1;
  EXPECT_EQ(judge_message(extracted).calls.size(), 1u);
}

TEST(Malformed, OnlyTheAgentLeaksMarkup) {
  EXPECT_TRUE(judge_message(saying("<tool_call>{\"name\": \"x\"}", Role::User)).calls.empty());
  EXPECT_TRUE(judge_message(saying("<tool_call>{\"name\": \"x\"}", Role::System)).calls.empty());
}

TEST(Schema, PythonsAndPydanticsWordsGiveTheSubKind) {
  const auto schema = [](const std::string& text) {
    return judge("airline", make_call("update_reservation_flights"), "Error: " + text);
  };
  expect_judged(schema("AirlineTools.x() missing 2 required positional arguments: 'a' and 'b'"),
                Channel::Schema, SubKind::Missing);
  expect_judged(schema("AirlineTools.x() got an unexpected keyword argument 'note'"),
                Channel::Schema, SubKind::Unexpected);
  expect_judged(schema("Environment.make_tool_call() got multiple values for argument 'tool_name'"),
                Channel::Schema, SubKind::Unexpected);
  expect_judged(schema("1 validation error for Passenger\ndob\n  Field required [type=missing, "
                       "input_value={'first_name': 'Ana'}, input_type=dict]"),
                Channel::Schema, SubKind::Missing);
  expect_judged(schema("1 validation error for FlightInfo\nseat\n  Extra inputs are not permitted "
                       "[type=extra_forbidden, input_value=1, input_type=int]"),
                Channel::Schema, SubKind::Unexpected);
  expect_judged(schema("1 validation error for Reservation\ncabin\n  Input should be 'business'"),
                Channel::Schema, SubKind::WrongType);
  for (const char* text :
       {"unhashable type: 'list'", "'str' object has no attribute 'get'",
        "invalid literal for int() with base 10: 'x'", "could not convert string to float: 'x'",
        "unsupported operand type(s) for -: 'str' and 'int'",
        "'<' not supported between instances of 'str' and 'int'", "'int' object is not iterable",
        "string indices must be integers, not 'str'", "'first'"}) {
    expect_judged(schema(text), Channel::Schema, SubKind::WrongType);
  }
  expect_judged(schema("'flight_number'"), Channel::Schema, SubKind::Missing);
}

TEST(Rules, TheSameTextMayMeanDifferentThingsForDifferentTools) {
  expect_judged(judge("airline", make_call("calculate"), "Error: division by zero"),
                Channel::Rejected, SubKind::None);
  expect_judged(
      judge("airline", make_call("calculate"), "Error: invalid syntax (<string>, line 1)"),
      Channel::Schema, SubKind::WrongType);
  expect_judged(judge("retail", make_call("cancel_pending_order"), "Error: Invalid reason"),
                Channel::Entity, SubKind::None);
  expect_judged(judge("retail", make_call("get_user_details"), "Error: Invalid reason"),
                Channel::Rejected, SubKind::UnknownText);
}

TEST(Rules, LowerCaseTextsOfTauBenchV1AreTheSameRules) {
  expect_judged(judge("airline", make_call("book_reservation"),
                      "Error: payment method certificate_7504069 not found"),
                Channel::Entity, SubKind::None);
  expect_judged(judge("airline", make_call("book_reservation"),
                      "Error: payment amount does not add up, total price is 5, but paid 4"),
                Channel::Rejected, SubKind::None);
  expect_judged(judge("retail", make_call("return_delivered_order_items"),
                      "Error: payment method should be either the original payment method or a "
                      "gift card"),
                Channel::Rejected, SubKind::None);
}

TEST(Rules, AnUnknownTextIsRejectedAndMarked) {
  const ClassifiedCall call = judge("airline", make_call("calculate"), "Error: the moon is full");
  expect_judged(call, Channel::Rejected, SubKind::UnknownText);
  EXPECT_EQ(call.evidence, "Error: the moon is full");
  EXPECT_TRUE(call.in_budget);
}

TEST(System, HarnessFaultsAndTimeoutsAreNotTheAgents) {
  for (const char* type : {"timeout", "limit", "output_limit", "unicode_decode"}) {
    expect_judged(judge("shop", make_call("zap"), "Order not found", type), Channel::System,
                  SubKind::None);
  }
  expect_judged(judge("mock", make_call("check_notifications", "{}", Side::User),
                      "Error: 'MockDB' object has no attribute 'notifications'"),
                Channel::System, SubKind::None);
  expect_judged(judge("shop", make_call("zap"), "Command timed out before completing."),
                Channel::System, SubKind::None);
}

TEST(ErrorTypes, OfInspectMapToChannels) {
  const auto typed = [](const std::string& type, const std::string& text) {
    return judge("shop", make_call("bash"), text, type);
  };
  expect_judged(typed("permission", "Permission denied."), Channel::Rejected, SubKind::None);
  expect_judged(typed("approval", "Tool call rejected by operator"), Channel::Rejected,
                SubKind::None);
  expect_judged(typed("file_not_found", "File 'a' was not found."), Channel::Entity, SubKind::None);
  expect_judged(typed("is_a_directory", "Is a directory."), Channel::Entity, SubKind::None);
  expect_judged(typed("parsing",
                      "Error parsing the following tool call arguments:\n\n{\n\nError "
                      "details: x"),
                Channel::Malformed, SubKind::BadJson);
  expect_judged(typed("parsing",
                      "Found 1 validation errors parsing tool input arguments:\n- 'cmd' "
                      "is a required property"),
                Channel::Schema, SubKind::Missing);
  expect_judged(typed("parsing", "Tool bash not found"), Channel::ToolName, SubKind::Invented);
  expect_judged(typed("parsing", "that was no good"), Channel::Schema, SubKind::WrongType);
  expect_judged(typed("unknown", "that was no good"), Channel::Rejected, SubKind::UnknownText);
}

TEST(JsonSchema, DecidesWhereNoTextDoes) {
  const std::string schema = R"({"type": "object", "additionalProperties": false,
    "properties": {"id": {"type": "string"}, "n": {"$ref": "#/$defs/N"}},
    "required": ["id"], "$defs": {"N": {"type": "integer"}}})";
  const ToolsFile file{{{"zap", schema}}, {}};
  const Classifier classifier(info_of("shop"), &file);
  const auto zap = [&](const std::string& arguments) {
    Episode episode;
    episode.messages = {calling({make_call("zap", arguments)}), answering("Bad input.", true)};
    return classifier.classify(episode).calls[0];
  };
  expect_judged(zap("{}"), Channel::Schema, SubKind::Missing);
  expect_judged(zap(R"({"id": "a", "m": 1})"), Channel::Schema, SubKind::Unexpected);
  expect_judged(zap(R"({"id": 5})"), Channel::Schema, SubKind::WrongType);
  expect_judged(zap(R"({"id": "a", "n": "x"})"), Channel::Schema, SubKind::WrongType);
  expect_judged(zap(R"({"id": "a", "n": 3})"), Channel::Rejected, SubKind::UnknownText);
}

TEST(JsonSchema, ABrokenRemoteOrEndlessSchemaDecidesNothing) {
  std::string laughs = R"({"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {)";
  for (int i = 0; i < 30; ++i) {
    const std::string next = "{\"$ref\": \"#/$defs/d" + std::to_string(i + 1) + "\"}";
    laughs += "\"d" + std::to_string(i) + "\": {\"allOf\": [" + next + ", " + next + "]}, ";
  }
  laughs += R"("d30": {"type": "string"}}})";
  for (const std::string& schema : std::vector<std::string>{
           "{", "[]", "null", R"({"type": "nonsense"})", R"({"$ref": "http://example.com/a.json"})",
           R"({"$ref": "#"})", R"({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}})",
           R"({"allOf": [{"$ref": "#/allOf/0"}]})", R"({"$ref": "#/no/where"})",
           R"({"$ref": "#/~5"})", std::string(100000, '['), laughs,
           R"({"properties": {"a": {"pattern": "(a+)+$"}}})"}) {
    const ToolsFile file{{{"zap", schema}}, {}};
    Episode episode;
    episode.messages = {
        calling({make_call("zap", R"({"a": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"})")}),
        answering("Bad input.", true)};
    const ClassifiedEpisode judged = Classifier(info_of("shop"), &file).classify(episode);
    expect_judged(judged.calls[0], Channel::Rejected, SubKind::UnknownText);
  }
}

TEST(Pairing, ByIdThenByOrderAndNeverAcrossSides) {
  const Classifier classifier(info_of("telecom"), nullptr);
  Episode episode;
  // Ids out of order, and one call that nobody answers.
  episode.messages = {calling({make_call("suspend_line", "{}", Side::Agent, "a"),
                               make_call("resume_line", "{}", Side::Agent, "b"),
                               make_call("refuel_data", "{}", Side::Agent, "c")}),
                      answering("Error: Refuel amount must be positive", true, Side::Agent, "c"),
                      answering("ok", false, Side::Agent, "a")};
  ClassifiedEpisode judged = classifier.classify(episode);
  EXPECT_EQ(judged.calls[0].channel, Channel::Ok);
  EXPECT_EQ(judged.calls[1].channel, Channel::Unanswered);
  EXPECT_FALSE(judged.calls[1].answered);
  EXPECT_EQ(judged.calls[2].channel, Channel::Rejected);
  EXPECT_EQ(judged.orphan_results, 0);

  // A repeated id: each result is used once, in order.
  episode.messages = {calling({make_call("suspend_line", "{}", Side::Agent, "a"),
                               make_call("resume_line", "{}", Side::Agent, "a")}),
                      answering("ok", false, Side::Agent, "a"),
                      answering("Error: Line must be suspended to resume", true, Side::Agent, "a")};
  judged = classifier.classify(episode);
  EXPECT_EQ(judged.calls[0].channel, Channel::Ok);
  EXPECT_EQ(judged.calls[1].channel, Channel::Rejected);

  // No ids on one side of the pair.
  episode.messages = {calling({make_call("suspend_line", "{}", Side::Agent, "a"),
                               make_call("resume_line", "{}", Side::Agent, "b")}),
                      answering("ok", false), answering("Error: x", true)};
  judged = classifier.classify(episode);
  EXPECT_EQ(judged.calls[0].channel, Channel::Ok);
  EXPECT_TRUE(judged.calls[1].in_budget);

  // The other side's result answers nothing of ours.
  episode.messages = {calling({make_call("suspend_line", "{}", Side::Agent, "a")}),
                      answering("Error: x", true, Side::User, "a")};
  judged = classifier.classify(episode);
  EXPECT_EQ(judged.calls[0].channel, Channel::Unanswered);
  EXPECT_EQ(judged.orphan_results, 1);
  EXPECT_EQ(judged.orphan_failures, 1);
}

TEST(Pairing, LateAndRenumberedAnswersAreFoundAndTheRestAreOrphans) {
  const Classifier classifier(info_of("telecom"), nullptr);
  Episode episode;
  episode.messages = {calling({make_call("suspend_line", "{}", Side::Agent, "a")}),
                      saying("Just a second."), answering("ok", false, Side::Agent, "a"),
                      answering("Error: x", true, Side::Agent, "a")};
  ClassifiedEpisode judged = classifier.classify(episode);
  EXPECT_EQ(judged.calls[0].channel, Channel::Ok);
  EXPECT_EQ(judged.orphan_results, 1);
  EXPECT_EQ(judged.orphan_failures, 1);

  episode.messages = {calling({make_call("suspend_line", "{}", Side::Agent, "a")}),
                      answering("ok", false, Side::Agent, "result-1")};
  judged = classifier.classify(episode);
  EXPECT_EQ(judged.calls[0].channel, Channel::Ok);
  EXPECT_EQ(judged.orphan_results, 0);

  episode.messages = {answering("ok", false, Side::Agent, "a"),
                      calling({make_call("suspend_line", "{}", Side::Agent, "b")})};
  judged = classifier.classify(episode);
  EXPECT_EQ(judged.calls[0].channel, Channel::Unanswered);
  EXPECT_EQ(judged.orphan_results, 1);
}

TEST(Pairing, ManyParallelCallsArePairedLikeAFew) {
  const Classifier classifier(info_of("telecom"), nullptr);
  Message call = saying("");
  std::vector<Message> answers;
  constexpr int kCalls = 5000;
  for (int i = 0; i < kCalls; ++i) {
    call.calls.push_back(
        make_call("get_customer_by_id", "{}", Side::Agent, std::to_string(i % 50)));
    answers.push_back(answering("ok", i % 2 == 1, Side::Agent, std::to_string(49 - i % 50)));
  }
  Episode episode;
  episode.messages = {call};
  episode.messages.insert(episode.messages.end(), answers.begin(), answers.end());
  const ClassifiedEpisode judged = classifier.classify(episode);
  EXPECT_EQ(judged.orphan_results, 0);
  for (const ClassifiedCall& one : judged.calls) {
    ASSERT_TRUE(one.answered);
    // Id k is answered by results of the parity of 49 - k, all failed or none.
    ASSERT_EQ(one.in_budget, (49 - one.position % 50) % 2 == 1) << one.position;
  }
}

TEST(Pairing, CallsOnAToolMessageAreCountedToo) {
  Episode episode;
  Message odd = answering("ok", false);
  odd.calls.push_back(make_call("suspend_line"));
  episode.messages = {calling({make_call("resume_line")}), odd, answering("ok", false)};
  const ClassifiedEpisode judged = Classifier(info_of("telecom"), nullptr).classify(episode);
  ASSERT_EQ(judged.calls.size(), 2u);
  EXPECT_TRUE(judged.calls[0].answered);
  EXPECT_TRUE(judged.calls[1].answered);
  EXPECT_EQ(judged.orphan_results, 0);
}

TEST(Sequence, PositionsCountPerSideAndARepeatedFailureIsMarked) {
  Episode episode;
  const ToolCall ours = make_call("get_customer_by_id", R"({"customer_id": "X"})");
  const ToolCall theirs = make_call("check_app_status", "{}", Side::User);
  const Message no = answering("Error: Customer with ID X not found", true);
  episode.messages = {calling({ours}),
                      no,
                      calling({theirs}),
                      answering("ok", false, Side::User),
                      calling({ours}),
                      no,
                      calling({theirs}),
                      answering("ok", false, Side::User),
                      calling({make_call("get_customer_by_id", R"({"customer_id": "Y"})")}),
                      no};
  const ClassifiedEpisode judged = Classifier(info_of("telecom"), nullptr).classify(episode);
  std::vector<int> positions;
  std::vector<bool> repeats;
  std::vector<int> messages;
  for (const ClassifiedCall& call : judged.calls) {
    positions.push_back(call.position);
    repeats.push_back(call.repeats_failed);
    messages.push_back(call.message);
  }
  EXPECT_EQ(positions, (std::vector<int>{0, 0, 1, 1, 2}));
  EXPECT_EQ(repeats, (std::vector<bool>{false, false, true, false, false}));
  EXPECT_EQ(messages, (std::vector<int>{0, 2, 4, 6, 8}));
}

TEST(Classifier, GivesNothingForAnEpisodeWithoutMessages) {
  const ClassifiedEpisode judged = Classifier(info_of("mock"), nullptr).classify(Episode());
  EXPECT_TRUE(judged.calls.empty());
  EXPECT_EQ(judged.orphan_results, 0);
}

// Calls, answers and texts picked at random.
Episode random_episode(Rng& rng) {
  static const std::vector<std::string> kNames = {
      "calculate", "functions.calculate", "", "zap", "get_user_details", std::string("a\0b", 3)};
  static const std::vector<std::string> kTexts = {"ok",
                                                  "Error: User x not found",
                                                  "Error: unhashable type: 'list'",
                                                  "Error: ",
                                                  "\xff\xfe",
                                                  "Tool 'zap' not found.",
                                                  "<tool_call>{\"name\": \"zap\"}</tool_call>"};
  static const std::vector<std::string> kIds = {"", "1", "2"};
  const auto pick = [&](const std::vector<std::string>& from) {
    return from[rng.below(static_cast<std::uint32_t>(from.size()))];
  };
  Episode episode;
  for (std::uint32_t m = rng.below(12); m > 0; --m) {
    const Side side = rng.bernoulli(0.3) ? Side::User : Side::Agent;
    if (rng.bernoulli(0.5)) {
      episode.messages.push_back(answering(pick(kTexts), rng.bernoulli(0.5), side, pick(kIds)));
      continue;
    }
    Message message = saying(rng.bernoulli(0.5) ? pick(kTexts) : "");
    for (std::uint32_t c = rng.below(4); c > 0; --c) {
      ToolCall call = make_call(pick(kNames), "{}", side, pick(kIds));
      call.arguments_are_object = rng.bernoulli(0.8);
      message.calls.push_back(call);
    }
    episode.messages.push_back(message);
  }
  return episode;
}

TEST(Classifier, EveryCallHasOneChannelAndEveryFailedResultIsCountedOnce) {
  const Classifier classifier(info_of("airline"), nullptr);
  Rng rng(20261130);
  for (int round = 0; round < 3000; ++round) {
    const Episode episode = random_episode(rng);
    const ClassifiedEpisode judged = classifier.classify(episode);
    int calls = 0;
    int failed_results = 0;
    int results = 0;
    for (const Message& message : episode.messages) {
      calls += static_cast<int>(message.calls.size());
      if (!message.result) continue;
      ++results;
      failed_results += message.result->failed ? 1 : 0;
    }
    int extracted = 0;
    int answered = 0;
    int in_budget = 0;
    for (const ClassifiedCall& call : judged.calls) {
      extracted += call.kind == SubKind::LeakedMarkup ? 0 : 1;
      answered += call.answered ? 1 : 0;
      in_budget += call.in_budget ? 1 : 0;
      EXPECT_FALSE(call.channel == Channel::Unanswered && call.answered);
      EXPECT_FALSE(call.channel == Channel::Ok && (!call.answered || call.in_budget));
      EXPECT_TRUE(call.channel == Channel::Ok || call.channel == Channel::Unanswered ||
                  call.channel == Channel::Malformed || call.in_budget);
    }
    ASSERT_EQ(extracted, calls);
    ASSERT_EQ(answered + judged.orphan_results, results);
    ASSERT_EQ(in_budget + judged.orphan_failures, failed_results);
  }
}

TEST(Classifier, GivesTheSameOnEveryThread) {
  const ToolsFile file{{{"calculate", R"({"type": "object", "required": ["expression"]})"}}, {}};
  const Classifier classifier(info_of("airline"), &file);
  std::vector<Episode> episodes;
  std::vector<ClassifiedEpisode> alone;
  Rng rng(7);
  for (int i = 0; i < 200; ++i) episodes.push_back(random_episode(rng));
  for (const Episode& episode : episodes) {
    alone.push_back(Classifier(info_of("airline"), &file).classify(episode));
  }
  std::vector<std::thread> threads;
  std::vector<int> differing(4, 0);
  for (int& count : differing) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < episodes.size(); ++i) {
        if (classifier.classify(episodes[i]).calls != alone[i].calls) ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(differing, std::vector<int>(4, 0));
}

TEST(HostileInput, IsJudgedQuickly) {
  const std::string megabyte(1 << 20, 'a');
  const std::string brackets(1 << 20, '[');
  ToolsFile file{{{megabyte, brackets}, {std::string(250, 'b'), ""}}, {}};
  const Classifier classifier(info_of("airline"), &file);
  Episode episode;
  for (const std::string& text : {megabyte, brackets, std::string(1 << 20, '<'),
                                  std::string(1 << 20, '\0'), std::string("Error: ") + megabyte}) {
    episode.messages.push_back(calling({make_call(text, text)}));
    episode.messages.push_back(answering(text, true));
    episode.messages.push_back(calling({make_call(megabyte, brackets)}));
    episode.messages.push_back(answering(text, true));
    episode.messages.push_back(saying(text));
  }
  std::string tags;
  while (tags.size() < (1 << 20)) tags += "<tool_call>";
  episode.messages.push_back(saying(tags));
  for (int i = 0; i < 2000; ++i) {
    episode.messages.push_back(calling({make_call(std::string(240, 'c'))}));
    episode.messages.push_back(answering("no", true));
  }
  const auto start = std::chrono::steady_clock::now();
  const ClassifiedEpisode judged = classifier.classify(episode);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(judged.calls.size(), 2010u);
  EXPECT_LT(took.count(), 5.0);
  for (const ClassifiedCall& call : judged.calls) ASSERT_LE(call.evidence.size(), 500u);
}

TEST(Speed, AMillionCallsASecondIsWithinReach) {
  const Classifier classifier(info_of("telecom"), nullptr);
  Episode episode;
  for (int i = 0; i < 500; ++i) {
    const bool fails = i % 8 == 0;
    episode.messages.push_back(calling(
        {make_call("get_customer_by_id", R"({"customer_id": "C1001"})", Side::Agent, "call_1")}));
    episode.messages.push_back(
        answering(fails ? "Error: Line L1001 not found for customer C1" : "{}", fails, Side::Agent,
                  "call_1"));
    episode.messages.push_back(saying("Thank you, I have found your account and will look at it."));
  }
  const auto start = std::chrono::steady_clock::now();
  std::size_t calls = 0;
  for (int round = 0; round < 200; ++round) calls += classifier.classify(episode).calls.size();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%.0f calls/s\n", static_cast<double>(calls) / took.count());
  EXPECT_EQ(calls, 100000u);
  EXPECT_LT(took.count(), 5.0);  // a guard against quadratic work, not a benchmark
}

Attempt attempt_of(const std::string& channel, const ToolCall& call) {
  Attempt attempt;
  attempt.channel = channel;
  attempt.calls = {call};
  attempt.feedback = "no such tool";
  return attempt;
}

ClassifiedEpisode judged(std::vector<Message> messages) {
  Episode episode;
  episode.messages = std::move(messages);
  return Classifier(info_of("mock"), nullptr).classify(episode);
}

TEST(ClassifyAttempts, ARepairedCallIsOneFailureBeforeTheCallThatCameOfIt) {
  Message message = calling({make_call("get_users")});
  message.attempts = {attempt_of("tool_name", make_call("get_userz")),
                      attempt_of("tool_name", make_call("nonsense"))};
  const ClassifiedEpisode found = judged({message, answering("[]", false)});
  ASSERT_EQ(found.calls.size(), 2u);
  const ClassifiedCall& refused = found.calls[0];
  EXPECT_EQ(refused.name, "get_userz") << "the first attempt stands for the repair";
  EXPECT_EQ(refused.channel, Channel::ToolName);
  EXPECT_EQ(refused.kind, SubKind::NearMiss);
  EXPECT_EQ(refused.repair, Repair::Repaired);
  EXPECT_EQ(refused.position, 0);
  EXPECT_FALSE(refused.in_budget);
  EXPECT_EQ(found.calls[1].channel, Channel::Ok);
  EXPECT_EQ(found.calls[1].position, 1);
  EXPECT_EQ(found.calls[1].repair, Repair::None);
}

TEST(ClassifyAttempts, WhatStaysBrokenIsNotCountedTwice) {
  Message message = calling({make_call("also_wrong"), make_call("get_users")});
  message.attempts = {attempt_of("tool_name", make_call("wrong"))};
  const ClassifiedEpisode found = judged(
      {message, answering("Error: Tool 'also_wrong' not found.", true), answering("[]", false)});
  ASSERT_EQ(found.calls.size(), 2u);
  EXPECT_EQ(found.calls[0].name, "wrong");
  EXPECT_EQ(found.calls[0].repair, Repair::Unrepaired);
  EXPECT_TRUE(found.calls[0].in_budget) << "the environment refused the last one";
  EXPECT_EQ(found.calls[1].channel, Channel::Ok);
}

TEST(ClassifyAttempts, AFailureInAnotherChannelIsItsOwn) {
  Message message = calling({make_call("create_task")});
  message.attempts = {attempt_of("tool_name", make_call("wrong"))};
  const ClassifiedEpisode found = judged({message, answering("Error: User u9 not found", true)});
  ASSERT_EQ(found.calls.size(), 2u);
  EXPECT_EQ(found.calls[0].repair, Repair::Repaired);
  EXPECT_EQ(found.calls[1].channel, Channel::Entity);
}

TEST(ClassifyAttempts, TalkingInsteadIsWithdrawn) {
  Message message = saying("I cannot do that.");
  message.attempts = {attempt_of("tool_name", make_call("wrong"))};
  const ClassifiedEpisode found = judged({message});
  ASSERT_EQ(found.calls.size(), 1u);
  EXPECT_EQ(found.calls[0].repair, Repair::Withdrawn);
}

TEST(ClassifyAttempts, MarkupThatLeaksAgainIsUnrepaired) {
  const std::string markup = R"(<tool_call>{"name": "get_users", "arguments": {}}</tool_call>)";
  Message message = saying(markup);
  Attempt attempt;
  attempt.channel = "malformed";
  attempt.text = markup;
  message.attempts = {attempt};
  const ClassifiedEpisode found = judged({message});
  ASSERT_EQ(found.calls.size(), 1u);
  EXPECT_EQ(found.calls[0].kind, SubKind::LeakedMarkup);
  EXPECT_EQ(found.calls[0].name, "get_users");
  EXPECT_EQ(found.calls[0].repair, Repair::Unrepaired);
  EXPECT_FALSE(found.calls[0].in_budget);
}

TEST(ClassifyAttempts, SpendsBudgetWhereTheRefusalDid) {
  Message message = calling({make_call("get_users")});
  message.attempts = {attempt_of("malformed", make_call("get_users", "{"))};
  message.attempts[0].spends_budget = true;
  const ClassifiedEpisode found = judged({message, answering("[]", false)});
  EXPECT_TRUE(found.calls.at(0).in_budget);
  EXPECT_EQ(found.calls.at(0).kind, SubKind::BadJson);
  EXPECT_EQ(found.calls.at(0).evidence, "{");
}

TEST(ClassifyAttempts, WhatSaysNothingIsPassedOver) {
  Message message = calling({make_call("get_users")});
  message.attempts = {attempt_of("cosmic_rays", make_call("wrong"))};
  EXPECT_EQ(judged({message, answering("[]", false)}).calls.size(), 1u);
  message.attempts.push_back(attempt_of("schema", make_call("create_task")));
  message.attempts[1].refused = 99;
  const ClassifiedEpisode found = judged({message, answering("[]", false)});
  ASSERT_EQ(found.calls.size(), 2u);
  EXPECT_EQ(found.calls[0].channel, Channel::Schema);
  EXPECT_EQ(found.calls[0].name, "");
}

}  // namespace
}  // namespace unmask
