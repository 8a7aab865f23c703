// arms.toml: one [[arm]] table per arm.
#define TOML_EXCEPTIONS 0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <filesystem>

#include "app/grid.h"
#include "app/nearest.h"

namespace unmask {
namespace {

// Reads one [[arm]]; the first thing wrong is kept and the rest skipped.
class ArmReader {
 public:
  ArmReader(const toml::table& table, std::string name, std::string folder)
      : table_(table), name_(std::move(name)), folder_(std::move(folder)) {}

  Result<GridArm> read() {
    GridArm arm;
    arm.where = place(table_);
    check_keys();
    arm.family = text("family", true);
    arm.architecture = text("architecture", false);
    arm.domain = text("domain", true);
    arm.precision = text("precision", true);
    arm.files = files("file", true);
    arm.rerun = files("rerun", false);
    arm.baseline = flag("baseline");
    arm.label = text("label", false);
    if (arm.label.empty())
      arm.label = fmt::format("{}{}{} {}", arm.family, arm.architecture.empty() ? "" : " ",
                              arm.architecture, arm.precision);
    if (error_) return *error_;
    return arm;
  }

 private:
  std::string place(const toml::node& node) const {
    return fmt::format("{}:{}", name_, node.source().begin.line);
  }

  void wrong(const toml::node& node, const std::string& message) {
    if (!error_) error_ = Error{ErrorKind::Malformed, message, place(node)};
  }

  void check_keys() {
    const std::vector<std::string> known = {"label",     "family", "architecture", "domain",
                                            "precision", "file",   "rerun",        "baseline"};
    for (const auto& [key, value] : table_) {
      const std::string text(key.str());
      if (std::find(known.begin(), known.end(), text) == known.end())
        wrong(value, fmt::format("an arm has no key '{}'{}", text, did_you_mean(text, known)));
    }
  }

  std::string text(std::string_view key, bool required) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) {
      if (required) wrong(table_, fmt::format("an arm needs the key '{}'", key));
      return "";
    }
    const std::optional<std::string> value = node->value_exact<std::string>();
    if (!value || (required && value->empty())) {
      wrong(*node, fmt::format("'{}' must be a text that is not empty", key));
      return "";
    }
    return *value;
  }

  bool flag(std::string_view key) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return false;
    const std::optional<bool> value = node->value_exact<bool>();
    if (!value) wrong(*node, fmt::format("'{}' must be true or false", key));
    return value.value_or(false);
  }

  std::string resolved(const std::string& file) const {
    return (std::filesystem::path(folder_) / file).string();  // an absolute `file` stays
  }

  std::vector<std::string> files(std::string_view key, bool required) {
    const toml::node* node = table_.get(key);
    if (node == nullptr || !node->is_array()) {
      const std::string one = text(key, required);
      return one.empty() ? std::vector<std::string>{} : std::vector<std::string>{resolved(one)};
    }
    std::vector<std::string> paths;
    for (const toml::node& piece : *node->as_array()) {
      const std::optional<std::string> value = piece.value_exact<std::string>();
      if (!value || value->empty())
        wrong(piece, fmt::format("'{}' must be a text or a list of texts", key));
      else
        paths.push_back(resolved(*value));
    }
    if (paths.empty()) wrong(*node, fmt::format("'{}' lists no file", key));
    return paths;
  }

  const toml::table& table_;
  std::string name_;
  std::string folder_;
  std::optional<Error> error_;
};

}  // namespace

Result<std::vector<GridArm>> parse_arms(std::string_view toml, const std::string& name,
                                        const std::string& folder) {
  const toml::parse_result parsed = toml::parse(toml);
  if (!parsed)
    return Error{ErrorKind::Malformed, fmt::format("is not TOML: {}", parsed.error().description()),
                 fmt::format("{}:{}", name, parsed.error().source().begin.line)};
  const toml::table& root = parsed.table();
  for (const auto& [key, value] : root)
    if (key.str() != "arm")
      return Error{ErrorKind::Malformed,
                   fmt::format("there is no key '{}' here{}", std::string(key.str()),
                               did_you_mean(key.str(), {"arm"})),
                   fmt::format("{}:{}", name, value.source().begin.line)};
  const toml::array* list = root["arm"].as_array();
  if (list == nullptr)
    return Error{ErrorKind::Malformed, "lists no arm: write one [[arm]] for each", name};
  std::vector<GridArm> arms;
  for (const toml::node& node : *list) {
    const toml::table* table = node.as_table();
    if (table == nullptr)
      return Error{ErrorKind::Malformed, "an arm must be a [[arm]] table",
                   fmt::format("{}:{}", name, node.source().begin.line)};
    Result<GridArm> arm = ArmReader(*table, name, folder).read();
    if (!arm) return arm.error();
    arms.push_back(std::move(*arm));
  }
  return arms;
}

}  // namespace unmask
