#include "rollout/decision.h"

#include <gtest/gtest.h>

#include <limits>

#include "environment/json.h"

namespace unmask {
namespace {

std::vector<TokenChoice> tokens_of(std::initializer_list<const char*> texts) {
  std::vector<TokenChoice> tokens;
  double logprob = -0.5;
  for (const char* text : texts) {
    tokens.push_back({text, logprob, {{text, logprob}, {"other", -3.0}}});
    logprob -= 1;
  }
  return tokens;
}

std::vector<ToolRequest> called(const std::string& name) {
  return {{"c", name, Value::dict(), Side::Agent}};
}

// The texts of the tokens of the name, joined by "|"; "none" where it was not located.
std::string name_tokens(const std::vector<TokenChoice>& tokens, const std::string& name) {
  const Value json = *parse_json(decision_json(tokens, called(name)));
  const Value* found = json.find("name");
  if (!found) return "none";
  std::string joined;
  for (const Value& token : found->find("tokens")->items())
    joined += (joined.empty() ? "" : "|") + token.find("token")->as_str();
  return joined;
}

TEST(Decision, FindsTheTokensThatSpellTheName) {
  EXPECT_EQ(name_tokens(tokens_of({"<tool_call>", "\n{\"", "name", "\": \"", "get", "_user", "\",",
                                   " \"arguments\": {}}"}),
                        "get_user"),
            "get|_user");
  EXPECT_EQ(name_tokens(tokens_of({"<function", "=get", "_user>", "{}"}), "get_user"),
            "=get|_user>");
  EXPECT_EQ(name_tokens(tokens_of({"get_user"}), "get_user"), "get_user");
}

TEST(Decision, PrefersThePlaceOfACallToAMention) {
  EXPECT_EQ(
      name_tokens(tokens_of({"I use ", "get_user", " now ", "{\"name\": \"", "get_user ", "\"}"}),
                  "get_user"),
      "get_user ");
  EXPECT_EQ(
      name_tokens(tokens_of({"call get_user", "</think>", "get_", "user", "(1)"}), "get_user"),
      "get_|user");
}

TEST(Decision, StaysSilentWhereItCannotTell) {
  EXPECT_EQ(name_tokens(tokens_of({"get_user ", "or get_user"}), "get_user"), "none");
  EXPECT_EQ(name_tokens(tokens_of({"get_user_details"}), "get_user"), "none") << "another name";
  EXPECT_EQ(name_tokens(tokens_of({"Hello"}), "get_user"), "none");
  EXPECT_EQ(name_tokens(tokens_of({"Hello"}), ""), "none");
  EXPECT_EQ(decision_json({}, called("get_user")), "");
}

TEST(Decision, TakesTheFirstTokenAfterTheThoughts) {
  const auto first = [](const std::vector<TokenChoice>& tokens) {
    return parse_json(decision_json(tokens, {}))->find("first")->find("token")->as_str();
  };
  EXPECT_EQ(first(tokens_of({"Sure", ", ok"})), "Sure");
  EXPECT_EQ(first(tokens_of({"<think>", "hm", "</think>", "\n\n", "Sure"})), "Sure");
}

TEST(Decision, KeepsTheMostLikelyAlternatives) {
  TokenChoice token{"a", -0.5, {}};
  for (int i = 0; i < 30; ++i) token.top.emplace_back("t" + std::to_string(i), -i);
  const Value json = *parse_json(decision_json(std::vector{token}, {}));
  const Value* top = json.find("first")->find("top");
  ASSERT_EQ(top->size(), kMostAlternatives);
  EXPECT_EQ((*top)[0][0].as_str(), "t0");
  EXPECT_EQ(json.find("first")->find("logprob")->as_float(), -0.5);
}

TEST(Decision, SurvivesPartsOfCharactersAndImpossibleTokens) {
  const TokenChoice token{"\xE2\x82", -std::numeric_limits<double>::infinity(), {}};
  const Result<Value> json = parse_json(decision_json(std::vector{token}, {}));
  ASSERT_TRUE(json);
  EXPECT_TRUE(json->find("first")->find("logprob")->is_none());
}

}  // namespace
}  // namespace unmask
