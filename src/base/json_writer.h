// Writes JSON with a fixed layout: same values in, same bytes out.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace unmask {

// A streaming writer. Keys keep the order they are written in; doubles are the shortest text that
// reads back equal; what is not finite or absent is null; text that is not UTF-8 has the offending
// bytes replaced by U+FFFD. Nesting mistakes are UNMASK_CHECK failures.
//
//   JsonWriter json;
//   json.begin_object().key("rate").value(0.5).key("ci95").null().end_object();
//   json.text()  ->  {"rate": 0.5, "ci95": null}
class JsonWriter {
 public:
  // indent 0: one line. Arrays of scalars stay on one line either way.
  explicit JsonWriter(int indent = 0) : indent_(indent) {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);

  JsonWriter& null();
  JsonWriter& value(bool v);
  JsonWriter& value(double v);
  JsonWriter& value(std::string_view v);
  JsonWriter& value(const char* v) { return value(std::string_view(v)); }
  JsonWriter& value(const std::string& v) { return value(std::string_view(v)); }
  template <std::integral T>
  requires(!std::same_as<T, bool>) JsonWriter& value(T v) {
    return integer(static_cast<std::int64_t>(v));
  }
  template <typename T>
  JsonWriter& value(const std::optional<T>& v) {
    return v ? value(*v) : null();
  }
  template <typename T>
  JsonWriter& field(std::string_view name, const T& v) {
    return key(name).value(v);
  }
  // `json` must be one valid JSON value; it is copied as it is.
  JsonWriter& raw(std::string_view json);

  const std::string& text() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  struct Level {
    bool object;
    bool empty = true;
    bool nested = false;  // holds an object or array, so lines are broken
  };
  JsonWriter& integer(std::int64_t v);
  void before_value(bool container);
  void new_line();

  int indent_;
  std::string out_;
  std::vector<Level> levels_;
  bool key_pending_ = false;
};

// Appends `text` as a JSON string with quotes. ascii: escape everything beyond 0x7e as \uXXXX.
void append_json_string(std::string& out, std::string_view text, bool ascii = false);

// The shortest decimal text that reads back as `v` ("0.1", "1e+16", "5.0" is written "5").
std::string json_number(double v);

}  // namespace unmask
