#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/file.h"
#include "ingest/ingest.h"
#include "ingest/json_tree.h"
#include "ingest/openai_fields.h"

namespace unmask {
namespace {

ReadOptions openai_options(int threads = 2) {
  ReadOptions options;
  options.format = "openai";
  options.threads = threads;
  return options;
}

IngestReport read_lines(const std::string& lines, const ReadOptions& options = openai_options()) {
  Result<IngestReport> report = ingest_bytes(lines, "run.jsonl", options);
  EXPECT_TRUE(report.has_value()) << to_string(report.error());
  return report ? std::move(*report) : IngestReport{};
}

const Warning* find_warning(const IngestReport& report, std::string_view code) {
  const auto found = std::find_if(report.warnings.begin(), report.warnings.end(),
                                  [&](const Warning& w) { return w.code == code; });
  return found == report.warnings.end() ? nullptr : &*found;
}

Episode read_one(const std::string& line) {
  const IngestReport report = read_lines(line);
  EXPECT_EQ(report.episodes, 1u);
  return report.run.episodes.empty() ? Episode{} : report.run.episodes[0];
}

// A line with these messages.
std::string with_messages(const std::string& messages) {
  return R"({"task_id":"t","messages":[)" + messages + "]}\n";
}

TEST(Openai, ReadsEveryFieldOfALine) {
  const IngestReport report = read_lines(
      R"({"id":"e1","task_id":7,"trial":2,"reward":1,"termination":"max_steps","domain":"retail",)"
      R"("model":"acme","seed":11,"tools":[{"type":"function","function":{"name":"find",)"
      R"("parameters":{"type":"object"}}},{"name":"bare"},"named"],)"
      R"("messages":[{"role":"system","content":"Rules."},{"role":"user","content":"Hi"},)"
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",)"
      R"("function":{"name":"find","arguments":"{\"q\": 1}"}}]},)"
      R"({"role":"tool","tool_call_id":"c1","content":"found"}]})"
      "\n");
  ASSERT_EQ(report.episodes, 1u);
  EXPECT_EQ(report.run.info.format, "openai");
  EXPECT_EQ(report.run.info.domain, "retail");
  EXPECT_EQ(report.run.info.model, "acme");
  EXPECT_EQ(report.run.info.max_errors, std::nullopt);
  EXPECT_NE(report.run.info.failure_rule, "");
  const Episode& episode = report.run.episodes[0];
  EXPECT_EQ(episode.id, "e1");
  EXPECT_EQ(episode.task_id, "7");
  EXPECT_EQ(episode.trial, 2);
  EXPECT_EQ(episode.reward, 1.0);
  EXPECT_EQ(episode.success, true);
  EXPECT_EQ(episode.termination, Termination::MaxSteps);
  EXPECT_EQ(episode.seed, 11);
  EXPECT_EQ(episode.where, "run.jsonl:1");
  EXPECT_NE(episode.policy_hash, "");
  EXPECT_EQ(
      episode.agent_tools,
      (std::vector<OfferedTool>{
          {"find", R"({"type":"object"})",
           R"({"type":"function","function":{"name":"find","parameters":{"type":"object"}}})"},
          {"bare", ""},
          {"named", ""}}))
      << "a definition where a server would take it for one";
  ASSERT_EQ(episode.messages.size(), 4u);
  const ToolCall& call = episode.messages[2].calls.at(0);
  EXPECT_EQ(call.id, "c1");
  EXPECT_EQ(call.name, "find");
  EXPECT_EQ(call.arguments, R"({"q": 1})");
  EXPECT_TRUE(call.arguments_are_object);
  EXPECT_EQ(episode.messages[3].result->call_id, "c1");
  EXPECT_EQ(episode.messages[3].result->text, "found");
  EXPECT_FALSE(episode.messages[3].result->failed);
  EXPECT_TRUE(report.warnings.empty());
}

TEST(Openai, TellsArgumentsThatAreNoObject) {
  struct Case {
    std::string arguments;
    bool object;
    std::string kept;
  };
  for (const Case& c : {
           Case{R"("{\"a\":1}")", true, R"({"a":1})"},
           Case{R"({"a":1})", true, R"({"a":1})"},
           Case{R"("{\"a\":")", false, R"({"a":)"},
           Case{R"("[1]")", false, "[1]"},
           Case{R"("")", false, ""},
           Case{R"("{\"a\":NaN}")", false, R"({"a":NaN})"},
           Case{"null", false, "null"},
           Case{"[1]", false, "[1]"},
       }) {
    const Episode episode = read_one(with_messages(
        R"({"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":)" +
        c.arguments + "}}]}"));
    const ToolCall& call = episode.messages.at(0).calls.at(0);
    EXPECT_EQ(call.arguments_are_object, c.object) << c.arguments;
    EXPECT_EQ(call.arguments, c.kept);
  }
}

TEST(Openai, KeepsApartAnEmptyTextAndNoneAndThoughts) {
  const std::string calls = R"("tool_calls":[{"id":"x","function":{"name":"f","arguments":"{}"}}])";
  const Episode episode = read_one(with_messages(
      R"({"role":"assistant","content":"",)" + calls + R"(},{"role":"assistant","content":null,)" +
      calls + R"(},{"role":"assistant","content":"","reasoning_content":"hm"})"));
  EXPECT_TRUE(episode.messages.at(0).empty_text);
  EXPECT_FALSE(episode.messages.at(1).empty_text);
  EXPECT_FALSE(episode.messages.at(2).empty_text) << "it has no calls";
  EXPECT_EQ(episode.messages.at(2).reasoning, "hm");
}

TEST(Openai, ReadsLegacyFunctionCallsAndCustomTools) {
  const Episode episode = read_one(
      with_messages(R"({"role":"assistant","function_call":{"name":"f","arguments":"{}"}},)"
                    R"({"role":"function","name":"f","content":"Error: no such thing"},)"
                    R"({"role":"assistant","tool_calls":[{"id":"x","type":"custom",)"
                    R"("custom":{"name":"sql","input":"select \"1\""}}]})"));
  EXPECT_EQ(episode.messages.at(0).calls.at(0).name, "f");
  EXPECT_TRUE(episode.messages.at(1).result->failed);
  EXPECT_EQ(episode.messages.at(2).calls.at(0).name, "sql");
  EXPECT_EQ(episode.messages.at(2).calls.at(0).arguments, R"({"input":"select \"1\""})");
  EXPECT_TRUE(episode.messages.at(2).calls.at(0).arguments_are_object);
}

TEST(Openai, JoinsContentPartsAndReadsNullAsNothing) {
  const Episode episode = read_one(with_messages(
      R"({"role":"developer","content":[{"type":"text","text":"a"},{"type":"image_url"},)"
      R"({"type":"refusal","refusal":"b"},"c"]},{"role":"user","content":null},)"
      R"({"role":"assistant","content":null,"refusal":"No."},{"role":"narrator","content":"x"})"));
  ASSERT_EQ(episode.messages.size(), 3u);
  EXPECT_EQ(episode.messages[0].role, Role::System);
  EXPECT_EQ(episode.messages[0].text, "a\nb\nc");
  EXPECT_EQ(episode.messages[1].text, "");
  EXPECT_EQ(episode.messages[2].text, "No.");
}

TEST(Openai, RecognisesFailedResultsByTheDocumentedRule) {
  struct Case {
    std::string message;
    bool failed;
  };
  for (const Case& c : {
           Case{R"("content":"Error: not found")", true},
           Case{R"("content":"Error executing tool")", true},
           Case{R"("content":"Error")", true},
           Case{R"("content":"error: lower case")", false},
           Case{R"("content":"Errors were found: none")", false},
           Case{R"("content":"No Error: fine")", false},
           Case{R"("content":"Error: x","error":false)", false},
           Case{R"("content":"fine","is_error":true)", true},
           Case{R"("content":"fine","error":true)", true},
           Case{R"("content":"","error":"broke")", true},
           Case{R"("content":"Error: x","error":null)", true},
           Case{R"("content":" {\"error\": \"no\"}")", true},
           Case{R"("content":"{\"error\": null, \"rows\": 3}")", false},
           Case{R"("content":"{\"error\": false}")", false},
           Case{R"("content":"{\"data\": {\"error\": \"x\"}}")", false},
           Case{R"("content":"{\"error\": ")", false},
           Case{R"("content":{"error":"x"})", true},
       }) {
    const Episode episode =
        read_one(with_messages(R"({"role":"tool","tool_call_id":"c",)" + c.message + "}"));
    EXPECT_EQ(episode.messages.at(0).result->failed, c.failed) << c.message;
    EXPECT_NE(episode.messages.at(0).result->text, "") << c.message;
  }
}

TEST(Openai, CountsTheTrialsThatAreNotNumberedInTheLogsOrder) {
  std::string lines;
  for (int i = 0; i < 300; ++i)
    lines += R"({"task_id":"t)" + std::to_string(i % 3) + R"(","messages":[]})" + "\n";
  for (const int threads : {1, 4}) {
    const IngestReport report = read_lines(lines, openai_options(threads));
    ASSERT_EQ(report.episodes, 300u);
    for (int i = 0; i < 300; ++i)
      EXPECT_EQ(report.run.episodes[static_cast<std::size_t>(i)].trial, i / 3) << threads;
  }
}

TEST(Openai, UsesTheLineNumberWhereATaskIdIsMissing) {
  const IngestReport report = read_lines("{\"messages\":[]}\n\n{\"messages\":[]}\n");
  ASSERT_EQ(report.episodes, 2u);
  EXPECT_EQ(report.run.episodes[0].task_id, "1");
  EXPECT_EQ(report.run.episodes[1].task_id, "3");
  ASSERT_NE(find_warning(report, "missing_task_id"), nullptr);
  EXPECT_EQ(find_warning(report, "missing_task_id")->count, 2);
}

TEST(Openai, MapsTheUsersFieldsByNameAndByPointer) {
  ReadOptions options = openai_options();
  options.field_map = {{"task_id", "meta/id"},    {"trial", "/meta/runs/1"}, {"success", "ok"},
                       {"messages", "chat"},      {"reward", "a/b"},         {"domain", "/x~1y/~0"},
                       {"model", "/meta/nothing"}};
  const IngestReport report = read_lines(
      R"({"meta":{"id":"q","runs":[5,6]},"ok":false,"chat":[],"a/b":0.0,"x/y":{"~":"shop"}})",
      options);
  ASSERT_EQ(report.episodes, 1u);
  const Episode& episode = report.run.episodes[0];
  EXPECT_EQ(episode.task_id, "q");
  EXPECT_EQ(episode.trial, 6);
  EXPECT_EQ(episode.success, false);
  EXPECT_EQ(episode.reward, 0.0);
  EXPECT_EQ(episode.domain, "shop");
  EXPECT_EQ(episode.model, "");
}

TEST(Openai, RefusesAMapOfAFieldThatDoesNotExist) {
  ReadOptions options = openai_options();
  options.field_map = {{"taskid", "id"}};
  const Result<IngestReport> report = ingest_bytes("{}", "run.jsonl", options);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().kind, ErrorKind::InvalidArgument);
  EXPECT_NE(report.error().message.find("did you mean 'task_id'"), std::string::npos);
  options.field_map = {{"task_id", ""}};
  EXPECT_FALSE(ingest_bytes("{}", "run.jsonl", options).has_value());
}

TEST(Openai, GradesByRewardSuccessAndThreshold) {
  const auto graded = [](const std::string& fields, std::optional<double> threshold) {
    ReadOptions options = openai_options();
    options.pass_threshold = threshold;
    return read_lines(R"({"task_id":"t","messages":[])" + fields + "}", options);
  };
  const auto success = [&](const std::string& fields, std::optional<double> threshold = {}) {
    const IngestReport report = graded(fields, threshold);
    EXPECT_EQ(report.run.episodes.at(0).success, success_of(report.run.episodes.at(0).reward));
    return report.run.episodes.at(0).success;
  };
  EXPECT_EQ(success(""), std::nullopt);
  EXPECT_EQ(success(R"(,"reward":1.0)"), true);
  EXPECT_EQ(success(R"(,"reward":0.5)"), false);
  EXPECT_EQ(success(R"(,"reward":0.5)", 0.5), true);
  EXPECT_EQ(success(R"(,"reward":true)"), true);
  EXPECT_EQ(success(R"(,"reward":NaN)"), std::nullopt);
  EXPECT_EQ(success(R"(,"success":true)"), true);
  EXPECT_EQ(success(R"(,"success":0)"), false);
  EXPECT_EQ(success(R"(,"success":null)"), std::nullopt);
  EXPECT_EQ(success(R"(,"success":"yes")"), std::nullopt);
  EXPECT_EQ(success(R"(,"success":false,"reward":1)"), false);
  EXPECT_NE(find_warning(graded(R"(,"success":false,"reward":1)", {}), "success_differs"), nullptr);
  EXPECT_NE(find_warning(graded(R"(,"success":"yes")", {}), "wrong_type"), nullptr);
}

TEST(Openai, SurvivesMarksLineEndsBlanksAndAHalfWrittenEnd) {
  const IngestReport report = read_lines(
      "\xEF\xBB\xBF\r\n{\"task_id\":\"a\",\"messages\":[]}\r\n   \r\n\r\n"
      "{\"task_id\":\"b\",\"messages\":[]}\r\n{\"task_id\":\"c\",\"mess");
  EXPECT_EQ(report.episodes, 2u);
  ASSERT_EQ(report.dropped.size(), 1u);
  EXPECT_EQ(report.dropped[0].code, "truncated_record");
  EXPECT_EQ(report.dropped[0].where, "run.jsonl:6");
}

TEST(Openai, DropsBadLinesWithTheirPlaceAndReadsTheOthers) {
  const IngestReport report = read_lines(
      "{\"task_id\":\"a\",\"messages\":[]}\n{oops}\n[1]\n{\"task_id\":\"b\"}\n"
      "{\"task_id\":\"c\",\"messages\":{}}\n{\"task_id\":\"d\",\"messages\":[]}\n");
  EXPECT_EQ(report.episodes, 2u);
  ASSERT_EQ(report.dropped.size(), 4u);
  EXPECT_EQ(report.dropped[0].where, "run.jsonl:2");
  EXPECT_EQ(report.dropped[0].reason, "the line is not JSON at byte 1");
  EXPECT_EQ(report.dropped[2].reason, "the line has no 'messages'; it has task_id");
}

TEST(Openai, MendsWhatPythonWritesAndBrokenText) {
  const IngestReport report = read_lines(
      "{\"task_id\":\"a\",\"reward\":-Infinity,\"n\":123456789012345678901234567890,"
      "\"messages\":[{\"role\":\"user\",\"content\":\"x\xFFy \\ud83d z\"}]}\n");
  ASSERT_EQ(report.episodes, 1u);
  EXPECT_EQ(report.run.episodes[0].messages[0].text, "x\xEF\xBF\xBDy \xEF\xBF\xBD z");
  EXPECT_EQ(report.run.episodes[0].reward, std::nullopt);
  EXPECT_NE(find_warning(report, "invalid_utf8"), nullptr);
  EXPECT_NE(find_warning(report, "lone_surrogate"), nullptr);
}

TEST(Openai, TakesTheLastOfRepeatedKeysAsPythonDoes) {
  EXPECT_EQ(read_one(R"({"task_id":"a","messages":[],"task_id":"b"})").task_id, "b");
}

TEST(Openai, RefusesLinesThatNestTooDeep) {
  const std::string deep = R"({"task_id":"a","x":)" + std::string(5000, '[') +
                           std::string(5000, ']') + R"(,"messages":[]})" + "\n";
  const Result<IngestReport> report = ingest_bytes(deep, "run.jsonl", openai_options());
  ASSERT_FALSE(report.has_value());
  EXPECT_NE(report.error().message.find("nests deeper than 1024"), std::string::npos);
  EXPECT_EQ(report.error().where, "run.jsonl:1");
}

TEST(Openai, SaysWhatALineHasWhereMessagesAreMissing) {
  const Result<IngestReport> report =
      ingest_bytes("{\"conversation\":[],\"id\":1}\n", "run.jsonl", openai_options());
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().message,
            "no line can be read; the first: the line has no 'messages'; it has conversation, id");
}

TEST(JsonPointer, LeadsThroughObjectsAndArrays) {
  const Result<JsonTree> tree = JsonTree::parse(R"({"a":[{"b":5}],"":{"":6}})");
  ASSERT_TRUE(tree.has_value());
  EXPECT_EQ(json_at(tree->root(), "/a/0/b").integer(), 5);
  EXPECT_EQ(json_at(tree->root(), "a/0/b").integer(), 5);
  EXPECT_EQ(json_at(tree->root(), "a/1").kind(), JsonNode::Kind::Absent);
  EXPECT_EQ(json_at(tree->root(), "a/-1").kind(), JsonNode::Kind::Absent);
  EXPECT_EQ(json_at(tree->root(), "a/0/b/c").kind(), JsonNode::Kind::Absent);
  EXPECT_EQ(json_at(tree->root(), "//").integer(), 6);
}

TEST(JsonTree, RendersBackWhatItParsed) {
  const std::string text =
      R"({"a":[1,-2.5,1e+300,18446744073709551615,true,false,null,"\u0001\"\\"],"b":{},"c":[]})";
  const Result<JsonTree> tree = JsonTree::parse(text);
  ASSERT_TRUE(tree.has_value());
  EXPECT_EQ(tree->root().to_json(), text);
  const Result<JsonTree> sorted = JsonTree::parse(R"({"b":{"y":1,"x":2},"a":0})");
  EXPECT_EQ(sorted->root().to_sorted_json(), R"({"a":0,"b":{"x":2,"y":1}})");
}

TEST(JsonTree, TellsTheByteOfTheFirstFault) {
  const auto fault = [](std::string_view text) { return JsonTree::parse(text).error().message; };
  EXPECT_EQ(fault(R"({"a":1,})"), "is not JSON at byte 7");
  EXPECT_EQ(fault(R"({"a":1)"), "is JSON cut short at byte 6");
  EXPECT_EQ(fault(""), "is empty where JSON is expected");
  EXPECT_EQ(fault("{} {}"), "is not JSON at byte 3");
}

// What one format writes must never be taken for another's.
TEST(Sniffing, TellsTheFormatsApartByTheirFirstBytes) {
  const auto format_of = [](const std::string& bytes) -> std::string {
    ReadOptions options;
    options.threads = 1;
    const Result<IngestReport> report = ingest_bytes(bytes, "log", options);
    return report ? report->run.info.format : to_string(report.error());
  };
  const std::string message = R"({"role":"user","content":"\"eval\": {\"simulations\": []}"})";
  EXPECT_EQ(format_of(" \n\t" + with_messages(message)), "openai");
  EXPECT_EQ(format_of(R"({"eval":{"x":1},"version":2,"status":"success","messages":[]})"),
            "openai");
  EXPECT_EQ(format_of(R"({"meta":{"simulations":[],"eval":{}},"messages":[]})"), "openai");
  const std::string samples = R"("samples":[{"id":1,"epoch":1,"messages":[]}])";
  EXPECT_EQ(format_of(R"({"version":2,"status":"success","eval":{"task":"t"},)" + samples + "}"),
            "inspect");
  EXPECT_EQ(format_of("\n {\n" + samples + R"(, "eval" : { } , "status":"error"})"), "inspect");
  EXPECT_EQ(format_of("PK\x05\x06" + std::string(18, '\0')),
            "log: is not an Inspect log: the archive has neither header.json nor "
            "_journal/start.json");
}

TEST(Sniffing, LeavesOtherJsonAlone) {
  for (const char* bytes : {"{}", "[]", "7", R"({"status":"ok","version":1})",
                            R"({"eval":"a text"})", R"({"messages":"none"})", "{"}) {
    ReadOptions options;
    const Result<IngestReport> report = ingest_bytes(bytes, "log", options);
    ASSERT_FALSE(report.has_value()) << bytes;
    EXPECT_EQ(report.error().kind, ErrorKind::Unsupported) << bytes << to_string(report.error());
  }
}

}  // namespace
}  // namespace unmask
