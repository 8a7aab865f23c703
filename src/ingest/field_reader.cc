#include "ingest/field_reader.h"

#include <limits>
#include <utility>

namespace unmask {

void FieldReader::wrong_type(LazyValue value, std::string_view field,
                             std::string_view expected) const {
  const LazyKind kind = value.kind();
  if (kind == LazyKind::Null) return;
  if (kind == LazyKind::NotFinite) {
    notes_->warn("not_finite", "'" + std::string(field) + "' is NaN or infinite, read as null",
                 where_);
    return;
  }
  notes_->warn("wrong_type",
               "'" + std::string(field) + "' is not " + std::string(expected) + ", ignored",
               where_);
}

void FieldReader::text(LazyValue value, std::string_view field, std::string& out) const {
  if (std::optional<std::string> text = value.string()) {
    out = std::move(*text);
  } else {
    wrong_type(value, field, "a text");
  }
}

void FieldReader::number(LazyValue value, std::string_view field,
                         std::optional<double>& out) const {
  if (const std::optional<double> number = value.number()) {
    out = number;
  } else {
    wrong_type(value, field, "a number");
  }
}

void FieldReader::integer(LazyValue value, std::string_view field,
                          std::optional<std::int64_t>& out) const {
  if (const std::optional<std::int64_t> number = value.integer()) {
    out = number;
  } else {
    wrong_type(value, field, "a whole number");
  }
}

void FieldReader::small(LazyValue value, std::string_view field, std::optional<int>& out) const {
  const std::optional<std::int64_t> number = value.integer();
  if (number && *number >= std::numeric_limits<int>::min() &&
      *number <= std::numeric_limits<int>::max()) {
    out = static_cast<int>(*number);
  } else {
    wrong_type(value, field, "a whole number of at most nine digits");
  }
}

void FieldReader::boolean(LazyValue value, std::string_view field, bool& out) const {
  if (const std::optional<bool> truth = value.boolean()) {
    out = *truth;
  } else {
    wrong_type(value, field, "true or false");
  }
}

void FieldReader::label(LazyValue value, std::string_view field, std::string& out) const {
  if (value.kind() == LazyKind::Number) {
    out = value.token();
  } else {
    text(value, field, out);
  }
}

void FieldReader::content(LazyValue value, std::string_view field, std::string& out) const {
  if (value.kind() != LazyKind::Array) return text(value, field, out);
  value.each_element([&](LazyValue part) {
    if (std::optional<std::string> plain = part.string()) {
      out += *plain;
      return;
    }
    part.each_member([&](std::string_view key, LazyValue member) {
      if (key != "text") return;
      if (const std::optional<std::string> piece = member.string()) out += *piece;
    });
  });
}

bool FieldReader::object(LazyValue value, std::string_view field) const {
  if (value.kind() == LazyKind::Object) return true;
  wrong_type(value, field, "an object");
  return false;
}

bool FieldReader::array(LazyValue value, std::string_view field) const {
  if (value.kind() == LazyKind::Array) return true;
  wrong_type(value, field, "a list");
  return false;
}

void FieldReader::duplicate(std::string_view field) const {
  notes_->warn("duplicate_key",
               "'" + std::string(field) + "' occurs more than once, the first one counts", where_);
}

void FieldReader::repairs(const LazyRecord::Repairs& repairs) const {
  if (repairs.text.invalid_utf8)
    notes_->warn("invalid_utf8", "bytes that are not UTF-8 were replaced by U+FFFD", where_);
  if (repairs.text.control_character)
    notes_->warn("control_characters", "raw control characters inside texts were accepted", where_);
  if (repairs.text.non_finite)
    notes_->warn("not_finite", "NaN or infinite numbers were read as null", where_);
  if (repairs.escapes > 0 || repairs.text.lone_surrogate)
    notes_->warn("invalid_escape",
                 "escapes that stand for no character (a lone surrogate) were replaced by U+FFFD",
                 where_);
}

}  // namespace unmask
