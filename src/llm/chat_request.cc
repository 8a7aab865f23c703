#include "llm/chat_request.h"

#include <algorithm>
#include <array>

#include "base/json_writer.h"
#include "llm/json_text.h"

namespace unmask {
namespace {

using nlohmann::ordered_json;

constexpr std::array kOwnMembers = {
    std::string_view("model"),       std::string_view("messages"),
    std::string_view("tools"),       std::string_view("stream"),
    std::string_view("n"),           std::string_view("seed"),
    std::string_view("logprobs"),    std::string_view("top_logprobs"),
    std::string_view("temperature"), std::string_view("top_p"),
    std::string_view("max_tokens"),
};

Error tools_error() {
  return Error{ErrorKind::InvalidArgument, "the tools are not a JSON list of tools", ""};
}

std::string_view role_name(ChatMessage::Role role) {
  switch (role) {
    case ChatMessage::Role::System:
      return "system";
    case ChatMessage::Role::User:
      return "user";
    case ChatMessage::Role::Assistant:
      return "assistant";
    case ChatMessage::Role::Tool:
      return "tool";
  }
  return "user";
}

void write_calls(JsonWriter& json, const std::vector<ChatCall>& calls) {
  json.key("tool_calls").begin_array();
  for (const ChatCall& call : calls) {
    json.begin_object().field("id", call.id).field("type", "function").key("function");
    json.begin_object().field("name", call.name);
    json.field("arguments", sendable_arguments(call.arguments)).end_object().end_object();
  }
  json.end_array();
}

void write_message(JsonWriter& json, const ChatMessage& message, bool send_reasoning) {
  json.begin_object().field("role", role_name(message.role));
  // Null content without calls is refused by some servers.
  if (message.content || message.calls.empty())
    json.field("content", message.content.value_or(""));
  else
    json.key("content").null();
  if (!message.calls.empty()) write_calls(json, message.calls);
  if (message.role == ChatMessage::Role::Tool) json.field("tool_call_id", message.call_id);
  if (send_reasoning && !message.reasoning.empty())
    json.field("reasoning_content", message.reasoning);
  json.end_object();
}

// The function's members of a tool in OpenAI's form; null where it has none.
const ordered_json* function_of(const ordered_json& tool) {
  if (!tool.is_object() || !tool.contains("function")) return nullptr;
  const ordered_json& function = tool["function"];
  const bool named =
      function.is_object() && function.contains("name") && function["name"].is_string();
  return named ? &function : nullptr;
}

std::string filled(std::string text, const std::string& name) {
  constexpr std::string_view kPlace = "{name}";
  const std::size_t at = text.find(kPlace);
  if (at != std::string::npos) text.replace(at, kPlace.size(), name);
  return text;
}

Result<ordered_json> tool_list(std::string_view tools) {
  std::optional<ordered_json> list = read_json(tools);
  if (!list || !list->is_array()) return tools_error();
  for (const ordered_json& tool : *list)
    if (!function_of(tool)) return tools_error();
  return std::move(*list);
}

ordered_json structural_tag(const ordered_json& tools, const ToolMarkup& markup) {
  ordered_json structures = ordered_json::array();
  for (const ordered_json& tool : tools) {
    const ordered_json& function = *function_of(tool);
    ordered_json schema = ordered_json::object();
    if (function.contains("parameters")) schema = function["parameters"];
    structures.push_back({{"begin", filled(markup.begin, function["name"].get<std::string>())},
                          {"schema", std::move(schema)},
                          {"end", markup.end}});
  }
  return {{"type", "structural_tag"},
          {"structures", std::move(structures)},
          {"triggers", ordered_json::array({markup.trigger})}};
}

Result<Done> write_constrained_tools(JsonWriter& json, const EndpointOptions& options,
                                     std::string_view tools) {
  if (options.constraint == NameConstraint::None || options.constraint == NameConstraint::Grammar)
    return Error{ErrorKind::Unsupported,
                 "the names of calls cannot be constrained at this endpoint", options.model};
  Result<ordered_json> list = tool_list(tools);
  if (!list) return list.error();
  if (options.constraint == NameConstraint::StructuralTag) {
    json.key("response_format").raw(compact_json(structural_tag(*list, options.markup)));
  } else {
    for (ordered_json& tool : *list) tool["function"]["strict"] = true;
  }
  json.key("tools").raw(compact_json(*list));
  return Done{};
}

Result<Done> write_tools(JsonWriter& json, const EndpointOptions& options,
                         const ChatRequest& request, bool tool_choice_is_set) {
  if (request.tools.find_first_not_of(" \t\r\n") == std::string_view::npos) return Done{};
  if (request.constrain_names) {
    const Result<Done> written = write_constrained_tools(json, options, request.tools);
    if (!written) return written;
  } else {
    const Result<ordered_json> list = tool_list(request.tools);
    if (!list) return list.error();
    if (list->empty()) return Done{};
    json.key("tools").raw(request.tools);
  }
  if (!tool_choice_is_set) json.field("tool_choice", "auto");
  return Done{};
}

ordered_json extra_members(const EndpointOptions& options) {
  if (options.extra_body.empty()) return ordered_json::object();
  return read_json(options.extra_body).value_or(ordered_json::object());
}

}  // namespace

std::string sendable_arguments(const std::string& arguments) {
  const std::optional<ordered_json> value = read_json(arguments);
  if (value && value->is_object()) return arguments;
  if (arguments.find_first_not_of(" \t\r\n") == std::string::npos) return "{}";
  JsonWriter json;
  json.begin_object().field(kUnreadableArguments, arguments).end_object();
  return json.take();
}

Result<Done> check_extra_body(std::string_view extra_body) {
  if (extra_body.empty()) return Done{};
  const std::optional<ordered_json> extra = read_json(extra_body);
  if (!extra || !extra->is_object())
    return Error{ErrorKind::InvalidArgument, "extra_body is not a JSON object", ""};
  for (const auto& member : extra->items())
    if (std::find(kOwnMembers.begin(), kOwnMembers.end(), member.key()) != kOwnMembers.end())
      return Error{ErrorKind::InvalidArgument,
                   "extra_body may not hold \"" + member.key() + "\": it is set elsewhere", ""};
  return Done{};
}

std::string sampling_settings(const EndpointOptions& options) {
  ordered_json settings = extra_members(options);
  if (options.temperature) settings["temperature"] = *options.temperature;
  if (options.top_p) settings["top_p"] = *options.top_p;
  if (options.max_tokens) settings["max_tokens"] = *options.max_tokens;
  return sorted_json(settings);
}

std::string chat_context_json(std::span<const ChatMessage> messages, std::string_view tools) {
  JsonWriter json;
  json.begin_object().key("messages").begin_array();
  for (const ChatMessage& message : messages) write_message(json, message, true);
  json.end_array();
  if (!tools.empty()) json.key("tools").raw(tools);
  json.end_object();
  return json.take();
}

Result<std::string> write_chat_request(const EndpointOptions& options, const ChatRequest& request,
                                       bool ask_logprobs) {
  const ordered_json extra = extra_members(options);
  JsonWriter json;
  json.begin_object().field("model", options.model).key("messages").begin_array();
  for (const ChatMessage& message : request.messages)
    write_message(json, message, options.send_reasoning);
  json.end_array();
  const Result<Done> tools = write_tools(json, options, request, extra.contains("tool_choice"));
  if (!tools) return tools.error();
  if (options.temperature) json.field("temperature", *options.temperature);
  if (options.top_p) json.field("top_p", *options.top_p);
  if (options.max_tokens) json.field("max_tokens", *options.max_tokens);
  if (request.seed) json.field("seed", *request.seed);
  if (ask_logprobs) json.field("logprobs", true).field("top_logprobs", options.top_logprobs);
  for (const auto& member : extra.items()) json.key(member.key()).raw(compact_json(member.value()));
  json.field("stream", false).end_object();
  return json.take();
}

}  // namespace unmask
