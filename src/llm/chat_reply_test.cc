#include "llm/chat_reply.h"

#include <gtest/gtest.h>

#include <set>

namespace unmask {
namespace {

using Codes = std::vector<std::string>;

std::string with_message(const std::string& message) {
  return R"({"choices":[{"finish_reason":"stop","message":)" + message + "}]}";
}

ChatReply read(const std::string& body) {
  Result<ChatReply> reply = read_chat_reply(body, 0xabc);
  EXPECT_TRUE(reply) << to_string(reply.error());
  return reply ? *reply : ChatReply{};
}

TEST(ChatReply, ReadsTextUsageAndReason) {
  const ChatReply reply = read(
      R"({"choices":[{"message":{"content":"hi","reasoning_content":"so"},"finish_reason":"stop"}],)"
      R"("usage":{"prompt_tokens":7,"completion_tokens":2,"cost":0.5}})");
  EXPECT_EQ(reply.message.content, "hi");
  EXPECT_EQ(reply.message.reasoning, "so");
  EXPECT_EQ(reply.finish_reason, "stop");
  EXPECT_EQ(reply.usage, (TokenUsage{7, 2}));
  EXPECT_EQ(reply.cost_usd, 0.5);
  EXPECT_EQ(reply.warnings, Codes{});
}

TEST(ChatReply, KeepsTheTextOfArgumentsAsWritten) {
  const ChatReply reply = read(with_message(
      R"({"content":null,"tool_calls":[{"id":"x","function":{"name":"f","arguments":"{\"a\": 1,"}}]})"));
  ASSERT_EQ(reply.message.calls.size(), 1u);
  EXPECT_EQ(reply.message.calls[0].arguments, "{\"a\": 1,");
  EXPECT_EQ(reply.message.content, std::nullopt);
  EXPECT_EQ(reply.warnings, Codes{});
}

TEST(ChatReply, MakesUpIdsThatDependOnTheRequestOnly) {
  const std::string body = with_message(
      R"({"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"id":"","function":{"name":"g","arguments":"{}"}}]})");
  const ChatReply reply = read(body);
  ASSERT_EQ(reply.message.calls.size(), 2u);
  EXPECT_EQ(reply.message.calls[0].id, "call_0000000000000abc_0");
  EXPECT_EQ(reply.message.calls[1].id, "call_0000000000000abc_1");
  EXPECT_EQ(reply.warnings, Codes{"call_without_id"});
  EXPECT_NE(read_chat_reply(body, 1)->message.calls[0].id, reply.message.calls[0].id);
}

TEST(ChatReply, RenamesRepeatedIds) {
  const ChatReply reply = read(with_message(
      R"({"tool_calls":[{"id":"x","function":{"name":"f","arguments":"{}"}},{"id":"x_2","function":{"name":"g","arguments":"{}"}},{"id":"x","function":{"name":"h","arguments":"{}"}}]})"));
  std::set<std::string> ids;
  for (const ChatCall& call : reply.message.calls) ids.insert(call.id);
  EXPECT_EQ(ids, (std::set<std::string>{"x", "x_2", "x_3"}));
  EXPECT_EQ(reply.message.calls[0].id, "x");
  EXPECT_EQ(reply.warnings, Codes{"duplicate_call_id"});
}

struct Mended {
  const char* message;
  const char* content;    // null: none expected
  const char* arguments;  // of the first call; null: no call
  Codes warnings;
};

TEST(ChatReply, MendsWhatServersDoToMessages) {
  const Mended cases[] = {
      {R"({"tool_calls":[{"id":"x","function":{"name":"f","arguments":{"b":1,"a":"é"}}}]})",
       nullptr,
       R"({"b":1,"a":"é"})",
       {"arguments_not_text"}},
      {R"({"tool_calls":[{"id":"x","function":{"name":"f","arguments":null}}]})",
       nullptr,
       "{}",
       {"call_without_arguments"}},
      {R"({"tool_calls":[{"id":"x","name":"f","arguments":"{}"}]})", nullptr, "{}", {}},
      {R"({"tool_calls":{"id":"x","function":{"name":"f","arguments":"{}"}}})",
       nullptr,
       "{}",
       {"calls_not_a_list"}},
      {R"({"tool_calls":[7]})",
       nullptr,
       "{}",
       {"call_without_name", "call_without_arguments", "call_without_id"}},
      {R"({"function_call":{"name":"f","arguments":"{}"}})",
       nullptr,
       "{}",
       {"function_call", "call_without_id"}},
      {R"({"content":[{"type":"text","text":"one "},"two",{"type":"image_url"}]})",
       "one two",
       nullptr,
       {"content_parts"}},
      {R"({"content":{"a":1}})", R"({"a":1})", nullptr, {"content_not_text"}},
      {R"({"content":null,"refusal":"no"})", "no", nullptr, {"refusal"}},
      {R"({"content":""})", "", nullptr, {"empty_message"}},
      {R"({})", nullptr, nullptr, {"empty_message"}},
  };
  for (const Mended& mended : cases) {
    const ChatReply reply = read(with_message(mended.message));
    EXPECT_EQ(reply.message.content.has_value(), mended.content != nullptr) << mended.message;
    EXPECT_EQ(reply.message.content.value_or(""), mended.content ? mended.content : "");
    ASSERT_EQ(reply.message.calls.size(), mended.arguments ? 1u : 0u) << mended.message;
    const std::vector<ChatCall>& calls = reply.message.calls;
    EXPECT_EQ(calls.empty() ? "" : calls[0].arguments, mended.arguments ? mended.arguments : "");
    EXPECT_EQ(reply.warnings, mended.warnings) << mended.message;
  }
}

TEST(ChatReply, TakesTheFirstOfSeveralChoicesAndKeepsOddReasons) {
  const ChatReply reply = read(
      R"({"choices":[{"message":{"content":"a"},"finish_reason":"tired"},{"message":{"content":"b"}}]})");
  EXPECT_EQ(reply.message.content, "a");
  EXPECT_EQ(reply.finish_reason, "tired");
  EXPECT_EQ(reply.warnings, (Codes{"several_choices", "unknown_finish_reason"}));
}

TEST(ChatReply, SortsLogprobsAndKeepsThemOutOfTheRawReply) {
  const ChatReply reply = read(
      R"({"choices":[{"message":{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":-0.5,)"
      R"("top_logprobs":[{"token":"b","logprob":-2},{"token":"a","logprob":-0.5},{"token":"c","logprob":null}]}]}}]})");
  ASSERT_EQ(reply.logprobs.size(), 1u);
  EXPECT_EQ(reply.logprobs[0].logprob, -0.5);
  ASSERT_EQ(reply.logprobs[0].top.size(), 2u);
  EXPECT_EQ(reply.logprobs[0].top[0].first, "a");
  EXPECT_EQ(reply.raw, R"({"choices":[{"message":{"content":"a"}}]})");
}

TEST(ChatReply, DropsLogprobsWithAHole) {
  const ChatReply reply = read(
      R"({"choices":[{"message":{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":-1},{"token":"b"}]}}]})");
  EXPECT_TRUE(reply.logprobs.empty());
  EXPECT_EQ(reply.warnings, Codes{"logprobs_unreadable"});
}

TEST(ChatReply, ReadsBytesThatAreNotUtf8AndSingleSurrogates) {
  EXPECT_EQ(read(with_message("{\"content\":\"caf\xe9!\"}")).message.content, "caf\xef\xbf\xbd!");
  EXPECT_EQ(read(with_message(R"({"content":"a\ud83db\\ud83d\ud83d\ude00"})")).message.content,
            "a\xef\xbf\xbd"
            "b\\ud83d\xf0\x9f\x98\x80");
}

TEST(ChatReply, RefusesWhatIsNoCompletion) {
  const std::string deep = "{\"choices\": " + std::string(100'000, '[');
  for (const std::string& body :
       {std::string(), std::string("{\"choices\": [{\"message\""), deep, std::string("[]"),
        std::string("{}"), std::string(R"({"choices":[]})"), std::string(R"({"choices":[{}]})"),
        std::string(R"({"choices":[{"message":"hi"}]})"),
        std::string("<html><title>x</title><h1>502 Bad Gateway</h1></html>")}) {
    const Result<ChatReply> reply = read_chat_reply(body, 0);
    ASSERT_FALSE(reply) << body.substr(0, 60);
    EXPECT_EQ(reply.error().kind, ErrorKind::Malformed);
    EXPECT_LT(reply.error().message.size(), 400u);
  }
  EXPECT_EQ(read_chat_reply("<html><style>p{}</style><h1>502 Bad\nGateway</h1>", 0).error().message,
            "the reply is not JSON: 502 Bad Gateway");
  EXPECT_EQ(read_chat_reply(" \n", 0).error().message, "the reply is empty");
  EXPECT_NE(read_chat_reply("<html>", 0).error().message.find("a page of HTML"), std::string::npos);
}

TEST(ReadChatReply, RenamesManyThousandEqualIdsInGoodTime) {
  std::string calls;
  for (int i = 0; i < 100000; ++i)
    calls +=
        std::string(i ? "," : "") + R"({"id": "x", "function": {"name": "f", "arguments": "{}"}})";
  const Result<ChatReply> reply =
      read_chat_reply(R"({"choices": [{"message": {"tool_calls": [)" + calls + "]}}]}", 1);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->message.calls[1].id, "x_2");
  EXPECT_EQ(reply->message.calls[99999].id, "x_100000");
}

TEST(ReadChatReply, TakesNoCostBelowNothing) {
  const Result<ChatReply> reply =
      read_chat_reply(R"({"choices": [{"message": {"content": "a"}}], "usage": {"cost": -1}})", 1);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->cost_usd, std::nullopt);
}

}  // namespace
}  // namespace unmask
