// Numbers of Python: integers of any size, floats of 64 bits, bools that count as 0 and 1.
#include <boost/multiprecision/cpp_int.hpp>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "environment/python.h"

namespace unmask::python {

namespace {

using BigInt = boost::multiprecision::cpp_int;

constexpr double kTwoTo63 = 9223372036854775808.0;

BigInt big(const Value& v) {
  if (v.kind() != Kind::BigInt) return BigInt(v.as_int());
  return BigInt(v.as_str());
}

Value from_big(const BigInt& v) {
  return Value::integer(v.str());
}

bool is_integer(const Value& v) {
  return is_number(v) && v.kind() != Kind::Float;
}
bool is_small(const Value& v) {
  return v.kind() == Kind::Int || v.kind() == Kind::Bool;
}

int sign_of(std::int64_t a, std::int64_t b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

// An integer against a finite or infinite float, without rounding either.
int compare_integer_float(const Value& a, double b) {
  if (is_small(a) && b >= -kTwoTo63 && b < kTwoTo63) {
    const double whole = std::trunc(b);
    const int order = sign_of(a.as_int(), static_cast<std::int64_t>(whole));
    return order != 0 ? order : (whole < b ? -1 : whole > b ? 1 : 0);
  }
  if (std::isinf(b)) return b > 0 ? -1 : 1;
  const BigInt whole(b);  // beyond 2^53 a float is a whole number; below it the sizes differ anyway
  const BigInt left = big(a);
  return left < whole ? -1 : left > whole ? 1 : 0;
}

[[noreturn]] void raise_unsupported(const Value& a, const Value& b, std::string_view symbol) {
  raise_type_error("unsupported operand type(s) for " + std::string(symbol) + ": '" + type_name(a) +
                   "' and '" + type_name(b) + "'");
}

// symbol is "+" or "-" or "*" in front of an optional "=".
Value arithmetic(const Value& a, const Value& b, std::string_view symbol) {
  if (!is_number(a) || !is_number(b)) raise_unsupported(a, b, symbol);
  const char op = symbol[0];
  if (!is_integer(a) || !is_integer(b)) {
    const double x = to_float(a);
    const double y = to_float(b);
    return op == '+' ? x + y : op == '-' ? x - y : x * y;
  }
  if (is_small(a) && is_small(b)) {
    std::int64_t small = 0;
    const std::int64_t x = a.as_int();
    const std::int64_t y = b.as_int();
    const bool overflow = op == '+'   ? __builtin_add_overflow(x, y, &small)
                          : op == '-' ? __builtin_sub_overflow(x, y, &small)
                                      : __builtin_mul_overflow(x, y, &small);
    if (!overflow) return small;
  }
  const BigInt x = big(a);
  const BigInt y = big(b);
  return from_big(op == '+' ? BigInt(x + y) : op == '-' ? BigInt(x - y) : BigInt(x * y));
}

}  // namespace

bool is_number(const Value& v) {
  return v.kind() == Kind::Bool || v.kind() == Kind::Int || v.kind() == Kind::BigInt ||
         v.kind() == Kind::Float;
}

double to_float(const Value& number) {
  if (number.kind() == Kind::Float) return number.as_float();
  if (is_small(number)) return static_cast<double>(number.as_int());
  const double value = std::strtod(number.as_str().c_str(), nullptr);
  if (std::isinf(value)) throw PythonError("int too large to convert to float", "OverflowError");
  return value;
}

std::optional<int> compare_numbers(const Value& a, const Value& b) {
  const bool a_float = a.kind() == Kind::Float;
  const bool b_float = b.kind() == Kind::Float;
  if ((a_float && std::isnan(a.as_float())) || (b_float && std::isnan(b.as_float())))
    return std::nullopt;
  if (a_float && b_float) {
    const double x = a.as_float();
    const double y = b.as_float();
    return x < y ? -1 : x > y ? 1 : 0;
  }
  if (b_float) return compare_integer_float(a, b.as_float());
  if (a_float) return -compare_integer_float(b, a.as_float());
  if (is_small(a) && is_small(b)) return sign_of(a.as_int(), b.as_int());
  const BigInt x = big(a);
  const BigInt y = big(b);
  return x < y ? -1 : x > y ? 1 : 0;
}

Value add(const Value& a, const Value& b, std::string_view symbol) {
  if (a.is_str()) {
    if (!b.is_str())
      raise_type_error("can only concatenate str (not \"" + type_name(b) + "\") to str");
    return a.as_str() + b.as_str();
  }
  if (a.is_list() && b.is_list()) {
    Value joined = a;
    for (const Value& item : b.items()) joined.append(item);
    return joined;
  }
  if (a.is_list() && symbol == "+")
    raise_type_error("can only concatenate list (not \"" + type_name(b) + "\") to list");
  return arithmetic(a, b, symbol);
}

Value subtract(const Value& a, const Value& b, std::string_view symbol) {
  return arithmetic(a, b, symbol);
}

namespace {

// text * times, list * times
Value repeated(const Value& sequence, const Value& times) {
  constexpr std::size_t kLongest = std::size_t{1} << 26;
  if (times.kind() == Kind::BigInt)
    throw PythonError("cannot fit 'int' into an index-sized integer", "OverflowError");
  const std::size_t count =
      times.as_int() > 0 ? static_cast<std::size_t>(times.as_int()) : std::size_t{0};
  const std::size_t one = sequence.is_list() ? sequence.size() : sequence.as_str().size();
  if (one != 0 && count > kLongest / one) throw PythonError("", "MemoryError");
  std::string text;
  std::vector<Value> items;
  for (std::size_t i = 0; one != 0 && i < count; ++i) {
    if (sequence.is_list())
      items.insert(items.end(), sequence.items().begin(), sequence.items().end());
    else
      text += sequence.as_str();
  }
  return sequence.is_list() ? Value::list(std::move(items)) : Value(text);
}

}  // namespace

Value multiply(const Value& a, const Value& b, std::string_view symbol) {
  const bool a_sequence = a.is_str() || a.is_list();
  const bool b_sequence = b.is_str() || b.is_list();
  if (a_sequence || b_sequence) {
    const Value& times = a_sequence ? b : a;
    if (!is_integer(times))
      raise_type_error("can't multiply sequence by non-int of type '" + type_name(times) + "'");
    return repeated(a_sequence ? a : b, times);
  }
  return arithmetic(a, b, symbol);
}

Value negative(const Value& a) {
  if (!is_number(a)) raise_type_error("bad operand type for unary -: '" + type_name(a) + "'");
  if (a.kind() == Kind::Float) return -a.as_float();
  return arithmetic(Value(0), a, "-");
}

Value absolute(const Value& a) {
  if (!is_number(a)) raise_type_error("bad operand type for abs(): '" + type_name(a) + "'");
  if (a.kind() == Kind::Float) return std::fabs(a.as_float());
  return compare_numbers(a, Value(0)) == -1 ? negative(a) : arithmetic(a, Value(0), "+");
}

// glibc prints the exact decimal expansion, rounded half to even on the exact value, as dtoa does.
double round_float(double v, int digits) {
  if (!std::isfinite(v)) return v;
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", digits, v);
  return std::strtod(text, nullptr);
}

Value rounded(const Value& v, int digits) {
  if (!is_number(v)) raise_type_error("type " + type_name(v) + " doesn't define __round__ method");
  if (v.kind() == Kind::Float) return round_float(v.as_float(), digits);
  return arithmetic(v, Value(0), "+");
}

std::string fixed(const Value& v, int digits) {
  if (v.is_str())
    throw PythonError("Unknown format code 'f' for object of type 'str'", "ValueError");
  if (!is_number(v))
    raise_type_error("unsupported format string passed to " + type_name(v) + ".__format__");
  const double number = to_float(v);
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", digits, number);
  return text;
}

std::string repr(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  char buffer[40];
  const std::to_chars_result end =
      std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific);
  std::string text(buffer, end.ptr);
  const std::size_t e = text.find('e');
  const int exponent = std::atoi(text.c_str() + e + 1);
  if (exponent < -4 || exponent >= 16) return text;
  // Positional: put the digits back around the point.
  std::string digits;
  for (const char c : text.substr(0, e))
    if (c != '.' && c != '-') digits += c;
  std::string out = std::signbit(v) ? "-" : "";
  if (exponent < 0)
    return out + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const std::size_t whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  out += digits.substr(0, whole) + ".";
  return out + (digits.size() > whole ? digits.substr(whole) : "0");
}

}  // namespace unmask::python
