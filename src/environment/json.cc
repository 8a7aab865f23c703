#include "environment/json.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "base/utf8.h"
#include "environment/python.h"
#include "environment/schema.h"

namespace unmask {

namespace {

constexpr int kDeepest = 500;

// Recursive descent over the bytes; the first mistake stops it.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<Value> read() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    std::optional<Value> value = value_at(0);
    if (value) {
      skip_space();
      if (at_ != text_.size()) fail("something follows the value");
    }
    if (!problem_.empty()) return Error{ErrorKind::Malformed, problem_, place()};
    return std::move(*value);
  }

 private:
  std::nullopt_t fail(std::string problem) {
    if (problem_.empty()) problem_ = "not JSON: " + std::move(problem);
    return std::nullopt;
  }

  std::string place() const {
    const std::size_t end = std::min(at_, text_.size());
    const auto lines =
        std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    return "line " + std::to_string(lines + 1) + ", byte " + std::to_string(end);
  }

  void skip_space() {
    while (at_ < text_.size() &&
           std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }

  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::optional<Value> value_at(int depth) {
    if (depth > kDeepest) return fail("nested deeper than " + std::to_string(kDeepest));
    skip_space();
    if (at_ >= text_.size()) return fail("it ends where a value should begin");
    switch (text_[at_]) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"': {
        std::optional<std::string> text = string();
        if (!text) return std::nullopt;
        return Value(*text);
      }
      default:
        return word_or_number();
    }
  }

  std::optional<Value> word_or_number() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (take("null")) return Value();
    if (take("true")) return Value(true);
    if (take("false")) return Value(false);
    if (take("NaN")) return Value(std::numeric_limits<double>::quiet_NaN());
    if (take("Infinity")) return Value(kInfinity);
    if (take("-Infinity")) return Value(-kInfinity);
    return number();
  }

  std::size_t digits() {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ - start;
  }

  std::optional<Value> number() {
    const std::size_t start = at_;
    if (text_[at_] == '-') ++at_;
    const std::size_t first_digit = at_;
    const std::size_t whole = digits();
    if (whole == 0) return fail("a value should begin here");
    if (whole > 1 && text_[first_digit] == '0') {
      at_ = first_digit + 1;
      return fail("a number begins with 0");
    }
    bool real = false;
    if (at_ + 1 < text_.size() && text_[at_] == '.' && text_[at_ + 1] >= '0' &&
        text_[at_ + 1] <= '9') {
      real = true;
      ++at_;
      digits();
    }
    const std::size_t before_exponent = at_;
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (digits() == 0)
        at_ = before_exponent;
      else
        real = true;
    }
    const std::string token(text_.substr(start, at_ - start));
    return real ? Value(std::strtod(token.c_str(), nullptr)) : Value::integer(token);
  }

  std::optional<std::uint32_t> hex4() {
    std::uint32_t code = 0;
    for (int k = 0; k < 4; ++k, ++at_) {
      const char c = at_ < text_.size() ? text_[at_] : ' ';
      const char lower = static_cast<char>(c | 0x20);
      if (c >= '0' && c <= '9')
        code = code * 16 + static_cast<std::uint32_t>(c - '0');
      else if (lower >= 'a' && lower <= 'f')
        code = code * 16 + static_cast<std::uint32_t>(lower - 'a' + 10);
      else
        return fail("\\u needs four hexadecimal digits");
    }
    return code;
  }

  bool escape(std::string& out) {
    const char c = at_ < text_.size() ? text_[at_] : ' ';
    ++at_;
    const std::string_view from = "\"\\/bfnrt";
    const std::size_t known = from.find(c);
    if (known != std::string_view::npos) {
      out += "\"\\/\b\f\n\r\t"[known];
      return true;
    }
    if (c != 'u') return fail("an unknown escape in a string"), false;
    std::optional<std::uint32_t> code = hex4();
    if (!code) return false;
    if (*code >= 0xd800 && *code < 0xdc00 && text_.substr(at_).starts_with("\\u")) {
      const std::size_t back = at_;
      at_ += 2;
      const std::optional<std::uint32_t> low = hex4();
      if (!low) return false;
      if (*low >= 0xdc00 && *low < 0xe000)
        code = 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00);
      else
        at_ = back;
    }
    python::append_code_point(out, *code);
    return true;
  }

  std::optional<std::string> string() {
    std::string out;
    ++at_;
    while (at_ < text_.size()) {
      const unsigned char c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') {
        ++at_;
        return out;
      }
      if (c == '\\') {
        ++at_;
        if (!escape(out)) return std::nullopt;
      } else if (c < 0x20) {
        return fail("a control character in a string");
      } else if (c < 0x80) {
        out += text_[at_++];
      } else {
        const Utf8Step step = decode_utf8(text_, at_);
        if (!step.valid) return fail("bytes that are not UTF-8 in a string");
        out.append(text_.substr(at_, step.length));
        at_ += step.length;
      }
    }
    return fail("a string is not closed");
  }

  std::optional<Value> array(int depth) {
    ++at_;
    std::vector<Value> items;
    skip_space();
    if (take("]")) return Value::list();
    while (true) {
      std::optional<Value> item = value_at(depth + 1);
      if (!item) return std::nullopt;
      items.push_back(std::move(*item));
      skip_space();
      if (take("]")) return Value::list(std::move(items));
      if (!take(",")) return fail("a list needs ',' or ']' here");
    }
  }

  std::optional<Value> object(int depth) {
    ++at_;
    Value dict = Value::dict();
    skip_space();
    if (take("}")) return dict;
    while (true) {
      skip_space();
      if (at_ >= text_.size() || text_[at_] != '"') return fail("an object needs a key here");
      const std::optional<std::string> key = string();
      if (!key) return std::nullopt;
      skip_space();
      if (!take(":")) return fail("a key needs ':' after it");
      std::optional<Value> item = value_at(depth + 1);
      if (!item) return std::nullopt;
      dict.set(*key, std::move(*item));
      skip_space();
      if (take("}")) return dict;
      if (!take(",")) return fail("an object needs ',' or '}' here");
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string problem_;
};

void append_unicode_escape(std::string& out, std::uint32_t code) {
  constexpr char kHex[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(code >> shift) & 15];
}

// A quoted ASCII string, as json.dumps writes it.
void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    constexpr std::string_view kShort = "\"\\\n\r\t\b\f";
    const std::size_t known = kShort.find(text[i]);
    if (known != std::string_view::npos) {
      out += '\\';
      out += "\"\\nrtbf"[known];
      ++i;
    } else if (c >= 0x20 && c < 0x7f) {
      out += text[i++];
    } else if (c < 0x80) {
      append_unicode_escape(out, c);
      ++i;
    } else {
      const std::size_t length = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
      const std::vector<std::uint32_t> decoded = python::code_points(text.substr(i, length));
      const std::uint32_t code = decoded.front();
      if (code >= 0x10000) {
        append_unicode_escape(out, 0xd800 + ((code - 0x10000) >> 10));
        append_unicode_escape(out, 0xdc00 + ((code - 0x10000) & 0x3ff));
      } else {
        append_unicode_escape(out, code);
      }
      i += decoded.size() == 1 ? length : 1;
    }
  }
  out += '"';
}

std::vector<std::size_t> positions(const Value& dict, KeyOrder order) {
  std::vector<std::size_t> places(dict.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (order == KeyOrder::Sorted)  // bytes of UTF-8 sort as code points do
    std::sort(places.begin(), places.end(),
              [&](std::size_t a, std::size_t b) { return dict.key(a) < dict.key(b); });
  return places;
}

void append_object(std::string& out, const Value& dict, KeyOrder order) {
  out += '{';
  bool first = true;
  for (const std::size_t i : positions(dict, order)) {
    if (!first) out += ", ";
    first = false;
    append_string(out, dict.key(i));
    out += ": ";
    append_json(out, dict[i], order);
  }
  out += '}';
}

void append_float(std::string& out, double v) {
  if (std::isnan(v))
    out += "NaN";
  else if (std::isinf(v))
    out += v > 0 ? "Infinity" : "-Infinity";
  else
    out += python::repr(v);
}

}  // namespace

Result<Value> parse_json(std::string_view text) {
  return Reader(text).read();
}

void append_json(std::string& out, const Value& value, KeyOrder order) {
  switch (value.kind()) {
    case Kind::None:
      out += "null";
      return;
    case Kind::Bool:
      out += value.as_bool() ? "true" : "false";
      return;
    case Kind::Int:
      out += std::to_string(value.as_int());
      return;
    case Kind::BigInt:
      out += value.as_str();
      return;
    case Kind::Float:
      append_float(out, value.as_float());
      return;
    case Kind::Str:
    case Kind::Enum:
    case Kind::Date:
    case Kind::Datetime:
      append_string(out, value.as_str());
      return;
    case Kind::List: {
      out += '[';
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (i) out += ", ";
        append_json(out, value[i], order);
      }
      out += ']';
      return;
    }
    case Kind::Dict:
    case Kind::Model:
      append_object(out, value, order);
      return;
  }
}

std::string dump_json(const Value& value, KeyOrder order) {
  std::string out;
  append_json(out, value, order);
  return out;
}

namespace {

void append_indented(std::string& out, const Value& value, int spaces, int depth) {
  const bool list = value.is_list();
  if ((!list && !value.is_dict() && !value.is_model()) || value.size() == 0)
    return append_json(out, value);
  const auto new_line = [&](int levels) {
    out += '\n';
    out.append(static_cast<std::size_t>(levels * spaces), ' ');
  };
  out += list ? '[' : '{';
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (i) out += ',';
    new_line(depth + 1);
    if (!list) {
      append_string(out, value.key(i));
      out += ": ";
    }
    append_indented(out, value[i], spaces, depth + 1);
  }
  new_line(depth);
  out += list ? ']' : '}';
}

}  // namespace

std::string dump_json_indented(const Value& value, int spaces) {
  std::string out;
  append_indented(out, value, spaces, 0);
  return out;
}

namespace {

// to_json_str's treatment of what is not inside a model.
Value with_numbers_as_text(const Value& v) {
  switch (v.kind()) {
    case Kind::Bool:
    case Kind::Int:
    case Kind::BigInt:
    case Kind::Float:
      return python::str(v);
    case Kind::Datetime: {  // isoformat
      std::string text = v.as_str();
      if (text.size() > 10) text[10] = 'T';
      return text;
    }
    case Kind::List: {
      std::vector<Value> items;
      for (const Value& item : v.items()) items.push_back(with_numbers_as_text(item));
      return Value::list(std::move(items));
    }
    case Kind::Dict: {
      Value dict = Value::dict();
      for (std::size_t i = 0; i < v.size(); ++i) dict.set(v.key(i), with_numbers_as_text(v[i]));
      return dict;
    }
    default:
      return v;
  }
}

std::string sha256(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  UNMASK_CHECK(EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) ==
               1);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += "0123456789abcdef"[digest[i] >> 4];
    hex += "0123456789abcdef"[digest[i] & 15];
  }
  return hex;
}

// A table of the database: its entries' JSON is kept with them.
void append_table(std::string& out, const Value& table) {
  out += '{';
  bool first = true;
  for (const std::size_t i : positions(table, KeyOrder::Sorted)) {
    if (!first) out += ", ";
    first = false;
    append_string(out, table.key(i));
    out += ": ";
    const Value& entry = table[i];
    if (entry.is_model() || entry.is_dict()) {
      const std::string* kept = entry.cached();
      out += kept ? *kept : entry.keep(dump_json(entry, KeyOrder::Sorted));
    } else {
      append_json(out, entry, KeyOrder::Sorted);
    }
  }
  out += '}';
}

}  // namespace

std::string tool_content(const Value& result) {
  if (result.is_str()) return result.as_str();
  return dump_json(with_numbers_as_text(result));
}

std::string database_hash(const Value& database) {
  UNMASK_CHECK(database.is_model() || database.is_dict());
  if (const std::string* kept = database.cached()) return *kept;
  std::string out = "{";
  bool first = true;
  for (const std::size_t i : positions(database, KeyOrder::Sorted)) {
    if (!first) out += ", ";
    first = false;
    append_string(out, database.key(i));
    out += ": ";
    if (database[i].is_dict())
      append_table(out, database[i]);
    else
      append_json(out, database[i], KeyOrder::Sorted);
  }
  out += '}';
  return database.keep(sha256(out));
}

}  // namespace unmask
