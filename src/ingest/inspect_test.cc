// Inspect logs of tests/oracle/make_inspect_fixture.py: what they hold is written there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/file.h"
#include "ingest/ingest.h"
#include "ingest/inspect_run.h"
#include "ingest/inspect_score.h"
#include "ingest/json_tree.h"
#include "ingest/zip_archive.h"

namespace unmask {
namespace {

std::string fixture(const std::string& name) {
  return std::string(UNMASK_TEST_DATA) + "/ingest/" + name;
}

ReadOptions with_threads(int threads) {
  ReadOptions options;
  options.threads = threads;
  return options;
}

IngestReport read_fixture(const std::string& name, const ReadOptions& options = with_threads(2)) {
  Result<IngestReport> report = ingest(fixture(name), options);
  EXPECT_TRUE(report.has_value()) << name << ": " << to_string(report.error());
  return report ? std::move(*report) : IngestReport{};
}

// Episodes that differ only in where they were found.
std::vector<Episode> without_places(std::vector<Episode> episodes) {
  for (Episode& episode : episodes) episode.where.clear();
  return episodes;
}

const Warning* find_warning(const IngestReport& report, std::string_view code) {
  const auto found = std::find_if(report.warnings.begin(), report.warnings.end(),
                                  [&](const Warning& w) { return w.code == code; });
  return found == report.warnings.end() ? nullptr : &*found;
}

const Episode* find_episode(const IngestReport& report, std::string_view task, int trial) {
  const auto found =
      std::find_if(report.run.episodes.begin(), report.run.episodes.end(),
                   [&](const Episode& e) { return e.task_id == task && e.trial == trial; });
  return found == report.run.episodes.end() ? nullptr : &*found;
}

TEST(Inspect, ReadsTheRunFromTheHeader) {
  const RunInfo info = read_fixture("inspect.eval").run.info;
  EXPECT_EQ(info.format, "inspect");
  EXPECT_EQ(info.domain, "airline");
  EXPECT_EQ(info.model, "vllm/acme-7b");
  EXPECT_EQ(info.user_model, "openai/gpt-4.1");
  EXPECT_EQ(info.agent_implementation, "use_tools > react");
  EXPECT_EQ(info.agent_settings, R"({"seed":5,"temperature":0.0,"top_p":0.9})");
  EXPECT_EQ(info.git_commit, "0123abc");
  EXPECT_EQ(info.timestamp, "2026-05-01T10:00:00+00:00");
  EXPECT_EQ(info.seed, 5);
  EXPECT_EQ(info.num_trials, 2);
  EXPECT_EQ(info.max_steps, 30);
  EXPECT_EQ(info.max_errors, std::nullopt);
  EXPECT_NE(info.failure_rule, "");
  EXPECT_EQ(info.task_ids, (std::vector<std::string>{"1", "two", "three", "four/a b"}));
}

TEST(Inspect, ReadsMessagesCallsAndResultsInOrder) {
  const IngestReport report = read_fixture("inspect.eval");
  ASSERT_EQ(report.episodes, 8u);
  const Episode* const episode = find_episode(report, "1", 0);
  ASSERT_NE(episode, nullptr);
  EXPECT_EQ(episode->id, "sample-uuid-1");
  EXPECT_EQ(episode->duration_seconds, 12.5);
  EXPECT_EQ(episode->agent_cost_usd, 0.25);
  EXPECT_EQ(episode->where, fixture("inspect.eval") + ": samples/1_epoch_1.json");
  const std::vector<Message>& messages = episode->messages;
  ASSERT_EQ(messages.size(), 10u);
  EXPECT_EQ(messages[0].role, Role::System);
  EXPECT_EQ(messages[1].role, Role::User);
  EXPECT_EQ(messages[1].text, "Refund booking AB1.\nPlease.");
  ASSERT_EQ(messages[2].calls.size(), 2u);
  EXPECT_EQ(messages[2].calls[0].id, "call_1");
  EXPECT_EQ(messages[2].calls[0].name, "find_booking");
  EXPECT_EQ(messages[2].calls[0].arguments, R"({"code":"AB1"})");
  EXPECT_EQ(messages[2].calls[1].arguments, R"({"q":"AB1","deep":{"n":1.0,"list":[1,null,true]}})");
  EXPECT_TRUE(messages[2].calls[1].arguments_are_object);
  EXPECT_EQ(messages[7].text, "Again.") << "reasoning is not text";
  EXPECT_EQ(messages[9].text, "Done. \xF0\x9F\x98\x80 \xC3\xA9");
}

TEST(Inspect, ReadsToolErrorsWithTheirTypes) {
  const IngestReport report = read_fixture("inspect.eval");
  const Episode* const episode = find_episode(report, "1", 0);
  ASSERT_NE(episode, nullptr);
  const std::vector<Message>& messages = episode->messages;
  ASSERT_TRUE(messages[3].result && messages[4].result && messages[6].result && messages[8].result);
  EXPECT_FALSE(messages[3].result->failed);
  EXPECT_EQ(messages[3].result->call_id, "call_1");
  EXPECT_TRUE(messages[4].result->failed);
  EXPECT_EQ(messages[4].result->error_type, "parsing");
  EXPECT_EQ(messages[4].result->text, "Tool lookup not found");
  EXPECT_TRUE(messages[5].calls[0].parse_error.starts_with("Error parsing the following"));
  EXPECT_EQ(messages[8].result->error_type, "limit");
  EXPECT_EQ(messages[8].result->text,
            "The tool exceeded its output limit of 10 MiB.\npartial output");
}

TEST(Inspect, ResolvesAttachmentsWhereverTextOccurs) {
  const IngestReport report = read_fixture("inspect.eval");
  const Episode* const episode = find_episode(report, "1", 0);
  ASSERT_NE(episode, nullptr);
  EXPECT_TRUE(episode->messages[3].result->text.starts_with("A booking confirmation, long"));
  EXPECT_EQ(episode->messages[5].text, "I will refund it.");
  EXPECT_TRUE(episode->messages[7].calls[0].arguments.starts_with(R"({"code":"A booking)"));
  EXPECT_EQ(find_warning(report, "missing_attachment"), nullptr)
      << "an image is not text and is not looked up";
}

TEST(Inspect, TakesToolsTokensAndRawAnswersFromTheAgentsModelEvents) {
  const IngestReport report = read_fixture("inspect.eval");
  const Episode* const episode = find_episode(report, "1", 0);
  ASSERT_NE(episode, nullptr);
  ASSERT_TRUE(episode->agent_tools.has_value());
  ASSERT_EQ(episode->agent_tools->size(), 2u);
  EXPECT_EQ((*episode->agent_tools)[1].name, "refund");
  EXPECT_TRUE((*episode->agent_tools)[1].schema.starts_with(R"({"type":"object","properties")"));
  EXPECT_EQ(episode->messages[2].usage, (TokenUsage{105, 20}));
  EXPECT_EQ(episode->messages[2].seconds, 1.5);
  EXPECT_EQ(episode->messages[2].raw_text, "raw <tool_call>");
  EXPECT_EQ(episode->messages[2].raw_calls, 2);
  EXPECT_EQ(episode->messages[5].usage, std::nullopt);
  EXPECT_EQ(episode->messages[9].usage, (TokenUsage{6, 2}));
  EXPECT_EQ(episode->messages[9].raw_calls, std::nullopt)
      << "the agent took the calls out of the conversation: the parser lost nothing";
  EXPECT_EQ(episode->messages[9].raw_text, "");
  const Episode* const other = find_episode(report, "1", 1);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other->agent_tools, std::nullopt) << "no event, no list: not an empty list";
}

TEST(Inspect, GradesByTheFirstScorerAndLeavesPartialScoresUngraded) {
  const IngestReport report = read_fixture("inspect.eval");
  const auto success = [&](std::string_view task, int trial) {
    return find_episode(report, task, trial)->success;
  };
  EXPECT_EQ(success("1", 0), true);
  EXPECT_EQ(success("1", 1), false);
  EXPECT_EQ(success("two", 0), std::nullopt) << "P";
  EXPECT_EQ(success("two", 1), std::nullopt) << "crashed, not scored";
  EXPECT_EQ(success("three", 0), std::nullopt) << "NaN";
  EXPECT_EQ(success("three", 1), false) << "N";
  EXPECT_EQ(success("four/a b", 0), std::nullopt) << "invalidated";
  EXPECT_EQ(success("four/a b", 1), std::nullopt) << "0.75";
  for (const Episode& episode : report.run.episodes)
    EXPECT_EQ(episode.success, success_of(episode.reward)) << episode.task_id;
  const Warning* const several = find_warning(report, "several_scorers");
  ASSERT_NE(several, nullptr);
  EXPECT_NE(several->message.find("quality"), std::string::npos);
  ASSERT_NE(find_warning(report, "partial_score"), nullptr);
  EXPECT_EQ(find_warning(report, "partial_score")->count, 2);
  ASSERT_NE(find_warning(report, "unreadable_score"), nullptr);
}

TEST(Inspect, GradesByAThresholdWhenOneIsGiven) {
  ReadOptions options = with_threads(1);
  options.pass_threshold = 0.6;
  const IngestReport report = read_fixture("inspect.eval", options);
  EXPECT_EQ(find_episode(report, "two", 0)->success, false) << "P is 0.5";
  EXPECT_EQ(find_episode(report, "four/a b", 1)->success, true) << "0.75";
  EXPECT_EQ(find_episode(report, "four/a b", 1)->reward, 1.0);
  EXPECT_EQ(find_episode(report, "three", 0)->success, std::nullopt) << "NaN stays ungraded";
}

TEST(Inspect, TakesTheScorerThatWasAskedFor) {
  ReadOptions options = with_threads(1);
  options.scorer = "quality/facts";
  EXPECT_EQ(find_episode(read_fixture("inspect.eval", options), "1", 1)->success, true);
  options.scorer = "quality";
  const IngestReport whole = read_fixture("inspect.eval", options);
  EXPECT_EQ(find_episode(whole, "1", 0)->success, std::nullopt) << "an object is no score";
  options.scorer = "qualty";
  const Result<IngestReport> unknown = ingest(fixture("inspect.eval"), options);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().kind, ErrorKind::InvalidArgument);
  EXPECT_NE(unknown.error().message.find("match, quality, quality/tone, quality/facts"),
            std::string::npos)
      << unknown.error().message;
}

TEST(Inspect, TellsHowEachSampleEnded) {
  const IngestReport report = read_fixture("inspect.eval");
  const auto ended = [&](std::string_view task, int trial) {
    return find_episode(report, task, trial)->termination;
  };
  EXPECT_EQ(ended("1", 0), Termination::AgentStop);
  EXPECT_EQ(ended("two", 0), Termination::MaxSteps);
  EXPECT_EQ(ended("two", 1), Termination::InfrastructureError);
  EXPECT_EQ(find_episode(report, "two", 1)->termination_text, "Connection reset");
  EXPECT_EQ(ended("three", 0), Termination::MaxSteps);
  EXPECT_EQ(find_episode(report, "three", 0)->termination_text, "token limit");
  EXPECT_EQ(ended("three", 1), Termination::UnexpectedError) << "scored although it crashed";
  EXPECT_EQ(ended("four/a b", 0), Termination::InfrastructureError);
  EXPECT_EQ(ended("four/a b", 1), Termination::Unknown);
  EXPECT_EQ(find_episode(report, "four/a b", 1)->termination_text, "operator limit");
}

TEST(Inspect, ReadsTheSameFromEveryFormAndAnyNumberOfThreads) {
  const std::vector<Episode> expected = without_places(read_fixture("inspect.eval").run.episodes);
  ASSERT_EQ(expected.size(), 8u);
  for (const char* name : {"inspect_zstd.eval", "inspect_stored.eval", "inspect.json"}) {
    for (const int threads : {1, 4}) {
      const IngestReport report = read_fixture(name, with_threads(threads));
      EXPECT_EQ(without_places(report.run.episodes), expected) << name;
      EXPECT_EQ(report.run.info, read_fixture("inspect.eval").run.info) << name;
      EXPECT_TRUE(report.dropped.empty()) << name;
    }
  }
}

TEST(Inspect, JoinsChunkedSamples) {
  const IngestReport chunked = read_fixture("inspect_chunked.eval");
  ASSERT_EQ(chunked.episodes, 2u);
  Episode joined = *find_episode(chunked, "1", 0);
  Episode whole = *find_episode(read_fixture("inspect.eval"), "1", 0);
  joined.where = whole.where = "";
  EXPECT_EQ(joined, whole);
}

TEST(Inspect, DropsChunkedSamplesWithPartsMissing) {
  for (const char* name : {"inspect_chunked_gap.eval", "inspect_chunked_beyond.eval"}) {
    const IngestReport report = read_fixture(name);
    EXPECT_EQ(report.episodes, 1u) << name;
    ASSERT_EQ(report.dropped.size(), 1u) << name;
    EXPECT_NE(report.dropped[0].where.find("samples/1_epoch_1/"), std::string::npos);
  }
}

TEST(Inspect, ReadsARunThatNeverFinished) {
  const IngestReport report = read_fixture("inspect_crashed.eval");
  EXPECT_EQ(report.episodes, 1u);
  EXPECT_EQ(report.run.info.model, "vllm/acme-7b");
  EXPECT_NE(find_warning(report, "unfinished_log"), nullptr);
}

TEST(Inspect, CountsARecordTwiceWrittenOnceByItsLastContents) {
  const IngestReport report = read_fixture("inspect_twice.eval");
  ASSERT_EQ(report.episodes, 1u);
  EXPECT_EQ(report.run.episodes[0].success, false);
  EXPECT_NE(find_warning(report, "superseded_entry"), nullptr);
}

TEST(Inspect, WarnsWhenTheHeaderCountsMoreSamples) {
  EXPECT_NE(find_warning(read_fixture("inspect_twice.eval"), "missing_samples"), nullptr);
  EXPECT_EQ(find_warning(read_fixture("inspect.eval"), "missing_samples"), nullptr);
}

struct Hostile {
  const char* name;
  const char* reason;
};

TEST(InspectHostile, DropsTheDamagedEntryAndReadsTheOther) {
  for (const Hostile& hostile : {
           Hostile{"hostile_lying_bomb.eval", "expands to more bytes than the archive states"},
           Hostile{"hostile_lying_bomb_zstd.eval", "expands to more bytes than the archive states"},
           Hostile{"hostile_crc.eval", "does not match the CRC-32"},
           Hostile{"hostile_size.eval", "where the archive states 1048576"},
           Hostile{"hostile_encrypted.eval", "is encrypted"},
           Hostile{"hostile_method.eval", "zip method 12"},
           Hostile{"hostile_zstd.eval", "its zstd data cannot be expanded"},
           Hostile{"hostile_zstd_cut.eval", "its zstd data ends too early"},
       }) {
    const IngestReport report = read_fixture(hostile.name);
    ASSERT_EQ(report.episodes, 1u) << hostile.name;
    EXPECT_EQ(report.run.episodes[0].task_id, "ok");
    ASSERT_EQ(report.dropped.size(), 1u) << hostile.name;
    EXPECT_NE(report.dropped[0].reason.find(hostile.reason), std::string::npos)
        << hostile.name << ": " << report.dropped[0].reason;
  }
}

TEST(InspectHostile, RefusesABombBeforeExpandingIt) {
  ReadOptions options = with_threads(1);
  options.max_expanded_bytes = 1 << 20;
  const Result<IngestReport> report = ingest(fixture("hostile_bomb.eval"), options);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().kind, ErrorKind::InvalidArgument);
  EXPECT_NE(report.error().message.find("beyond the limit of 1048576"), std::string::npos);
}

TEST(InspectHostile, SaysThatACutArchiveIsCut) {
  const Result<IngestReport> report = ingest(fixture("hostile_cut.eval"), with_threads(1));
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().kind, ErrorKind::Malformed);
  EXPECT_NE(report.error().message.find("cut short"), std::string::npos) << report.error().message;
  EXPECT_EQ(report.error().where, fixture("hostile_cut.eval"));
}

TEST(InspectHostile, TreatsAnEntrysPathAsANameOnly) {
  const IngestReport report = read_fixture("hostile_paths.eval");
  EXPECT_EQ(report.episodes, 2u);
  EXPECT_NE(find_episode(report, "up", 0), nullptr);
}

TEST(InspectHostile, GivesAnErrorForEveryCutOfAnArchiveAndOfAJsonLog) {
  for (const char* name : {"inspect_zstd.eval", "inspect.json"}) {
    const Result<std::string> bytes = read_file(fixture(name));
    ASSERT_TRUE(bytes.has_value());
    ReadOptions options = with_threads(1);
    options.format = "inspect";
    std::size_t episodes = 0;
    for (std::size_t cut = 0; cut < bytes->size(); cut += 97) {
      const Result<IngestReport> report = ingest_bytes(bytes->substr(0, cut), "cut", options);
      if (!report) {
        EXPECT_NE(report.error().message, "");
        continue;
      }
      EXPECT_GE(report->episodes, episodes);
      episodes = report->episodes;
      EXPECT_TRUE(find_warning(*report, "truncated_log") != nullptr) << cut;
    }
  }
}

TEST(InspectHostile, ReadsWhatIsLeftOfACutJsonLog) {
  const Result<std::string> bytes = read_file(fixture("inspect.json"));
  ASSERT_TRUE(bytes.has_value());
  const std::size_t cut = bytes->find("\"Connection reset\"");
  ASSERT_NE(cut, std::string::npos);
  const Result<IngestReport> report = ingest_bytes(bytes->substr(0, cut), "cut", with_threads(2));
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->episodes, 3u);
  ASSERT_EQ(report->dropped.size(), 1u);
  EXPECT_EQ(report->dropped[0].code, "truncated_record");
}

TEST(InspectHostile, DropsASampleWhoseAttachmentsExpandBeyondTheLimit) {
  std::string log = R"({"version":2,"status":"success","eval":{"task":"t"},"samples":[
    {"id":1,"epoch":1,"messages":[{"role":"user","content":"hi"}]},
    {"id":2,"epoch":1,"attachments":{"a":")" +
                    std::string(1000, 'x') + R"("},"messages":[)";
  for (int i = 0; i < 50; ++i)
    log += std::string(i > 0 ? "," : "") + R"({"role":"user","content":"attachment://a"})";
  log += "]}]}";
  ReadOptions options = with_threads(1);
  options.max_expanded_bytes = 20000;
  const Result<IngestReport> report = ingest_bytes(log, "log", options);
  ASSERT_TRUE(report.has_value()) << to_string(report.error());
  EXPECT_EQ(report->episodes, 1u);
  ASSERT_EQ(report->dropped.size(), 1u);
  EXPECT_EQ(report->dropped[0].code, "sample_too_large");
}

TEST(Inspect, ReadsOlderLogsWithOneScoreAndATranscript) {
  const Result<IngestReport> report = ingest_bytes(
      R"({"version":1,"status":"success","eval":{"task":"t","model":"m"},
          "results":{"scorer":{"name":"includes"}},
          "samples":[{"id":1,"epoch":1,"score":{"value":"C"},
            "messages":[{"role":"assistant","content":"tc://h"},
                        {"role":"tool","content":"","tool_error":"broke"}],
            "transcript":{"events":[{"event":"model","tools":[{"name":"f"}],"output":{}}],
                          "content":{"h":"hello"}}}]})",
      "old.json", with_threads(1));
  ASSERT_TRUE(report.has_value()) << to_string(report.error());
  const Episode& episode = report->run.episodes.at(0);
  EXPECT_EQ(episode.success, true);
  EXPECT_EQ(episode.messages[0].text, "hello");
  EXPECT_TRUE(episode.messages[1].result->failed);
  EXPECT_EQ(episode.messages[1].result->error_type, "unknown");
  EXPECT_EQ(
      episode.agent_tools,
      (std::vector<OfferedTool>{{"f", "", R"({"type":"function","function":{"name":"f"}})"}}));
}

TEST(Inspect, KeepsAndWarnsOfReferencesToMissingAttachments) {
  const Result<IngestReport> report = ingest_bytes(
      R"({"version":2,"status":"success","eval":{},"samples":[{"id":1,"epoch":1,
          "messages":[{"role":"user","content":"attachment://gone"}]}]})",
      "log.json", with_threads(1));
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->run.episodes[0].messages[0].text, "attachment://gone");
  EXPECT_NE(find_warning(*report, "missing_attachment"), nullptr);
}

TEST(Inspect, WarnsOfFailuresThatTheConversationNoLongerHolds) {
  const auto warned = [](const std::string& messages) {
    const Result<IngestReport> report = ingest_bytes(
        R"({"version":2,"status":"success","eval":{},"samples":[{"id":1,"epoch":1,"events":[
            {"event":"tool","id":"c1","error":{"type":"unknown","message":"no"}},
            {"event":"tool","id":"c2","error":null}],"messages":[)" +
            messages + "]}]}",
        "log.json", with_threads(1));
    return report.has_value() && find_warning(*report, "failures_outside_conversation") != nullptr;
  };
  EXPECT_TRUE(warned(""));
  EXPECT_FALSE(warned(R"({"role":"tool","tool_call_id":"c1","content":"",
                          "error":{"type":"unknown","message":"no"}})"));
}

TEST(Inspect, DropsSamplesWithoutIdOrWithABadEpoch) {
  const Result<IngestReport> report = ingest_bytes(
      R"({"version":2,"status":"success","eval":{},"samples":[{"epoch":1,"messages":[]},
          {"id":1,"epoch":0},{"id":1,"epoch":1e99},{"id":{},"epoch":1},7,{"id":7,"epoch":3}]})",
      "log.json", with_threads(1));
  ASSERT_TRUE(report.has_value());
  ASSERT_EQ(report->episodes, 1u);
  EXPECT_EQ(report->run.episodes[0].task_id, "7");
  EXPECT_EQ(report->run.episodes[0].trial, 2);
  EXPECT_EQ(report->dropped.size(), 5u);
}

TEST(InspectHostile, SaysWhereAJsonLogStopsBeingJson) {
  const Result<IngestReport> report = ingest_bytes(
      R"({"version":2,"status":"success","eval":{},"samples":[{"id":1,"epoch":1} {"id":2}]})",
      "log.json", with_threads(1));
  ASSERT_TRUE(report.has_value()) << to_string(report.error());
  EXPECT_EQ(report->episodes, 1u);
  ASSERT_NE(find_warning(*report, "damaged_log"), nullptr);
  EXPECT_EQ(find_warning(*report, "damaged_log")->where, "log.json: byte 72");
}

TEST(InspectHostile, DropsASampleThatIsNotJsonWithThePlace) {
  const Result<IngestReport> report = ingest_bytes(
      R"({"version":2,"status":"success","eval":{},"samples":[{"id":1,,},{"id":2,"epoch":1}]})",
      "log.json", with_threads(1));
  ASSERT_TRUE(report.has_value()) << to_string(report.error());
  EXPECT_EQ(report->episodes, 1u);
  ASSERT_EQ(report->dropped.size(), 1u);
  EXPECT_EQ(report->dropped[0].reason, "is not JSON at byte 8");
  EXPECT_EQ(report->dropped[0].where, "log.json: sample 0 (byte 53)");
}

TEST(Inspect, ReportsItsProgressUpToTheEnd) {
  for (const char* name : {"inspect.eval", "inspect.json"}) {
    ReadOptions options = with_threads(2);
    std::uint64_t done = 0;
    std::uint64_t total = 0;
    options.progress = [&](std::uint64_t now, std::uint64_t all) {
      EXPECT_GE(now, done);
      done = now;
      total = all;
    };
    read_fixture(name, options);
    EXPECT_GT(done, 0u) << name;
    EXPECT_LE(done, total) << name;
    EXPECT_GE(done, total / 2) << name;
  }
}

TEST(Inspect, SaysWhenALogHoldsNothing) {
  const Result<IngestReport> empty = ingest_bytes(
      R"({"version":2,"status":"error","eval":{},"samples":[]})", "log.json", with_threads(1));
  ASSERT_FALSE(empty.has_value());
  EXPECT_EQ(empty.error().message, "the log holds no samples");
}

TEST(InspectScore, IsInspectsOwnNumber) {
  // value_to_float of inspect_ai.scorer: C 1, P 0.5, I and N 0, words and numbers as they are.
  const auto score = [](const std::string& json) {
    const Result<JsonTree> tree = JsonTree::parse("[" + json + "]");
    EXPECT_TRUE(tree.has_value()) << json;
    return inspect_score(tree->root().elements().at(0));
  };
  EXPECT_EQ(score(R"("C")"), 1.0);
  EXPECT_EQ(score(R"("P")"), 0.5);
  EXPECT_EQ(score(R"("I")"), 0.0);
  EXPECT_EQ(score(R"("N")"), 0.0);
  EXPECT_EQ(score(R"("Yes")"), 1.0);
  EXPECT_EQ(score(R"("FALSE")"), 0.0);
  EXPECT_EQ(score(R"(" 0.25 ")"), 0.25);
  EXPECT_EQ(score("true"), 1.0);
  EXPECT_EQ(score("-3"), -3.0);
  EXPECT_EQ(score("NaN"), std::nullopt);
  EXPECT_EQ(score("null"), std::nullopt);
  EXPECT_EQ(score(R"("nan")"), std::nullopt);
  EXPECT_EQ(score(R"("c")"), std::nullopt);
  EXPECT_EQ(score("[1]"), std::nullopt);
  EXPECT_EQ(score(R"({"a":1})"), std::nullopt);
}

TEST(InspectScore, GradesOnlyZeroAndOneWithoutAThreshold) {
  EXPECT_EQ(grade_of(1.0, std::nullopt).success, true);
  EXPECT_EQ(grade_of(1.0 - 5e-7, std::nullopt).success, true);
  EXPECT_EQ(grade_of(0.0, std::nullopt).success, false);
  for (const double score : {0.5, 0.999, 7.0, -1.0})
    EXPECT_EQ(grade_of(score, std::nullopt).success, std::nullopt) << score;
  EXPECT_EQ(grade_of(7.0, 5.0).success, true);
  EXPECT_EQ(grade_of(5.0, 5.0).success, true);
  EXPECT_EQ(grade_of(4.9, 5.0).success, false);
  EXPECT_EQ(grade_of(std::nullopt, 0.5).success, std::nullopt);
}

TEST(InspectDomain, IsTakenFromTheNamesOfTauBenchTasksOnly) {
  EXPECT_EQ(inspect_domain("airline"), "airline");
  EXPECT_EQ(inspect_domain("tau2_airline"), "airline");
  EXPECT_EQ(inspect_domain("inspect_evals/tau2_telecom"), "telecom");
  EXPECT_EQ(inspect_domain("tau_bench/retail"), "retail");
  EXPECT_EQ(inspect_domain("tau2-bench-mock"), "mock");
  EXPECT_EQ(inspect_domain("my_airline"), "my_airline");
  EXPECT_EQ(inspect_domain("inspect_evals/gaia"), "gaia");
  EXPECT_EQ(inspect_domain(""), "");
}

}  // namespace
}  // namespace unmask
