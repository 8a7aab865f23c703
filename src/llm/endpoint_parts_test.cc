// The small parts an endpoint is made of: addresses, waits, what servers say, scripts, the probe.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "llm/constrain.h"
#include "llm/endpoint_url.h"
#include "llm/openai.h"
#include "llm/retry.h"
#include "llm/scripted_model.h"
#include "llm/server_words.h"

namespace unmask {
namespace {

TEST(EndpointUrl, CompletesWhateverEndingTheBaseHas) {
  for (const auto& [base, full] : {
           std::pair<const char*, const char*>{"http://h:8000",
                                               "http://h:8000/v1/chat/completions"},
           {"http://h:8000/", "http://h:8000/v1/chat/completions"},
           {"http://h/v1", "http://h/v1/chat/completions"},
           {"http://h/v1/", "http://h/v1/chat/completions"},
           {"http://h/v1/chat/completions/", "http://h/v1/chat/completions"},
           {"https://h/v1beta/openai/", "https://h/v1beta/openai/chat/completions"},
           {"https://h/d?api-version=1", "https://h/d/chat/completions?api-version=1"},
       }) {
    const Result<EndpointUrl> url = chat_completions_url(base);
    ASSERT_TRUE(url) << base;
    EXPECT_EQ(url->full, full);
  }
}

TEST(EndpointUrl, KeepsSecretsOutOfThePrintableForm) {
  const Result<EndpointUrl> url =
      chat_completions_url("https://me:p%40ss@h/v1?key=0123456789abcdef0");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->printable, "https://h/v1/chat/completions");
  EXPECT_EQ(url->secrets, (std::vector<std::string>{"p%40ss", "p@ss", "0123456789abcdef0"}));
}

TEST(EndpointUrl, RefusesWhatIsNoAddress) {
  for (const char* base : {"", "localhost:8000", "file:///etc/passwd", "http://", "http://a b/"})
    EXPECT_FALSE(chat_completions_url(base)) << base;
}

TEST(Retry, ReadsSecondsAndDates) {
  EXPECT_EQ(retry_after_seconds("7", 0), 7.0);
  EXPECT_EQ(retry_after_seconds("0.5", 0), 0.5);
  EXPECT_EQ(retry_after_seconds("Thu, 01 Jan 1970 00:01:40 GMT", 40), 60.0);
  EXPECT_EQ(retry_after_seconds("Thu, 01 Jan 1970 00:01:40 GMT", 400), 0.0);
  for (const char* text : {"", "soon", "-5", "1e9", "1.2.3", "."})
    EXPECT_EQ(retry_after_seconds(text, 0), std::nullopt) << text;
}

TEST(Retry, DoublesWaitsUpToTheCap) {
  Rng rng(1);
  const Backoff backoff{1.0, 8.0, 20.0};
  for (int retry = 0; retry < 200; ++retry) {
    const double full = std::min(8.0, std::ldexp(1.0, std::min(retry, 10)));
    const double wait = backoff_seconds(backoff, retry, std::nullopt, rng);
    EXPECT_GE(wait, full / 2);
    EXPECT_LE(wait, full);
  }
  EXPECT_EQ(backoff_seconds(backoff, 0, 15.0, rng), 15.0);
  EXPECT_EQ(backoff_seconds(backoff, 0, 1e9, rng), 20.0);
}

TEST(Retry, StopsASleepAtOnce) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(sleep_unless_stopped(60, stop.get_token()));
  EXPECT_TRUE(sleep_unless_stopped(0.001, {}));
}

TEST(ServerWords, FindsTheSentence) {
  for (const auto& [body, sentence] : {
           std::pair<const char*, const char*>{R"({"error":{"message":"no\n such  model"}})",
                                               "no such model"},
           {R"({"error":"gone"})", "gone"},
           {R"({"message":"vllm"})", "vllm"},
           {R"({"detail":[{"loc":["body","n"],"msg":"Field required"}]})",
            R"(Field required at ["body","n"])"},
           {"<html><script>x<1</script><p>Bad <b>gateway</b></p>", "Bad gateway"},
           {"plain \x1b[31mred", "plain [31mred"},
           {"", ""},
       })
    EXPECT_EQ(server_message(body), sentence) << body;
  EXPECT_EQ(printable(std::string(1000, 'x'), 10), "xxxxxxxxxx...");
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a b");
}

TEST(ServerWords, QuotesOutputThatCouldNotBeReadInWholeCharacters) {
  const std::string opening = R"({"error":{"message":"Failed to parse input at pos 12:)";
  EXPECT_EQ(unread_output(opening + " <a>\"}}"), "<a>");
  EXPECT_EQ(unread_output(opening + "\xd8\x83<a>\"}}"), "\xd8\x83<a>");
  EXPECT_EQ(unread_output(opening + "\"}}"), "");
  EXPECT_EQ(unread_output(R"({"error":{"message":"Failed to parse input at pos x: a"}})"),
            std::nullopt);
}

TEST(ServerWords, HidesSecretsHoweverEscaped) {
  Secrets secrets;
  secrets.add("");
  secrets.add("sk/longer-key");
  secrets.add("EMPTY");
  EXPECT_EQ(secrets.hide("EMPTY sk/longer-key sk\\/longer-key"), "[hidden] [hidden] [hidden]");
  EXPECT_EQ(secrets.hide_long("EMPTY sk/longer-key"), "EMPTY [hidden]");
}

TEST(OpenEndpoint, NamesTheOptionThatMakesNoSense) {
  EndpointOptions good;
  good.base_url = "http://127.0.0.1:1";
  good.model = "m";
  ASSERT_TRUE(open_openai(good));
  EXPECT_EQ((*open_openai(good))->name(), "m");
  const std::pair<const char*, std::function<void(EndpointOptions&)>> mistakes[] = {
      {"base_url", [](EndpointOptions& o) { o.base_url = "h"; }},
      {"model", [](EndpointOptions& o) { o.model = ""; }},
      {"api_key", [](EndpointOptions& o) { o.api_key = "a\nb"; }},
      {"max_connections", [](EndpointOptions& o) { o.max_connections = 0; }},
      {"max_retries", [](EndpointOptions& o) { o.max_retries = -1; }},
      {"total_timeout_seconds", [](EndpointOptions& o) { o.total_timeout_seconds = 0; }},
      {"extra_body", [](EndpointOptions& o) { o.extra_body = "[]"; }},
  };
  for (const auto& [name, make] : mistakes) {
    EndpointOptions options = good;
    make(options);
    const Result<std::unique_ptr<ChatModel>> model = open_openai(options);
    ASSERT_FALSE(model) << name;
    EXPECT_EQ(model.error().kind, ErrorKind::InvalidArgument);
    EXPECT_NE(model.error().message.find(name), std::string::npos);
  }
}

TEST(ScriptedModel, GivesItsRepliesInOrderAndThenAnError) {
  const std::unique_ptr<ChatModel> model =
      scripted_model("s", {text_reply("a"), calls_reply({{"", "f", "{}"}})});
  EXPECT_EQ(model->complete({})->message.content, "a");
  EXPECT_EQ(model->complete({})->message.calls[0].id, "call_0");
  EXPECT_EQ(model->complete({}).error().kind, ErrorKind::Unavailable);
}

ConstraintSupport probed(Answer answer) {
  const Result<ConstraintSupport> support =
      probe_constraint(*scripted_model("m", std::move(answer)));
  EXPECT_TRUE(support);
  return support ? *support : ConstraintSupport{};
}

TEST(ProbeConstraint, TellsKeptIgnoredRefusedAndUnsettledApart) {
  const ConstraintSupport kept = probed([](const ChatRequest& request) -> Result<ChatReply> {
    return calls_reply(
        {{"", request.constrain_names ? "polish_teapot_47" : "sort_lanterns", "{}"}});
  });
  EXPECT_TRUE(kept.supported && kept.settled && kept.proven);

  // A model that keeps to the names anyway looks the same at a server that ignores the constraint.
  const ConstraintSupport tame = probed([](const ChatRequest&) -> Result<ChatReply> {
    return calls_reply({{"", "polish_teapot_47", "{}"}});
  });
  EXPECT_TRUE(tame.supported && tame.settled && !tame.proven);
  EXPECT_NE(tame.sentence.find("proves little"), std::string::npos);

  const ConstraintSupport ignored = probed([](const ChatRequest&) -> Result<ChatReply> {
    return calls_reply({{"", "sort_lanterns", "{}"}});
  });
  EXPECT_TRUE(!ignored.supported && ignored.settled);
  EXPECT_NE(ignored.sentence.find("sort_lanterns"), std::string::npos);

  const ConstraintSupport leaked = probed([](const ChatRequest&) -> Result<ChatReply> {
    return text_reply("<tool_call>{\"name\": \"sort_lanterns\"}</tool_call>");
  });
  EXPECT_TRUE(!leaked.supported && leaked.settled);

  const ConstraintSupport refused = probed([](const ChatRequest&) -> Result<ChatReply> {
    return Error{ErrorKind::InvalidArgument, "strict is unknown", ""};
  });
  EXPECT_TRUE(!refused.supported && refused.settled);

  const ConstraintSupport silent =
      probed([](const ChatRequest&) -> Result<ChatReply> { return text_reply("I cannot."); });
  EXPECT_TRUE(!silent.supported && !silent.settled);
}

TEST(ProbeConstraint, IsAnErrorWhereTheModelCannotBeReached) {
  EXPECT_FALSE(probe_constraint(*scripted_model("m", std::vector<Result<ChatReply>>{})));
}

}  // namespace
}  // namespace unmask
