// Checking as pydantic 2.12 does it. The expected texts are pydantic's format: published in its
// documentation of errors, and found in recorded τ²-bench trajectories.
#include <gtest/gtest.h>

#include "environment/json.h"
#include "environment/python.h"
#include "environment/schema.h"

namespace unmask {
namespace {

const ModelClass& inner_class() {
  static const ModelClass kClass("Inner", {{"n", type::integer(), {}}}, ExtraFields::Forbidden);
  return kClass;
}

const ModelClass& thing_class() {
  static const ModelClass kClass(
      "Thing", {{"text", type::str(), {}},
                {"size", type::number(), Value(1.0)},
                {"on", type::boolean(), Value(false)},
                {"kind", type::literal({"a", "b", "c"}), Value("a")},
                {"inner", type::optional(type::list(type::model(inner_class()))), Value()}});
  return kClass;
}

std::string outcome(const Value& input) {
  try {
    return dump_json(validated(thing_class(), input));
  } catch (const PythonError& error) {
    return error.text();
  }
}

std::string outcome_of_json(std::string_view json) {
  return outcome(*parse_json(json));
}

std::string size_of(Value size) {
  const std::string text = outcome(Value::dict({{"text", ""}, {"size", std::move(size)}}));
  const std::size_t at = text.find("\"size\": ");
  return at == std::string::npos ? "refused" : text.substr(at + 8, text.find(", ", at) - at - 8);
}

std::string number_of(Value n) {
  try {
    return dump_json(*construct(inner_class(), {{"n", std::move(n)}}).find("n"));
  } catch (const PythonError& error) {
    const std::size_t at = error.text().find("[type=") + 6;
    return error.text().substr(at, error.text().find(',', at) - at);
  }
}

TEST(Validated, FillsDefaultsAndConvertsInTheOrderOfTheClass) {
  EXPECT_EQ(outcome_of_json(R"({"size": 3, "text": "x", "ignored": 1, "on": "YES"})"),
            R"({"text": "x", "size": 3.0, "on": true, "kind": "a", "inner": null})");
}

TEST(Validated, ReportsEveryFindingInPydanticsWords) {
  EXPECT_EQ(
      outcome_of_json(
          R"({"text": 5, "on": "maybe", "kind": "d", "inner": [{"n": 1}, {"n": "x", "m": 2}]})"),
      "5 validation errors for Thing\n"
      "text\n"
      "  Input should be a valid string [type=string_type, input_value=5, input_type=int]\n"
      "    For further information visit https://errors.pydantic.dev/2.12/v/string_type\n"
      "on\n"
      "  Input should be a valid boolean, unable to interpret input [type=bool_parsing, "
      "input_value='maybe', input_type=str]\n"
      "    For further information visit https://errors.pydantic.dev/2.12/v/bool_parsing\n"
      "kind\n"
      "  Input should be 'a', 'b' or 'c' [type=literal_error, input_value='d', input_type=str]\n"
      "    For further information visit https://errors.pydantic.dev/2.12/v/literal_error\n"
      "inner.1.n\n"
      "  Input should be a valid integer, unable to parse string as an integer "
      "[type=int_parsing, input_value='x', input_type=str]\n"
      "    For further information visit https://errors.pydantic.dev/2.12/v/int_parsing\n"
      "inner.1.m\n"
      "  Extra inputs are not permitted [type=extra_forbidden, input_value=2, input_type=int]\n"
      "    For further information visit https://errors.pydantic.dev/2.12/v/extra_forbidden");
}

TEST(Validated, ShortensLongInputsInTheMiddle) {
  const std::string text = outcome(Value::dict({{"other", std::string(60, 'a')}}));
  EXPECT_NE(
      text.find(
          "input_value={'other': 'aaaaaaaaaaaaaa...aaaaaaaaaaaaaaaaaaaaaa'}, input_type=dict"),
      std::string::npos)
      << text;
  const std::string wide = outcome(Value::dict(
      {{"text",
        Value::list(
            {std::string(
                 "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9") +
             std::string(40, 'z')})}}));
  EXPECT_NE(
      wide.find("input_value=['\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9.."
                ".zzzzzzzzzzzzzzzzzzzzzz'], input_type=list"),
      std::string::npos)
      << wide << ": whole characters stay whole";
}

TEST(Validated, ReadsNumbersFromTextAsPydanticCoreDoes) {
  EXPECT_EQ(number_of("5"), "5");
  EXPECT_EQ(number_of(" +007 "), "7");
  EXPECT_EQ(number_of("-0005.00"), "-5");
  EXPECT_EQ(number_of("1_000"), "1000");
  EXPECT_EQ(number_of("5."), "int_parsing");
  EXPECT_EQ(number_of("+-5"), "int_parsing");
  EXPECT_EQ(number_of("1__0"), "int_parsing");
  EXPECT_EQ(number_of(""), "int_parsing");
  EXPECT_EQ(number_of(std::string(4301, '9')), "int_parsing_size");
  EXPECT_EQ(number_of(5.0), "5");
  EXPECT_EQ(number_of(5.5), "int_from_float");
  EXPECT_EQ(number_of(1e300), "int_parsing_size");
  EXPECT_EQ(number_of(std::numeric_limits<double>::infinity()), "finite_number");
  EXPECT_EQ(number_of(true), "1");
  EXPECT_EQ(number_of(Value()), "int_type");
  EXPECT_EQ(size_of(" 1e3 "), "1000.0");
  EXPECT_EQ(size_of("1_0.5"), "10.5");
  EXPECT_EQ(size_of("-inf"), "-Infinity");
  EXPECT_EQ(size_of("0x10"), "refused");
  EXPECT_EQ(size_of("."), "refused");
  EXPECT_EQ(size_of(Value::list()), "refused");
}

TEST(Validated, AnInstanceOfTheClassPassesAsItIs) {
  Value thing = validated(thing_class(), Value::dict({{"text", "x"}}));
  thing.set("kind", 5);  // assignments are not checked
  EXPECT_TRUE(validated(thing_class(), thing).same_node(thing));
}

TEST(Updated, MergesNestedObjectsAndChecksAgain) {
  static const ModelClass kOuter(
      "Outer", {{"table", type::dict(type::str(), type::model(inner_class())), {}}});
  const Value outer =
      construct(kOuter, {{"table", *parse_json(R"({"a": {"n": 1}, "b": {"n": 2}})")}});
  const Value changed = updated(outer, *parse_json(R"({"table": {"b": {"n": 3}, "c": {"n": 4}}})"));
  EXPECT_EQ(dump_json(changed), R"({"table": {"a": {"n": 1}, "b": {"n": 3}, "c": {"n": 4}}})");
  EXPECT_TRUE(changed.is_model(kOuter));
  EXPECT_THROW(updated(outer, *parse_json(R"({"table": {"b": {"n": "x"}}})")), PythonError);
}

}  // namespace
}  // namespace unmask
