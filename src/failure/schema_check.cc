// valijson does the validating. Before a schema reaches it, everything is taken out that would let
// a hostile or careless schema run for ever or reach out: references to other documents, references
// that form a cycle, expansion beyond a limit, regular expressions.
#define VALIJSON_USE_EXCEPTIONS 1

#include "failure/schema_check.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <unordered_set>
#include <utility>

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace unmask {

struct SchemaChecker::Compiled {
  valijson::Schema schema;
};

namespace {

using Json = nlohmann::json;

constexpr std::size_t kLargestSchema = 256 << 10;    // bytes of text
constexpr std::size_t kLargestArguments = 64 << 10;  // bytes of text
constexpr std::size_t kLargestExpansion = 20000;     // nodes, references followed
constexpr int kDeepestReference = 200;
constexpr std::size_t kMostCached = 1024;

// Size of a schema with every reference expanded, or a refusal.
class Expansion {
 public:
  explicit Expansion(const Json& root) : root_(root) {}

  bool is_bounded() { return visit(root_, 0) <= kLargestExpansion; }

 private:
  static constexpr std::size_t kRefused = kLargestExpansion + 1;

  std::size_t visit(const Json& node, int depth) {
    if (depth > kDeepestReference) return kRefused;
    if (const auto known = sizes_.find(&node); known != sizes_.end()) return known->second;
    if (!open_.insert(&node).second) return kRefused;  // a reference to what contains it
    std::size_t size = 1;
    if (node.is_structured()) {
      for (const Json& child : node) size = std::min(kRefused, size + visit(child, depth + 1));
    }
    if (node.is_object()) size = std::min(kRefused, size + visit_reference(node, depth));
    open_.erase(&node);
    sizes_.emplace(&node, size);
    return size;
  }

  std::size_t visit_reference(const Json& node, int depth) {
    for (const char* key : {"$dynamicRef", "$recursiveRef"}) {
      if (node.contains(key)) return kRefused;
    }
    const Json::const_iterator reference = node.find("$ref");
    if (reference == node.end() || !reference->is_string()) return 0;
    const std::string& text = reference->get_ref<const std::string&>();
    if (!text.starts_with("#/")) return kRefused;
    const Json::json_pointer pointer(text.substr(1));  // throws where it is no pointer
    if (!root_.contains(pointer)) return kRefused;
    return visit(root_.at(pointer), depth + 1);
  }

  const Json& root_;
  std::unordered_map<const Json*, std::size_t> sizes_;
  std::unordered_set<const Json*> open_;
};

// Removes the keywords that are not checked, at every level. A property that merely has such a name
// holds a schema, which is no string and no bool, so it stays.
void remove_unchecked(Json& node) {
  if (node.is_object()) {
    for (const char* key : {"pattern", "format", "$id", "id", "$schema"}) {
      const Json::iterator found = node.find(key);
      if (found != node.end() && found->is_string()) node.erase(found);
    }
    const Json::iterator unique = node.find("uniqueItems");
    if (unique != node.end() && unique->is_boolean()) node.erase(unique);
  }
  if (node.is_structured()) {
    for (Json& child : node) remove_unchecked(child);
  }
}

std::shared_ptr<const SchemaChecker::Compiled> compile(const std::string& text) {
  if (text.size() > kLargestSchema || nesting_depth(text) > kDeepestJson) return nullptr;
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || text.find("\"patternProperties\"") != std::string::npos) return nullptr;
  try {
    if (!Expansion(json).is_bounded()) return nullptr;
    remove_unchecked(json);
    const std::shared_ptr<SchemaChecker::Compiled> made =
        std::make_shared<SchemaChecker::Compiled>();
    valijson::SchemaParser parser;
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(json), made->schema);
    return made;
  } catch (const std::exception&) {
    return nullptr;  // a broken schema decides nothing
  }
}

// The worst of the complaints in the order of the rule table: missing, unexpected, type.
SchemaBreach describe(const valijson::ValidationResults& results) {
  SchemaBreach breach;
  int rank = 3;
  for (const valijson::ValidationResults::Error& error : results) {
    int this_rank = 2;
    SubKind kind = SubKind::WrongType;
    if (error.description.find("Missing required property") != std::string::npos) {
      this_rank = 0;
      kind = SubKind::Missing;
    } else if (error.description.find("additionalProperties") != std::string::npos) {
      this_rank = 1;
      kind = SubKind::Unexpected;
    }
    if (this_rank >= rank) continue;
    rank = this_rank;
    breach.kind = kind;
    breach.text = error.description;
  }
  return breach;
}

}  // namespace

SchemaChecker::SchemaChecker() = default;
SchemaChecker::~SchemaChecker() = default;

std::shared_ptr<const SchemaChecker::Compiled> SchemaChecker::compiled(
    const std::string& schema) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = cache_.find(schema);
  if (known != cache_.end()) return known->second;
  std::shared_ptr<const Compiled> made = compile(schema);
  if (cache_.size() < kMostCached) cache_.emplace(schema, made);
  return made;
}

std::optional<SchemaBreach> SchemaChecker::breach(const std::string& schema,
                                                  std::string_view arguments) const {
  if (schema.empty() || arguments.size() > kLargestArguments) return std::nullopt;
  if (nesting_depth(arguments) > kDeepestJson) return std::nullopt;
  const std::shared_ptr<const Compiled> rules = compiled(schema);
  if (rules == nullptr) return std::nullopt;
  const Json value = Json::parse(arguments, nullptr, false);
  if (value.is_discarded()) return std::nullopt;
  try {
    valijson::Validator validator;
    valijson::ValidationResults results;
    const valijson::adapters::NlohmannJsonAdapter target(value);
    if (validator.validate(rules->schema, target, &results)) return std::nullopt;
    return describe(results);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

int nesting_depth(std::string_view json) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

}  // namespace unmask
