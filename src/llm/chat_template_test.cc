// Completions in the call formats of Gemma 4 and Qwen 3, written after the formats' descriptions
// and read by the templates that llama.cpp brings along.
#include "llm/chat_template.h"

#include <gtest/gtest.h>

#include <map>

#include "base/file.h"
#include "llm/gguf.h"
#include "llm/llama.h"

#ifndef UNMASK_LLAMA_SOURCE
#define UNMASK_LLAMA_SOURCE ""
#endif

namespace unmask {
namespace {

std::string models(const std::string& name) {
  return std::string(UNMASK_LLAMA_SOURCE) + "/models/" + name;
}

// The text of the special token that this key of a GGUF names.
std::string special(const Gguf& file, const std::string& key) {
  const GgufValue* id = file.find("tokenizer.ggml." + key);
  const GgufValue* tokens = file.find("tokenizer.ggml.tokens");
  if (!id || !id->whole() || !tokens) return "";
  return std::string(tokens->texts().at(static_cast<std::size_t>(*id->whole())));
}

const std::vector<ChatTool> kShopTools = {
    {"get_user", "Finds a user.",
     R"({"type":"object","properties":{"id":{"type":"string"},"depth":{"type":"integer"}},)"
     R"("required":["id"]})"},
    {"end_call", "Ends it.", R"({"type":"object","properties":{}})"}};

class ChatTemplateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (llama_version_text().empty()) GTEST_SKIP() << "built without llama.cpp";
    messages_.resize(2);
    messages_[0].role = ChatMessage::Role::System;
    messages_[0].content = "Serve the customer.";
    messages_[1].content = "hi";
  }

  const ChatTemplate& load(const std::string& name, const std::string& vocabulary) {
    const Result<std::string> source = read_file(models("templates/" + name));
    EXPECT_TRUE(source) << name;
    const Result<Gguf> file = Gguf::open(models(vocabulary));
    EXPECT_TRUE(file) << vocabulary;
    Result<std::unique_ptr<ChatTemplate>> opened =
        ChatTemplate::open(*source, special(*file, "bos_token_id"), special(*file, "eos_token_id"));
    EXPECT_TRUE(opened) << to_string(opened.error());
    template_ = std::move(*opened);
    return *template_;
  }

  // "text|name(arguments)|..." of what the template makes of a completion.
  std::string read(const std::string& completion) {
    const Result<ChatPrompt> prompt = template_->render(messages_, kShopTools);
    EXPECT_TRUE(prompt) << to_string(prompt.error());
    const ParsedCompletion parsed =
        template_->parse(completion, prompt->opening, messages_, kShopTools);
    std::string out = parsed.message.content.value_or("");
    for (const ChatCall& call : parsed.message.calls)
      out += "|" + call.name + "(" + call.arguments + ")";
    if (!parsed.message.reasoning.empty()) out += "|thought: " + parsed.message.reasoning;
    return out + (parsed.irregular ? "|irregular" : "");
  }

  std::vector<ChatMessage> messages_;
  std::unique_ptr<ChatTemplate> template_;
};

TEST_F(ChatTemplateTest, ReadsGemma4) {
  load("google-gemma-4-31B-it.jinja", "ggml-vocab-gemma-4.gguf");
  EXPECT_EQ(read("Hello there."), "Hello there.");
  EXPECT_EQ(read("<|tool_call>call:get_user{id:<|\"|>u7<|\"|>}<tool_call|>"),
            "|get_user({\"id\":\"u7\"})");
  EXPECT_EQ(read("<|tool_call>call:get_user{depth:3,id:<|\"|>u7<|\"|>}<tool_call|>"
                 "<|tool_call>call:end_call{}<tool_call|>"),
            "|get_user({\"depth\":3,\"id\":\"u7\"})|end_call({})");
  EXPECT_EQ(read("<|tool_call>call:get_customer{id:<|\"|>u7<|\"|>}<tool_call|>"),
            "|get_customer({\"id\":\"u7\"})")
      << "a made-up name is a call";
  EXPECT_EQ(read("<|tool_call>call:get_user{idx:7}<tool_call|>"), "|get_user({\"idx\":7})")
      << "wrong arguments are a call";
}

TEST_F(ChatTemplateTest, ReadsBrokenCallsOfGemma4) {
  load("google-gemma-4-31B-it.jinja", "ggml-vocab-gemma-4.gguf");
  EXPECT_EQ(read("<|tool_call>call:get_user{id:<|\"|>u7"), "|get_user({\"id\":\"u7)");
  EXPECT_EQ(read("<|tool_call>call:get_user{id <|\"|>u7<|\"|>}<tool_call|>"),
            "|get_user({id <|\"|>u7<|\"|>})|irregular");
  EXPECT_EQ(read("<|tool_call>call:"), "<|tool_call>call:|irregular");
}

TEST_F(ChatTemplateTest, ReadsQwen3) {
  load("Qwen-Qwen3-0.6B.jinja", "ggml-vocab-qwen2.gguf");
  EXPECT_EQ(read("Hello there."), "Hello there.");
  EXPECT_EQ(read("<think>\nhm\n</think>\n\n<tool_call>\n{\"name\": \"get_user\", \"arguments\": "
                 "{\"id\": \"u7\"}}\n</tool_call>"),
            "|get_user({\"id\": \"u7\"})|thought: hm");
  EXPECT_EQ(read("<tool_call>\n{\"name\": \"get_customer\", \"arguments\": {\"id\": 7}}\n"
                 "</tool_call>"),
            "|get_customer({\"id\": 7})");
  EXPECT_EQ(read("<tool_call>\n{\"name\": \"get_user\", \"arguments\": {\"idx\": [1]}}\n"
                 "</tool_call>"),
            "|get_user({\"idx\": [1]})");
}

TEST_F(ChatTemplateTest, TakesMarkupInArgumentsForText) {
  load("Qwen-Qwen3-0.6B.jinja", "ggml-vocab-qwen2.gguf");
  EXPECT_EQ(read("<tool_call>\n{\"name\": \"get_user\", \"arguments\": {\"id\": \"<tool_call>"
                 "{'name': 'x'\"}}\n</tool_call>"),
            "|get_user({\"id\": \"<tool_call>{'name': 'x'\"})");
}

TEST_F(ChatTemplateTest, ReadsBrokenCallsOfQwen3) {
  load("Qwen-Qwen3-0.6B.jinja", "ggml-vocab-qwen2.gguf");
  EXPECT_EQ(read("<tool_call>\n{\"name\": \"get_user\", \"arguments\": {\"id\": u7}}\n"
                 "</tool_call>"),
            "|get_user({\"id\": u7})|irregular");
  EXPECT_EQ(read("<tool_call>\n{\"name\": \"get_user\", \"arguments\": {\"id\": \"u"),
            "|get_user({\"id\": \"u)");
  EXPECT_EQ(read("<tool_call>\n{\"nam"), "<tool_call>\n{\"nam|irregular");
}

TEST_F(ChatTemplateTest, ReadsQwen35) {
  load("Qwen3.5-4B.jinja", "ggml-vocab-qwen35.gguf");
  EXPECT_EQ(read("hm\n</think>\n\nHello there."), "Hello there.|thought: hm");
  EXPECT_EQ(read("hm\n</think>\n\n<tool_call>\n<function=get_user>\n<parameter=id>\nu7\n"
                 "</parameter>\n<parameter=depth>\n3\n</parameter>\n</function>\n</tool_call>"),
            "|get_user({\"id\":\"u7\",\"depth\":3})|thought: hm");
  EXPECT_EQ(read("hm\n</think>\n\n<tool_call>\n<function=get_customer>\n<parameter=id>\nu7\n"
                 "</parameter>\n</function>\n</tool_call>"),
            "|get_customer({\"id\":\"u7\"})|thought: hm");
  EXPECT_EQ(read("hm\n</think>\n\n<tool_call>\n<function=get_user>\n<parameter=idx>\nu7\n"
                 "</parameter>\n</function>\n</tool_call>"),
            "|get_user({\"idx\":\"u7\"})|thought: hm");
}

TEST_F(ChatTemplateTest, WritesTheConversationBack) {
  load("Qwen-Qwen3-0.6B.jinja", "ggml-vocab-qwen2.gguf");
  ChatMessage call;
  call.role = ChatMessage::Role::Assistant;
  call.calls.push_back({"c1", "get_user", "{\"id\": \"u7\"}"});
  ChatMessage result;
  result.role = ChatMessage::Role::Tool;
  result.call_id = "c1";
  result.content = "Ada";
  messages_.push_back(call);
  messages_.push_back(result);
  const Result<ChatPrompt> prompt = template_->render(messages_, kShopTools);
  ASSERT_TRUE(prompt);
  EXPECT_NE(prompt->text.find("<tool_call>\n{\"name\": \"get_user\", \"arguments\": {\"id\": "
                              "\"u7\"}}\n</tool_call>"),
            std::string::npos)
      << prompt->text;
  EXPECT_NE(prompt->text.find("<tool_response>\nAda\n</tool_response>"), std::string::npos);
  EXPECT_TRUE(prompt->text.ends_with("<|im_start|>assistant\n")) << prompt->text;
}

TEST_F(ChatTemplateTest, HasAGrammarOfNames) {
  for (const auto& [name, vocabulary] :
       {std::pair{"google-gemma-4-31B-it.jinja", "ggml-vocab-gemma-4.gguf"},
        std::pair{"Qwen-Qwen3-0.6B.jinja", "ggml-vocab-qwen2.gguf"},
        std::pair{"Qwen3.5-4B.jinja", "ggml-vocab-qwen35.gguf"}}) {
    load(name, vocabulary);
    const Result<NameGrammar> grammar = template_->name_grammar(messages_, kShopTools);
    ASSERT_TRUE(grammar) << to_string(grammar.error());
    EXPECT_TRUE(grammar->lazy) << name;
    EXPECT_FALSE(grammar->patterns.empty()) << name;
    EXPECT_NE(grammar->text.find("get_user"), std::string::npos) << name;
  }
}

TEST_F(ChatTemplateTest, RefusesWhatIsNoTemplate) {
  const Result<std::unique_ptr<ChatTemplate>> opened =
      ChatTemplate::open("{% for x %}", "<s>", "<e>");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, ErrorKind::Malformed);
}

}  // namespace
}  // namespace unmask
