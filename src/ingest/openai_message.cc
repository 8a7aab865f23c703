#include "ingest/openai_message.h"

#include <utility>

#include "base/json_writer.h"
#include "base/result.h"

namespace unmask {

const std::string_view kOpenaiFailureRule =
    "the tool message's error or is_error says so; where it has neither, its text starts with "
    "'Error:' or 'Error executing', or is a JSON object whose error is neither null, false nor "
    "empty";

namespace {

std::string text_of(const JsonNode& content) {
  if (const std::optional<std::string_view> text = content.text()) return std::string(*text);
  std::string out;
  for (const JsonNode& part : content.elements()) {
    // Parts are {"type": "text", "text": ...}; a refusal is text as well; images and sound are not.
    const std::optional<std::string_view> text = part.is_text()           ? part.text()
                                                 : part["text"].is_text() ? part["text"].text()
                                                 : part["type"].text_or("") == "refusal"
                                                     ? part["refusal"].text()
                                                     : std::nullopt;
    if (!text) continue;
    if (!out.empty()) out += '\n';
    out += *text;
  }
  return out;
}

bool is_strict_object(std::string_view text) {
  JsonRepairs repairs;
  const Result<JsonTree> tree = JsonTree::parse(text, &repairs);
  return tree.has_value() && !repairs.any() && tree->root().is_object();
}

void set_arguments(const JsonNode& arguments, ToolCall& call) {
  if (const std::optional<std::string_view> text = arguments.text()) {
    call.arguments = *text;
    call.arguments_are_object = is_strict_object(*text);
    return;
  }
  call.arguments = arguments.to_json();
  call.arguments_are_object = arguments.is_object();
}

ToolCall read_call(const JsonNode& node) {
  ToolCall call;
  call.id = node["id"].text_or("");
  if (node["type"].text_or("") == "custom" && node["custom"].is_object()) {
    // A custom tool takes free text by design: as an object with one member it is well-formed.
    call.name = node["custom"]["name"].text_or("");
    call.arguments = "{\"input\":";
    append_json_string(call.arguments, node["custom"]["input"].text_or(""));
    call.arguments += '}';
    return call;
  }
  // Some writers leave the "function" level out.
  const JsonNode function = node["function"].is_object() ? node["function"] : node;
  call.name = function["name"].text_or("");
  set_arguments(function["arguments"], call);
  return call;
}

ToolResult read_result(const JsonNode& node) {
  ToolResult result;
  result.call_id = node["tool_call_id"].text_or("");
  result.text = text_of(node["content"]);
  if (node["content"].is_object()) result.text = node["content"].to_json();
  result.failed = openai_result_failed(node, result.text);
  if (result.text.empty()) result.text = node["error"].text_or("");
  return result;
}

}  // namespace

bool openai_result_failed(const JsonNode& message, std::string_view text) {
  for (const std::string_view flag : {"error", "is_error"})
    if (!message[flag].missing()) return message[flag].truthy();
  if (text == "Error" || text.starts_with("Error:") || text.starts_with("Error executing"))
    return true;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos || text[first] != '{' || text.find("\"error\"") == text.npos) return false;
  const Result<JsonTree> tree = JsonTree::parse(text);
  return tree.has_value() && tree->root()["error"].truthy();
}

std::optional<Message> read_openai_message(const JsonNode& node, Notes& notes,
                                           const std::string& where) {
  Message message;
  const std::string_view role = node["role"].text_or("");
  if (role == "tool" || role == "function") {
    message.role = Role::Tool;
    message.result = read_result(node);
    return message;
  }
  message.text = text_of(node["content"]);
  if (role == "system" || role == "developer") {
    message.role = Role::System;
  } else if (role == "user") {
    message.role = Role::User;
  } else if (role == "assistant") {
    message.role = Role::Agent;
    if (message.text.empty()) message.text = node["refusal"].text_or("");
    for (const JsonNode& call : node["tool_calls"].elements())
      message.calls.push_back(read_call(call));
    if (node["function_call"].is_object())
      message.calls.push_back(read_call(node["function_call"]));
    message.empty_text = !message.calls.empty() && node["content"].text_or("-").empty();
    message.reasoning = node["reasoning_content"].text_or("");
  } else {
    notes.warn("unknown_role", "a message whose role is not known was left out", where);
    return std::nullopt;
  }
  return message;
}

std::optional<std::vector<OfferedTool>> read_openai_tools(const JsonNode& node) {
  if (!node.is_array()) return std::nullopt;
  std::vector<OfferedTool> tools;
  for (const JsonNode& tool : node.elements()) {
    const JsonNode function = tool["function"].is_object() ? tool["function"]
                              : tool["custom"].is_object() ? tool["custom"]
                                                           : tool;
    const std::string_view name = tool.is_text() ? *tool.text() : function["name"].text_or("");
    if (name.empty()) continue;
    tools.push_back({std::string(name), function["parameters"].to_json()});
    if (tool["function"].is_object()) tools.back().definition = tool.to_json();
  }
  return tools;
}

}  // namespace unmask
