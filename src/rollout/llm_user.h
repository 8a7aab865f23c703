// A simulated user that is a chat model.
#pragma once

#include <string>

#include "environment/surface.h"
#include "environment/task.h"
#include "rollout/conversation.h"
#include "rollout/participant.h"

namespace unmask {

// The system prompt of a simulated user: guidelines as user_guidelines() has them, without a
// persona, and the task's scenario.
std::string user_prompt(const Surface& surface, const std::string& guidelines, const Task& task);

// Threads  one; the model must outlive it and may be shared.
// Source   τ²-bench 1.0.1, user/user_simulator.py.
class LlmUser : public User {
 public:
  // tools: as chat_tools(), of surface.user_tools; empty where the user does not act.
  LlmUser(ChatModel& model, const std::string& system_prompt, std::string tools,
          ConversationOptions options = {})
      : conversation_(model, Side::User, system_prompt, std::move(tools), std::move(options)) {}

  void set_seed(std::int64_t seed) override { conversation_.set_seed(seed); }
  Result<Done> begin(std::span<const TurnMessage> history) override;
  Result<TurnMessage> next(std::span<const TurnMessage> incoming) override;

  std::span<const ChatMessage> messages() const { return conversation_.messages(); }

 private:
  Conversation conversation_;
};

}  // namespace unmask
