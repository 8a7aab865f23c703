#include "environment/data_folder.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/utf8.h"
#include "environment/json.h"
#include "environment/python.h"
#include "environment/schema.h"

namespace {

// toml++ 3.3 asserts, and with NDEBUG assumes, what a broken text can violate ("[{" for one). Here
// such a text is refused instead. The namespace gets a name of its own, for another file of the
// program may include the library as it is.
struct BrokenToml {};
[[noreturn]] void refuse_toml() {
  throw BrokenToml();
}

}  // namespace

#undef NDEBUG
#define toml toml_that_throws
#define TOML_ASSERT(expr) static_cast<void>((expr) || (refuse_toml(), false))
#include <toml++/toml.h>
#undef toml

namespace unmask {

namespace {

namespace toml = toml_that_throws;

constexpr char kAdvice[] =
    "get https://github.com/sierra-research/tau2-bench and give its folder with --tau2 DIR or "
    "TAU2_DATA_DIR";
constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 30;

std::string two_digits(int v) {
  char text[16];
  std::snprintf(text, sizeof text, "%02d", v);
  return text;
}

std::string date_text(const toml::date& d) {
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02d-%02d", static_cast<int>(d.year),
                static_cast<int>(d.month), static_cast<int>(d.day));
  return text;
}

// As str(datetime) has it: microseconds only where there are some, then the offset.
std::string datetime_text(const toml::date_time& t) {
  std::string out = date_text(t.date) + " " + two_digits(t.time.hour) + ":" +
                    two_digits(t.time.minute) + ":" + two_digits(t.time.second);
  if (t.time.nanosecond >= 1000) {
    char fraction[16];
    std::snprintf(fraction, sizeof fraction, ".%06u", t.time.nanosecond / 1000);
    out += fraction;
  }
  if (t.offset) {
    const int minutes = t.offset->minutes;
    const int size = minutes < 0 ? -minutes : minutes;
    out += (minutes < 0 ? "-" : "+") + two_digits(size / 60) + ":" + two_digits(size % 60);
  }
  return out;
}

Value from_toml(const toml::node& node);

// In the order of the file, as Python's dicts keep it; toml++ sorts by key.
Value from_toml_table(const toml::table& table) {
  std::vector<std::pair<const toml::key*, const toml::node*>> entries;
  for (const auto& [key, child] : table) entries.emplace_back(&key, &child);
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    const toml::source_position& x = a.first->source().begin;
    const toml::source_position& y = b.first->source().begin;
    return std::pair(x.line, x.column) < std::pair(y.line, y.column);
  });
  Value dict = Value::dict();
  for (const auto& [key, child] : entries) dict.set(key->str(), from_toml(*child));
  return dict;
}

Value from_toml(const toml::node& node) {
  if (const toml::table* table = node.as_table()) {
    return from_toml_table(*table);
  }
  if (const toml::array* array = node.as_array()) {
    std::vector<Value> items;
    for (const toml::node& child : *array) items.push_back(from_toml(child));
    return Value::list(std::move(items));
  }
  if (const auto* v = node.as_string()) return Value(v->get());
  if (const auto* v = node.as_integer()) return Value(v->get());
  if (const auto* v = node.as_floating_point()) return Value(v->get());
  if (const auto* v = node.as_boolean()) return Value(v->get());
  if (const auto* v = node.as_date()) return Value::date(date_text(v->get()));
  if (const auto* v = node.as_date_time()) return Value::datetime(datetime_text(v->get()));
  if (const auto* v = node.as_time())
    return Value(two_digits(v->get().hour) + ":" + two_digits(v->get().minute) + ":" +
                 two_digits(v->get().second));
  return Value();
}

// Python's text mode: \r\n and \r are \n.
std::string unix_lines(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out += text[i];
      continue;
    }
    out += '\n';
    if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
  }
  return out;
}

Error in_file(Error error, const std::string& file) {
  error.where = error.where.empty() ? file : file + ": " + error.where;
  return error;
}

}  // namespace

Result<Value> parse_toml(std::string_view text) {
  if (!is_utf8(text)) return Error{ErrorKind::Malformed, "not TOML: bytes that are not UTF-8", ""};
  try {
    return from_toml(toml::parse(text));
  } catch (const toml::parse_error& error) {
    std::string problem(error.description());
    for (char& c : problem)
      if (c == '\n' || c == '\r') c = ' ';
    return Error{ErrorKind::Malformed, "not TOML: " + problem,
                 "line " + std::to_string(error.source().begin.line) + ", column " +
                     std::to_string(error.source().begin.column)};
  } catch (const BrokenToml&) {
    return Error{ErrorKind::Malformed, "not TOML: its structure is broken", ""};
  }
}

Result<DataFolder> DataFolder::open(const std::string& path) {
  for (const char* inside : {"/data/tau2", "/tau2", ""}) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path + inside + "/domains", ignored))
      return DataFolder(path + inside);
  }
  return Error{ErrorKind::NotFound, std::string("no τ²-bench data here: ") + kAdvice, path};
}

std::string DataFolder::path(std::string_view relative) const {
  return root_ + "/" + std::string(relative);
}

bool DataFolder::has(std::string_view relative) const {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path(relative), ignored);
}

Result<std::string> DataFolder::text(std::string_view relative) const {
  if (!has(relative))
    return Error{ErrorKind::NotFound, std::string("this file of τ²-bench is missing: ") + kAdvice,
                 path(relative)};
  Result<std::string> bytes = read_file(path(relative), kLargestFile);
  if (!bytes) return bytes;
  if (!is_utf8(*bytes)) return Error{ErrorKind::Malformed, "not UTF-8", path(relative)};
  return unix_lines(*bytes);
}

Result<Value> DataFolder::json(std::string_view relative) const {
  const Result<std::string> content = text(relative);
  if (!content) return content.error();
  Result<Value> value = parse_json(*content);
  if (!value) return in_file(value.error(), path(relative));
  return value;
}

Result<Value> DataFolder::toml(std::string_view relative) const {
  const Result<std::string> content = text(relative);
  if (!content) return content.error();
  Result<Value> value = parse_toml(*content);
  if (!value) return in_file(value.error(), path(relative));
  return value;
}

Result<Value> checked_database(const ModelClass& model_class, const Value& database,
                               const std::string& file) {
  try {
    return validated(model_class, database);
  } catch (const PythonError& error) {
    // A title, then for each finding a line with its path (none for the value itself) and its text,
    // indented: the first finding says enough.
    const std::string& text = error.text();
    const std::size_t title = text.find('\n');
    const std::size_t indent = text.find("\n  ", title);
    const std::string path =
        indent > title ? text.substr(title + 1, indent - title - 1) + ": " : "";
    const std::size_t end = text.find(" [type=", indent);
    const std::string problem = path + text.substr(indent + 3, end - indent - 3);
    return Error{ErrorKind::Malformed, "not a database of this domain: " + problem, file};
  }
}

}  // namespace unmask
