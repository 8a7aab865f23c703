#include "ingest/replay.h"

#include <gtest/gtest.h>

#include "ingest/decision.h"
#include "trace/replay_writer.h"

namespace unmask {
namespace {

Replay small_replay() {
  Replay replay;
  replay.head.log = "bf16.json";
  replay.head.domain = "retail";
  replay.head.seed = 7;
  replay.head.selected = replay.head.eligible = 2;
  replay.head.arms = {{"bf16", "bf16", "m.gguf", "{\"temperature\": 0}", true, ""},
                      {"again", "bf16", "m.gguf", "", false, "bf16"},
                      {"int4", "int4", "q.gguf", "", false, ""}};
  replay.tools = {{"t1", {"get_order", "cancel_order"}}};
  for (const char* id : {"c1", "c2"}) {
    ReplayContext context;
    context.id = id;
    context.task_id = "12";
    context.trial = 1;
    context.message = 4;
    context.attempt = 1;
    context.turn = 2;
    context.turns = 5;
    context.call_index = 1;
    context.tools_id = "t1";
    context.sha256 = "ab";
    context.recorded_text = "hm";
    ToolCall broken;
    broken.name = "get_order";
    broken.arguments = "{\"id\": 1";
    broken.arguments_are_object = false;
    context.recorded_calls = {broken};
    replay.contexts.push_back(context);
  }
  ReplayReply reply;
  reply.context_id = "c1";
  reply.arm = "bf16";
  ToolCall call;
  call.name = "get_ordr";
  call.arguments = "{\"id\": 1}";
  reply.calls = {call};
  reply.channel = "tool_name";
  reply.sub_kind = "near_miss";
  reply.decision =
      R"({"first": {"token": "<call>", "logprob": -0.1, "top": [["<call>", -0.1], ["I", -4]]}, )"
      R"("name": {"name": "get_ordr", "tokens": [{"token": "get_ordr", "logprob": -0.5, "top": []}]}})";
  reply.usage = TokenUsage{100, 7};
  reply.seconds = 0.25;
  ReplayReply second;
  second.context_id = "c1";
  second.arm = "int4";
  second.sample = 1;
  second.text = "One moment.";
  ReplayReply failed;
  failed.context_id = "c2";
  failed.arm = "bf16";
  failed.error = "its context window is full";
  replay.replies = {reply, second, failed};
  return replay;
}

TEST(ReadReplay, ReadsWhatWasWritten) {
  const Replay replay = small_replay();
  const Result<ReplayReport> read = read_replay_bytes(write_replay(replay), "r.jsonl");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->dropped.empty());
  EXPECT_TRUE(read->warnings.empty());
  EXPECT_TRUE(read->replay == replay);
  ASSERT_EQ(read->decisions.size(), 3u);
  ASSERT_TRUE(read->decisions[0]);
  EXPECT_EQ((*std::next(read->decisions[0]->first->top.begin())).token, "I");
  EXPECT_EQ(read->decisions[0]->name->name, "get_ordr");
  EXPECT_FALSE(read->decisions[1]);
}

TEST(ReadReplay, SaysWhichRepliesAreNotAsTheyWereWritten) {
  std::string bytes = write_replay(small_replay());
  const std::size_t at = bytes.find("One moment.");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 3, "Two");
  const Result<ReplayReport> read = read_replay_bytes(bytes, "r.jsonl");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->replay.replies.size(), 3u);
  ASSERT_EQ(read->warnings.size(), 1u);
  EXPECT_EQ(read->warnings[0].code, "changed_reply");
  // A line without a check is of an earlier version.
  EXPECT_EQ(is_as_written("{\"kind\": \"reply\", \"arm\": \"a\"}"), std::nullopt);
  std::string line = replay_line(small_replay().replies[0]);
  line.pop_back();
  EXPECT_EQ(is_as_written(line), true);
  line[line.find("get_ordr")] = 'G';
  EXPECT_EQ(is_as_written(line), false);
}

TEST(ReadReplay, TakesAMissingCheckForAChangeWhereOtherRepliesHaveOne) {
  const Replay replay = small_replay();
  std::string bytes = write_replay(replay);
  const std::string checked = replay_line(replay.replies[0]);
  const std::string unchecked = unchecked_replay_line(replay.replies[0]);
  bytes.replace(bytes.find(checked), checked.size(), unchecked);
  const Result<ReplayReport> one = read_replay_bytes(bytes, "r.jsonl");
  ASSERT_TRUE(one);
  ASSERT_EQ(one->warnings.size(), 1u);
  EXPECT_EQ(one->warnings[0].code, "changed_reply");
  EXPECT_EQ(one->warnings[0].where, "r.jsonl:4");
  EXPECT_NE(one->warnings[0].message.find("has no check"), std::string::npos);
  // A file none of whose replies has one is of an earlier version.
  for (const ReplayReply& reply : replay.replies) {
    const std::size_t at = bytes.find(replay_line(reply));
    if (at != std::string::npos)
      bytes.replace(at, replay_line(reply).size(), unchecked_replay_line(reply));
  }
  const Result<ReplayReport> none = read_replay_bytes(bytes, "r.jsonl");
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->warnings.empty());
  EXPECT_TRUE(none->replay == replay);
  // A check that was moved or cut is not an earlier version's line.
  EXPECT_EQ(is_as_written(R"({"kind": "reply", "check": "12", "arm": "a"})"), false);
  EXPECT_EQ(is_as_written(R"({"kind":"reply","check":"0123456789abcdef"})"), false);
}

// Another call before its own, of a tool that is offered.
void call_first(ReplayReply& reply) {
  ToolCall call;
  call.name = "get_order";
  call.arguments = "{}";
  reply.calls.insert(reply.calls.begin(), call);
}

std::vector<Warning> warnings_after(void (*change)(ReplayReply& reply)) {
  Replay replay = small_replay();
  change(replay.replies[0]);
  const Result<ReplayReport> read = read_replay_bytes(write_replay(replay), "r.jsonl");
  EXPECT_TRUE(read);
  return read ? read->warnings : std::vector<Warning>{};
}

TEST(ReadReplay, SaysWhereAChannelContradictsTheCalls) {
  for (void (*change)(ReplayReply&) :
       {+[](ReplayReply& reply) { reply.channel.clear(); },
        +[](ReplayReply& reply) { reply.channel = "schema"; },
        +[](ReplayReply& reply) { reply.calls.clear(); },
        +[](ReplayReply& reply) { reply.calls[0].arguments_are_object = false; },
        +[](ReplayReply& reply) {
          reply.calls[0].name = "get_order";
          reply.decision.clear();
        }}) {
    const std::vector<Warning> warnings = warnings_after(change);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_EQ(warnings[0].code, "contradictory_reply");
    EXPECT_EQ(warnings[0].where, "r.jsonl:4");
    EXPECT_NE(warnings[0].message.find("channel"), std::string::npos);
  }
  for (void (*possible)(ReplayReply&) : {+[](ReplayReply& reply) { call_first(reply); },
                                         +[](ReplayReply& reply) {
                                           call_first(reply);
                                           reply.channel = "schema";
                                         },
                                         +[](ReplayReply& reply) {
                                           reply.calls.clear();
                                           reply.channel = "malformed";
                                         },
                                         +[](ReplayReply& reply) {
                                           reply.calls[0].arguments_are_object = false;
                                           reply.channel = "malformed";
                                         }})
    for (const Warning& warning : warnings_after(possible))
      EXPECT_EQ(warning.message.find("channel"), std::string::npos) << warning.message;
}

TEST(ReadReplay, SaysWhereLogProbabilitiesAreOfAnotherName) {
  const std::vector<Warning> warnings =
      warnings_after([](ReplayReply& reply) { reply.calls[0].name = "get_ordre"; });
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].code, "contradictory_reply");
  EXPECT_NE(warnings[0].message.find("another name"), std::string::npos);
}

TEST(ReadReplay, KnowsTheTemperatureOfAnArm) {
  const Replay replay = small_replay();
  EXPECT_EQ(temperature_of(replay.head.arms[0]), 0.0);
  EXPECT_EQ(temperature_of(replay.head.arms[1]), std::nullopt);
  EXPECT_EQ(temperature_of({"a", "", "", "{\"temperature\": 0.7, \"kv\": 1}", true, ""}), 0.7);
  EXPECT_EQ(temperature_of({"a", "", "", "nonsense", true, ""}), std::nullopt);
}

std::string head_line() {
  return R"({"schema": "unmask.replay/1", "kind": "replay", "arms": [{"label": "a", "baseline": true}]})"
         "\n";
}

void expect_refused(const std::string& bytes, ErrorKind kind, const std::string& message) {
  const Result<ReplayReport> read = read_replay_bytes(bytes, "r.jsonl");
  ASSERT_FALSE(read) << bytes;
  EXPECT_EQ(read.error().kind, kind);
  EXPECT_NE(read.error().message.find(message), std::string::npos) << read.error().message;
}

TEST(ReadReplay, RefusesAFileThatIsNone) {
  expect_refused("", ErrorKind::Malformed, "is empty");
  expect_refused("{\"info\": 1}\n", ErrorKind::Malformed, "no replay of decisions");
  expect_refused("[1]\n", ErrorKind::Malformed, "not a JSON object");
  expect_refused(R"({"schema": "unmask.replay/2"})", ErrorKind::Unsupported, "unmask.replay/2");
  expect_refused(R"({"schema": "unmask.replay/1"})", ErrorKind::Malformed, "names no arm");
  expect_refused(R"({"schema": "unmask.replay/1", "arms": [{"label": "a"}, {"label": "a"}]})",
                 ErrorKind::Malformed, "two arms of the replay are called 'a'");
  for (const char* arms : {R"({"label": "a", "baseline": true, "repeats": "a"})",
                           R"({"label": "a", "baseline": true}, {"label": "b", "repeats": "b"})",
                           R"({"label": "a", "baseline": true}, {"label": "b", "repeats": "c"})"})
    expect_refused(R"({"schema": "unmask.replay/1", "arms": [)" + std::string(arms) + "]}",
                   ErrorKind::Malformed, "only the baseline is repeated");
  expect_refused(R"({"schema": "unmask.replay/1", "arms": [{"label": "a"}]})", ErrorKind::Malformed,
                 "0 baselines");
}

TEST(ReadReplay, SaysWhyALineWasDropped) {
  const std::string tools = "{\"kind\": \"tools\", \"id\": \"t\", \"names\": [\"x\"]}\n";
  const std::string context =
      "{\"kind\": \"context\", \"id\": \"c\", \"task\": \"1\", \"tools\": \"t\"}\n";
  const std::string reply = "{\"kind\": \"reply\", \"context\": \"c\", \"arm\": \"a\"}\n";
  const std::pair<std::string, std::string> cases[] = {
      {"nonsense\n", "is not a JSON object"},
      {"{\"kind\": \"song\"}\n", "no known kind"},
      {tools + tools, "second list of tools"},
      {context, "tools no earlier line lists"},
      {tools + "{\"kind\": \"context\", \"id\": \"c\", \"tools\": \"t\"}\n", "without its task"},
      {tools + context + context, "second context"},
      {reply, "a context no earlier line has"},
      {tools + context + reply + reply, "second reply"},
      {tools + context + "{\"kind\": \"reply\", \"context\": \"c\", \"arm\": \"b\"}\n",
       "an arm the head does not name"},
      {tools + context +
           "{\"kind\": \"reply\", \"context\": \"c\", \"arm\": \"a\", \"sample\": -1}\n",
       "sample below 0"},
      {tools + context + "{\"kind\": \"reply\", \"context\": \"c\", \"ar", "is not whole"},
  };
  for (const auto& [lines, reason] : cases) {
    const Result<ReplayReport> read = read_replay_bytes(head_line() + lines, "r.jsonl");
    ASSERT_TRUE(read) << lines;
    ASSERT_EQ(read->dropped.size(), 1u) << lines;
    EXPECT_NE(read->dropped[0].reason.find(reason), std::string::npos) << read->dropped[0].reason;
    EXPECT_TRUE(read->dropped[0].where.starts_with("r.jsonl:")) << read->dropped[0].where;
    EXPECT_EQ(read->decisions.size(), read->replay.replies.size());
  }
}

TEST(ReadReplay, KeepsAReplyWhoseDecisionCannotBeRead) {
  const std::string lines =
      head_line() + "{\"kind\": \"tools\", \"id\": \"t\", \"names\": []}\n" +
      "{\"kind\": \"context\", \"id\": \"c\", \"task\": 1, \"tools\": \"t\"}\n" +
      "{\"kind\": \"reply\", \"context\": \"c\", \"arm\": \"a\", \"decision\": {\"first\": "
      "{\"token\": 3}}}\n";
  const Result<ReplayReport> read = read_replay_bytes(lines, "r.jsonl");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->replay.replies.size(), 1u);
  EXPECT_EQ(read->replay.contexts[0].task_id, "1");
  EXPECT_FALSE(read->decisions[0]);
  ASSERT_EQ(read->warnings.size(), 1u);
  EXPECT_EQ(read->warnings[0].code, "unreadable_decision");
}

TEST(ReadReplay, CountsLogProbabilitiesThatContradictThemselves) {
  const std::string begin =
      head_line() + "{\"kind\": \"tools\", \"id\": \"t\", \"names\": []}\n" +
      "{\"kind\": \"context\", \"id\": \"c\", \"task\": 1, \"tools\": \"t\"}\n";
  const auto warnings_of = [&](const std::string& token) {
    const Result<ReplayReport> read = read_replay_bytes(
        begin + R"({"kind": "reply", "context": "c", "arm": "a", "decision": {"first": )" + token +
            "}}\n",
        "r.jsonl");
    EXPECT_TRUE(read && read->decisions[0]) << token;
    return read->warnings;
  };
  for (const char* contradictory :
       {R"({"token": "a", "logprob": -0.1, "top": [["a", -0.5], ["b", -2]]})",
        R"({"token": "a", "logprob": -0.1, "top": [["a", -0.1], ["b", -0.5]]})",
        R"({"token": "a", "logprob": -0.1, "top": [["b", -0.5]]})"}) {
    const std::vector<Warning> warnings = warnings_of(contradictory);
    ASSERT_EQ(warnings.size(), 1u) << contradictory;
    EXPECT_EQ(warnings[0].code, "contradictory_logprobs");
    EXPECT_EQ(warnings[0].where, "r.jsonl:4");
  }
  for (const char* rounded :
       {R"({"token": "a", "logprob": -0.1, "top": [["a", -0.1004], ["b", -2.4]]})",
        R"({"token": "a", "logprob": 0.0001, "top": [["a", 0], ["b", -7.5]]})",
        R"({"token": "�", "logprob": -3, "top": [["�", -0.1], ["�", -3]]})",
        R"({"token": "a", "logprob": -25.01, "top": [["b", 0], ["a", -25]]})"})
    EXPECT_TRUE(warnings_of(rounded).empty()) << rounded;
}

TEST(ParseDecision, OrdersAlternativesAndLeavesOutTheImpossible) {
  const Result<Decision> decision = parse_decision(
      R"({"first": {"token": "a", "logprob": -1, "top": [["b", -2], ["a", -1], ["c", null]]}})");
  ASSERT_TRUE(decision);
  const Alternatives expected = {{"a", -1}, {"b", -2}};
  EXPECT_EQ(decision->first->top, expected);
  EXPECT_FALSE(decision->name);
  EXPECT_TRUE(parse_decision("{}"));
  // A server's rounding may go a little above 0.
  EXPECT_EQ(
      parse_decision(R"({"first": {"token": "a", "logprob": 0.0001, "top": []}})")->first->logprob,
      0);
}

TEST(ParseDecision, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "not a JSON object"},
      {"{", "is JSON cut short"},
      {R"({"first": {"logprob": -1}})", "token has no text"},
      {R"({"first": {"token": "a"}})", "no log-probability"},
      {R"({"first": {"token": "a", "logprob": 1}})", "at most 0"},
      {R"({"first": {"token": "a", "logprob": -1, "top": [["a"]]}})", "no pair"},
      {R"({"first": {"token": "a", "logprob": -1, "top": [["a", "b"]]}})", "alternative has no"},
      {R"({"name": {"tokens": []}})", "name is missing"},
      {R"({"name": {"name": "x", "tokens": []}})", "no tokens"},
  };
  for (const auto& [json, message] : cases) {
    const Result<Decision> decision = parse_decision(json);
    ASSERT_FALSE(decision) << json;
    EXPECT_NE(decision.error().message.find(message), std::string::npos)
        << decision.error().message;
  }
}

}  // namespace
}  // namespace unmask
