// An agent that is a chat model.
#pragma once

#include <string>

#include "environment/environment.h"
#include "environment/surface.h"
#include "environment/task.h"
#include "rollout/conversation.h"
#include "rollout/participant.h"

namespace unmask {

// The system prompt of an agent with a user, and of one alone with a ticket.
std::string agent_prompt(const Surface& surface);
std::string solo_prompt(const Surface& surface, const Domain& domain, const Task& task);

// The tools an agent is offered: its own; alone, the user's as well.
Value agent_tools(const Surface& surface, bool solo);

// Threads  one; the model must outlive it and may be shared.
// Source   τ²-bench 1.0.1, agent/llm_agent.py.
class LlmAgent : public Agent {
 public:
  // tools: as chat_tools(). solo: it ends the conversation itself, by says_stop().
  LlmAgent(ChatModel& model, const std::string& system_prompt, std::string tools,
           ConversationOptions options = {}, bool solo = false)
      : conversation_(model, Side::Agent, system_prompt, std::move(tools), std::move(options)),
        solo_(solo) {}

  void set_seed(std::int64_t seed) override { conversation_.set_seed(seed); }
  Result<Done> begin(std::span<const TurnMessage> history) override;
  Result<TurnMessage> next(std::span<const TurnMessage> incoming) override;
  bool is_stop(const TurnMessage& message) const override { return solo_ && says_stop(message); }

  std::span<const ChatMessage> messages() const { return conversation_.messages(); }

 private:
  Conversation conversation_;
  bool solo_;
};

}  // namespace unmask
