#include "llm/chat_tools.h"

#include "llm/json_text.h"

namespace unmask {
namespace {

using nlohmann::ordered_json;

std::string text_at(const ordered_json& function, const char* name) {
  const auto found = function.find(name);
  return found != function.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::string loosened(const std::string& parameters, ArgumentRules rules,
                     const std::vector<std::string>& names) {
  if (rules == ArgumentRules::Typed) return parameters;
  if (rules == ArgumentRules::Untyped) return R"({"type":"object"})";
  const ordered_json text = {{"type", "string"}};
  ordered_json properties = ordered_json::object();
  const std::optional<ordered_json> schema = read_json(parameters);
  if (schema && schema->is_object() && schema->contains("properties") &&
      (*schema)["properties"].is_object())
    for (const auto& property : (*schema)["properties"].items())
      properties[property.key()] = rules == ArgumentRules::Named ? property.value() : text;
  for (const std::string& name : names)
    if (!properties.contains(name)) properties[name] = text;
  return compact_json({{"type", "object"}, {"properties", properties}});
}

Result<std::vector<ChatTool>> read_chat_tools(std::string_view tools) {
  std::vector<ChatTool> out;
  if (tools.find_first_not_of(" \t\r\n") == std::string_view::npos) return out;
  const std::optional<ordered_json> list = read_json(tools);
  const Error error{ErrorKind::InvalidArgument, "the tools are not a JSON list of tools", ""};
  if (!list || !list->is_array()) return error;
  for (const ordered_json& tool : *list) {
    if (!tool.is_object() || !tool.contains("function") || !tool["function"].is_object())
      return error;
    const ordered_json& function = tool["function"];
    ChatTool read{text_at(function, "name"), text_at(function, "description"),
                  R"({"type":"object","properties":{}})"};
    if (read.name.empty()) return error;
    const auto parameters = function.find("parameters");
    if (parameters != function.end() && parameters->is_object())
      read.parameters = compact_json(*parameters);
    out.push_back(std::move(read));
  }
  return out;
}

}  // namespace unmask
