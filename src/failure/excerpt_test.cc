#include "failure/excerpt.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace unmask {
namespace {

TEST(WithoutSecrets, RemovesCredentialsAndKeepsTheirNames) {
  EXPECT_EQ(without_secrets("Authorization: Bearer abcdef123456.xyz end"),
            "Authorization: Bearer [removed] end");
  EXPECT_EQ(without_secrets("key sk-proj-AbCdEf0123456789 used"), "key [removed] used");
  EXPECT_EQ(without_secrets("url?api_key=12345&x=1"), "url?api_key=[removed]&x=1");
  EXPECT_EQ(without_secrets("OPENAI_API_KEY=abc def"), "OPENAI_API_KEY=[removed] def");
  EXPECT_EQ(without_secrets(R"({"password": "hunter2", "a": 1})"),
            R"({"password": "[removed]", "a": 1})");
  EXPECT_EQ(without_secrets(R"({\"token\": \"abc\"})"), R"({\"token\": \"[removed]\"})");
  EXPECT_EQ(without_secrets("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"), "[removed]");
  EXPECT_EQ(
      without_secrets("a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- b"),
      "a [removed] b");
  EXPECT_EQ(without_secrets("AKIAIOSFODNN7EXAMPLE"), "[removed]");
  EXPECT_EQ(without_secrets("GET https://user:PW@host.example/a?b=1"),
            "GET https://[removed]@host.example/a?b=1");
  EXPECT_EQ(without_secrets("postgres://u:p/w#x@host/db"), "postgres://[removed]@host/db");
  EXPECT_EQ(without_secrets("redis://:pw@host, https://ghp@host"),
            "redis://[removed]@host, https://[removed]@host");
}

TEST(WithoutSecrets, RemovesWholeValues) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"password": "two words, {one} x", "a": 1})", R"({"password": "[removed]", "a": 1})"},
      {R"({"password": "say \"x\" now", "a": 1})", R"({"password": "[removed]", "a": 1})"},
      {R"({\"token\": \"a, \\\"b\\\" c\", \"d\": 1})", R"({\"token\": \"[removed]\", \"d\": 1})"},
      {"password='a b' c", "password='[removed]' c"},
      {R"({"password": ["X", "Y"], "a": 1})", R"({"password": "[removed]", "a": 1})"},
      {R"({"token": {"value": "X}"}, "a": [1]})", R"({"token": "[removed]", "a": [1]})"},
      {R"({"secret": "cut off in the)", R"({"secret": "[removed])"},
      {"password=nullX", "password=[removed]"},
      {"password\n: x y", "password\n: [removed] y"},
      {R"(password\n: x y)", R"(password\n: [removed] y)"},
      {"config['password'] = 'X'", "config['password'] = '[removed]'"},
      {"password => X", "password => [removed]"},
      {R"(password=ab\cd e)", "password=[removed] e"}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(without_secrets(text), expected);
}

TEST(WithoutSecrets, RemovesWholeHeaders) {
  const std::pair<const char*, const char*> cases[] = {
      {"Cookie: a=1; session=X\nHost: b", "Cookie: [removed]\nHost: b"},
      {"-H 'Set-Cookie: a=1; session=X' -v", "-H 'Set-Cookie: [removed]' -v"},
      {"Authorization: Digest username=\"u\", response=\"X\"\nHost: b",
       "Authorization: [removed]\nHost: b"},
      {R"({"Authorization":"Token X Y"})", R"({"Authorization":"[removed]"})"},
      {R"({"Authorization":"Bearer X"})", R"({"Authorization":"Bearer [removed]"})"},
      {"Authorization: Bearer X end", "Authorization: Bearer [removed] end"},
      {"Bearer\tabcdef123456 end", "Bearer\t[removed] end"},
      {"Bearer  abcdef123456 end", "Bearer  [removed] end"},
      {"curl -u admin:X https://h", "curl -u admin:[removed] https://h"},
      {"curl --user 'admin:X y' https://h", "curl --user 'admin:[removed]' https://h"},
      {"use ghu_0123456789abcdef, ghs_0123456789abcdef or xoxa-0123456789ab",
       "use [removed], [removed] or [removed]"}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(without_secrets(text), expected);
}

TEST(WithoutSecrets, RemovesUserAndPasswordOfAddresses) {
  const std::pair<const char*, const char*> cases[] = {
      {"https://user:9a/X@host/p", "https://[removed]@host/p"},
      {"postgres://user:p@ss/X@host/db", "postgres://[removed]@host/db"},
      {"https://user:it's@host/p", "https://[removed]@host/p"},
      {R"(https:\/\/user:X@host\/p)", R"(https:\/\/[removed]@host\/p)"},
      {"https://user:12345@host/p", "https://[removed]@host/p"}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(without_secrets(text), expected);
}

TEST(WithoutSecrets, TakesTimeInProportionToTheText) {
  constexpr std::size_t kRepeats = 200000;
  for (const char* piece : {"password ", "password:[", "\\", "cookie: \\", "-u a curl ",
                            "\"token\"", "://a:b", "token: \\\"", "'cookie: a", "\ncookie: '"}) {
    std::string text;
    while (text.size() < kRepeats) text += piece;
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(without_secrets(text).empty());
    EXPECT_FALSE(without_secrets("token" + text + "token: [" + text).empty());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5)) << piece;
  }
}

TEST(WithoutSecrets, ShortensMailboxes) {
  EXPECT_EQ(without_secrets("mail noah.brown7922@example.com now"), "mail n…@example.com now");
  EXPECT_EQ(without_secrets("a @ b, x@y"), "a @ b, x@y");
}

TEST(WithoutSecrets, LeavesOrdinaryTextAlone) {
  for (const char* text :
       {"The order #W2378156 has 3 items.", "used 120 tokens in 4 s", "task-force sk-8 board",
        "see https://host:8080/a@b and http://[::1]/x", "a basic plan", "token", "password: ",
        "é ü 漢字", "", R"({"token_count": 12, "max_tokens": {"n": 3}, "password": null})",
        R"({"password": "", "token": [], "secret": {}})", "docker run -u 1000:1000 image",
        "{'token': None}", "http://[::1]:80/a@b, https://host:8080?to=a@b"})
    EXPECT_EQ(without_secrets(text), text);
}

Message said(Role role, std::string text) {
  Message message;
  message.role = role;
  message.text = std::move(text);
  return message;
}

Episode talk() {
  Episode episode;
  episode.task_id = "7";
  episode.messages = {said(Role::User, "one"),
                      said(Role::Agent, "two"),
                      said(Role::User, "three"),
                      said(Role::Agent, ""),
                      said(Role::Tool, "Error: not found"),
                      said(Role::Agent, "sorry"),
                      said(Role::User, "seven")};
  episode.messages[3].calls = {{"1", "good", "{}", true, "", Side::Agent},
                               {"2", "get_x", "{\"token\": \"abc\"}", true, "", Side::Agent}};
  episode.messages[4].result = ToolResult{"2", "Error: not found", true, "", Side::Agent};
  return episode;
}

ClassifiedCall failed_call() {
  ClassifiedCall call;
  call.channel = Channel::ToolName;
  call.name = "get_x";
  call.message = 3;
  call.position = 1;
  return call;
}

TEST(Excerpt, ShowsWhatLedToTheCallAndWhatCameOfIt) {
  const Excerpt excerpt = excerpt_of(talk(), failed_call());
  ASSERT_EQ(excerpt.messages.size(), 5u);
  EXPECT_EQ(excerpt.messages[0].text, "two");
  EXPECT_FALSE(excerpt.messages[2].calls[0].failed);
  EXPECT_TRUE(excerpt.messages[2].calls[1].failed);
  EXPECT_EQ(excerpt.messages[2].calls[1].arguments, "{\"token\": \"[removed]\"}");
  EXPECT_TRUE(excerpt.messages[3].failed);
  EXPECT_EQ(excerpt.messages[4].text, "sorry");
  EXPECT_EQ(excerpt.all_messages, 7);
}

TEST(Excerpt, CutsHugeTextsAndSaysSo) {
  Episode episode = talk();
  episode.messages[2].text = std::string(1000000, 'y');
  const Excerpt excerpt = excerpt_of(episode, failed_call());
  EXPECT_LT(excerpt.messages[1].text.size(), kExcerptBytes + 40);
  EXPECT_NE(excerpt.messages[1].text.find("[999300 bytes more]"), std::string::npos);
}

TEST(Excerpt, AnyMessageIndexIsSafe) {
  ClassifiedCall call = failed_call();
  for (const int message : {-5, 0, 6, 99}) {
    call.message = message;
    EXPECT_FALSE(excerpt_of(talk(), call).messages.empty());
    EXPECT_TRUE(excerpt_of(Episode{}, call).messages.empty());
  }
}

TEST(Excerpt, ShowsAttemptsThatWereHandedBack) {
  Episode episode = talk();
  Attempt attempt;
  attempt.calls = {{"", "get_y", "{}", true, "", Side::Agent}};
  attempt.feedback = "no tool get_y";
  episode.messages[3].attempts = {attempt};
  const Excerpt excerpt = excerpt_of(episode, failed_call());
  EXPECT_EQ(excerpt.messages[2].calls.at(0).name, "get_y");
  EXPECT_TRUE(excerpt.messages[2].calls.at(0).failed);
  EXPECT_EQ(excerpt.messages[3].text, "no tool get_y");
}

}  // namespace
}  // namespace unmask
