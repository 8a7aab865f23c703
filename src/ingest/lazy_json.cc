#include "ingest/lazy_json.h"

#include <simdjson.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "ingest/json_repair.h"

namespace unmask {
namespace {

namespace od = simdjson::ondemand;

// Beyond this the parser's index alone would take gigabytes.
constexpr std::size_t kMaxRecord = std::size_t{1} << 30;
// Buffers larger than this are given back once a smaller record comes.
constexpr std::size_t kKeptBuffer = std::size_t{8} << 20;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// A loop: find_last_not_of calls memchr for each blank of an indented file, which shows.
std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

// The four hexadecimal digits at text[i].
std::optional<std::uint32_t> hex4(std::string_view text, std::size_t i) {
  if (i + 4 > text.size()) return std::nullopt;
  std::uint32_t value = 0;
  for (const char c : text.substr(i, 4)) {
    const char lower = static_cast<char>(c | 0x20);
    if (c >= '0' && c <= '9') {
      value = value * 16 + static_cast<std::uint32_t>(c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      value = value * 16 + static_cast<std::uint32_t>(lower - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  return value;
}

}  // namespace

struct LazyRecord::Parser {
  od::parser parser;
  std::string buffer;  // the record, then padding
  od::document document;
};

LazyRecord::LazyRecord() : parser_(std::make_unique<Parser>()) {}
LazyRecord::~LazyRecord() = default;

void LazyRecord::fail(std::string_view what) {
  if (error_.empty()) error_ = what;
}

bool LazyRecord::index(std::string_view text) {
  std::string& buffer = parser_->buffer;
  buffer.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  buffer.assign(text);
  buffer.append(simdjson::SIMDJSON_PADDING, ' ');
  const simdjson::error_code code =
      parser_->parser.iterate(buffer.data(), text.size(), buffer.size()).get(parser_->document);
  if (code == simdjson::SUCCESS) return true;
  fail(simdjson::error_message(code));
  return code != simdjson::UTF8_ERROR && code != simdjson::UNESCAPED_CHARS;
}

bool LazyRecord::load(std::string_view text) {
  error_.clear();
  repairs_ = Repairs();
  if (text.size() > kMaxRecord) {
    fail("the record is larger than 1 GiB");
    return false;
  }
  if (parser_->buffer.capacity() > kKeptBuffer && text.size() < kKeptBuffer)
    parser_ = std::make_unique<Parser>();
  if (index(text)) return error_.empty();
  error_.clear();
  return index(repair_json(text, repairs_.text)) && error_.empty();
}

bool LazyRecord::visit(Visitor<void(LazyValue value)> visit) {
  od::value root;
  const simdjson::error_code code = parser_->document.get_value().get(root);
  if (code != simdjson::SUCCESS) {
    fail(simdjson::error_message(code));
    return false;
  }
  visit(LazyValue(*this, &root));
  return error_.empty();
}

LazyKind LazyValue::kind() const {
  const std::string_view text = token();
  if (text.empty()) return LazyKind::Invalid;
  switch (text[0]) {
    case '{':
      return LazyKind::Object;
    case '[':
      return LazyKind::Array;
    case '"':
      return LazyKind::String;
    case 't':
      return text == "true" ? LazyKind::Bool : LazyKind::Invalid;
    case 'f':
      return text == "false" ? LazyKind::Bool : LazyKind::Invalid;
    case 'n':
      return text == "null" ? LazyKind::Null : LazyKind::Invalid;
    case 'N':
      return text == "NaN" ? LazyKind::NotFinite : LazyKind::Invalid;
    case 'I':
      return text == "Infinity" ? LazyKind::NotFinite : LazyKind::Invalid;
    case '-':
      return text == "-Infinity" ? LazyKind::NotFinite : LazyKind::Number;
    default:
      return text[0] >= '0' && text[0] <= '9' ? LazyKind::Number : LazyKind::Invalid;
  }
}

std::string_view LazyValue::token() const {
  return trimmed(static_cast<od::value*>(value_)->raw_json_token());
}

void LazyValue::each_member(Visitor<void(std::string_view key, LazyValue value)> visit) {
  if (token().substr(0, 1) != "{") return;
  od::object object;
  simdjson::error_code code = static_cast<od::value*>(value_)->get_object().get(object);
  if (code != simdjson::SUCCESS) return record_->fail(simdjson::error_message(code));
  for (auto item : object) {
    od::field field;
    if ((code = std::move(item).get(field)) != simdjson::SUCCESS)
      return record_->fail(simdjson::error_message(code));
    std::string_view key;
    std::string rescued;
    const char* const written = field.key().raw() - 1;  // at its opening quote
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) {
      const std::string& buffer = record_->parser_->buffer;
      rescued = unescape_json(
          {written, static_cast<std::size_t>(buffer.data() + buffer.size() - written)},
          &record_->repairs_.escapes);
      key = rescued;
    }
    visit(key, LazyValue(*record_, &field.value()));
    if (!record_->error_.empty()) return;
  }
}

void LazyValue::each_element(Visitor<void(LazyValue value)> visit) {
  if (token().substr(0, 1) != "[") return;
  od::array array;
  simdjson::error_code code = static_cast<od::value*>(value_)->get_array().get(array);
  if (code != simdjson::SUCCESS) return record_->fail(simdjson::error_message(code));
  for (auto item : array) {
    od::value value;
    if ((code = std::move(item).get(value)) != simdjson::SUCCESS)
      return record_->fail(simdjson::error_message(code));
    visit(LazyValue(*record_, &value));
    if (!record_->error_.empty()) return;
  }
}

std::optional<std::string> LazyValue::string() {
  const std::string_view written = token();
  if (written.substr(0, 1) != "\"") return std::nullopt;
  std::string_view text;
  if (static_cast<od::value*>(value_)->get_string().get(text) == simdjson::SUCCESS)
    return std::string(text);
  return unescape_json(written, &record_->repairs_.escapes);
}

std::optional<bool> LazyValue::boolean() {
  const std::string_view text = token();
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::optional<double> LazyValue::number() {
  if (kind() != LazyKind::Number) return std::nullopt;
  double value = 0;
  if (static_cast<od::value*>(value_)->get_double().get(value) != simdjson::SUCCESS ||
      !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<std::int64_t> LazyValue::integer() {
  if (kind() != LazyKind::Number) return std::nullopt;
  std::int64_t value = 0;
  if (static_cast<od::value*>(value_)->get_int64().get(value) == simdjson::SUCCESS) return value;
  const std::optional<double> real = number();
  // Within 2^53 a double is the integer that was written.
  if (!real || std::abs(*real) > 9007199254740992.0 || *real != std::floor(*real))
    return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

std::string_view LazyValue::text() {
  const std::string_view scalar = token();
  const char first = scalar.empty() ? '\0' : scalar[0];
  if (first != '{' && first != '[') return scalar;
  std::string_view text;
  simdjson::error_code code = simdjson::SUCCESS;
  if (first == '{') {
    od::object object;
    code = static_cast<od::value*>(value_)->get_object().get(object);
    if (code == simdjson::SUCCESS) code = object.raw_json().get(text);
  } else {
    od::array array;
    code = static_cast<od::value*>(value_)->get_array().get(array);
    if (code == simdjson::SUCCESS) code = array.raw_json().get(text);
  }
  if (code != simdjson::SUCCESS) record_->fail(simdjson::error_message(code));
  return trimmed(text);
}

std::string unescape_json(std::string_view token, int* replaced) {
  constexpr std::uint32_t kReplacement = 0xFFFD;
  std::string out;
  out.reserve(token.size());
  const auto replace = [&] {
    append_utf8(out, kReplacement);
    if (replaced != nullptr) ++*replaced;
  };
  for (std::size_t i = 1; i < token.size() && token[i] != '"'; ++i) {
    if (token[i] != '\\') {
      out += token[i];
      continue;
    }
    if (++i >= token.size()) break;
    switch (token[i]) {
      case '"':
      case '\\':
      case '/':
        out += token[i];
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u': {
        const std::optional<std::uint32_t> unit = hex4(token, i + 1);
        if (!unit) {
          replace();
          break;
        }
        i += 4;
        if (*unit < 0xD800 || *unit > 0xDFFF) {
          append_utf8(out, *unit);
          break;
        }
        const std::optional<std::uint32_t> low =
            token.substr(i + 1, 2) == "\\u" ? hex4(token, i + 3) : std::nullopt;
        if (*unit <= 0xDBFF && low && *low >= 0xDC00 && *low <= 0xDFFF) {
          append_utf8(out, 0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00));
          i += 6;
        } else {
          replace();
        }
        break;
      }
      default:
        replace();
    }
  }
  return out;
}

}  // namespace unmask
