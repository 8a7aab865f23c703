// Python's operations, held against what CPython 3.12.1 answered (tests/data/environment).
#include "environment/python.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <sstream>

#include "base/file.h"
#include "environment/calculator.h"
#include "environment/json.h"
#include "environment/schema.h"

namespace unmask {
namespace {

using Operation = std::function<Value(const Value& args)>;

int digits(const Value& v) {
  return static_cast<int>(v.as_int());
}

Value parsed(const Value& text) {
  const Result<Value> value = parse_json(text.as_str());
  if (!value) throw PythonError(to_string(value.error()));
  return *value;
}

const std::map<std::string, Operation>& operations() {
  using namespace python;
  static const std::map<std::string, Operation> kOperations = {
      {"repr", [](const Value& a) { return Value(repr(a[0])); }},
      {"str", [](const Value& a) { return Value(str(a[0])); }},
      {"lower", [](const Value& a) { return lower(a[0]); }},
      {"len", [](const Value& a) { return Value(length(a[0])); }},
      {"sorted", [](const Value& a) { return Value::list(sorted(a[0])); }},
      {"list", [](const Value& a) { return Value::list(iterate(a[0])); }},
      {"truthy", [](const Value& a) { return Value(truthy(a[0])); }},
      {"eq", [](const Value& a) { return Value(equal(a[0], a[1])); }},
      {"lt", [](const Value& a) { return Value(less(a[0], a[1])); }},
      {"le", [](const Value& a) { return Value(less_equal(a[0], a[1])); }},
      {"gt", [](const Value& a) { return Value(greater(a[0], a[1])); }},
      {"ge", [](const Value& a) { return Value(greater_equal(a[0], a[1])); }},
      {"add", [](const Value& a) { return add(a[0], a[1]); }},
      {"sub", [](const Value& a) { return subtract(a[0], a[1]); }},
      {"mul", [](const Value& a) { return multiply(a[0], a[1]); }},
      {"neg", [](const Value& a) { return negative(a[0]); }},
      {"abs", [](const Value& a) { return absolute(a[0]); }},
      {"round", [](const Value& a) { return rounded(a[0], digits(a[1])); }},
      {"fixed", [](const Value& a) { return Value(fixed(a[0], digits(a[1]))); }},
      {"in", [](const Value& a) { return Value(contains(a[0], a[1])); }},
      {"item", [](const Value& a) { return item(a[0], a[1]); }},
      {"count", [](const Value& a) { return Value(count(a[0], a[1])); }},
      {"dumps", [](const Value& a) { return Value(dump_json(a[0])); }},
      {"dumps_sorted", [](const Value& a) { return Value(dump_json(a[0], KeyOrder::Sorted)); }},
      {"dumps_indented", [](const Value& a) { return Value(dump_json_indented(a[0], 2)); }},
      {"loads", [](const Value& a) { return parsed(a[0]); }},
      {"calculate", [](const Value& a) { return Value(calculate(a[0])); }},
  };
  return kOperations;
}

// "result ..." or "error ..."; the texts of JSON errors are our own.
std::string answer(const std::string& op, const Value& args) {
  try {
    return "result " + dump_json(operations().at(op)(args));
  } catch (const PythonError& error) {
    return op == "loads" ? "error" : "error " + error.text();
  }
}

std::string expected(const Value& line) {
  if (const Value* result = line.find("result")) return "result " + dump_json(*result);
  return line.find("op")->as_str() == "loads" ? "error" : "error " + line.find("error")->as_str();
}

TEST(Python, AnswersAsCPythonDoes) {
  const Result<std::string> text = read_file(UNMASK_TEST_DATA "/environment/python_oracle.jsonl");
  ASSERT_TRUE(text) << to_string(text.error());
  std::istringstream lines(*text);
  int compared = 0;
  for (std::string each; std::getline(lines, each); ++compared) {
    const Result<Value> line = parse_json(each);
    ASSERT_TRUE(line) << each;
    const std::string& op = line->find("op")->as_str();
    EXPECT_EQ(answer(op, *line->find("args")), expected(*line)) << each.substr(0, 300);
  }
  EXPECT_GT(compared, 2000);
}

TEST(Python, NamesTypesAsErrorTextsDo) {
  EXPECT_EQ(python::type_name(Value()), "NoneType");
  EXPECT_EQ(python::type_name(Value::integer("123456789012345678901234567890")), "int");
  EXPECT_EQ(python::type_name(Value::date("2025-02-25")), "datetime.date");
}

TEST(Python, ShowsDatesAndModels) {
  EXPECT_EQ(python::repr(Value::date("2025-02-25")), "datetime.date(2025, 2, 25)");
  EXPECT_EQ(python::repr(Value::datetime("2025-01-12 13:45:00")),
            "datetime.datetime(2025, 1, 12, 13, 45)");
  static const ModelClass kPoint("Point", {{"x", type::integer(), {}}, {"y", type::str(), {}}});
  const Value point = construct(kPoint, {{"x", 1}, {"y", "a"}});
  EXPECT_EQ(python::repr(point), "Point(x=1, y='a')");
  EXPECT_EQ(python::str(point), "x=1 y='a'");
}

TEST(Python, EnumsAreStringsWithANameOfTheirOwn) {
  static const EnumClass kStatus("LineStatus", {{"ACTIVE", "Active"}, {"CLOSED", "Closed"}});
  const Value active = kStatus("ACTIVE");
  EXPECT_TRUE(python::equal(active, "Active"));
  EXPECT_EQ(python::str(active), "LineStatus.ACTIVE");
  EXPECT_EQ(python::repr(active), "<LineStatus.ACTIVE: 'Active'>");
  EXPECT_EQ(dump_json(active), "\"Active\"");
}

TEST(Python, RefusesUnknownAttributesInPythonsWords) {
  try {
    python::attribute(Value(5), "status");
    FAIL() << "an int has no attribute";
  } catch (const PythonError& error) {
    EXPECT_EQ(error.text(), "'int' object has no attribute 'status'");
    EXPECT_EQ(error.class_name(), "AttributeError");
  }
}

TEST(Calculator, StopsBeforeATowerOfPowers) {
  const auto text = [](const char* expression) -> std::string {
    try {
      return calculate(Value(expression));
    } catch (const PythonError& error) {
      return error.text();
    }
  };
  EXPECT_EQ(text("9**9**9**9"), "int too large to convert to float");
  EXPECT_EQ(text("(9**9999-9**9999)*9**9**9"), "int too large to convert to float");
  EXPECT_EQ(text("9**9999-9**9999"), "0.0") << "9543 digits are still exact";
}

TEST(Calculator, RefusesWhatIsNoString) {
  try {
    calculate(Value::list({"1", "+", "1"}));
    FAIL() << "a list is no expression";
  } catch (const PythonError& error) {
    EXPECT_EQ(error.text(), "eval() arg 1 must be a string, bytes or code object");
  }
}

}  // namespace
}  // namespace unmask
