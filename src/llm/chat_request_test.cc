#include "llm/chat_request.h"

#include <gtest/gtest.h>

namespace unmask {
namespace {

constexpr std::string_view kTools =
    R"([{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}])";

EndpointOptions endpoint() {
  EndpointOptions options;
  options.model = "m";
  return options;
}

std::string written(const EndpointOptions& options, const ChatRequest& request, bool logprobs) {
  const Result<std::string> body = write_chat_request(options, request, logprobs);
  EXPECT_TRUE(body) << to_string(body.error());
  return body ? *body : "";
}

ChatMessage text(ChatMessage::Role role, std::string content) {
  ChatMessage message;
  message.role = role;
  message.content = std::move(content);
  return message;
}

TEST(ChatRequest, WritesMessagesAsLitellmDoes) {
  std::vector<ChatMessage> messages = {text(ChatMessage::Role::System, "s"),
                                       text(ChatMessage::Role::User, "u")};
  ChatMessage calls;
  calls.role = ChatMessage::Role::Assistant;
  calls.calls = {{"x", "f", "{\"a\": 1}"}};
  calls.reasoning = "hm";
  ChatMessage result = text(ChatMessage::Role::Tool, "r");
  result.call_id = "x";
  messages.push_back(calls);
  messages.push_back(result);
  ChatRequest request;
  request.messages = messages;
  request.seed = 5;
  EXPECT_EQ(written(endpoint(), request, false),
            R"({"model": "m", "messages": [{"role": "system", "content": "s"}, )"
            R"({"role": "user", "content": "u"}, {"role": "assistant", "content": null, )"
            R"("tool_calls": [{"id": "x", "type": "function", "function": {"name": "f", )"
            R"("arguments": "{\"a\": 1}"}}]}, {"role": "tool", "content": "r", )"
            R"("tool_call_id": "x"}], "seed": 5, "stream": false})");
  EndpointOptions thinking = endpoint();
  thinking.send_reasoning = true;
  EXPECT_NE(written(thinking, request, false).find(R"("reasoning_content": "hm")"),
            std::string::npos);
}

TEST(ChatRequest, WritesToolsSamplingAndExtraMembers) {
  EndpointOptions options = endpoint();
  options.temperature = 0.0;
  options.top_p = 0.9;
  options.max_tokens = 64;
  options.extra_body = R"({"top_k": 5, "chat_template_kwargs": {"b": 1, "a": 2}})";
  ChatRequest request;
  request.tools = kTools;
  const std::string body = written(options, request, true);
  for (const char* part : {R"("tool_choice": "auto")", R"("temperature": 0,)", R"("top_p": 0.9)",
                           R"("max_tokens": 64)", R"("logprobs": true, "top_logprobs": 20)",
                           R"("top_k": 5)", R"({"b":1,"a":2})"})
    EXPECT_NE(body.find(part), std::string::npos) << part << " in " << body;
  EXPECT_EQ(
      sampling_settings(options),
      R"({"chat_template_kwargs":{"a":2,"b":1},"max_tokens":64,"temperature":0.0,"top_k":5,"top_p":0.9})");
}

TEST(ChatRequest, OffersNoToolsWhereThereAreNone) {
  ChatRequest request;
  for (const char* none : {"", " ", "[]"}) {
    request.tools = none;
    EXPECT_EQ(written(endpoint(), request, false).find("tool"), std::string::npos);
  }
}

// vLLM and llama.cpp parse the arguments of earlier calls and refuse the conversation otherwise.
TEST(ChatRequest, SendsArgumentsThatAreNoObjectInsideOne) {
  for (const auto& [arguments, sent] :
       {std::pair<const char*, const char*>{"{\"a\"",
                                            R"({\"unreadable_arguments\": \"{\\\"a\\\"\"})"},
        {"[1]", R"({\"unreadable_arguments\": \"[1]\"})"},
        {"", "{}"}}) {
    std::vector<ChatMessage> messages(1);
    messages[0].role = ChatMessage::Role::Assistant;
    messages[0].calls = {{"x", "f", arguments}};
    ChatRequest request;
    request.messages = messages;
    const std::string body = written(endpoint(), request, false);
    EXPECT_NE(body.find(std::string("\"arguments\": \"") + sent + "\""), std::string::npos) << body;
  }
}

TEST(ChatRequest, ConstrainsNamesInTheFormAsked) {
  EndpointOptions options = endpoint();
  ChatRequest request;
  request.tools = kTools;
  request.constrain_names = true;
  const Result<std::string> unsupported = write_chat_request(options, request, false);
  ASSERT_FALSE(unsupported);
  EXPECT_EQ(unsupported.error().kind, ErrorKind::Unsupported);

  options.constraint = NameConstraint::StrictTools;
  EXPECT_NE(written(options, request, false).find(R"("strict":true)"), std::string::npos);

  options.constraint = NameConstraint::StructuralTag;
  const std::string body = written(options, request, false);
  EXPECT_EQ(body.find("strict"), std::string::npos);
  EXPECT_NE(body.find(R"("begin":"<tool_call>\n{\"name\": \"f\", \"arguments\": ")"),
            std::string::npos);
  EXPECT_NE(body.find(R"("triggers":["<tool_call>"])"), std::string::npos);
}

TEST(ChatRequest, RefusesToolsThatAreNone) {
  ChatRequest request;
  for (const char* tools : {"{}", "[1]", R"([{"type":"function"}])", "[{]"}) {
    request.tools = tools;
    const Result<std::string> body = write_chat_request(endpoint(), request, false);
    ASSERT_FALSE(body) << tools;
    EXPECT_EQ(body.error().kind, ErrorKind::InvalidArgument);
  }
}

TEST(ChatRequest, RefusesExtraMembersThatAreSetElsewhere) {
  EXPECT_TRUE(check_extra_body(""));
  EXPECT_TRUE(check_extra_body(R"({"top_k": 1})"));
  EXPECT_FALSE(check_extra_body("[]"));
  EXPECT_FALSE(check_extra_body("{"));
  EXPECT_EQ(check_extra_body(R"({"stream": true})").error().message,
            "extra_body may not hold \"stream\": it is set elsewhere");
}

}  // namespace
}  // namespace unmask
