// Reads single fields of a record into plain values, and says when a field has the wrong type.
// Internal to ingest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/lazy_json.h"
#include "ingest/notes.h"

namespace unmask {

// Fields of one record. Absent and null leave the target as it is; so does a value of another type,
// which is a counted warning "wrong_type" (or "not_finite" for NaN and the infinities, which are
// read as null).
class FieldReader {
 public:
  FieldReader(Notes& notes, std::string_view where) : notes_(&notes), where_(where) {}

  void text(LazyValue value, std::string_view field, std::string& out) const;
  void number(LazyValue value, std::string_view field, std::optional<double>& out) const;
  void integer(LazyValue value, std::string_view field, std::optional<std::int64_t>& out) const;
  void small(LazyValue value, std::string_view field, std::optional<int>& out) const;
  void boolean(LazyValue value, std::string_view field, bool& out) const;
  // A text, or a number kept as its decimal text.
  void label(LazyValue value, std::string_view field, std::string& out) const;
  // A text, or a list of content parts {"type": "text", "text": ...} joined without separator.
  void content(LazyValue value, std::string_view field, std::string& out) const;

  // True when the value is an object (an array); else warns unless it is null.
  bool object(LazyValue value, std::string_view field) const;
  bool array(LazyValue value, std::string_view field) const;

  void wrong_type(LazyValue value, std::string_view field, std::string_view expected) const;
  // The member `field` came a second time; the first one counts.
  void duplicate(std::string_view field) const;
  // What had to be mended before the record could be read.
  void repairs(const LazyRecord::Repairs& repairs) const;

  Notes& notes() const { return *notes_; }
  std::string_view where() const { return where_; }

 private:
  Notes* notes_;
  std::string_view where_;
};

// Which members of an object have been seen, so that the first of a repeated one counts.
class SeenFields {
 public:
  // False, with a warning, when `index` was seen before. index < 64.
  bool first(int index, std::string_view field, const FieldReader& fields) {
    const std::uint64_t bit = std::uint64_t{1} << index;
    if ((seen_ & bit) == 0) {
      seen_ |= bit;
      return true;
    }
    fields.duplicate(field);
    return false;
  }
  bool has(int index) const { return (seen_ >> index & 1) != 0; }

 private:
  std::uint64_t seen_ = 0;
};

}  // namespace unmask
