// A JSON text from a log, parsed whole, as values to look at in any order and more than once; for
// formats whose records say first what only makes sense later. Internal to ingest.
//
// Tolerant where Python's json module, which wrote most logs, is: NaN and infinities are read as
// null, halves of surrogate pairs as U+FFFD, integers beyond 64 bits as the nearest double; bytes
// that are not UTF-8 and bare control characters in strings are mended. What had to be mended is
// told.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace unmask {

// One value inside a JsonTree, valid while the document lives. Copying is cheap. Asking for
// something the value is not gives absence, never an error.
class JsonNode {
 public:
  enum class Kind { Absent, Null, Boolean, Integer, Real, Text, Array, Object };

  JsonNode() = default;  // absent

  Kind kind() const;
  bool missing() const;  // absent or null
  bool is_object() const { return kind() == Kind::Object; }
  bool is_array() const { return kind() == Kind::Array; }
  bool is_text() const { return kind() == Kind::Text; }

  // The member of an object; of repeated keys the last, as in Python.
  JsonNode operator[](std::string_view key) const;

  std::optional<std::string_view> text() const;
  std::optional<bool> boolean() const;
  std::optional<double> number() const;         // an integer or a real, always finite
  std::optional<std::int64_t> integer() const;  // also a real without a fraction

  std::string_view text_or(std::string_view other) const { return text().value_or(other); }

  // Python's idea: null, false, 0, "", [] and {} are not; nor is absence.
  bool truthy() const;

  std::vector<JsonNode> elements() const;                              // empty unless an array
  std::vector<std::pair<std::string_view, JsonNode>> members() const;  // empty unless an object

  // Compact JSON. `replace`, when given, is asked for the text to write for every string value.
  using TextMap = std::function<std::string_view(std::string_view)>;
  std::string to_json(const TextMap& replace = {}) const;
  // The same with the keys of every object sorted.
  std::string to_sorted_json() const;

 private:
  friend class JsonTree;
  struct Access;
  bool present_ = false;
  alignas(void*) std::array<std::byte, 2 * sizeof(void*)> element_{};
};

// What a text needed before it could be read.
struct JsonRepairs {
  bool non_finite = false;      // NaN, Infinity, or a number beyond a double: null now
  bool invalid_utf8 = false;    // U+FFFD now
  bool lone_surrogate = false;  // U+FFFD now
  bool control_character = false;
  bool wide_integer = false;  // beyond 64 bits: the nearest double now

  bool any() const {
    return non_finite || invalid_utf8 || lone_surrogate || control_character || wide_integer;
  }
};

class JsonTree {
 public:
  // Errors   Malformed: "is not JSON at byte 812: ...", byte counted in `text`; nests deeper than
  //          1024 levels; 4 GiB or longer.
  // Threads  independent texts may be parsed at the same time.
  static Result<JsonTree> parse(std::string_view text, JsonRepairs* repairs = nullptr);

  JsonTree(JsonTree&&) noexcept;
  JsonTree& operator=(JsonTree&&) noexcept;
  ~JsonTree();

  JsonNode root() const;

 private:
  struct State;
  explicit JsonTree(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace unmask
