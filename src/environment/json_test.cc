#include "environment/json.h"

#include <gtest/gtest.h>

#include "environment/schema.h"

namespace unmask {
namespace {

std::string problem(std::string_view text) {
  const Result<Value> value = parse_json(text);
  return value ? "" : to_string(value.error());
}

TEST(ParseJson, SaysWhereATextStopsBeingJson) {
  EXPECT_EQ(problem("{\"a\": 1,\n \"b\" 2}"),
            "line 2, byte 14: not JSON: a key needs ':' after it");
  EXPECT_EQ(problem(""), "line 1, byte 0: not JSON: it ends where a value should begin");
  EXPECT_EQ(problem("[1, 2"), "line 1, byte 5: not JSON: a list needs ',' or ']' here");
  EXPECT_EQ(problem("{} x"), "line 1, byte 3: not JSON: something follows the value");
  EXPECT_EQ(problem("\"a\nb\""), "line 1, byte 2: not JSON: a control character in a string");
  EXPECT_EQ(problem("\"\xff\""), "line 1, byte 1: not JSON: bytes that are not UTF-8 in a string");
}

TEST(ParseJson, BoundsTheDepth) {
  EXPECT_EQ(problem(std::string(500, '[') + std::string(500, ']')), "");
  EXPECT_NE(problem(std::string(100000, '[')), "");
  EXPECT_NE(problem(std::string(502, '[') + std::string(502, ']')), "");
}

TEST(ParseJson, TheLastOfEqualKeysWinsAtTheFirstOnesPlace) {
  const Result<Value> value = parse_json(R"({"a": 1, "b": 2, "a": 3})");
  ASSERT_TRUE(value);
  EXPECT_EQ(dump_json(*value), R"({"a": 3, "b": 2})");
}

TEST(ToolContent, MakesBareNumbersTextButNotThoseInModels) {
  static const ModelClass kPlan(
      "Plan", {{"price", type::number(), {}}, {"name", type::optional(type::str()), Value()}});
  const Value plan = construct(kPlan, {{"price", 5}});
  EXPECT_EQ(tool_content(Value("plain \u00e9")), "plain \u00e9");
  EXPECT_EQ(tool_content(Value::dict({{"gb", 9.5}, {"on", true}, {"plan", plan}})),
            R"({"gb": "9.5", "on": "True", "plan": {"price": 5.0, "name": null}})");
  EXPECT_EQ(tool_content(Value::list({1, Value(), "\u00e9"})), R"(["1", null, "\u00e9"])");
  EXPECT_EQ(tool_content(Value(7)), R"("7")");
  EXPECT_EQ(tool_content(Value()), "null");
  EXPECT_EQ(tool_content(Value::list({Value::datetime("2025-01-12 13:45:00")})),
            R"(["2025-01-12T13:45:00"])");
}

}  // namespace
}  // namespace unmask
