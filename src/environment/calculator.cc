#include "environment/calculator.h"

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <variant>

#include "environment/python.h"

namespace unmask {

namespace {

using BigInt = boost::multiprecision::cpp_int;
using Complex = std::complex<double>;
using calculator::Op;

constexpr std::size_t kMostBits = 33219;  // 10,000 decimal digits
constexpr double kMostWork = 5e7;         // word operations, about 50 ms
struct EmptyTuple {};
struct Ellipsis {};
using Operand = std::variant<BigInt, double, Complex, EmptyTuple, Ellipsis>;

[[noreturn]] void zero_division(std::string text) {
  throw PythonError(std::move(text), "ZeroDivisionError");
}
[[noreturn]] void overflow(std::string text) {
  throw PythonError(std::move(text), "OverflowError");
}
[[noreturn]] void too_large() {
  overflow("int too large to convert to float");
}

std::string name_of(const Operand& v) {
  constexpr const char* kNames[] = {"int", "float", "complex", "tuple", "ellipsis"};
  return kNames[v.index()];
}

bool is_int(const Operand& v) {
  return std::holds_alternative<BigInt>(v);
}
bool is_complex(const Operand& v) {
  return std::holds_alternative<Complex>(v);
}
bool is_number(const Operand& v) {
  return v.index() <= 2;
}
bool is_tuple(const Operand& v) {
  return std::holds_alternative<EmptyTuple>(v);
}

std::size_t bits(const BigInt& v) {
  return v == 0 ? 0 : msb(BigInt(abs(v))) + 1;
}

double nearest(const BigInt& v) {
  if (bits(v) <= 53) return v.convert_to<double>();
  return std::strtod(v.str().c_str(), nullptr);  // reads decimal digits rounded correctly
}

double as_float(const Operand& v) {
  if (const double* real = std::get_if<double>(&v)) return *real;
  const double value = nearest(std::get<BigInt>(v));
  if (std::isinf(value)) too_large();
  return value;
}

Complex as_complex(const Operand& v) {
  if (const Complex* c = std::get_if<Complex>(&v)) return *c;
  return Complex(as_float(v), 0);
}

std::string shown_part(double v) {
  std::string text = python::repr(v);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

// str(v), as texts about calls quote it.
std::string shown(const Operand& v) {
  if (const BigInt* i = std::get_if<BigInt>(&v)) return i->str();
  if (const double* d = std::get_if<double>(&v)) return python::repr(*d);
  if (is_tuple(v)) return "()";
  if (std::holds_alternative<Ellipsis>(v)) return "Ellipsis";
  const Complex c = std::get<Complex>(v);
  if (c.real() == 0 && !std::signbit(c.real())) return shown_part(c.imag()) + "j";
  return "(" + shown_part(c.real()) + (std::signbit(c.imag()) ? "" : "+") + shown_part(c.imag()) +
         "j)";
}

BigInt floor_quotient(const BigInt& a, const BigInt& b) {
  if (b == 0) zero_division("integer division or modulo by zero");
  BigInt quotient, remainder;
  divide_qr(a, b, quotient, remainder);
  if (remainder != 0 && (remainder < 0) != (b < 0)) --quotient;
  return quotient;
}

// a / b rounded once: the quotient is taken to 66 bits or more, the last one sticky.
double true_quotient(const BigInt& a, const BigInt& b) {
  if (b == 0) zero_division("division by zero");
  const long shift = 66 - (static_cast<long>(bits(a)) - static_cast<long>(bits(b)));
  const BigInt numerator = shift > 0 ? BigInt(abs(a) << shift) : BigInt(abs(a));
  const BigInt denominator = shift < 0 ? BigInt(abs(b) << -shift) : BigInt(abs(b));
  BigInt quotient, remainder;
  divide_qr(numerator, denominator, quotient, remainder);
  if (remainder != 0) quotient |= 1;
  const double size = std::ldexp(nearest(quotient), static_cast<int>(-shift));
  if (std::isinf(size)) overflow("integer division result too large for a float");
  return (a < 0) != (b < 0) ? -size : size;
}

double float_floor_quotient(double a, double b) {
  if (b == 0) zero_division("float floor division by zero");
  double remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder != 0 && (b < 0) != (remainder < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

Complex complex_quotient(Complex a, Complex b) {
  if (b == Complex(0, 0)) zero_division("complex division by zero");
  return a / b;
}

// base ** exponent as complex numbers. Real components are all that later texts depend on: whether
// the value is zero, and a call quoting it.
Complex complex_power(Complex base, Complex exponent) {
  if (exponent == Complex(0, 0)) return Complex(1, 0);
  if (base == Complex(0, 0)) {
    if (exponent.imag() != 0 || exponent.real() < 0)
      zero_division("0.0 to a negative or complex power");
    return Complex(0, 0);
  }
  const double size = std::hypot(base.real(), base.imag());
  double length = std::pow(size, exponent.real());
  const double angle = std::atan2(base.imag(), base.real());
  double phase = angle * exponent.real();
  if (exponent.imag() != 0) {
    length *= std::exp(-angle * exponent.imag());
    phase += exponent.imag() * std::log(size);
  }
  const Complex value(length * std::cos(phase), length * std::sin(phase));
  if (!std::isfinite(value.real()) || !std::isfinite(value.imag()))
    overflow("complex exponentiation");
  return value;
}

Operand float_power(double base, double exponent) {
  if (base == 0 && exponent < 0) zero_division("0.0 cannot be raised to a negative power");
  if (base < 0 && std::isfinite(base) && std::isfinite(exponent) &&
      exponent != std::floor(exponent))
    return complex_power(Complex(base, 0), Complex(exponent, 0));
  const double value = std::pow(base, exponent);
  if (std::isinf(value) && std::isfinite(base) && std::isfinite(exponent))
    overflow("(34, 'Numerical result out of range')");
  return value;
}

class Machine {
 public:
  Operand run(const std::vector<calculator::Step>& steps) {
    for (const calculator::Step& step : steps) execute(step);
    return std::move(stack_.back());
  }

 private:
  Operand pop() {
    Operand top = std::move(stack_.back());
    stack_.pop_back();
    return top;
  }

  void execute(const calculator::Step& step);
  void number(std::string_view text);
  void sign(Op op);
  void call(Op op);
  Operand binary(Op op, const Operand& a, const Operand& b);
  Operand integers(Op op, const BigInt& a, const BigInt& b);
  Operand integer_power(const BigInt& base, const BigInt& exponent);
  void spend(std::size_t words_a, std::size_t words_b) {
    work_ += 10.0 + static_cast<double>(words_a + 1) * static_cast<double>(words_b + 1);
    if (work_ > kMostWork) too_large();
  }

  std::vector<Operand> stack_;
  double work_ = 0;
};

void Machine::number(std::string_view text) {
  const std::string copy(text);
  if (copy.find('.') != std::string::npos)
    stack_.emplace_back(std::strtod(copy.c_str(), nullptr));
  else
    stack_.emplace_back(
        BigInt(copy.substr(std::min(copy.find_first_not_of('0'), copy.size() - 1))));
}

void Machine::sign(Op op) {
  const Operand v = pop();
  if (!is_number(v))
    python::raise_type_error(std::string("bad operand type for unary ") +
                             (op == Op::Negative ? "-" : "+") + ": '" + name_of(v) + "'");
  if (op == Op::Positive)
    stack_.push_back(v);
  else if (is_int(v))
    stack_.emplace_back(BigInt(-std::get<BigInt>(v)));
  else if (is_complex(v))
    stack_.emplace_back(-std::get<Complex>(v));
  else
    stack_.emplace_back(-std::get<double>(v));
}

// Nothing that this grammar can make is callable; arguments are looked at first.
void Machine::call(Op op) {
  if (op != Op::Call) {
    const Operand argument = pop();
    const std::string start = shown(stack_.back()) + " argument after ";
    if (op == Op::CallStar && !is_tuple(argument))
      python::raise_type_error(start + "* must be an iterable, not " + name_of(argument));
    if (op == Op::CallDoubleStar)
      python::raise_type_error(start + "** must be a mapping, not " + name_of(argument));
  }
  python::raise_type_error("'" + name_of(stack_.back()) + "' object is not callable");
}

Operand Machine::integer_power(const BigInt& base, const BigInt& exponent) {
  if (exponent < 0) {
    const double x = as_float(Operand(base));
    return float_power(x, as_float(Operand(exponent)));
  }
  const BigInt size = abs(base);
  if (size <= 1)
    return exponent == 0 || (exponent & 1) == 0 ? BigInt(exponent == 0 ? 1 : size) : base;
  if (exponent > kMostBits || (bits(size) - 1) * exponent.convert_to<std::size_t>() > kMostBits)
    too_large();
  const std::size_t words = bits(size) * exponent.convert_to<std::size_t>() / 64;
  spend(words, words);
  return BigInt(pow(base, exponent.convert_to<unsigned>()));
}

Operand Machine::integers(Op op, const BigInt& a, const BigInt& b) {
  spend(bits(a) / 64, op == Op::Add || op == Op::Subtract ? 0 : bits(b) / 64);
  switch (op) {
    case Op::Add:
      return BigInt(a + b);
    case Op::Subtract:
      return BigInt(a - b);
    case Op::Multiply:
      if (bits(a) + bits(b) > kMostBits) too_large();
      return BigInt(a * b);
    case Op::Divide:
      return true_quotient(a, b);
    case Op::FloorDivide:
      return floor_quotient(a, b);
    default:
      return integer_power(a, b);
  }
}

Operand floats(Op op, double a, double b) {
  switch (op) {
    case Op::Add:
      return a + b;
    case Op::Subtract:
      return a - b;
    case Op::Multiply:
      return a * b;
    case Op::Divide:
      if (b == 0) zero_division("float division by zero");
      return a / b;
    case Op::FloorDivide:
      return float_floor_quotient(a, b);
    default:
      return float_power(a, b);
  }
}

Operand complexes(Op op, Complex a, Complex b) {
  switch (op) {
    case Op::Add:
      return a + b;
    case Op::Subtract:
      return a - b;
    case Op::Multiply:
      return a * b;
    case Op::Divide:
      return complex_quotient(a, b);
    default:
      return complex_power(a, b);
  }
}

[[noreturn]] void unsupported(Op op, const Operand& a, const Operand& b) {
  const char* symbol = op == Op::Add           ? "+"
                       : op == Op::Subtract    ? "-"
                       : op == Op::Multiply    ? "*"
                       : op == Op::Divide      ? "/"
                       : op == Op::FloorDivide ? "//"
                                               : "** or pow()";
  python::raise_type_error(std::string("unsupported operand type(s) for ") + symbol + ": '" +
                           name_of(a) + "' and '" + name_of(b) + "'");
}

// The empty tuple adds to itself and repeats.
Operand with_tuple(Op op, const Operand& a, const Operand& b) {
  if (op == Op::Add && is_tuple(a)) {
    if (is_tuple(b)) return EmptyTuple{};
    python::raise_type_error("can only concatenate tuple (not \"" + name_of(b) + "\") to tuple");
  }
  if (op != Op::Multiply) unsupported(op, a, b);
  const Operand& times = is_tuple(a) ? b : a;
  if (!is_int(times))
    python::raise_type_error("can't multiply sequence by non-int of type '" + name_of(times) + "'");
  if (bits(std::get<BigInt>(times)) > 63) overflow("cannot fit 'int' into an index-sized integer");
  return EmptyTuple{};
}

Operand Machine::binary(Op op, const Operand& a, const Operand& b) {
  if (is_tuple(a) || is_tuple(b)) return with_tuple(op, a, b);
  if (!is_number(a) || !is_number(b)) unsupported(op, a, b);
  if (is_int(a) && is_int(b)) return integers(op, std::get<BigInt>(a), std::get<BigInt>(b));
  if (is_complex(a) || is_complex(b)) {
    if (op == Op::FloorDivide) unsupported(op, a, b);
    return complexes(op, as_complex(a), as_complex(b));
  }
  return floats(op, as_float(a), as_float(b));
}

void Machine::execute(const calculator::Step& step) {
  spend(0, 0);
  switch (step.op) {
    case Op::Number:
      return number(step.number);
    case Op::Tuple:
      stack_.emplace_back(EmptyTuple{});
      return;
    case Op::Ellipsis:
      stack_.emplace_back(Ellipsis{});
      return;
    case Op::Negative:
    case Op::Positive:
      return sign(step.op);
    case Op::Call:
    case Op::CallOne:
    case Op::CallStar:
    case Op::CallDoubleStar:
      return call(step.op);
    default:
      break;
  }
  const Operand right = pop();
  const Operand left = pop();
  stack_.push_back(binary(step.op, left, right));
}

}  // namespace

std::string calculate(const Value& expression) {
  for (const Value& part : python::iterate(expression))
    if (!python::contains("0123456789+-*/(). ", part))
      throw PythonError("Invalid characters in expression");
  if (!expression.is_str())
    python::raise_type_error("eval() arg 1 must be a string, bytes or code object");
  const Operand value = Machine().run(calculator::compile(expression.as_str()));
  if (is_complex(value) || !is_number(value))
    python::raise_type_error("float() argument must be a string or a real number, not '" +
                             name_of(value) + "'");
  return python::repr(python::round_float(as_float(value), 2));
}

}  // namespace unmask
