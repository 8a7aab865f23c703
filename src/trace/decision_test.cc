#include "trace/decision.h"

#include <gtest/gtest.h>

#include <vector>

namespace unmask {
namespace {

std::vector<TokenAlternative> listed(const Alternatives& alternatives) {
  return {alternatives.begin(), alternatives.end()};
}

TEST(Alternatives, AreTheOnesGivenInTheirOrder) {
  const std::string long_text(300, 'x');
  const std::string with_zero("a\0b", 3);
  const std::vector<TokenAlternative> given = {
      {"get", -0.25}, {"", -1}, {long_text, -2}, {with_zero, -3}};
  const Alternatives at_once{std::span<const TokenAlternative>(given)};
  Alternatives one_by_one;
  for (const TokenAlternative& alternative : given) one_by_one.push_back(alternative);
  EXPECT_EQ(listed(at_once), given);
  EXPECT_EQ(listed(one_by_one), given);
  EXPECT_TRUE(at_once == one_by_one);
  EXPECT_EQ(at_once.size(), 4u);
}

TEST(Alternatives, TextsAtTheEdgesOfTheirLengthsByte) {
  for (const std::size_t length : {253u, 254u, 255u, 256u, 70000u}) {
    const std::string text(length, 'z');
    const Alternatives alternatives = {{text, -0.5}, {"b", -1.5}};
    const std::vector<TokenAlternative> expected = {{text, -0.5}, {"b", -1.5}};
    EXPECT_EQ(listed(alternatives), expected) << length;
  }
}

TEST(Alternatives, CopiesAreTheirOwn) {
  Alternatives copy;
  EXPECT_TRUE(copy.empty());
  EXPECT_TRUE(copy.begin() == copy.end());
  {
    const Alternatives original = {{"gone", -1}};
    copy = original;
  }
  EXPECT_EQ((*copy.begin()).token, "gone");
  copy = {*copy.begin()};  // of itself
  EXPECT_EQ((*copy.begin()).token, "gone");
  EXPECT_FALSE(copy == Alternatives({{"gone", -2}}));
}

TEST(Decision, SaysWhichNumbersCannotBe) {
  const auto said = [](const TokenDecision& token) {
    const Decision as_first{token, std::nullopt};
    const Decision in_name{std::nullopt, NameDecision{"n", {{"n", -0.1, {}}, token}}};
    EXPECT_EQ(contradiction_in(as_first), contradiction_in(in_name));
    return std::string(contradiction_in(as_first));
  };
  EXPECT_NE(said({"a", -0.1, {{"a", -0.2}, {"b", -3}}}).find("among its alternatives"),
            std::string::npos);
  EXPECT_NE(said({"a", -0.1, {{"b", -0.1}}}).find("more than 1"), std::string::npos);
  EXPECT_NE(said({"a", -0.1, {{"a", -0.1}, {"b", -1e300}}}).find("no model"), std::string::npos);
  EXPECT_NE(said({"a", -10001, {}}).find("no model"), std::string::npos);
  EXPECT_EQ(said({"a", -0.1, {{"a", -0.1}, {"b", -9999}}}), "");  // a server's way to write 0
  EXPECT_EQ(said({"a", -0.1, {}}), "");
  EXPECT_EQ(said({"a", -0.1, {{"a", -0.1005}, {"b", -2.4}}}), "");
}

}  // namespace
}  // namespace unmask
