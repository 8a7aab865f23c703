// arms.toml: one [[arm]] table per arm.
//
// toml++ 3.3 asserts that a table header starts with a key ("[[+]]" ends the program) and, given
// some characters beyond ASCII, reaches code it declares unreachable. The assertion is taken out,
// an error follows from what comes after it; and it is given ASCII only.
#define TOML_EXCEPTIONS 0
#include <toml++/impl/preprocessor.h>
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT_ASSUME(expression) static_assert(true)

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>

#include "app/grid.h"
#include "app/nearest.h"
#include "base/utf8.h"

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

// Where the string that starts at `begin` ends: past its closing quotes, or at the end of its line
// or of the text where it has none.
std::size_t end_of_string(std::string_view toml, std::size_t begin) {
  const char quote = toml[begin];
  const std::string_view three = quote == '"' ? "\"\"\"" : "'''";
  const bool long_form = toml.substr(begin, 3) == three;
  std::size_t i = begin + (long_form ? 3 : 1);
  while (i < toml.size()) {
    if (quote == '"' && toml[i] == '\\')
      i += 2;
    else if (long_form && toml.substr(i, 3) == three)
      return i + 3;
    else if (!long_form && toml[i] == quote)
      return i + 1;
    else if (!long_form && toml[i] == '\n')
      return i;
    else
      ++i;
  }
  return toml.size();
}

// The same TOML in ASCII: characters beyond it become \U escapes in "strings" and '?' in comments.
// Errors   Malformed, with the line: such a character anywhere else, or no UTF-8.
Result<std::string> in_ascii(std::string_view toml, const std::string& name) {
  std::string out;
  const auto append = [&](std::size_t begin, std::size_t end, bool escape) {
    for (std::size_t i = begin; i < end;) {
      const Utf8Step step = decode_utf8(toml, i);
      if (step.code_point < 0x80)
        out += toml[i];
      else
        out += escape ? fmt::format("\\U{:08X}", step.code_point) : "?";
      i += step.length;
    }
  };
  for (std::size_t i = 0; i < toml.size();) {
    const bool quoted = toml[i] == '"';
    std::size_t end = i + 1;
    if (quoted || toml[i] == '\'') end = std::min(end_of_string(toml, i), toml.size());
    if (toml[i] == '#') end = std::min(toml.find('\n', i), toml.size());
    const std::string_view piece = toml.substr(i, end - i);
    const bool ascii = std::all_of(piece.begin(), piece.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (!ascii && (!is_utf8(piece) || (!quoted && toml[i] != '#')))
      return Error{
          ErrorKind::Malformed,
          "is not TOML as read here: characters beyond ASCII must be UTF-8 in \"double quotes\"",
          fmt::format("{}:{}", name, 1 + std::count(out.begin(), out.end(), '\n'))};
    append(i, end, quoted);
    i = end;
  }
  return out;
}

}  // namespace

Result<std::vector<GridArm>> parse_arms(std::string_view toml, const std::string& name,
                                        const std::string& folder) {
  if (toml.substr(0, 3) == "\xEF\xBB\xBF") toml.remove_prefix(3);  // a byte order mark
  const Result<std::string> ascii = in_ascii(toml, name);
  if (!ascii) return ascii.error();
  const toml::parse_result parsed = toml::parse(*ascii);
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
