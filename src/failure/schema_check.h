// Do a call's arguments break the JSON Schema of its tool?
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "failure/channel.h"

namespace unmask {

struct SchemaBreach {
  SubKind kind = SubKind::WrongType;  // Missing, Unexpected or WrongType
  std::string text;                   // the first complaint, one line
};

// Compiles schemas once and keeps them.
//
// Threads  breach() may be called concurrently.
class SchemaChecker {
 public:
  struct Compiled;

  SchemaChecker();
  ~SchemaChecker();

  // How `arguments` break `schema` (both JSON text), or nullopt: they do not, or it cannot be told,
  // because the schema is empty, broken, refers to another document or to itself, or is too large.
  // Patterns, formats and uniqueItems are not checked: their cost has no bound that holds for
  // whatever a log may contain. Nothing is ever fetched.
  std::optional<SchemaBreach> breach(const std::string& schema, std::string_view arguments) const;

 private:
  std::shared_ptr<const Compiled> compiled(const std::string& schema) const;

  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, std::shared_ptr<const Compiled>> cache_;
};

// Depth of the deepest array or object in a JSON-like text; brackets inside strings do not count.
int nesting_depth(std::string_view json);

inline constexpr int kDeepestJson = 64;

}  // namespace unmask
