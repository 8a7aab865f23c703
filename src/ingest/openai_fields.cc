#include "ingest/openai_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace unmask {
namespace {

// Levenshtein's distance.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

std::string_view nearest_field(std::string_view name) {
  return *std::min_element(
      kOpenaiFields.begin(), kOpenaiFields.end(),
      [&](std::string_view a, std::string_view b) { return edits(name, a) < edits(name, b); });
}

// "~1" is "/", "~0" is "~".
std::string unescape_token(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escape = token[i] == '~' && i + 1 < token.size();
    if (escape && (token[i + 1] == '0' || token[i + 1] == '1'))
      out += token[++i] == '0' ? '~' : '/';
    else
      out += token[i];
  }
  return out;
}

JsonNode child_of(const JsonNode& node, std::string_view token) {
  if (!node.is_array()) return node[unescape_token(token)];
  std::size_t index = 0;
  const std::from_chars_result read =
      std::from_chars(token.data(), token.data() + token.size(), index);
  if (read.ec != std::errc() || read.ptr != token.data() + token.size()) return {};
  const std::vector<JsonNode> items = node.elements();
  return index < items.size() ? items[index] : JsonNode();
}

}  // namespace

JsonNode json_at(const JsonNode& node, std::string_view pointer) {
  if (pointer.starts_with('/')) pointer.remove_prefix(1);
  JsonNode at = node;
  while (true) {
    const std::size_t slash = pointer.find('/');
    at = child_of(at, pointer.substr(0, slash));
    if (slash == pointer.npos) return at;
    pointer.remove_prefix(slash + 1);
  }
}

Result<OpenaiFields> OpenaiFields::from(const std::map<std::string, std::string>& map) {
  OpenaiFields fields;
  for (const std::string_view field : kOpenaiFields)
    fields.names_.emplace(std::string(field), std::string(field));
  for (const auto& [ours, theirs] : map) {
    const auto known = fields.names_.find(ours);
    if (known == fields.names_.end())
      return Error{ErrorKind::InvalidArgument,
                   fmt::format("there is no field '{}' to map; did you mean '{}'? (fields: {})",
                               ours, nearest_field(ours), fmt::join(kOpenaiFields, ", ")),
                   ""};
    if (theirs.empty() || theirs == "/")
      return Error{ErrorKind::InvalidArgument, fmt::format("field '{}' is mapped to nothing", ours),
                   ""};
    known->second = theirs;
  }
  return fields;
}

const std::string& OpenaiFields::name_of(std::string_view field) const {
  return names_.find(field)->second;
}

JsonNode OpenaiFields::find(const JsonNode& line, std::string_view field) const {
  const std::string& name = name_of(field);
  const JsonNode literal = line[name];
  if (literal.kind() != JsonNode::Kind::Absent || name.find('/') == name.npos) return literal;
  return json_at(line, name);
}

}  // namespace unmask
