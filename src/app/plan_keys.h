// The keys of TOML tables, read from a tree. Internal to plan_toml.cc and gate_toml.cc.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/nearest.h"
#include "app/toml_tree.h"
#include "base/check.h"
#include "base/result.h"

namespace unmask {

using Names = std::vector<std::string>;
using Layers = std::vector<const TomlValue*>;

// Where a relative path of this node begins.
inline std::string beside(const TomlValue& node, const std::string& path) {
  const std::filesystem::path file(node.file);
  return (file.parent_path() / path).lexically_normal().string();
}

// Nothing that would break a line or a terminal.
inline bool is_plain(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// Keeps the first thing that is wrong.
class Complaints {
 public:
  void add(const TomlValue& node, const std::string& message,
           ErrorKind kind = ErrorKind::Malformed) {
    if (!first_) first_ = Error{kind, message, node.place()};
  }
  const std::optional<Error>& first() const { return first_; }

 private:
  std::optional<Error> first_;
};

// The keys of one thing ("an arm", "[user]") in its layers.
class Keys {
 public:
  Keys(std::string owner, const Names& known, Layers layers, Complaints& complaints)
      : owner_(std::move(owner)),
        known_(known),
        layers_(std::move(layers)),
        complaints_(complaints) {}

  // `table`: one of the layers, or a table that is to become one.
  static void check(const std::string& owner, const Names& known, const TomlValue& table,
                    Complaints& complaints) {
    for (const auto& [key, value] : table.members) {
      std::string name = key;
      if (!is_plain(name)) name = "?";
      if (std::find(known.begin(), known.end(), name) == known.end())
        complaints.add(value,
                       fmt::format("{} has no key '{}'{}", owner, name, did_you_mean(name, known)));
    }
  }

  const TomlValue* find(std::string_view key) const {
    UNMASK_CHECK(std::find(known_.begin(), known_.end(), key) != known_.end());
    for (const TomlValue* layer : layers_)
      if (const TomlValue* node = layer->get(key)) return node;
    return nullptr;
  }

  // The innermost table, for what is missing. Layers are never empty.
  const TomlValue& self() const { return *layers_.front(); }

  void wrong(const TomlValue& node, const std::string& message) { complaints_.add(node, message); }

  void missing(std::string_view key) {
    wrong(self(), fmt::format("{} needs the key '{}'", owner_, key));
  }

  std::string text(std::string_view key, std::string otherwise = "") {
    const TomlValue* node = find(key);
    if (!node) return otherwise;
    const std::optional<std::string> value = node->as_text();
    const bool plain =
        value && !value->empty() && std::none_of(value->begin(), value->end(), [](char c) {
          return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
        });
    if (!plain)
      wrong(*node, fmt::format("'{}' must be a text that is not empty, on one line", key));
    return plain ? *value : std::move(otherwise);
  }

  std::string needed_text(std::string_view key) {
    if (!find(key)) missing(key);
    return text(key);
  }

  Names texts(std::string_view key) {
    const TomlValue* node = find(key);
    if (!node) return {};
    Names values;
    if (node->items.empty())
      wrong(*node, fmt::format("'{}' must be a list of texts that is not empty", key));
    for (const TomlValue& item : node->items) {
      const std::optional<std::string> value = item.as_text();
      if (!value || value->empty() || !is_plain(*value))
        wrong(item, fmt::format("'{}' must be a list of texts that are not empty, each on "
                                "one line",
                                key));
      else if (std::find(values.begin(), values.end(), *value) != values.end())
        wrong(item, fmt::format("'{}' names '{}' twice", key, *value));
      else
        values.push_back(*value);
    }
    return values;
  }

  std::optional<std::int64_t> whole(std::string_view key, std::int64_t least, std::int64_t most) {
    const TomlValue* node = find(key);
    if (!node) return std::nullopt;
    const std::optional<std::int64_t> value = node->as_whole();
    if (value && *value >= least && *value <= most) return value;
    wrong(*node, most == std::numeric_limits<std::int64_t>::max()
                     ? fmt::format("'{}' must be a whole number, at least {}", key, least)
                     : fmt::format("'{}' must be a whole number from {} to {}", key, least, most));
    return std::nullopt;
  }

  void whole(std::string_view key, int least, int most, int& value) {
    if (const std::optional<std::int64_t> given = whole(key, std::int64_t{least}, most))
      value = static_cast<int>(*given);
  }

  std::optional<double> number(std::string_view key, double least, double most) {
    const TomlValue* node = find(key);
    if (!node) return std::nullopt;
    const std::optional<double> value = node->as_number();
    if (value && *value >= least && *value <= most) return value;
    wrong(*node, fmt::format("'{}' must be a number from {} to {}", key, least, most));
    return std::nullopt;
  }

  void flag(std::string_view key, bool& value) {
    const TomlValue* node = find(key);
    if (!node) return;
    const std::optional<bool> given = node->as_flag();
    if (!given) wrong(*node, fmt::format("'{}' must be true or false", key));
    value = given.value_or(value);
  }

 private:
  std::string owner_;
  const Names& known_;
  Layers layers_;
  Complaints& complaints_;
};

}  // namespace unmask
