// TOML as a tree in which every value knows its file and line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unmask {

struct TomlMember;

struct TomlValue {
  enum class Kind { Text, Whole, Number, Flag, Time, List, Table };
  Kind kind = Kind::Table;
  std::string text;  // Text
  std::int64_t whole = 0;
  double number = 0;
  bool flag = false;
  std::vector<TomlValue> items;     // List
  std::vector<TomlMember> members;  // Table, sorted by key
  std::string file;
  unsigned line = 0;  // 1-based

  std::optional<std::string> as_text() const;
  std::optional<std::int64_t> as_whole() const;
  std::optional<double> as_number() const;  // Number or Whole
  std::optional<bool> as_flag() const;
  const TomlValue* get(std::string_view key) const;  // nullptr: no such member, or no table
  std::string place() const;                         // "plan.toml:12"
};

struct TomlMember {
  std::string key;
  TomlValue value;
};

// The root table. `file` is what errors and places call the text.
// Errors   Malformed, with the line.
Result<TomlValue> read_toml_tree(std::string_view toml, const std::string& file);

}  // namespace unmask
