// The user's copy of τ²-bench's data: databases, tasks, policies, guidelines.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "environment/value.h"

namespace unmask {

class DataFolder {
 public:
  // `path` is a τ²-bench checkout, its data folder, or data/tau2.
  // Errors   NotFound, with one sentence that says what to download and where to put it.
  static Result<DataFolder> open(const std::string& path);

  // No folder at all, for domains that need none: reading anything is NotFound.
  static DataFolder absent() { return DataFolder(""); }

  const std::string& root() const { return root_; }  // the folder that holds domains/
  std::string path(std::string_view relative) const;
  bool has(std::string_view relative) const;

  // Errors   NotFound, Unavailable, Malformed (where = "file:line L, byte B").
  Result<std::string> text(std::string_view relative) const;  // line ends become \n
  Result<Value> json(std::string_view relative) const;
  Result<Value> toml(std::string_view relative) const;

 private:
  explicit DataFolder(std::string root) : root_(std::move(root)) {}
  std::string root_;
};

// Reads TOML text: dates become Date and Datetime values.
// Errors   Malformed, where = "line L, column C".
Result<Value> parse_toml(std::string_view text);

// `database` as an instance of the class, for a file that holds a domain's state.
// Errors   Malformed: the first finding, in one sentence, where = `file`.
Result<Value> checked_database(const struct ModelClass& model_class, const Value& database,
                               const std::string& file);

}  // namespace unmask
