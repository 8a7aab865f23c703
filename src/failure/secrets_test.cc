#include "failure/secrets.h"

#include <gtest/gtest.h>

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

TEST(WithoutSecrets, RemovesValuesOfOrdinaryWordsThatLookLikeCredentials) {
  const std::pair<const char*, const char*> cases[] = {
      {"X-Auth: abc12345 end", "X-Auth: [removed] end"},
      {R"({"auth": "abcdefg1", "a": 1})", R"({"auth": "[removed]", "a": 1})"},
      {"bearer=abcdefg1", "bearer=[removed]"},
      {"Ocp-Apim-Subscription-Key: 0123", "Ocp-Apim-Subscription-Key: [removed]"},
      {"https://h/a?key=AB12345678&x=1", "https://h/a?key=[removed]&x=1"},
      {"https://h/a?x=1&sig=AB12345678", "https://h/a?x=1&sig=[removed]"},
      {R"({"api_key_2": "a", "token1": "b"})",
       R"({"api_key_2": "[removed]", "token1": "[removed]"})"},
      {"session: 0a1b2c3d4e", "session: [removed]"}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(without_secrets(text), expected);
}

TEST(WithoutSecrets, RemovesValuesOfOptionsElementsBlocksAndSentences) {
  const std::pair<const char*, const char*> cases[] = {
      {"tool --password hunter2 -v", "tool --password [removed] -v"},
      {"tool --api-key 'a b' -v", "tool --api-key '[removed]' -v"},
      {R"(["--db-password", "hunter2", "-v"])", R"(["--db-password", "[removed]", "-v"])"},
      {"tool --password -v", "tool --password -v"},
      {"<a><db_password>x y</db_password></a>", "<a><db_password>[removed]</db_password></a>"},
      {"secret: |\n  one\n\n  two\nnext: 1", "secret: |\n  [removed]\nnext: 1"},
      {"secret: >-\n  one", "secret: >-\n  [removed]"},
      {"secret = \"\"\"a\nb\"\"\" c", "secret = \"\"\"[removed]\"\"\" c"},
      {"the API key: hunter2", "the API key: [removed]"},
      {"The password is hunter2. Thanks", "The password is [removed]. Thanks"},
      {"my PASSCODE was 1234, ok", "my PASSCODE was [removed], ok"}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(without_secrets(text), expected);
}

// Time that grew with the square of the text would pass the time limit of the test.
TEST(WithoutSecrets, TakesTimeInProportionToTheText) {
  constexpr std::size_t kRepeats = 200000;
  for (const char* piece : {"password ", "password:[", "\\", "cookie: \\", "-u a curl ",
                            "\"token\"", "://a:b", "token: \\\"", "'cookie: a", "\ncookie: '",
                            "--password \"", "<password>", "password: |\n ", "a_-"}) {
    std::string text;
    while (text.size() < kRepeats) text += piece;
    EXPECT_FALSE(without_secrets(text).empty());
    EXPECT_FALSE(without_secrets("token" + text + "token: [" + text).empty());
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
        "{'token': None}", "The password is incorrect.", "a session: tomorrow",
        "Authored: 12345678", R"({"key": "W2378156", "session": "morning"})",
        "press any key=12345678", "http://[::1]:80/a@b, https://host:8080?to=a@b"})
    EXPECT_EQ(without_secrets(text), text);
}

TEST(SettingsWithoutSecrets, RemovesValuesOfEveryKindAndStaysJson) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"api_key":12345,"seed":1})", R"({"api_key":"[removed]","seed":1})"},
      {R"({"extra_headers":{"X-Auth":"a","openaiApiKey":"b","n":1}})",
       R"({"extra_headers":{"X-Auth":"[removed]","n":1,"openaiApiKey":"[removed]"}})"},
      {R"({"key":["a"],"pin":4321,"session":{"id":1}})",
       R"({"key":"[removed]","pin":"[removed]","session":"[removed]"})"},
      {R"({"base_url":"https://u:p@h/v1","extra":["--password X"]})",
       R"({"base_url":"https://[removed]@h/v1","extra":["--password [removed]"]})"},
      // Not JSON: as a text.
      {"api_key=abc temperature=0", "api_key=[removed] temperature=0"}};
  for (const auto& [json, expected] : cases) EXPECT_EQ(settings_without_secrets(json), expected);
}

TEST(SettingsWithoutSecrets, LeavesOtherSettingsByteForByte) {
  for (const char* json :
       {R"({"max_tokens":4096,"temperature":0.0,"top_p":1})", R"({"api_key":null,"token":""})",
        R"({"seed":18446744073709551615,"keys":[1],"stop":["auth"]})", "", "{}"})
    EXPECT_EQ(settings_without_secrets(json), json);
}

}  // namespace
}  // namespace unmask
