// The calculate tool: upstream evaluates digits, + - * / ( ) . and blanks as a Python expression.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "environment/value.h"

namespace unmask {

// str(round(float(<value of the expression>), 2)), computed here: nothing is evaluated but
// arithmetic, as Python 3.12 does it, on integers of any size, floats and complex numbers; with its
// texts for what is no expression or has no value.
// Errors   throws PythonError. A deviation from Python, so that no expression takes long: once an
//          integer would have more than 10,000 digits, or the arithmetic has cost as much as about
//          50 ms, the answer is Python's "int too large to convert to float".
std::string calculate(const Value& expression);

namespace calculator {

enum class Op {
  Number,
  Tuple,
  Ellipsis,  // push
  Negative,
  Positive,  // one operand
  Add,
  Subtract,
  Multiply,
  Divide,
  FloorDivide,
  Power,  // two operands
  Call,
  CallOne,
  CallStar,
  CallDoubleStar  // f(), f(a), f(*a), f(**a)
};

struct Step {
  Op op;
  std::string_view number;  // Number: as written
};

// The expression in postfix order. Throws PythonError with CPython 3.12's text where it is none.
// The views point into `source`.
std::vector<Step> compile(std::string_view source);

}  // namespace calculator
}  // namespace unmask
