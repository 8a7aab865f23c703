// Python's operations on Values, with Python's results and Python's error texts.
#pragma once

#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "environment/value.h"

namespace unmask {

// What upstream raises inside a tool. The text is str(exception). It is an exception here too: a
// tool that fails half way must leave what it had changed, and unwind as upstream's does. It never
// leaves the room: Environment turns it into a failed result or an Error.
class PythonError : public std::exception {
 public:
  explicit PythonError(std::string text, std::string class_name = "ValueError")
      : text_(std::move(text)), class_name_(std::move(class_name)) {}
  const char* what() const noexcept override { return text_.c_str(); }
  const std::string& text() const { return text_; }
  const std::string& class_name() const { return class_name_; }  // "KeyError"

 private:
  std::string text_;
  std::string class_name_;
};

namespace python {

[[noreturn]] void raise_type_error(std::string text);
[[noreturn]] void raise_attribute_error(const Value& object, std::string_view name);
[[noreturn]] void raise_key_error(const Value& key);  // the text is repr(key)

// As in error texts: "int", "NoneType", "datetime.date", the class of a model or enum.
std::string type_name(const Value& v);

std::string repr(const Value& v);
std::string repr(double v);
std::string repr_of_text(std::string_view text);  // repr of a str
std::string str(const Value& v);                  // what an f-string inserts

bool truthy(const Value& v);
bool is_number(const Value& v);  // bool, int or float
bool equal(const Value& a, const Value& b);
inline bool equal(const Value& a, std::string_view b) {
  return a.is_str() && a.as_str() == b;
}
inline bool equal(const Value& a, const char* b) {
  return equal(a, std::string_view(b));
}
inline bool equal(const Value& a, const std::string& b) {
  return equal(a, std::string_view(b));
}
// -1, 0, 1 for two numbers, exactly, whatever their sizes; nullopt where one is NaN.
std::optional<int> compare_numbers(const Value& a, const Value& b);
bool less(const Value& a, const Value& b);           // a < b
bool less_equal(const Value& a, const Value& b);     // a <= b
bool greater(const Value& a, const Value& b);        // a > b
bool greater_equal(const Value& a, const Value& b);  // a >= b

// symbol is for the error text: "+", or "+=" for an augmented assignment.
Value add(const Value& a, const Value& b, std::string_view symbol = "+");
Value subtract(const Value& a, const Value& b, std::string_view symbol = "-");
Value multiply(const Value& a, const Value& b, std::string_view symbol = "*");
Value negative(const Value& a);
Value absolute(const Value& a);
double to_float(const Value& number);       // float(number) of bool, int, float; OverflowError
Value rounded(const Value& v, int digits);  // round(v, digits)
double round_float(double v, int digits);
// format(v, ".<digits>f")
std::string fixed(const Value& v, int digits);

std::size_t length(const Value& v);          // len(v)
std::vector<Value> iterate(const Value& v);  // for x in v: strings give characters, dicts keys
bool contains(const Value& container, const Value& item);  // item in container
// For dicts: raises where `key` is a list or dict ("unhashable type: 'list'").
void require_hashable(const Value& key);
// dict[key] of a dict whose keys are strings: nullptr when absent; raises where key is unhashable.
const Value* lookup(const Value& dict, const Value& key);
Value item(const Value& container, const Value& key);  // container[key]
// object.name of a model; AttributeError for anything else or an unknown name.
const Value& attribute(const Value& object, std::string_view name);
// The slot of object.name for writing. Same errors.
Value& edit_attribute(Value& object, std::string_view name);
// object.name = value. Same errors; pydantic words the refusal of an unknown field.
void set_attribute(Value& object, std::string_view name, Value value);

std::int64_t count(const Value& sequence, const Value& item);  // sequence.count(item): list or str
std::vector<Value> sorted(const Value& iterable);
// Methods of str; AttributeError for other kinds.
Value lower(const Value& v);
bool starts_with(const Value& v, std::string_view prefix);

// Unicode as CPython 3.12 knows it.
std::string lower_text(std::string_view text);
bool is_blank(std::string_view text);  // not text.strip()
std::vector<std::uint32_t> code_points(std::string_view text);
void append_code_point(std::string& out, std::uint32_t code_point);  // surrogates as three bytes
bool is_printable(std::uint32_t code_point);

}  // namespace python
}  // namespace unmask
