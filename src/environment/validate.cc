// What pydantic 2.12 does when a model is built: lax conversions, and one paragraph of text for
// each finding. Findings come in the order of the class's fields; unknown keys come last.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "environment/python.h"
#include "environment/schema.h"

namespace unmask {

namespace {

struct Finding {
  std::string path;  // "flights.0.date"
  std::string text;
  std::string type;  // pydantic's name of it, "string_type"
  Value input;
};

using Findings = std::vector<Finding>;

std::string joined(const std::string& path, std::string_view part) {
  return path.empty() ? std::string(part) : path + "." + std::string(part);
}

class Validator {
 public:
  Value model(const ModelClass& model_class, const Value& input, const std::string& path);
  Findings findings;

 private:
  Value field(const FieldType& type, const Value& input, const std::string& path);
  Value text(const Value& input, const std::string& path);
  Value integer(const Value& input, const std::string& path);
  Value integer_of_text(const Value& input, const std::string& path);
  Value number(const Value& input, const std::string& path);
  Value boolean(const Value& input, const std::string& path);
  Value literal(const FieldType& type, const Value& input, const std::string& path);
  Value enumerator(const FieldType& type, const Value& input, const std::string& path);
  Value list(const FieldType& type, const Value& input, const std::string& path);
  Value dict(const FieldType& type, const Value& input, const std::string& path);
  Value choice(const FieldType& type, const Value& input, const std::string& path);
  Value date(const FieldType& type, const Value& input, const std::string& path);
  Value refuse(const std::string& path, std::string text, std::string type, const Value& input) {
    findings.push_back({path, std::move(text), std::move(type), input});
    return Value();
  }
};

Value Validator::text(const Value& input, const std::string& path) {
  if (!input.is_str()) return refuse(path, "Input should be a valid string", "string_type", input);
  return input.kind() == Kind::Enum ? Value(input.as_str()) : input;
}

// Rust's trim: Unicode white space at both ends.
std::string trimmed(std::string_view text) {
  const std::vector<std::uint32_t> characters = python::code_points(text);
  const auto blank = [](std::uint32_t c) {
    return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
  };
  std::size_t first = 0;
  std::size_t last = characters.size();
  while (first < last && blank(characters[first])) ++first;
  while (last > first && blank(characters[last - 1])) --last;
  std::string out;
  for (std::size_t i = first; i < last; ++i) python::append_code_point(out, characters[i]);
  return out;
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "1_000" -> "1000"; nullopt where an underscore leads, ends or follows another.
std::optional<std::string> without_underscores(std::string_view text) {
  if (text.starts_with('_') || text.ends_with('_') || text.find("__") != text.npos)
    return std::nullopt;
  std::string out;
  for (const char c : text)
    if (c != '_') out += c;
  return out;
}

// The digits of a whole number as pydantic reads one from text: a sign, zeros in front, ".0" behind
// and underscores are allowed. nullopt: none.
std::optional<std::string> whole_digits(std::string_view text) {
  if (text.starts_with('0'))
    while (text.size() > 1 && (text[0] == '0' || text[0] == '_') && text[1] != '.')
      text.remove_prefix(1);
  const std::size_t point = text.find('.');
  if (point != text.npos && point + 1 < text.size() &&
      text.find_first_not_of('0', point + 1) == text.npos)
    text = text.substr(0, point);
  const std::optional<std::string> digits = without_underscores(text);
  if (!digits || !all_digits(*digits)) return std::nullopt;
  return digits;
}

Value Validator::integer_of_text(const Value& input, const std::string& path) {
  constexpr std::size_t kMostDigits = 4300;
  std::string text = trimmed(input.as_str());
  if (text.starts_with('+')) text.erase(0, 1);
  const bool negative = text.starts_with('-');
  if (negative && input.as_str().find('+') == std::string::npos) text.erase(0, 1);
  const std::optional<std::string> digits = whole_digits(text);
  if (!digits)
    return refuse(path, "Input should be a valid integer, unable to parse string as an integer",
                  "int_parsing", input);
  if (digits->size() > kMostDigits)
    return refuse(path, "Unable to parse input string as an integer, exceeded maximum size",
                  "int_parsing_size", input);
  return Value::integer((negative ? "-" : "") + *digits);
}

Value Validator::integer(const Value& input, const std::string& path) {
  switch (input.kind()) {
    case Kind::Int:
    case Kind::BigInt:
      return input;
    case Kind::Bool:
      return input.as_bool() ? 1 : 0;
    case Kind::Float: {
      const double v = input.as_float();
      if (!std::isfinite(v))
        return refuse(path, "Input should be a finite number", "finite_number", input);
      if (v != std::trunc(v))
        return refuse(path, "Input should be a valid integer, got a number with a fractional part",
                      "int_from_float", input);
      if (std::fabs(v) < 9.2e18) return static_cast<std::int64_t>(v);
      return refuse(path, "Unable to parse input string as an integer, exceeded maximum size",
                    "int_parsing_size", input);
    }
    case Kind::Str:
    case Kind::Enum:
      return integer_of_text(input, path);
    default:
      return refuse(path, "Input should be a valid integer", "int_type", input);
  }
}

// Rust's f64: digits with a point and an exponent, or inf, infinity, nan in any case.
std::optional<double> float_of_text(std::string_view text) {
  std::string_view body = text;
  if (body.starts_with('+') || body.starts_with('-')) body.remove_prefix(1);
  const std::string word = python::lower_text(body);
  const bool named = word == "inf" || word == "infinity" || word == "nan";
  const bool digits = body.find_first_of("0123456789") != body.npos;
  const bool foreign = body.find_first_not_of("0123456789.eE+-") != body.npos;
  if (!named && (!digits || foreign)) return std::nullopt;
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  return *end == '\0' ? std::optional<double>(value) : std::nullopt;
}

Value Validator::number(const Value& input, const std::string& path) {
  if (input.is_str()) {
    std::optional<double> value = float_of_text(trimmed(input.as_str()));
    if (!value)
      if (const std::optional<std::string> plain = without_underscores(input.as_str()))
        value = float_of_text(*plain);
    if (value) return *value;
    return refuse(path, "Input should be a valid number, unable to parse string as a number",
                  "float_parsing", input);
  }
  if (!python::is_number(input))
    return refuse(path, "Input should be a valid number", "float_type", input);
  if (input.kind() == Kind::BigInt && std::isinf(std::strtod(input.as_str().c_str(), nullptr)))
    return refuse(path, "Input should be a valid number", "float_type", input);
  return python::to_float(input);
}

Value Validator::boolean(const Value& input, const std::string& path) {
  const auto unreadable = [&] {
    return refuse(path, "Input should be a valid boolean, unable to interpret input",
                  "bool_parsing", input);
  };
  if (input.is_bool()) return input;
  if (input.is_str()) {
    constexpr std::string_view kTrue[] = {"1", "on", "t", "true", "y", "yes"};
    constexpr std::string_view kFalse[] = {"0", "off", "f", "false", "n", "no"};
    const std::string text = python::lower_text(input.as_str());
    if (std::find(std::begin(kTrue), std::end(kTrue), text) != std::end(kTrue)) return true;
    if (std::find(std::begin(kFalse), std::end(kFalse), text) != std::end(kFalse)) return false;
    return unreadable();
  }
  const bool whole = input.kind() == Kind::Float &&
                     input.as_float() == std::trunc(input.as_float()) &&
                     std::isfinite(input.as_float());
  if (input.kind() == Kind::Int || (whole && std::fabs(input.as_float()) < 9.2e18)) {
    if (python::equal(input, Value(0))) return false;
    if (python::equal(input, Value(1))) return true;
    return unreadable();
  }
  return refuse(path, "Input should be a valid boolean", "bool_type", input);
}

// 'a', 'b' or 'c'
std::string choices_text(const std::vector<std::string>& values) {
  std::string out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i) out += i + 1 == values.size() ? " or " : ", ";
    out += python::repr_of_text(values[i]);
  }
  return out;
}

Value Validator::literal(const FieldType& type, const Value& input, const std::string& path) {
  if (input.is_str())
    for (const std::string& allowed : type.literals)
      if (allowed == input.as_str()) return Value(allowed);
  return refuse(path, "Input should be " + choices_text(type.literals), "literal_error", input);
}

Value Validator::enumerator(const FieldType& type, const Value& input, const std::string& path) {
  if (input.is_str())
    if (const EnumMember* member = type.enum_class->find_value(input.as_str()))
      return Value(*member);
  std::vector<std::string> values;
  for (const EnumMember& member : type.enum_class->members) values.push_back(member.value);
  return refuse(path, "Input should be " + choices_text(values), "enum", input);
}

Value Validator::list(const FieldType& type, const Value& input, const std::string& path) {
  if (!input.is_list()) return refuse(path, "Input should be a valid list", "list_type", input);
  std::vector<Value> items;
  items.reserve(input.size());
  for (std::size_t i = 0; i < input.size(); ++i)
    items.push_back(field(type.of[0], input[i], joined(path, std::to_string(i))));
  return Value::list(std::move(items));
}

Value Validator::dict(const FieldType& type, const Value& input, const std::string& path) {
  if (!input.is_dict())
    return refuse(path, "Input should be a valid dictionary", "dict_type", input);
  Value out = Value::dict();
  for (std::size_t i = 0; i < input.size(); ++i) {
    const Value key =
        field(type.of[0], Value(input.key(i)), joined(joined(path, input.key(i)), "[key]"));
    Value value = field(type.of[1], input[i], joined(path, input.key(i)));
    out.set(key.is_str() ? key.as_str() : input.key(i), std::move(value));
  }
  return out;
}

std::string choice_name(const FieldType& type) {
  switch (type.tag) {
    case FieldType::Tag::Model:
      return type.model_class->name;
    case FieldType::Tag::Str:
      return "str";
    case FieldType::Tag::Int:
      return "int";
    case FieldType::Tag::Float:
      return "float";
    case FieldType::Tag::Bool:
      return "bool";
    case FieldType::Tag::Dict:
      return "dict[any,any]";
    default:
      return "any";
  }
}

Value Validator::choice(const FieldType& type, const Value& input, const std::string& path) {
  Findings all;
  for (const FieldType& option : type.of) {
    Validator attempt;
    Value value = attempt.field(option, input, joined(path, choice_name(option)));
    if (attempt.findings.empty()) return value;
    std::move(attempt.findings.begin(), attempt.findings.end(), std::back_inserter(all));
  }
  std::move(all.begin(), all.end(), std::back_inserter(findings));
  return Value();
}

bool looks_like_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  int part[3] = {0, 0, 0};
  const std::size_t at[3] = {0, 5, 8};
  const std::size_t length[3] = {4, 2, 2};
  for (int k = 0; k < 3; ++k) {
    const char* first = text.data() + at[k];
    const std::from_chars_result r = std::from_chars(first, first + length[k], part[k]);
    if (r.ec != std::errc() || r.ptr != first + length[k]) return false;
  }
  const bool leap = (part[0] % 4 == 0 && part[0] % 100 != 0) || part[0] % 400 == 0;
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (part[0] < 1 || part[1] < 1 || part[1] > 12 || part[2] < 1) return false;
  return part[2] <= kDays[part[1] - 1] + (part[1] == 2 && leap ? 1 : 0);
}

Value Validator::date(const FieldType& type, const Value& input, const std::string& path) {
  const bool with_time = type.tag == FieldType::Tag::Datetime;
  if (input.kind() == Kind::Date)
    return with_time ? Value::datetime(input.as_str() + " 00:00:00") : input;
  if (input.kind() == Kind::Datetime) {
    if (with_time) return input;
    if (input.as_str().substr(10) == " 00:00:00") return Value::date(input.as_str().substr(0, 10));
    return refuse(path, "Datetimes provided to dates should have zero time - e.g. be exact dates",
                  "date_from_datetime_inexact", input);
  }
  if (input.is_str()) {
    std::string text = input.as_str();
    if (looks_like_date(text))
      return with_time ? Value::datetime(text + " 00:00:00") : Value::date(text);
    if (with_time && text.size() == 19 && looks_like_date(text.substr(0, 10)) &&
        (text[10] == 'T' || text[10] == ' ')) {
      text[10] = ' ';
      return Value::datetime(text);
    }
    return with_time ? refuse(path, "Input should be a valid datetime or date, input is too short",
                              "datetime_from_date_parsing", input)
                     : refuse(path, "Input should be a valid date or datetime, input is too short",
                              "date_from_datetime_parsing", input);
  }
  return with_time ? refuse(path, "Input should be a valid datetime", "datetime_type", input)
                   : refuse(path, "Input should be a valid date", "date_type", input);
}

Value Validator::field(const FieldType& type, const Value& input, const std::string& path) {
  switch (type.tag) {
    case FieldType::Tag::Any:
      return input;
    case FieldType::Tag::Str:
      return text(input, path);
    case FieldType::Tag::Int:
      return integer(input, path);
    case FieldType::Tag::Float:
      return number(input, path);
    case FieldType::Tag::Bool:
      return boolean(input, path);
    case FieldType::Tag::Literal:
      return literal(type, input, path);
    case FieldType::Tag::Enum:
      return enumerator(type, input, path);
    case FieldType::Tag::List:
      return list(type, input, path);
    case FieldType::Tag::Dict:
      return dict(type, input, path);
    case FieldType::Tag::Optional:
      return input.is_none() ? input : field(type.of[0], input, path);
    case FieldType::Tag::Model:
      return model(*type.model_class, input, path);
    case FieldType::Tag::Union:
      return choice(type, input, path);
    case FieldType::Tag::Date:
    case FieldType::Tag::Datetime:
      return date(type, input, path);
  }
  return input;
}

Value Validator::model(const ModelClass& model_class, const Value& input, const std::string& path) {
  if (input.is_model(model_class)) return input;
  if (!input.is_dict())
    return refuse(path, "Input should be a valid dictionary or instance of " + model_class.name,
                  "model_type", input);
  std::vector<Value> values;
  values.reserve(model_class.fields.size());
  for (const Field& f : model_class.fields) {
    if (const Value* given = input.find(f.name))
      values.push_back(field(f.type, *given, joined(path, f.name)));
    else if (f.fallback)
      values.push_back(*f.fallback);
    else
      values.push_back(refuse(joined(path, f.name), "Field required", "missing", input));
  }
  if (model_class.extra == ExtraFields::Forbidden)
    for (std::size_t i = 0; i < input.size(); ++i)
      if (model_class.keys->keys.find(input.key(i)) == DictKeys::kAbsent)
        refuse(joined(path, input.key(i)), "Extra inputs are not permitted", "extra_forbidden",
               input[i]);
  return Value::model(model_class, std::move(values));
}

bool inside_character(const std::string& text, std::size_t i) {
  return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
}

// A repr of more than 50 bytes keeps its first 25 and its last 24, whole characters only.
std::string shortened(const std::string& text) {
  if (text.size() <= 50) return text;
  std::size_t head = 25;
  while (inside_character(text, head)) --head;
  std::size_t tail = text.size() - 24;
  while (inside_character(text, tail)) ++tail;
  return text.substr(0, head) + "..." + text.substr(tail);
}

// pydantic prints type(input).__qualname__, without the module.
std::string input_type(const Value& input) {
  const std::string name = python::type_name(input);
  return name.substr(name.rfind('.') + 1);
}

std::string report(const std::string& title, const Findings& findings) {
  std::string out = std::to_string(findings.size()) + " validation error" +
                    (findings.size() == 1 ? "" : "s") + " for " + title;
  for (const Finding& f : findings) {
    if (!f.path.empty()) out += "\n" + f.path;
    out += "\n  " + f.text + " [type=" + f.type +
           ", input_value=" + shortened(python::repr(f.input)) +
           ", input_type=" + input_type(f.input) +
           "]\n    For further information visit https://errors.pydantic.dev/2.12/v/" + f.type;
  }
  return out;
}

}  // namespace

Value validated(const ModelClass& model_class, const Value& input) {
  Validator validator;
  Value value = validator.model(model_class, input, "");
  if (!validator.findings.empty())
    throw PythonError(report(model_class.name, validator.findings), "ValidationError");
  return value;
}

}  // namespace unmask
