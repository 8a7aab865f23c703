// Python's grammar over the characters of calculate(): numbers, "...", operators, groups, the empty
// tuple and calls with at most one argument.
//
// CPython parses twice: once plainly, and where that fails a second time with rules that look for
// common mistakes ("Perhaps you forgot a comma?"); then a mistake of the tokenizer anywhere in the
// text takes precedence. The limits on depth are CPython's, found by trying.
#include <optional>
#include <unordered_map>

#include "environment/calculator.h"
#include "environment/python.h"

namespace unmask::calculator {

namespace {

constexpr std::size_t kMostParentheses = 200;
constexpr std::size_t kMostDigits = 4300;  // of an integer literal
constexpr int kHighestTree = 2995;
constexpr int kParserStack = 5974;
constexpr int kStackOfParenthesis = 28;  // parser levels that each construct takes
constexpr int kStackOfPower = 2;

[[noreturn]] void refuse(const std::string& text, int line = 1) {
  throw PythonError(text + " (<string>, line " + std::to_string(line) + ")", "SyntaxError");
}

struct Token {
  enum class Type { Number, Ellipsis, Operator, End };
  Type type;
  std::string_view text;
  std::size_t level;  // open parentheses after it
};

bool digit(char c) {
  return c >= '0' && c <= '9';
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view source) : source_(source) {}

  std::vector<Token> tokens() {
    while (true) {
      while (at_ < source_.size() && source_[at_] == ' ') ++at_;
      if (at_ == source_.size()) break;
      take();
    }
    out_.push_back({Token::Type::End, {}, level_});
    return std::move(out_);
  }

 private:
  void push(Token::Type type, std::size_t length) {
    out_.push_back({type, source_.substr(at_, length), level_});
    at_ += length;
  }

  void take() {
    const char c = source_[at_];
    const char next = at_ + 1 < source_.size() ? source_[at_ + 1] : ' ';
    if (digit(c) || (c == '.' && digit(next))) return number();
    if (source_.substr(at_).starts_with("...")) return push(Token::Type::Ellipsis, 3);
    if (c == '(' && ++level_ > kMostParentheses) refuse("too many nested parentheses");
    if (c == ')') {
      if (level_ == 0) refuse("unmatched ')'");
      --level_;
    }
    push(Token::Type::Operator, (c == '*' || c == '/') && next == c ? 2 : 1);
  }

  void number() {
    std::size_t end = at_;
    while (end < source_.size() && digit(source_[end])) ++end;
    const bool real = end < source_.size() && source_[end] == '.';
    const std::string_view whole = source_.substr(at_, end - at_);
    if (!real && whole.size() > 1 && whole[0] == '0' && whole.find_first_not_of('0') != whole.npos)
      refuse(
          "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal "
          "integers");
    if (real) {
      ++end;
      while (end < source_.size() && digit(source_[end])) ++end;
    }
    push(Token::Type::Number, end - at_);
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::size_t level_ = 0;
  std::vector<Token> out_;
};

// The first pass: recursive descent that gives up at the first token that does not fit.
class Parser {
 public:
  explicit Parser(const std::vector<Token>& tokens) : tokens_(tokens) {}

  // False: not an expression.
  bool parse() {
    int height = 0;
    if (!sum(height) || peek().type != Token::Type::End) return false;
    if (height > kHighestTree)
      throw PythonError("maximum recursion depth exceeded during compilation", "RecursionError");
    return true;
  }

  std::vector<Step> steps;

 private:
  // Seeing the end inside parentheses stops CPython's parser at once.
  const Token& peek() const {
    const Token& token = tokens_[at_];
    if (token.type == Token::Type::End && token.level > 0) refuse("'(' was never closed");
    return token;
  }
  bool at(std::string_view op) const {
    return peek().type == Token::Type::Operator && peek().text == op;
  }
  bool take(std::string_view op) {
    if (!at(op)) return false;
    ++at_;
    return true;
  }
  void enter(int levels) {
    stack_ += levels;
    if (stack_ > kParserStack)
      throw PythonError("Parser stack overflowed - Python source too complex to parse",
                        "MemoryError");
  }

  bool sum(int& height) {
    if (!term(height)) return false;
    while (at("+") || at("-")) {
      const Op op = at("+") ? Op::Add : Op::Subtract;
      ++at_;
      int right = 0;
      if (!term(right)) return false;
      height = std::max(height, right) + 1;
      steps.push_back({op, {}});
    }
    return true;
  }

  bool term(int& height) {
    if (!factor(height)) return false;
    while (at("*") || at("/") || at("//")) {
      const Op op = at("*") ? Op::Multiply : at("/") ? Op::Divide : Op::FloorDivide;
      ++at_;
      int right = 0;
      if (!factor(right)) return false;
      height = std::max(height, right) + 1;
      steps.push_back({op, {}});
    }
    return true;
  }

  // Signs and the right sides of powers nest to the right: kept on a list, not on the C++ stack.
  bool factor(int& height) {
    std::vector<Op> pending;
    const int before = stack_;
    while (true) {
      while (at("+") || at("-")) {
        pending.push_back(at("+") ? Op::Positive : Op::Negative);
        enter(1);
        ++at_;
      }
      int part = 0;
      if (!primary(part)) return false;
      height = std::max(height, part);
      if (!take("**")) break;
      enter(kStackOfPower);
      pending.push_back(Op::Power);
    }
    while (!pending.empty()) {
      steps.push_back({pending.back(), {}});
      pending.pop_back();
      ++height;
    }
    stack_ = before;
    return true;
  }

  bool primary(int& height) {
    if (!atom(height)) return false;
    while (take("(")) {
      Op op = Op::Call;
      if (!at(")")) {
        op = take("**") ? Op::CallDoubleStar : take("*") ? Op::CallStar : Op::CallOne;
        int argument = 0;
        if (!nested(argument)) return false;
        height = std::max(height, argument);
      }
      if (!take(")")) return false;
      ++height;
      steps.push_back({op, {}});
    }
    if (take(".")) {  // a name might follow
      peek();
      return false;
    }
    return true;
  }

  bool nested(int& height) {
    enter(kStackOfParenthesis);
    const bool fits = sum(height);
    stack_ -= kStackOfParenthesis;
    return fits;
  }

  bool atom(int& height) {
    const Token& token = peek();
    if (token.type == Token::Type::Number) return number(token);
    if (token.type == Token::Type::Ellipsis) {
      ++at_;
      steps.push_back({Op::Ellipsis, {}});
      return true;
    }
    if (!take("(")) return false;
    if (take(")")) {
      steps.push_back({Op::Tuple, {}});
      return true;
    }
    if (take("*")) {  // the first item of a tuple, if a comma followed: none does
      int ignored = 0;
      if (nested(ignored)) peek();
      return false;
    }
    return nested(height) && take(")");
  }

  bool number(const Token& token) {
    if (token.text.find('.') == token.text.npos && token.text.size() > kMostDigits)
      refuse(
          "Exceeds the limit (4300 digits) for integer string conversion: value has " +
          std::to_string(token.text.size()) +
          " digits; use sys.set_int_max_str_digits() to increase the limit - Consider hexadecimal "
          "for huge integer literals to avoid decimal conversion limits.");
    ++at_;
    steps.push_back({Op::Number, token.text});
    return true;
  }

  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
  int stack_ = 0;
};

// The second pass: backtracking as a PEG parser does, with the rules for mistakes. It only has to
// say where expressions end; results are kept by position, so it takes linear time.
class MistakeFinder {
 public:
  explicit MistakeFinder(const std::vector<Token>& tokens) : tokens_(tokens) {}

  // Throws where one of the rules fits.
  void search() { expression(0); }

 private:
  using End = std::optional<std::size_t>;  // one past the last token; nullopt: does not fit

  const Token& peek(std::size_t i) const {
    const Token& token = tokens_[i];
    if (token.type == Token::Type::End && token.level > 0) refuse("'(' was never closed");
    return token;
  }
  bool is(std::size_t i, std::string_view op) const {
    return peek(i).type == Token::Type::Operator && peek(i).text == op;
  }

  // expression: two in a row inside parentheses lack a comma. What follows the first is read
  // without the rules for mistakes.
  End expression(std::size_t i) {
    if (const auto known = expressions_.find(i); known != expressions_.end()) return known->second;
    const End first = sum(i);
    if (first && looking_) {
      looking_ = false;
      const End second = sum(*first);
      looking_ = true;
      if (second && tokens_[*second - 1].level > 0)
        refuse("invalid syntax. Perhaps you forgot a comma?");
    }
    return expressions_[i] = first;
  }

  End sum(std::size_t i) {
    if (const auto known = sums_.find(i); known != sums_.end()) return known->second;
    End end = factor(i);
    while (end &&
           (is(*end, "+") || is(*end, "-") || is(*end, "*") || is(*end, "/") || is(*end, "//"))) {
      const End right = factor(*end + 1);
      if (!right) break;
      end = right;
    }
    return sums_[i] = end;
  }

  End factor(std::size_t i) {
    while (is(i, "+") || is(i, "-")) ++i;
    const End base = primary(i);
    if (!base || !is(*base, "**")) return base;
    const End exponent = factor(*base + 1);
    return exponent ? exponent : base;
  }

  End primary(std::size_t i) {
    End end = atom(i);
    while (end && is(*end, "(")) {
      const End call = arguments(*end + 1);
      if (!call) break;
      end = call;
    }
    if (end && is(*end, ".")) peek(*end + 1);  // a name might follow
    return end;
  }

  End arguments(std::size_t i) {
    if (is(i, ")")) return i + 1;
    const std::size_t start = is(i, "*") || is(i, "**") ? i + 1 : i;
    const End argument = expression(start);
    return argument && is(*argument, ")") ? End(*argument + 1) : std::nullopt;
  }

  End atom(std::size_t i) {
    const Token::Type type = peek(i).type;
    if (type == Token::Type::Number || type == Token::Type::Ellipsis) return i + 1;
    if (!is(i, "(")) return std::nullopt;
    if (is(i + 1, ")")) return i + 2;
    const bool starred = is(i + 1, "*") || is(i + 1, "**");
    if (is(i + 1, "*"))
      if (const End item = sum(i + 2))
        peek(*item);  // the first item of a tuple, if a comma followed
    if (starred && !looking_) return std::nullopt;
    const End inner = expression(starred ? i + 2 : i + 1);
    if (!inner || !is(*inner, ")")) return std::nullopt;
    if (starred)
      refuse(is(i + 1, "*") ? "cannot use starred expression here"
                            : "cannot use double starred expression here");
    return *inner + 1;
  }

  const std::vector<Token>& tokens_;
  bool looking_ = true;  // for mistakes
  std::unordered_map<std::size_t, End> expressions_;
  std::unordered_map<std::size_t, End> sums_;
};

}  // namespace

std::vector<Step> compile(std::string_view source) {
  while (source.starts_with(' ')) source.remove_prefix(1);
  if (source.empty()) refuse("invalid syntax", 0);
  const std::vector<Token> tokens = Tokenizer(source).tokens();
  Parser parser(tokens);
  if (parser.parse()) return std::move(parser.steps);
  MistakeFinder(tokens).search();
  refuse("invalid syntax");
}

}  // namespace unmask::calculator
