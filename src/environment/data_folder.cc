#include "environment/data_folder.h"

#include <filesystem>

#include "base/file.h"
#include "base/utf8.h"
#include "environment/json.h"
#include "environment/python.h"
#include "environment/schema.h"

namespace unmask {

namespace {

constexpr char kAdvice[] =
    "get https://github.com/sierra-research/tau2-bench and give its folder with --tau2 DIR or "
    "TAU2_DATA_DIR";
constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 30;

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
