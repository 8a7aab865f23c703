#include "rollout/conversation.h"

#include "environment/json.h"
#include "llm/chat_request.h"
#include "rollout/decision.h"

namespace unmask {

namespace {

using Speaker = ReplayMessage::Speaker;

// The form that servers take is the same for all models.
std::string sent_arguments(const ToolRequest& call) {
  return sendable_arguments(call.unreadable ? *call.unreadable : dump_json(call.arguments));
}

ToolRequest request_of(const ChatCall& call, Side side) {
  ToolRequest request{call.id, call.name, Value::dict(), side};
  Result<Value> arguments = parse_json(call.arguments);
  if (arguments && arguments->is_dict())
    request.arguments = std::move(*arguments);
  else
    request.unreadable = call.arguments;
  return request;
}

// choices[0].message of a response in OpenAI's shape, else nullptr.
const Value* raw_message(const Value& response) {
  const Value* choices = response.find("choices");
  if (!choices || !choices->is_list() || choices->size() == 0) return nullptr;
  return (*choices)[0].find("message");
}

// As the reader of logs takes them from raw_data.
void take_raw_completion(TurnMessage& message) {
  const Result<Value> response = parse_json(message.raw_data);
  const Value* raw = response ? raw_message(*response) : nullptr;
  if (!raw) return;
  const Value* content = raw->find("content");
  if (content && content->is_str() && content->as_str() != message.content.value_or(""))
    message.raw_text = content->as_str();
  const Value* calls = raw->find("tool_calls");
  if (calls && calls->is_list()) message.raw_calls = static_cast<int>(calls->size());
}

}  // namespace

ChatMessage chat_message(const TurnMessage& message, Side self) {
  const Speaker own = self == Side::Agent ? Speaker::Agent : Speaker::User;
  ChatMessage out;
  out.content = message.content;
  if (message.speaker == Speaker::Tool) {
    out.role = ChatMessage::Role::Tool;
    out.call_id = message.call_id;
  } else if (message.speaker == own) {
    out.role = ChatMessage::Role::Assistant;
    out.reasoning = message.reasoning;
    for (const ToolRequest& call : message.calls)
      out.calls.push_back({call.id, call.name, sent_arguments(call)});
  } else {
    const bool system = message.speaker == Speaker::Other;
    out.role = system ? ChatMessage::Role::System : ChatMessage::Role::User;
  }
  return out;
}

TurnMessage turn_message(ChatReply reply, Side self) {
  TurnMessage message;
  message.speaker = self == Side::Agent ? Speaker::Agent : Speaker::User;
  message.content = std::move(reply.message.content);
  message.has_calls = !reply.message.calls.empty();
  for (const ChatCall& call : reply.message.calls) message.calls.push_back(request_of(call, self));
  message.reasoning = std::move(reply.message.reasoning);
  message.cost_usd = reply.cost_usd;
  message.usage = reply.usage;
  message.seconds = reply.seconds;
  message.decision = decision_json(reply.logprobs, message.calls);
  if (reply.raw.starts_with('{')) message.raw_data = std::move(reply.raw);
  take_raw_completion(message);
  return message;
}

Conversation::Conversation(ChatModel& model, Side self, const std::string& system_prompt,
                           std::string tools, ConversationOptions options)
    : model_(model), self_(self), tools_(std::move(tools)), options_(std::move(options)) {
  ChatMessage system;
  system.role = ChatMessage::Role::System;
  system.content = system_prompt;
  messages_.push_back(std::move(system));
}

void Conversation::begin(std::span<const TurnMessage> history) {
  messages_.resize(1);
  hear(history);
}

void Conversation::hear(std::span<const TurnMessage> incoming) {
  for (const TurnMessage& message : incoming) messages_.push_back(chat_message(message, self_));
}

Result<TurnMessage> Conversation::reply() {
  ChatRequest request;
  request.messages = messages_;
  request.tools = tools_;
  request.seed = seed_;
  request.constrain_names = options_.constrain_names && !tools_.empty();
  request.stop = options_.stop;
  Result<ChatReply> reply = model_.complete(request);
  if (!reply) return reply.error();
  TurnMessage message = turn_message(std::move(*reply), self_);
  messages_.push_back(chat_message(message, self_));
  return message;
}

std::string chat_tools(const Value& tools) {
  if (tools.size() == 0) return "";
  std::vector<Value> sent;
  for (const Value& tool : tools.items()) {
    const Value* function = tool.find("function");
    if (function) sent.push_back(Value::dict({{"type", "function"}, {"function", *function}}));
  }
  return dump_json(Value::list(std::move(sent)));
}

std::vector<OfferedTool> offered_tools(const Value& tools) {
  std::vector<OfferedTool> offered;
  for (const Value& tool : tools.items()) {
    const Value* function = tool.find("function");
    const Value* name = function ? function->find("name") : nullptr;
    if (!name || !name->is_str()) continue;
    const Value* parameters = function->find("parameters");
    offered.push_back({name->as_str(), parameters ? dump_json(*parameters) : ""});
  }
  return offered;
}

}  // namespace unmask
