#include "failure/classify.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "failure/messages_for_tests.h"

namespace unmask {
namespace {

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

}  // namespace
}  // namespace unmask
