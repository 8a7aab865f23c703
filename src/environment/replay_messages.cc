// Trajectories, from upstream's JSON form and from a log, as what a replay looks at.
#include "environment/environment.h"
#include "environment/json.h"

namespace unmask {

namespace {

std::string text_of(const Value* v) {
  return v && v->is_str() ? v->as_str() : "";
}

Error malformed(std::size_t index, std::string_view problem) {
  return Error{ErrorKind::Malformed, std::string(problem), "message " + std::to_string(index)};
}

Side side_of(const Value* requestor, Side fallback) {
  if (!requestor || !requestor->is_str()) return fallback;
  return requestor->as_str() == "user" ? Side::User : Side::Agent;
}

Result<ToolRequest> request_of(const Value& call, std::size_t index) {
  const Value* name = call.find("name");
  if (!name || !name->is_str()) return malformed(index, "a tool call has no name");
  ToolRequest request;
  request.id = text_of(call.find("id"));
  request.name = name->as_str();
  request.side = side_of(call.find("requestor"), Side::Agent);
  const Value* arguments = call.find("arguments");
  if (!arguments || !arguments->is_dict())
    return malformed(index, "the arguments of tool call '" + request.name + "' are not an object");
  request.arguments = *arguments;
  return request;
}

Result<ReplayMessage> message_of(const Value& json, std::size_t index) {
  const std::string role = text_of(json.find("role"));
  ReplayMessage message;
  using Speaker = ReplayMessage::Speaker;
  if (role == "assistant")
    message.speaker = Speaker::Agent;
  else if (role == "user")
    message.speaker = Speaker::User;
  else if (role == "tool")
    message.speaker = Speaker::Tool;
  else if (role != "system")
    return malformed(index, "its role is none of system, assistant, user, tool");
  if (const Value* content = json.find("content"); content && content->is_str())
    message.content = content->as_str();
  if (const Value* turn = json.find("turn_idx"); turn && turn->kind() == Kind::Int)
    message.turn_index = static_cast<int>(turn->as_int());
  if (message.speaker == Speaker::Tool) {
    message.call_id = text_of(json.find("id"));
    message.side = side_of(json.find("requestor"), Side::Agent);
    const Value* error = json.find("error");
    message.error = error && error->is_bool() && error->as_bool();
    return message;
  }
  const Value* calls = json.find("tool_calls");
  message.has_calls = calls && calls->is_list();
  if (!message.has_calls) return message;
  for (const Value& call : calls->items()) {
    Result<ToolRequest> request = request_of(call, index);
    if (!request) return request.error();
    message.calls.push_back(std::move(*request));
  }
  return message;
}

}  // namespace

Result<std::vector<ReplayMessage>> replay_messages(const Value& json_list) {
  std::vector<ReplayMessage> messages;
  if (json_list.is_none()) return messages;
  if (!json_list.is_list()) return Error{ErrorKind::Malformed, "the messages are not a list", ""};
  for (std::size_t i = 0; i < json_list.size(); ++i) {
    // A MultiToolMessage is its tool messages.
    const Value* several = json_list[i].find("tool_messages");
    const std::span<const Value> parts =
        several && several->is_list() ? several->items() : std::span<const Value>(&json_list[i], 1);
    for (const Value& part : parts) {
      Result<ReplayMessage> message = message_of(part, i);
      if (!message) return message.error();
      messages.push_back(std::move(*message));
    }
  }
  return messages;
}

std::vector<ReplayMessage> replay_messages(std::span<const Message> log) {
  std::vector<ReplayMessage> messages;
  for (const Message& from : log) {
    ReplayMessage to;
    using Speaker = ReplayMessage::Speaker;
    to.speaker = from.role == Role::Agent  ? Speaker::Agent
                 : from.role == Role::User ? Speaker::User
                 : from.role == Role::Tool ? Speaker::Tool
                                           : Speaker::Other;
    to.content = from.text;
    to.has_calls = !from.calls.empty();
    for (const ToolCall& call : from.calls) {
      Result<Value> arguments = parse_json(call.arguments);
      const bool object = arguments && arguments->is_dict();
      ToolRequest request{call.id, call.name, Value::dict(), call.side};
      if (object)
        request.arguments = std::move(*arguments);
      else
        request.unreadable = call.arguments;
      to.calls.push_back(std::move(request));
    }
    if (from.result) {
      to.call_id = from.result->call_id;
      to.content = from.result->text;
      to.error = from.result->failed;
      to.side = from.result->side;
    }
    messages.push_back(std::move(to));
  }
  return messages;
}

}  // namespace unmask
