#include "llm/llama.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "base/file.h"
#include "llm/tiny_gguf_for_tests.h"

namespace unmask {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTools = R"([
  {"type": "function", "function": {"name": "get_user", "description": "d", "parameters":
    {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}}},
  {"type": "function", "function": {"name": "end_call", "parameters":
    {"type": "object", "properties": {}}}}])";

class Llama : public ::testing::Test {
 protected:
  void SetUp() override {
    if (llama_version_text().empty()) GTEST_SKIP() << "built without llama.cpp";
    folder_ = fs::path(::testing::TempDir()) / ("unmask_llama_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string kept(const std::string& name, const std::string& bytes) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  LlamaSettings tiny(const TinyShape& shape = {}) const {
    LlamaSettings settings;
    settings.file = kept("tiny.gguf", tiny_gguf(shape));
    settings.threads = 1;  // more wait for each other, on a busy machine without end
    settings.parallel = 4;
    return settings;
  }

  std::string refusal(const LlamaSettings& settings) const {
    const Result<std::shared_ptr<LlamaEngine>> engine = LlamaEngine::open(settings);
    if (engine) return "it was opened";
    std::string said = to_string(engine.error());
    const std::size_t at = said.find(folder_.string());
    if (at != std::string::npos) said.erase(at, folder_.string().size() + 1);
    return said;
  }

  fs::path folder_;
};

std::shared_ptr<LlamaEngine> opened(const LlamaSettings& settings) {
  Result<std::shared_ptr<LlamaEngine>> engine = LlamaEngine::open(settings);
  EXPECT_TRUE(engine) << to_string(engine.error());
  return engine ? *engine : nullptr;
}

std::unique_ptr<ChatModel> model_on(const std::shared_ptr<LlamaEngine>& engine,
                                    const LlamaSampling& sampling) {
  Result<std::unique_ptr<ChatModel>> model = open_llama(engine, "tiny", sampling);
  EXPECT_TRUE(model) << to_string(model.error());
  return model ? std::move(*model) : nullptr;
}

LlamaSampling short_replies() {
  LlamaSampling sampling;
  sampling.max_tokens = 24;
  return sampling;
}

std::vector<ChatMessage> conversation(const std::string& system, const std::string& user) {
  std::vector<ChatMessage> messages(2);
  messages[0].role = ChatMessage::Role::System;
  messages[0].content = system;
  messages[1].content = user;
  return messages;
}

Result<ChatReply> asked(ChatModel& model, const std::vector<ChatMessage>& messages,
                        std::int64_t seed, bool constrain = false) {
  ChatRequest request;
  request.messages = messages;
  request.tools = kTools;
  request.seed = seed;
  request.constrain_names = constrain;
  return model.complete(request);
}

// A conversation of `turns` replies, each answered; all that the model wrote.
std::string played(ChatModel& model, const std::string& system, int who, int turns) {
  std::vector<ChatMessage> messages =
      conversation(system, "customer " + std::to_string(who) + " has no service");
  std::string written;
  for (int turn = 0; turn < turns; ++turn) {
    const Result<ChatReply> reply = asked(model, messages, who);
    if (!reply) return written + to_string(reply.error());
    written += reply->raw.substr(0, reply->raw.find("\"usage\""));
    for (const TokenChoice& choice : reply->logprobs)
      written += std::to_string(choice.logprob);  // six digits: near enough to catch other bits
    messages.push_back(reply->message);
    for (const ChatCall& call : reply->message.calls) {
      ChatMessage& result = messages.emplace_back();
      result.role = ChatMessage::Role::Tool;
      result.call_id = call.id;
      result.content = "done";
    }
    messages.emplace_back().content = "and then? " + std::to_string(turn);
  }
  return written;
}

std::vector<std::string> all_played(ChatModel& model, const std::string& system, int count,
                                    int callers, int turns) {
  std::vector<std::string> written(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller)
    threads.emplace_back([&, caller] {
      for (int who = caller; who < count; who += callers)
        written[static_cast<std::size_t>(who)] = played(model, system, who, turns);
    });
  for (std::thread& thread : threads) thread.join();
  return written;
}

const std::string kPolicy(600, 'p');

TEST_F(Llama, AnswersWithUsageAndRawText) {
  const auto engine = opened(tiny());
  const auto model = model_on(engine, short_replies());
  const Result<ChatReply> reply = asked(*model, conversation("be kind", "hello"), 1);
  ASSERT_TRUE(reply) << to_string(reply.error());
  ASSERT_TRUE(reply->usage);
  // <s> be kind, two blanks and names, <u> hello, <a>
  EXPECT_EQ(reply->usage->prompt, 1 + 7 + 9 + 9 + 1 + 5 + 1);
  EXPECT_EQ(reply->usage->completion, static_cast<std::int64_t>(reply->logprobs.size()));
  EXPECT_EQ(reply->raw.find("{\"model\": \"tiny\", \"choices\": [{"), 0u) << reply->raw;
  EXPECT_EQ(engine->counters().requests, 1);
  EXPECT_GT(engine->counters().model_bytes, 100000u);
}

TEST_F(Llama, DrawsByTheSeedOfTheRequest) {
  const auto model = model_on(opened(tiny()), short_replies());
  const std::vector<ChatMessage> messages = conversation("be kind", "hello");
  const std::string first = asked(*model, messages, 1)->raw;
  std::set<std::string> seen = {first};
  for (int seed = 2; seed < 6; ++seed) seen.insert(asked(*model, messages, seed)->raw);
  EXPECT_GT(seen.size(), 3u);
  const auto again = model_on(opened(tiny()), short_replies());
  EXPECT_EQ(asked(*again, messages, 1)->raw, first);
}

TEST_F(Llama, GivesTheLogProbabilitiesOfEveryToken) {
  const auto model = model_on(opened(tiny()), short_replies());
  const Result<ChatReply> reply = asked(*model, conversation("be kind", "hello"), 3);
  ASSERT_TRUE(reply);
  ASSERT_FALSE(reply->logprobs.empty());
  for (const TokenChoice& choice : reply->logprobs) {
    ASSERT_EQ(choice.top.size(), 20u);
    double sum = 0;
    bool is_among = choice.logprob <= choice.top.back().second;
    for (const auto& [token, logprob] : choice.top) {
      sum += std::exp(logprob);
      is_among = is_among || (token == choice.token && logprob == choice.logprob);
    }
    EXPECT_LE(sum, 1 + 1e-9);
    EXPECT_GT(sum, 0.2);
    EXPECT_TRUE(is_among);
  }
}

TEST_F(Llama, EvaluatesASharedBeginningOnce) {
  const auto engine = opened(tiny());
  const auto model = model_on(engine, short_replies());
  all_played(*model, kPolicy, 12, 4, 3);
  const LlamaCounters counters = engine->counters();
  EXPECT_EQ(counters.requests, 36);
  // Without reuse each request would evaluate at least the policy.
  EXPECT_GT(counters.prompt_tokens, 36 * 600);
  EXPECT_LT(counters.evaluated_tokens, counters.prompt_tokens / 5);
  EXPECT_GT(counters.reused_tokens, counters.prompt_tokens * 4 / 5);
  EXPECT_EQ(counters.evaluated_tokens + counters.reused_tokens,
            counters.prompt_tokens + counters.generated_tokens - 36)
      << "the last token of a reply is not evaluated";
}

TEST_F(Llama, IsTheSameAtAnyNumberOfCallersWhereDeterministic) {
  std::vector<std::vector<std::string>> played;
  for (const int callers : {1, 4, 16}) {
    LlamaSettings settings = tiny();
    settings.deterministic = true;
    settings.parallel = callers;
    const auto engine = opened(settings);
    played.push_back(all_played(*model_on(engine, short_replies()), kPolicy, 16, callers, 3));
    EXPECT_GT(engine->counters().reused_tokens, 16 * 500) << "prefixes are shared all the same";
  }
  EXPECT_EQ(played[0], played[1]);
  EXPECT_EQ(played[0], played[2]);
}

TEST_F(Llama, SaysThatAConversationDoesNotFit) {
  LlamaSettings settings = tiny();
  settings.context = 256;
  const auto model = model_on(opened(settings), short_replies());
  const Result<ChatReply> reply = asked(*model, conversation(kPolicy, "hello"), 1);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().where, kContextWindow);
  EXPECT_EQ(reply.error().message, "the conversation has 626 tokens and the context window 256");
  EXPECT_TRUE(asked(*model, conversation("be kind", "hello"), 1)) << "the next one fits";
}

TEST_F(Llama, EndsAReplyAtTheEndOfTheContext) {
  LlamaSettings settings = tiny();
  settings.context = 256;
  LlamaSampling endless;
  const auto model = model_on(opened(settings), endless);
  int cut = 0;
  for (int seed = 0; seed < 20; ++seed) {
    const Result<ChatReply> reply = asked(*model, conversation(std::string(205, 'x'), "hi"), seed);
    ASSERT_TRUE(reply) << to_string(reply.error());
    EXPECT_LE(reply->usage->prompt + reply->usage->completion, 256);
    cut += reply->finish_reason == "length";
  }
  EXPECT_GT(cut, 0);
}

TEST_F(Llama, GivesUpWhenAStopIsAskedFor) {
  const auto engine = opened(tiny({.context = 8192}));
  const auto model = model_on(engine, {});
  std::stop_source stop;
  stop.request_stop();
  const std::vector<ChatMessage> messages = conversation("be kind", "hello");
  ChatRequest request;
  request.messages = messages;
  request.stop = stop.get_token();
  const Result<ChatReply> reply = model->complete(request);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().where, kStopped);
}

TEST_F(Llama, BindsNamesWhereToldToAndOnlyThere) {
  LlamaSampling sampling;
  sampling.max_tokens = 160;
  const auto engine = opened(tiny());
  const auto model = model_on(engine, sampling);
  int free_calls = 0;
  int made_up = 0;
  int bound_calls = 0;
  for (int seed = 0; seed < 60; ++seed) {
    const std::vector<ChatMessage> messages = conversation("be kind", "hello");
    const Result<ChatReply> free = asked(*model, messages, seed);
    ASSERT_TRUE(free) << to_string(free.error());
    for (const ChatCall& call : free->message.calls) {
      ++free_calls;
      made_up += call.name != "get_user" && call.name != "end_call";
    }
    const Result<ChatReply> bound = asked(*model, messages, seed, true);
    ASSERT_TRUE(bound) << to_string(bound.error());
    if (bound->finish_reason == "length") continue;  // may be cut within a text that holds markup
    for (const ChatCall& call : bound->message.calls) {
      ++bound_calls;
      EXPECT_TRUE(call.name == "get_user" || call.name == "end_call") << call.name;
    }
  }
  EXPECT_GT(made_up, 5) << "of " << free_calls;
  EXPECT_GT(bound_calls, 5);
}

TEST_F(Llama, RefusesFilesThatAreNoModelInASentence) {
  LlamaSettings settings = tiny();
  settings.file = (folder_ / "absent.gguf").string();
  EXPECT_EQ(refusal(settings).find("absent.gguf: "), 0u) << refusal(settings);
  settings.file = kept("text.gguf", "this is no model at all, only some text");
  EXPECT_NE(refusal(settings).find("is not a GGUF"), std::string::npos) << refusal(settings);
  const std::string whole = tiny_gguf();
  settings.file = kept("cut.gguf", whole.substr(0, whole.size() / 2));
  EXPECT_NE(refusal(settings).find("cut"), std::string::npos) << refusal(settings);
  settings.file = kept("other.gguf", tiny_gguf({.architecture = "lama3000"}));
  EXPECT_EQ(refusal(settings), "other.gguf: is of the architecture 'lama3000', which llama.cpp " +
                                   llama_version_text() + " does not know");
  settings.file = kept("mute.gguf", tiny_gguf({.has_template = false}));
  EXPECT_EQ(refusal(settings),
            "mute.gguf: has no chat template, so how it is spoken to must be said: template = "
            "FILE");
  settings.template_file = kept("t.jinja", std::string(kTinyTemplate));
  EXPECT_TRUE(LlamaEngine::open(settings));
  settings.template_file = kept("broken.jinja", "{% for m in %}");
  EXPECT_EQ(refusal(settings).find("broken.jinja: the chat template cannot be read: "), 0u)
      << refusal(settings);
}

TEST_F(Llama, RefusesSettingsThatMakeNoSense) {
  LlamaSettings settings = tiny();
  settings.kv = "q3";
  EXPECT_EQ(refusal(settings), "kv must be f32, f16, bf16, q8_0 or q4_0, not 'q3'");
  settings = tiny();
  settings.parallel = 257;
  EXPECT_EQ(refusal(settings), "parallel must be 1 to 256");
  settings = tiny();
  settings.context = 2000000000;
  settings.parallel = 256;
  EXPECT_NE(refusal(settings).find("does not fit the memory: "), std::string::npos)
      << refusal(settings);
  const auto engine = opened(tiny());
  LlamaSampling sampling;
  sampling.top_p = 0;
  EXPECT_EQ(to_string(open_llama(engine, "tiny", sampling).error()), "top_p must be in (0, 1]");
}

TEST_F(Llama, KeepsKeysAndValuesInFewBits) {
  LlamaSettings settings = tiny();
  LlamaSampling greedy = short_replies();
  greedy.temperature = 0;
  std::vector<double> first;
  for (const char* kv : {"f16", "q8_0", "q4_0"}) {
    settings.kv = kv;
    const auto model = model_on(opened(settings), greedy);
    ASSERT_NE(model, nullptr);
    const Result<ChatReply> reply = asked(*model, conversation(kPolicy, "hello"), 1);
    ASSERT_TRUE(reply) << to_string(reply.error());
    first.push_back(reply->logprobs.at(0).top.at(0).second);
  }
  EXPECT_NE(first[0], first[1]);
  EXPECT_LT(std::abs(first[0] - first[1]), std::abs(first[0] - first[2]));
}

TEST_F(Llama, ReadsTheTemplatesAnswerToAnOddConversation) {
  const auto model = model_on(opened(tiny()), short_replies());
  std::vector<ChatMessage> messages = conversation("be kind", "hello");
  messages[1].calls.push_back({"x", "f", "not json"});
  messages[1].role = ChatMessage::Role::Assistant;
  EXPECT_TRUE(asked(*model, messages, 1));
  ChatRequest request;
  request.messages = messages;
  request.tools = "{broken";
  EXPECT_EQ(model->complete(request).error().kind, ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace unmask
