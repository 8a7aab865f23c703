// Every fault of docs/faults.md over a real socket: what the server does is chosen by the model's
// name, tests/server/chat_server.py.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <thread>

#include "chat_server_process.h"
#include "llm/constrain.h"
#include "llm/openai.h"

namespace unmask {
namespace {

constexpr const char* kKey = "sk-test/0123456789abcdef";
constexpr std::string_view kTools =
    R"([{"type":"function","function":{"name":"offered","parameters":{"type":"object"}}}])";

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class ChatServer : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = ChatServerProcess::start(); }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    if (!server_) GTEST_SKIP() << "python3 cannot be started, so there is no server to talk to";
  }

  static EndpointOptions options(const std::string& fault) {
    EndpointOptions options;
    options.base_url = server_->base_url();
    options.model = "fault:" + fault;
    options.api_key = kKey;
    options.max_retries = 3;
    options.backoff_base_seconds = 0.01;
    options.backoff_cap_seconds = 0.02;
    options.connect_timeout_seconds = 5;
    options.first_byte_timeout_seconds = 15;
    options.total_timeout_seconds = 30;
    options.logprobs = false;
    return options;
  }

  static Result<ChatReply> ask(const EndpointOptions& options, const ChatRequest& request = {}) {
    Result<std::unique_ptr<ChatModel>> model = open_openai(options);
    if (!model) return model.error();
    return (*model)->complete(request);
  }
  static Result<ChatReply> ask(const std::string& fault) { return ask(options(fault)); }

  static void expect_no_key(const std::string& text) {
    EXPECT_EQ(text.find("0123456789abcdef"), std::string::npos) << text;
    EXPECT_EQ(text.find("sk-test"), std::string::npos) << text;
  }

  static std::unique_ptr<ChatServerProcess> server_;
};

std::unique_ptr<ChatServerProcess> ChatServer::server_;

TEST_F(ChatServer, AnswersWithTextOrACall) {
  const Result<ChatReply> text = ask("ok");
  ASSERT_TRUE(text) << to_string(text.error());
  EXPECT_EQ(text->message.content, "ok");
  EXPECT_EQ(text->usage, (TokenUsage{12, 5}));
  EXPECT_GT(text->seconds, 0);
  EXPECT_TRUE(text->warnings.empty());
  ChatRequest request;
  request.tools = kTools;
  EndpointOptions priced = options("ok");
  priced.usd_per_million_prompt_tokens = 1e6;
  priced.usd_per_million_completion_tokens = 2e6;
  const Result<ChatReply> call = ask(priced, request);
  ASSERT_TRUE(call) << to_string(call.error());
  EXPECT_EQ(call->message.calls[0].name, "offered");
  EXPECT_EQ(call->cost_usd, 22.0);
}

TEST_F(ChatServer, TriesAgainWhatMayPass) {
  for (const char* fault :
       {"408:2", "409:2", "425:2", "429:2", "500:2", "503:2", "cut:2", "close:2", "invalid_json:2",
        "missing_choices:2", "no_choice:2", "null_message:2", "html:2", "error_200:2", "deep:2"}) {
    const Result<ChatReply> reply = ask(fault);
    ASSERT_TRUE(reply) << fault << ": " << to_string(reply.error());
    EXPECT_EQ(reply->message.content, "ok");
    EXPECT_EQ(reply->retries, 2) << fault;
  }
}

TEST_F(ChatServer, GivesUpAfterItsRetriesWithOneSentence) {
  for (const auto& [fault, part] :
       {std::pair<const char*, const char*>{"500", "HTTP status 500: status 500 as you wish"},
        {"cut", "the transfer broke off"},
        {"invalid_json", "the reply is not JSON"},
        {"missing_choices", "the reply has no choice with a message"},
        {"error_200", "upstream is away"},
        {"html", "502 Bad Gateway"}}) {
    const Result<ChatReply> reply = ask(fault);
    ASSERT_FALSE(reply) << fault;
    EXPECT_EQ(reply.error().kind, ErrorKind::Unavailable);
    EXPECT_EQ(reply.error().where, server_->base_url() + "/v1/chat/completions");
    EXPECT_NE(reply.error().message.find(part), std::string::npos) << reply.error().message;
    EXPECT_NE(reply.error().message.find("(given up after 4 attempts)"), std::string::npos);
    EXPECT_EQ(reply.error().message.find('\n'), std::string::npos);
  }
}

TEST_F(ChatServer, WaitsAsLongAsTheServerAsks) {
  auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(ask("busy:1"));
  EXPECT_GE(seconds_since(start), 0.99);
  start = std::chrono::steady_clock::now();
  ASSERT_TRUE(ask("busy_date:1"));  // two seconds on, in whole seconds
  EXPECT_GE(seconds_since(start), 0.9);
  EndpointOptions capped = options("busy:2:capped");
  capped.retry_after_cap_seconds = 0.05;
  const Result<ChatReply> reply = ask(capped);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->retries, 2);
}

TEST_F(ChatServer, DoesNotTryAgainWhatWillStay) {
  for (const char* fault : {"400", "401", "403", "404", "422", "501", "505", "301"}) {
    const Result<ChatReply> reply = ask(std::string(fault) + ":1");
    ASSERT_FALSE(reply) << fault;
    EXPECT_EQ(reply.error().kind, ErrorKind::InvalidArgument) << fault;
    EXPECT_NE(reply.error().message.find("as you wish"), std::string::npos);
  }
}

TEST_F(ChatServer, SaysWhereARedirectPoints) {
  const Result<ChatReply> reply = ask("redirect");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::InvalidArgument);
  EXPECT_NE(reply.error().message.find("points to https://elsewhere.example/v1/chat/completions, "
                                       "which is not followed"),
            std::string::npos)
      << reply.error().message;
}

TEST_F(ChatServer, StopsAtACertificateThatNobodyTrusts) {
  const std::unique_ptr<ChatServerProcess> untrusted = ChatServerProcess::start(0, {"--tls"});
  if (!untrusted) GTEST_SKIP() << "no openssl here";
  EndpointOptions secure = options("ok");
  secure.base_url = "https://127.0.0.1:" + std::to_string(untrusted->port());
  const Result<ChatReply> reply = ask(secure);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::Unavailable);
  EXPECT_EQ(reply.error().message.find("no connection can be made: "), 0u) << reply.error().message;
  EXPECT_EQ(reply.error().message.find("given up"), std::string::npos);
}

TEST_F(ChatServer, IsReachedAtAnAddressOfSixteenBytes) {
  const std::unique_ptr<ChatServerProcess> six = ChatServerProcess::start(0, {"--ipv6"});
  if (!six) GTEST_SKIP() << "no IPv6 here";
  EndpointOptions at_six = options("ok");
  at_six.base_url = "http://[::1]:" + std::to_string(six->port()) + "/v1/";
  const Result<ChatReply> reply = ask(at_six);
  ASSERT_TRUE(reply) << to_string(reply.error());
}

TEST_F(ChatServer, IsReachedPastAProxyOnThisMachine) {
  ::setenv("http_proxy", "http://me:hunter22@127.0.0.1:1", 1);
  const Result<ChatReply> here = ask("ok");
  EndpointOptions away = options("ok");
  away.base_url = "http://unmask.invalid";
  away.max_retries = 0;
  const Result<ChatReply> there = ask(away);
  ::unsetenv("http_proxy");
  EXPECT_TRUE(here) << to_string(here.error());
  ASSERT_FALSE(there);
  EXPECT_EQ(to_string(there.error()).find("hunter22"), std::string::npos);
}

TEST_F(ChatServer, KnowsAFullContextInEveryServersWords) {
  for (const char* server : {"vllm", "vllm_prompt", "vllm_input", "llamacpp", "llamacpp_midway",
                             "openai", "no_code", "sglang", "sglang_cache", "ollama",
                             "ollama_no_shift", "tgi", "anthropic", "anthropic_sum", "too_large"}) {
    const Result<ChatReply> reply = ask(std::string("overflow_") + server);
    ASSERT_FALSE(reply) << server;
    EXPECT_EQ(reply.error().where, kContextWindow) << server;
    EXPECT_EQ(reply.error().kind, ErrorKind::Unavailable);
    EXPECT_EQ(reply.error().message.find("given up"), std::string::npos);
  }
}

TEST_F(ChatServer, TakesOutputThatTheServerCouldNotReadForACallThatIsBroken) {
  ChatRequest request;
  request.tools = kTools;
  for (const auto& [server, quoted] :
       {std::pair<const char*, const char*>{"llamacpp", ""},
        {"llamacpp_quoting", "<tool_call>\n{\"name\": \"a\", \"arguments\": {\"n\":"},
        {"llamacpp_misleading", "maximum context length logprobs"},
        {"ollama", "{\"n\": 1}]"},
        {"ollama_object", ""}}) {
    EndpointOptions asking = options(std::string("unread_") + server);
    asking.logprobs = true;
    const Result<ChatReply> reply = ask(asking, request);
    ASSERT_TRUE(reply) << server << ": " << to_string(reply.error());
    EXPECT_EQ(reply->retries, 0) << server;
    EXPECT_EQ(reply->warnings,
              (std::vector<std::string>{std::string(kUnreadOutput), "logprobs_absent"}));
    ASSERT_EQ(reply->message.calls.size(), 1u);
    EXPECT_EQ(reply->message.calls[0].name, "");
    EXPECT_EQ(reply->message.calls[0].arguments, quoted) << server;
    EXPECT_FALSE(reply->message.calls[0].id.empty());
    EXPECT_EQ(reply->raw.find("{\"error\""), 0u) << reply->raw;
  }
}

// Where no tools are offered the model made no call: it is the server that fails, perhaps once.
TEST_F(ChatServer, TriesOutputAgainThatItCouldNotReadThoughNoToolsWereOffered) {
  const Result<ChatReply> reply = ask("unread_llamacpp:2");
  ASSERT_TRUE(reply) << to_string(reply.error());
  EXPECT_EQ(reply->retries, 2);
}

TEST_F(ChatServer, LearnsNothingAboutAConstraintFromOutputThatCannotBeRead) {
  const Result<ConstrainedModel> none = open_constrained(options("unread_llamacpp"));
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("cannot be told"), std::string::npos) << none.error().message;
  EXPECT_EQ(none.error().message.find("ignored"), std::string::npos);
}

TEST_F(ChatServer, SaysThatANameDoesNotResolve) {
  const std::unique_ptr<char, void (*)(void*)> before(
      ::getenv("no_proxy") ? ::strdup(::getenv("no_proxy")) : nullptr, ::free);
  ::setenv("no_proxy", "unmask.invalid", 1);
  EndpointOptions nowhere = options("ok");
  nowhere.base_url = "http://unmask.invalid:8000/v1";  // RFC 6761: never a host
  nowhere.max_retries = 1;
  const Result<ChatReply> reply = ask(nowhere);
  before ? ::setenv("no_proxy", before.get(), 1) : ::unsetenv("no_proxy");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::Unavailable);
  // Resolvers that are offline may take longer than a connection is given.
  const bool told = reply.error().message.starts_with("cannot connect: ") ||
                    reply.error().message.starts_with("timed out after ");
  EXPECT_TRUE(told) << reply.error().message;
  EXPECT_NE(reply.error().message.find("(given up after 2 attempts)"), std::string::npos);
}

TEST_F(ChatServer, TimesOutWhenNothingComesAndWhenItTakesTooLong) {
  EndpointOptions silent = options("hang:1");
  silent.first_byte_timeout_seconds = 0.3;
  const Result<ChatReply> after_silence = ask(silent);
  ASSERT_TRUE(after_silence) << to_string(after_silence.error());
  EXPECT_EQ(after_silence->retries, 1);

  EndpointOptions slow = options("drip");
  slow.total_timeout_seconds = 0.5;
  slow.max_retries = 0;
  const auto start = std::chrono::steady_clock::now();
  const Result<ChatReply> drip = ask(slow);
  ASSERT_FALSE(drip);
  EXPECT_LT(seconds_since(start), 5.0);
  EXPECT_NE(drip.error().message.find("timed out after"), std::string::npos);
}

TEST_F(ChatServer, TakesTenMegabytesAndNoMoreThanAllowed) {
  const Result<ChatReply> big = ask("big");
  ASSERT_TRUE(big) << to_string(big.error());
  EXPECT_EQ(big->message.content->size(), 10'000'000u);
  EndpointOptions bounded = options("big");
  bounded.max_reply_bytes = 1 << 20;
  const Result<ChatReply> refused = ask(bounded);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the reply is longer than 1048576 bytes");
}

TEST_F(ChatServer, BreaksOffATextThatNoModelMeansToWrite) {
  const auto start = std::chrono::steady_clock::now();
  const Result<ChatReply> refused = ask("huge_text");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::Unavailable);
  EXPECT_EQ(refused.error().message, "the reply holds a text of more than 16777216 bytes");
  EXPECT_LT(seconds_since(start), 5.0);  // once, not tried again
  EndpointOptions narrow = options("escapes");
  narrow.max_text_bytes = 1999;  // 1000 escaped quotation marks do not end their text
  EXPECT_EQ(ask(narrow).error().message, "the reply holds a text of more than 1999 bytes");
  narrow.max_text_bytes = 2000;
  EXPECT_TRUE(ask(narrow));
}

TEST_F(ChatServer, TakesTwentyMegabytesOfLogProbabilities) {
  const Result<ChatReply> long_thought = ask("many_logprobs");
  ASSERT_TRUE(long_thought) << to_string(long_thought.error());
}

TEST_F(ChatServer, MendsOddRepliesAndSaysSo) {
  for (const auto& [fault, warning] :
       {std::pair<const char*, const char*>{"no_id", "call_without_id"},
        {"duplicate_ids", "duplicate_call_id"},
        {"object_arguments", "arguments_not_text"},
        {"null_arguments", "call_without_arguments"},
        {"empty", "empty_message"},
        {"null", "empty_message"},
        {"several", "several_choices"},
        {"parts", "content_parts"},
        {"function_call", "function_call"},
        {"odd_finish", "unknown_finish_reason"},
        {"refusal", "refusal"},
        {"content_number", "content_not_text"},
        {"thinking_parts", "content_parts"},
        {"calls_object", "calls_not_a_list"},
        {"calls_text", "calls_not_a_list"},
        {"no_name", "call_without_name"},
        {"name_number", "name_not_text"},
        {"logprobs_hole", "logprobs_unreadable"},
        {"content_type", "content_type"}}) {
    const Result<ChatReply> reply = ask(fault);
    ASSERT_TRUE(reply) << fault << ": " << to_string(reply.error());
    EXPECT_NE(std::find(reply->warnings.begin(), reply->warnings.end(), warning),
              reply->warnings.end())
        << fault;
    std::set<std::string> ids;
    for (const ChatCall& call : reply->message.calls) {
      EXPECT_FALSE(call.id.empty());
      EXPECT_TRUE(ids.insert(call.id).second) << fault;
    }
  }
  EXPECT_EQ(ask("unicode")->message.calls[0].name, "получить_заказ_🛒");
  EXPECT_EQ(ask("reasoning")->message.reasoning, "because");
  EXPECT_EQ(ask("thinking_parts")->message.reasoning, "hm");
  EXPECT_EQ(ask("thinking_parts")->message.content, "yes");
  EXPECT_EQ(ask("refusal")->message.content, "I will not.");
  EXPECT_EQ(ask("content_number")->message.content, "7");
  EXPECT_EQ(ask("calls_object")->message.calls[0].name, "a");
  EXPECT_TRUE(ask("calls_text")->message.calls.empty());
  EXPECT_EQ(ask("bad_arguments")->message.calls[0].arguments, "{\"n\": ");
  EXPECT_TRUE(ask("bad_arguments")->warnings.empty());
  EXPECT_EQ(ask("bytes")->message.content, "caf\xef\xbf\xbd");
  EXPECT_EQ(ask("surrogate")->message.content,
            "a\xef\xbf\xbd"
            "b");
}

TEST_F(ChatServer, AsksForLogprobsUntilTheyAreRefused) {
  EndpointOptions asking = options("ok");
  asking.logprobs = true;
  const Result<ChatReply> given = ask(asking);
  ASSERT_TRUE(given);
  EXPECT_EQ(given->logprobs.size(), 1u);
  EXPECT_EQ(given->raw.find("logprob"), std::string::npos);

  asking.model = "fault:no_logprobs";
  Result<std::unique_ptr<ChatModel>> model = open_openai(asking);
  ASSERT_TRUE(model);
  for (int request = 0; request < 2; ++request) {
    const Result<ChatReply> refused = (*model)->complete({});
    ASSERT_TRUE(refused) << to_string(refused.error());
    EXPECT_EQ(refused->retries, 0);
    EXPECT_EQ(refused->warnings, std::vector<std::string>{"logprobs_refused"});
  }
}

TEST_F(ChatServer, NeverShowsTheKey) {
  const Result<ChatReply> refused = ask("echo_key");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("[hidden]"), std::string::npos);
  expect_no_key(to_string(refused.error()));
  const Result<ChatReply> leaked = ask("leak_key");
  ASSERT_TRUE(leaked);
  expect_no_key(*leaked->message.content);
  expect_no_key(leaked->raw);
  EndpointOptions with_password = options("404");
  with_password.base_url = "http://me:hunter22@127.0.0.1:" + std::to_string(server_->port());
  const Result<ChatReply> not_found = ask(with_password);
  ASSERT_FALSE(not_found);
  EXPECT_EQ(to_string(not_found.error()).find("hunter22"), std::string::npos);
}

TEST_F(ChatServer, SaysWhoIsAsking) {
  const Result<ChatReply> reply = ask("echo_request");
  ASSERT_TRUE(reply);
  EXPECT_NE(reply->message.content->find("\"user-agent\": \"unmask/"), std::string::npos);
  EXPECT_NE(reply->message.content->find("\"content-type\": \"application/json\""),
            std::string::npos);
}

TEST_F(ChatServer, StopsWaitingRunningAndRetryingRequestsAtOnce) {
  EndpointOptions one_at_a_time = options("hang");
  one_at_a_time.max_connections = 1;
  EndpointOptions patient = options("500");
  patient.max_retries = 100;
  patient.backoff_base_seconds = patient.backoff_cap_seconds = 60;
  Result<std::unique_ptr<ChatModel>> hanging = open_openai(one_at_a_time);
  Result<std::unique_ptr<ChatModel>> retrying = open_openai(patient);
  std::stop_source stop;
  ChatRequest request;
  request.stop = stop.get_token();
  std::vector<std::thread> callers;
  const auto expect_stopped = [&](ChatModel& model) {
    const Result<ChatReply> reply = model.complete(request);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().where, kStopped);
  };
  for (int i = 0; i < 3; ++i) callers.emplace_back([&] { expect_stopped(**hanging); });
  callers.emplace_back([&] { expect_stopped(**retrying); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto start = std::chrono::steady_clock::now();
  stop.request_stop();
  for (std::thread& caller : callers) caller.join();
  hanging = Error{};
  retrying = Error{};
  EXPECT_LT(seconds_since(start), 2.0);
}

TEST_F(ChatServer, ServesManyCallersOverFewConnections) {
  EndpointOptions few = options("ok");
  few.max_connections = 4;
  Result<std::unique_ptr<ChatModel>> model = open_openai(few);
  ASSERT_TRUE(model);
  std::atomic<int> answered = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 64; ++i)
    callers.emplace_back([&] { answered += (*model)->complete({}).has_value(); });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(answered, 64);
}

int free_port() {
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  bind(descriptor, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
  close(descriptor);
  return ntohs(address.sin_port);
}

TEST_F(ChatServer, SaysThatNobodyListens) {
  EndpointOptions nobody = options("ok");
  nobody.base_url = "http://127.0.0.1:" + std::to_string(free_port());
  const Result<ChatReply> reply = ask(nobody);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::Unavailable);
  EXPECT_NE(reply.error().message.find("cannot connect"), std::string::npos);
  EXPECT_NE(reply.error().message.find("(given up after 4 attempts)"), std::string::npos);
}

TEST_F(ChatServer, SurvivesAServerThatDiesAndComesBack) {
  std::unique_ptr<ChatServerProcess> mortal = ChatServerProcess::start();
  ASSERT_NE(mortal, nullptr);
  const int port = mortal->port();
  EndpointOptions patient = options("die:1");
  patient.base_url = mortal->base_url();
  patient.max_retries = 1000;
  patient.backoff_base_seconds = patient.backoff_cap_seconds = 0.05;
  std::unique_ptr<ChatServerProcess> next;
  std::thread keeper([&] {
    mortal->wait_for_end();
    // The new one must not die as well: it counts from zero.
    next = ChatServerProcess::start(port, {"--alive"});
  });
  const Result<ChatReply> reply = ask(patient);
  keeper.join();
  ASSERT_NE(next, nullptr);
  ASSERT_TRUE(reply) << to_string(reply.error());
  EXPECT_GE(reply->retries, 1);
}

TEST_F(ChatServer, TellsWhetherNamesAreConstrained) {
  for (const auto& [fault, supported] : {std::pair<const char*, bool>{"ok", true},
                                         {"binds_strict", true},
                                         {"ignores_strict", false},
                                         {"refuses_strict", false}}) {
    EndpointOptions constrained = options(fault);
    constrained.constraint = NameConstraint::StrictTools;
    Result<std::unique_ptr<ChatModel>> model = open_openai(constrained);
    ASSERT_TRUE(model);
    const Result<ConstraintSupport> support = probe_constraint(**model);
    ASSERT_TRUE(support) << to_string(support.error());
    EXPECT_EQ(support->supported, supported) << fault << ": " << support->sentence;
    EXPECT_TRUE(support->settled);
  }
}

TEST_F(ChatServer, IsConstrainedInTheFirstFormThatBinds) {
  for (const auto& [fault, form] :
       {std::pair<const char*, NameConstraint>{"binds_strict", NameConstraint::StrictTools},
        {"binds_tags", NameConstraint::StructuralTag}}) {
    const Result<ConstrainedModel> found = open_constrained(options(fault));
    ASSERT_TRUE(found) << fault << ": " << to_string(found.error());
    EXPECT_EQ(found->form, form) << fault;
    EXPECT_TRUE(found->support.proven) << found->support.sentence;
  }
  const Result<ConstrainedModel> tame = open_constrained(options("ok"));
  ASSERT_TRUE(tame);
  EXPECT_FALSE(tame->support.proven) << tame->support.sentence;
}

TEST_F(ChatServer, SaysOfEachFormWhyNoneBinds) {
  const Result<ConstrainedModel> none = open_constrained(options("binds_nothing"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::Unsupported);
  for (const char* part : {"strict tools: taken and ignored: the model called \"sort_lanterns\"",
                           "structural tags: refused: ", "response_format type must be"})
    EXPECT_NE(none.error().message.find(part), std::string::npos) << none.error().message;
}

}  // namespace
}  // namespace unmask
