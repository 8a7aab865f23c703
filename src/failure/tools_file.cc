// The file of --tools. The shapes people have at hand: what they send to an OpenAI-compatible
// server, the tool lists of other vendors (input_schema), tau2's two sides, or plain names.
#include <cstddef>
#include <unordered_set>
#include <utility>

#include <nlohmann/json.hpp>
#include "failure/classify.h"
#include "failure/schema_check.h"

namespace unmask {
namespace {

using Json = nlohmann::json;

Error malformed(std::string message, std::string where) {
  return Error{ErrorKind::Malformed, std::move(message), std::move(where)};
}

// One entry: "name", {"type": "function", "function": {...}} or {"name": ..., "parameters": {...}}.
Result<OfferedTool> parse_tool(const Json& entry, const std::string& where) {
  if (entry.is_string()) {
    const std::string& name = entry.get_ref<const std::string&>();
    if (name.empty()) return malformed("the tool's name is empty", where);
    return OfferedTool{name, ""};
  }
  if (!entry.is_object()) return malformed("a tool is neither a name nor an object", where);
  const Json::const_iterator wrapped = entry.find("function");
  const Json& tool = wrapped != entry.end() && wrapped->is_object() ? *wrapped : entry;
  const Json::const_iterator name = tool.find("name");
  if (name == tool.end() || !name->is_string() || name->get_ref<const std::string&>().empty()) {
    return malformed("the tool has no name", where);
  }
  OfferedTool offered{name->get<std::string>(), ""};
  for (const char* key : {"parameters", "input_schema", "inputSchema"}) {
    const Json::const_iterator schema = tool.find(key);
    if (schema == tool.end() || schema->is_null()) continue;
    if (!schema->is_object()) {
      return malformed("the parameters of tool '" + offered.name + "' are not an object", where);
    }
    offered.schema = schema->dump();
    break;
  }
  return offered;
}

// `where` is the file, `key` the member the list is in; empty for a bare list.
Result<std::vector<OfferedTool>> parse_list(const Json& list, const std::string& where,
                                            const std::string& key) {
  const std::string in = where + (key.empty() ? "" : ": " + key);
  if (!list.is_array()) return malformed("the list of tools is not an array", in);
  std::vector<OfferedTool> tools;
  std::unordered_set<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = (key.empty() ? where + ": " : in) + "[" + std::to_string(i) + "]";
    Result<OfferedTool> tool = parse_tool(list[i], place);
    if (!tool) return tool.error();
    if (!names.insert(tool->name).second) {
      return malformed("tool '" + tool->name + "' is listed twice", place);
    }
    tools.push_back(std::move(*tool));
  }
  return tools;
}

Result<Json> parse_json(std::string_view json, const std::string& name) {
  if (nesting_depth(json) > kDeepestJson) {
    return malformed(
        "the JSON is nested more than " + std::to_string(kDeepestJson) + " levels deep", name);
  }
  try {
    return Json::parse(json);
  } catch (const Json::parse_error& error) {
    return malformed("this is not valid JSON", name + ": byte " + std::to_string(error.byte));
  }
}

}  // namespace

Result<ToolsFile> parse_tools_file(std::string_view json, const std::string& name) {
  Result<Json> root = parse_json(json, name);
  if (!root) return root.error();
  ToolsFile file;
  const auto take = [&](const Json& list, const std::string& key,
                        std::vector<OfferedTool>& into) -> std::optional<Error> {
    Result<std::vector<OfferedTool>> tools = parse_list(list, name, key);
    if (!tools) return tools.error();
    into = std::move(*tools);
    return std::nullopt;
  };
  if (root->is_object()) {
    const std::pair<const char*, std::vector<OfferedTool>*> lists[] = {{"assistant", &file.agent},
                                                                       {"agent", &file.agent},
                                                                       {"tools", &file.agent},
                                                                       {"user", &file.user}};
    for (const auto& [key, into] : lists) {
      const Json::const_iterator list = root->find(key);
      if (list == root->end() || list->is_null() || !into->empty()) continue;
      if (const std::optional<Error> error = take(*list, key, *into)) return *error;
    }
  } else if (const std::optional<Error> error = take(*root, "", file.agent)) {
    return *error;
  }
  if (file.agent.empty() && file.user.empty()) return malformed("it lists no tools", name);
  return file;
}

}  // namespace unmask
