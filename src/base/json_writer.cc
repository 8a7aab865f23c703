#include "base/json_writer.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/check.h"
#include "base/utf8.h"

namespace unmask {

std::string json_number(double v) {
  char buffer[40];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof buffer, v);
  return std::string(buffer, end.ptr);
}

void append_json_string(std::string& out, std::string_view text, bool ascii) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x80) {
      const Utf8Step step = decode_utf8(text, i);
      if (!ascii && step.valid)
        out.append(text.substr(i, step.length));
      else if (!ascii)
        out += "\xEF\xBF\xBD";
      else if (step.code_point >= 0x10000)
        out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((step.code_point - 0x10000) >> 10),
                           0xDC00 + ((step.code_point - 0x10000) & 0x3FF));
      else
        out += fmt::format("\\u{:04x}", step.code_point);
      i += step.length;
      continue;
    }
    ++i;
    switch (byte) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (byte < 0x20 || byte == 0x7f)
          out += fmt::format("\\u{:04x}", byte);
        else
          out += static_cast<char>(byte);
    }
  }
  out += '"';
}

void JsonWriter::new_line() {
  if (indent_ == 0) return;
  out_ += '\n';
  out_.append(levels_.size() * static_cast<std::size_t>(indent_), ' ');
}

void JsonWriter::before_value(bool container) {
  if (key_pending_) {
    key_pending_ = false;
    return;
  }
  if (levels_.empty()) {
    UNMASK_CHECK(out_.empty());
    return;
  }
  Level& level = levels_.back();
  UNMASK_CHECK(!level.object);
  if (!level.empty) out_ += container && indent_ > 0 ? "," : ", ";
  if (container) {
    level.nested = true;
    new_line();
  }
  level.empty = false;
}

JsonWriter& JsonWriter::begin_object() {
  before_value(true);
  out_ += '{';
  levels_.push_back({true});
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  UNMASK_CHECK(!levels_.empty() && levels_.back().object && !key_pending_);
  const bool empty = levels_.back().empty;
  levels_.pop_back();
  if (!empty) new_line();
  out_ += '}';
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  before_value(true);
  out_ += '[';
  levels_.push_back({false});
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  UNMASK_CHECK(!levels_.empty() && !levels_.back().object);
  const bool nested = levels_.back().nested;
  levels_.pop_back();
  if (nested) new_line();
  out_ += ']';
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  UNMASK_CHECK(!levels_.empty() && levels_.back().object && !key_pending_);
  Level& level = levels_.back();
  if (!level.empty) out_ += indent_ > 0 ? "," : ", ";
  level.empty = false;
  new_line();
  append_json_string(out_, name);
  out_ += ": ";
  key_pending_ = true;
  return *this;
}

JsonWriter& JsonWriter::null() {
  before_value(false);
  out_ += "null";
  return *this;
}

JsonWriter& JsonWriter::value(bool v) {
  before_value(false);
  out_ += v ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::value(double v) {
  if (!std::isfinite(v)) return null();
  before_value(false);
  out_ += json_number(v == 0 ? 0.0 : v);  // never "-0"
  return *this;
}

JsonWriter& JsonWriter::integer(std::int64_t v) {
  before_value(false);
  out_ += std::to_string(v);
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view v) {
  before_value(false);
  append_json_string(out_, v);
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  before_value(false);
  out_ += json;
  return *this;
}

}  // namespace unmask
