// What one side tells its model: the messages of the turn loop in the form of chat servers, and the
// model's reply as a message of the turn loop.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "environment/value.h"
#include "llm/chat_model.h"
#include "rollout/turn_message.h"

namespace unmask {

struct ConversationOptions {
  bool constrain_names = false;  // only names of offered tools may be generated
  std::stop_token stop = {};
};

// A message as one of the sides sends it to its model.
ChatMessage chat_message(const TurnMessage& message, Side self);

// What a model replied as a message of the turn loop; Conversation::reply() says how.
TurnMessage turn_message(ChatReply reply, Side self);

// Of two sides each sees itself as the assistant and the other as the user, as upstream's
// flip_roles; results are those of its own calls. Thoughts a server gave apart are kept with the
// messages for the model to send back or not; they never reach the other side.
//
// Threads  one; the model must outlive it.
class Conversation {
 public:
  // tools: as chat_tools(), empty where none are offered.
  Conversation(ChatModel& model, Side self, const std::string& system_prompt, std::string tools,
               ConversationOptions options = {});

  void set_seed(std::int64_t seed) { seed_ = seed; }  // of every request
  // Begins anew after `history`.
  void begin(std::span<const TurnMessage> history);
  void hear(std::span<const TurnMessage> incoming);

  // The model's reply to what was heard, which becomes part of the conversation.
  //   Text and calls in one message are both kept: the turn loop lets the calls decide.
  //   An empty reply is an empty message, which the turn loop answers for.
  //   Arguments that are no JSON object are carried as ToolRequest::unreadable, and go back to the
  //   model as sendable_arguments().
  // Errors   those of ChatModel::complete().
  Result<TurnMessage> reply();

  std::span<const ChatMessage> messages() const { return messages_; }

 private:
  ChatModel& model_;
  Side self_;
  std::string tools_;
  ConversationOptions options_;
  std::optional<std::int64_t> seed_;
  std::vector<ChatMessage> messages_;  // [0]: the system prompt
};

// A list of tools of a Surface as servers take it: without the members that are not OpenAI's.
// Empty for an empty list.
std::string chat_tools(const Value& tools);

// The same tools as a log lists them: name and the JSON Schema of their parameters.
std::vector<OfferedTool> offered_tools(const Value& tools);

}  // namespace unmask
