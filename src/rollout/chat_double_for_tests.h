// A chat model that says what it was told to, for the tests of this room.
#pragma once

#include <string>
#include <vector>

#include "llm/chat_model.h"

namespace unmask {

class ChatDouble : public ChatModel {
 public:
  struct Received {
    std::vector<ChatMessage> messages;
    std::string tools;
    std::optional<std::int64_t> seed;
    bool constrain_names = false;
    bool stop_possible = false;
  };

  explicit ChatDouble(std::vector<Result<ChatReply>> replies) : replies_(std::move(replies)) {}

  const std::string& name() const override { return name_; }
  const std::string& settings() const override { return settings_; }
  Result<ChatReply> complete(const ChatRequest& request) override {
    received.push_back({{request.messages.begin(), request.messages.end()},
                        std::string(request.tools),
                        request.seed,
                        request.constrain_names,
                        request.stop.stop_possible()});
    if (received.size() > replies_.size()) return chat_text("Anything else?");
    return replies_[received.size() - 1];
  }

  static ChatReply chat_text(std::string text) {
    ChatReply reply;
    reply.message.role = ChatMessage::Role::Assistant;
    reply.message.content = std::move(text);
    return reply;
  }
  static ChatReply chat_call(std::string name, std::string arguments = "{}",
                             std::string id = "call_1") {
    ChatReply reply;
    reply.message.role = ChatMessage::Role::Assistant;
    reply.message.calls.push_back({std::move(id), std::move(name), std::move(arguments)});
    return reply;
  }

  std::vector<Received> received;

 private:
  std::vector<Result<ChatReply>> replies_;
  std::string name_ = "double";
  std::string settings_ = "{}";
};

}  // namespace unmask
