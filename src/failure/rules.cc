// The rows below are facts about the error texts of tau2-bench and tau-bench v1 (sierra-research,
// MIT), and of Python and pydantic, whose exceptions those environments pass on as they are. Rows
// are tried in order; the first that fits decides. docs/channels.md gives the reason for each
// group.
#include "failure/rules.h"

#include <cstddef>

#include "failure/text.h"

namespace unmask {
namespace {

constexpr TextRule missing(std::string_view domain, std::string_view tool, std::string_view text) {
  return {domain, tool, text, Channel::Schema, SubKind::Missing};
}
constexpr TextRule unexpected(std::string_view domain, std::string_view tool,
                              std::string_view text) {
  return {domain, tool, text, Channel::Schema, SubKind::Unexpected};
}
constexpr TextRule wrong_type(std::string_view domain, std::string_view tool,
                              std::string_view text) {
  return {domain, tool, text, Channel::Schema, SubKind::WrongType};
}
constexpr TextRule bad_json(std::string_view text) {
  return {"*", "*", text, Channel::Malformed, SubKind::BadJson};
}
constexpr TextRule entity(std::string_view domain, std::string_view tool, std::string_view text) {
  return {domain, tool, text, Channel::Entity, SubKind::None};
}
constexpr TextRule rejected(std::string_view domain, std::string_view tool, std::string_view text) {
  return {domain, tool, text, Channel::Rejected, SubKind::None};
}

// All patterns are in lower case.
constexpr TextRule kRules[] = {
    // Reading the arguments (harnesses that let the environment answer; Python's json).
    bad_json("error parsing the following tool call arguments*"),
    bad_json("expecting value: line * column *"),
    bad_json("expecting property name enclosed in double quotes*"),
    bad_json("expecting '*' delimiter: line *"),
    bad_json("unterminated string starting at: line *"),
    bad_json("invalid control character at: line *"),
    bad_json("invalid \\escape: line *"),
    bad_json("invalid \\uxxxx escape: line *"),
    bad_json("extra data: line * column *"),
    bad_json("illegal trailing comma *"),
    bad_json("invalid json*"),
    bad_json("*arguments are not valid json*"),

    // Inspect's check of arguments against the tool's parameters.
    missing("*", "*", "found * validation error* parsing tool input *is a required property*"),
    unexpected("*", "*",
               "found * validation error* parsing tool input *additional properties are *"),
    wrong_type("*", "*", "found * validation error* parsing tool input *"),
    missing("*", "*", "required parameter * not provided to tool call*"),
    wrong_type("*", "*", "unable to convert '*' to *"),
    wrong_type("*", "*", "an argument to tool '*' contained an embedded null byte*"),

    // Binding the arguments to the tool's parameters (CPython).
    missing("*", "*", "*() missing * required positional argument*"),
    missing("*", "*", "*() missing * required keyword-only argument*"),
    unexpected("*", "*", "*() got an unexpected keyword argument*"),
    unexpected("*", "*", "*() got multiple values for argument*"),
    unexpected("*", "*", "*() got multiple values for keyword argument*"),
    unexpected("*", "*", "*() takes * positional argument* but * given"),
    unexpected("*", "*", "*() takes no arguments*"),
    wrong_type("*", "*", "*() argument after *must be a mapping*"),
    wrong_type("*", "*", "keywords must be strings"),

    // Validating them (pydantic). One text may hold several complaints: a missing field is named
    // before an extra one, and both before a wrong type.
    missing("*", "*", "*validation error* for *field required*"),
    missing("*", "*", "*validation error* for *[type=missing*"),
    unexpected("*", "*", "*validation error* for *extra inputs are not permitted*"),
    unexpected("*", "*", "*validation error* for *[type=unexpected_keyword_argument*"),
    unexpected("*", "*", "*validation error* for *[type=extra_forbidden*"),
    wrong_type("*", "*", "*validation error* for *"),

    // calculate(): an expression that is no arithmetic is not well-formed ...
    wrong_type("*", "calculate", "invalid characters in expression"),
    wrong_type("*", "calculate", "*(<string>, line *)"),
    wrong_type("*", "calculate", "'*' object is not *"),
    wrong_type("*", "calculate", "float() argument must be a string or a * not 'ellipsis'"),
    wrong_type("*", "calculate", "float() argument must be a string or a * not 'tuple'"),
    wrong_type("*", "calculate", "* object has no attribute *"),
    wrong_type("*", "calculate", "too many nested parentheses*"),
    wrong_type("*", "calculate", "source code *cannot contain null bytes"),
    // ... while one that is and has no value is refused.
    rejected("*", "calculate", "float() argument must be a string or a * not 'complex'"),
    rejected("*", "calculate", "*division by zero*"),
    rejected("*", "calculate", "*modulo by zero*"),
    rejected("*", "calculate", "*division or modulo*"),
    rejected("*", "calculate", "* cannot be raised to a negative power"),
    rejected("*", "calculate", "zero to a negative * power"),
    rejected("*", "calculate", "*too large to convert to float"),
    rejected("*", "calculate", "*result out of range*"),
    rejected("*", "calculate", "*result too large*"),
    rejected("*", "calculate", "math range error"),
    rejected("*", "calculate", "exceeds the limit * for integer string conversion*"),
    rejected("*", "calculate", "cannot convert float *"),
    rejected("*", "calculate", "*complex*"),
    rejected("*", "calculate", "too many digits *"),
    rejected("*", "calculate", "*recursion*"),
    rejected("*", "calculate", "cannot fit 'int' into an index-sized integer"),
    rejected("*", "calculate", ""),  // MemoryError has no text

    // Values of a type the tool's own code could not work with (CPython).
    wrong_type("*", "*", "unhashable type:*"),
    wrong_type("*", "*", "cannot use '*' as a * (unhashable type:*"),
    wrong_type("*", "*", "'*' object has no attribute *"),
    wrong_type("*", "*", "'*' object is not *"),
    wrong_type("*", "*", "'*' object cannot be interpreted as an integer"),
    wrong_type("*", "*", "'*' object does not support *"),
    wrong_type("*", "*", "type object '*' has no attribute *"),
    wrong_type("*", "*", "unsupported operand type(s) for *"),
    wrong_type("*", "*", "bad operand type for *"),
    wrong_type("*", "*", "'*' not supported between instances of *"),
    wrong_type("*", "*", "'in <string>' requires string as left operand, not *"),
    wrong_type("*", "*", "argument of type '*' is not *"),
    wrong_type("*", "*", "can only concatenate *"),
    wrong_type("*", "*", "can't multiply sequence by non-int *"),
    wrong_type("*", "*", "must be str, not *"),
    wrong_type("*", "*", "sequence item *: expected * found"),
    wrong_type("*", "*", "sequence item *: expected *"),
    wrong_type("*", "*", "cannot unpack non-iterable *"),
    wrong_type("*", "*", "not enough values to unpack *"),
    wrong_type("*", "*", "too many values to unpack *"),
    wrong_type("*", "*", "* indices must be integers*"),
    wrong_type("*", "*", "invalid literal for *"),
    wrong_type("*", "*", "could not convert *"),
    wrong_type("*", "*", "cannot convert *"),
    wrong_type("*", "*", "int() argument must be *"),
    wrong_type("*", "*", "float() argument must be *"),
    wrong_type("*", "*", "object of type '*' has no len()"),
    wrong_type("*", "*", "* must be called with a dict or a *"),
    wrong_type("*", "*", "expected *, got *"),
    wrong_type("*", "*", "expected string or bytes-like object*"),
    wrong_type("*", "*", "descriptor '*' for '*' objects doesn't apply to *"),
    wrong_type("*", "*", "descriptor '*' requires a '*' object but received *"),
    wrong_type("*", "*", "time data '*' does not match format *"),
    wrong_type("*", "*", "unconverted data remains*"),
    wrong_type("*", "*", "invalid isoformat string*"),
    wrong_type("*", "*", "isoformat: *"),
    wrong_type("*", "*", "fromisoformat: argument must be str"),
    wrong_type("*", "*", "dictionary update sequence element *"),
    wrong_type("*", "*", "object of type * is not json serializable"),
    wrong_type("*", "*", "circular reference detected"),
    wrong_type("*", "*", "out of range float values are not json compliant*"),

    wrong_type("*", "*", "* index out of range"),
    wrong_type("*", "*", "*() arg is an empty sequence"),
    wrong_type("*", "*", "*() iterable argument is empty"),
    wrong_type("*", "*", "unable to serialize *"),
    wrong_type("*", "*", "error serializing *"),
    wrong_type("*", "*", "* codec can't encode *"),
    wrong_type("*", "*", "* is not a valid *"),  // an Enum's ValueError

    // airline
    entity("airline", "*", "user* not found"),
    entity("airline", "*", "reservation* not found"),
    entity("airline", "*", "flight * not found*"),
    entity("airline", "*", "payment method* not found"),
    entity("airline", "*", "certificate* not found"),
    rejected("airline", "*", "flight * not available on date *"),
    rejected("airline", "*", "not enough seats on flight *"),
    rejected("airline", "*", "not enough balance in payment method *"),
    rejected("airline", "*", "payment amount does not add up, *"),
    rejected("airline", "*", "certificate cannot be used to update reservation"),
    rejected("airline", "*", "gift card balance is not enough"),
    rejected("airline", "*", "number of passengers does not match"),
    rejected("airline", "*", "too many reservations"),
    rejected("airline", "*", "too many certificates"),
    // A KeyError is the repr of the key. Fields of a flight, passenger or payment object that the
    // call left out; then the cabin, a declared enumeration; then the date of a flight.
    missing("airline", "*", "'flight_number'"),
    missing("airline", "*", "'date'"),
    missing("airline", "*", "'first_name'"),
    missing("airline", "*", "'last_name'"),
    missing("airline", "*", "'dob'"),
    missing("airline", "*", "'payment_id'"),
    missing("airline", "*", "'amount'"),
    entity("airline", "*", "'20*-*-*'"),
    entity("airline", "*", "'hat*'"),
    wrong_type("airline", "book_reservation", "'*'"),
    wrong_type("airline", "update_reservation_flights", "'*'"),

    // retail
    entity("retail", "*", "order not found"),
    entity("retail", "*", "user not found"),
    entity("retail", "*", "product not found"),
    entity("retail", "*", "variant not found"),
    entity("retail", "*", "payment method* not found"),
    rejected("retail", "*", "new item * not found or available"),
    entity("retail", "*", "item* not found"),
    entity("retail", "*", "some item not found"),
    entity("retail", "*", "number of * not found"),
    entity("retail", "*", "number of * not found."),
    entity("retail", "modify_pending_order_items", "* not found"),
    entity("retail", "exchange_delivered_order_items", "* not found"),
    entity("retail", "cancel_pending_order", "invalid reason"),
    rejected("retail", "*", "non-pending order cannot be *"),
    rejected("retail", "*", "non-delivered order cannot be *"),
    rejected("retail", "*", "the number of items to be exchanged should match*"),
    rejected("retail", "*", "the new item id should be different from the old item id"),
    rejected("retail", "*", "insufficient gift card balance*"),
    rejected("retail", "*", "there should be exactly one payment for a pending order"),
    rejected("retail", "*", "the new payment method should be different from the current one"),
    rejected("retail", "*", "payment method should be *original payment method*"),
    missing("retail", "*", "'options'"),

    // telecom, agent and user side
    entity("telecom", "*", "customer* not found"),
    entity("telecom", "*", "line * not found*"),
    entity("telecom", "*", "line not found*"),
    entity("telecom", "*", "bill * not found*"),
    entity("telecom", "*", "bill not found*"),
    entity("telecom", "*", "overdue bill * not found"),
    entity("telecom", "*", "device * not found"),
    entity("telecom", "*", "plan * not found"),
    entity("telecom", "*", "plan not found for this line"),
    entity("telecom", "*", "unknown id format or type:*"),
    entity("telecom", "*", "app '*' not found*"),
    entity("telecom", "*", "*permission '*' not tracked for app *"),
    rejected("telecom", "*", "line must be * to *"),
    rejected("telecom", "*", "a bill is already awaiting payment for this customer"),
    rejected("telecom", "*", "refuel amount must be positive"),
    rejected("telecom", "*", "amount must be positive*"),
    rejected("telecom", "*", "customer already has an overdue bill"),
    rejected("telecom", "*", "overdue bill * is not overdue"),
    // The text-less AssertionError of the user's device: it is in a state that rules the act out.
    rejected("telecom", "*", ""),

    // mock
    entity("mock", "*", "user * not found"),
    entity("mock", "*", "user not found"),
    entity("mock", "*", "task * not found"),
    entity("mock", "*", "task not found"),
    entity("mock", "*", "notification * not found"),
    entity("mock", "*", "notification not found"),

    // The pocket worlds; what is not found falls to the rows for any environment.
    rejected("pocket_telecom", "*", "bill is *"),
    rejected("pocket_telecom", "*", "line is active"),
    rejected("pocket_telecom", "*", "roam is on"),
    rejected("pocket_telecom", "*", "data is left"),
    rejected("pocket_telecom", "*", "case is closed"),
    rejected("pocket_retail", "*", "order * is *"),
    rejected("pocket_retail", "*", "item * is out"),
    rejected("pocket_retail", "*", "case is closed"),

    // Any environment: wordings with one plain meaning.
    missing("*", "*", "missing required *"),
    missing("*", "*", "* is a required property*"),
    missing("*", "*", "* field required*"),
    missing("*", "*", "required parameter* missing*"),
    missing("*", "*", "required parameter * not provided*"),
    unexpected("*", "*", "unexpected parameter*"),
    unexpected("*", "*", "unexpected argument*"),
    unexpected("*", "*", "additional properties are not allowed*"),
    wrong_type("*", "*", "* is not of type '*'*"),
    wrong_type("*", "*", "input should be *"),
    wrong_type("*", "*", "'*' is not one of *"),
    wrong_type("*", "*", "* must be of type *"),
    entity("*", "*", "* not found"),
    entity("*", "*", "* not found."),
    entity("*", "*", "* was not found*"),
    entity("*", "*", "no such *"),
    entity("*", "*", "* no such file or directory*"),
    entity("*", "*", "* does not exist*"),
    entity("*", "*", "* doesn't exist*"),
    rejected("*", "*", "permission denied*"),
    rejected("*", "*", "*insufficient *"),
    rejected("*", "*", "not enough *"),
    rejected("*", "*", "* is not allowed*"),
    rejected("*", "*", "* are not allowed*"),
    rejected("*", "*", "* not permitted*"),
    rejected("*", "*", "* already exists*"),
    rejected("*", "*", "* must be positive*"),
    rejected("*", "*", "access denied*"),
    rejected("*", "*", "unauthorized*"),
    rejected("*", "*", "*division by zero*"),
};

// What environments answer to a name they do not know.
constexpr std::string_view kUnknownTool[] = {
    "tool '*' not found*",  // tau2
    "tool \"*\" not found*",
    "tool `*` not found*",
    "tool * not found",  // Inspect and chat harnesses in its manner
    "tool * not found.",
    "tool * not found in *",
    "unknown action *",  // tau-bench v1
    "unknown tool*",
    "unknown function*",
    "function '*' not found*",
    "function * not found",
    "function * not found.",
    "tool * does not exist*",
    "function * does not exist*",
    "tool '*' is not available*",
    "no tool named *",
    "no such tool*",
    "no such function*",
    "there is no tool *",
    "invalid tool name*",
    "* is not a valid tool*",
};

// What tau2 answers where the caller has no tools at all.
constexpr std::string_view kNoTools[] = {
    "user tools not available",
    "tools not available",
    "user tool calls are not allowed in solo mode",
};

// Faults of what surrounds the environment. Kept narrow: a text that merely mentions a connection
// or a limit may be the environment's subject.
constexpr std::string_view kHarnessFault[] = {
    "'*db' object has no attribute *",  // tau2: the toolkit holds the other side's database
    "database has not been initialized*",
    "invalid requestor: *",
    "timed out*",
    "timeout*",
    "* timed out",
    "* timed out.",
    "* timed out after *",
    "* timed out before completing*",
    "timeout error*",
    "*timeouterror*",
    "*timeout exceeded*",
    "connection refused*",
    "*connection refused",
    "*connection reset by peer*",
    "connection error*",
    "*connectionerror*",
    "internal server error*",
    "service unavailable*",
    "*out of memory*",
    "*no space left on device*",
    "maximum recursion depth exceeded*",
    "tool call cancelled*",
    "*codec can't decode *",
    "* tool exceeded its * limit of *",
};

constexpr std::string_view kPrefixes[] = {"error: ", "error:", "error. ", "exception: "};

}  // namespace

std::string normalized_error_text(std::string_view text) {
  text = trimmed(text);
  std::string out = lower_case(text.substr(0, kLongestMatchedText));
  std::string_view rest = out;
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view prefix : kPrefixes) {
      if (!rest.starts_with(prefix)) continue;
      rest = trimmed(rest.substr(prefix.size()));
      again = true;
    }
    // "error executing tool x: ..." (MCP servers)
    if (rest.starts_with("error executing tool ")) {
      const std::size_t colon = rest.find(": ");
      if (colon == std::string_view::npos) break;
      rest = trimmed(rest.substr(colon + 2));
      again = true;
    }
  }
  if (rest == "error:") rest = {};
  return std::string(rest);
}

const TextRule* match_rule(std::string_view domain, std::string_view tool, std::string_view text) {
  for (const TextRule& rule : kRules) {
    if (rule.domain != "*" && rule.domain != domain) continue;
    if (rule.tool != "*" && rule.tool != tool) continue;
    if (glob_match(rule.pattern, text)) return &rule;
  }
  return nullptr;
}

bool says_unknown_tool(std::string_view text, std::string_view name) {
  for (const std::string_view pattern : kNoTools) {
    if (text == pattern) return true;
  }
  for (const std::string_view pattern : kUnknownTool) {
    if (!glob_match(pattern, text)) continue;
    // "Tool hammer not found" of a shop is about its wares unless it repeats the name of the call.
    return text.find(lower_case(clipped(name, kLongestMatchedText))) != std::string_view::npos;
  }
  return false;
}

bool says_harness_fault(std::string_view text) {
  for (const std::string_view pattern : kHarnessFault) {
    if (glob_match(pattern, text)) return true;
  }
  return false;
}

// Each piece between two stars is taken at its first place after the piece before it; that is
// enough, as a later place leaves less text for the rest. Linear in pieces x text, no backtracking.
bool glob_match(std::string_view pattern, std::string_view text) {
  const std::size_t first = pattern.find('*');
  if (first == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, first))) return false;
  text.remove_prefix(first);
  pattern.remove_prefix(first + 1);
  while (true) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) return text.ends_with(pattern);
    const std::string_view piece = pattern.substr(0, star);
    const std::size_t at = text.find(piece);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + piece.size());
    pattern.remove_prefix(star + 1);
  }
}

}  // namespace unmask
