// Idea. Every request of an episode is the one before it with something added, also where a message
// was handed back: the conversation is built once, and a decision is how much of it had been said.
#include "rollout/replay_context.h"

#include <utility>

#include "rollout/conversation.h"
#include "rollout/llm_agent.h"
#include "rollout/repair.h"
#include "rollout/turn_loop.h"
#include "rollout/turn_message.h"

namespace unmask {

namespace {

std::vector<std::string> tool_names(const Value& tools) {
  std::vector<std::string> names;
  for (const OfferedTool& tool : offered_tools(tools)) names.push_back(tool.name);
  return names;
}

class ConversationBuilder {
 public:
  ConversationBuilder(const Episode& episode, const AgentView& view)
      : episode_(episode), view_(view) {
    if (!view.prompt) return;
    ChatMessage system;
    system.role = ChatMessage::Role::System;
    system.content = *view.prompt;
    built_.messages.push_back(std::move(system));
  }

  AgentConversation build() && {
    for (std::size_t i = 0; i < episode_.messages.size(); ++i) add(i);
    return std::move(built_);
  }

 private:
  void add(std::size_t index) {
    const Message& message = episode_.messages[index];
    const bool agents = message.role == Role::Agent;
    const bool decides = agents && index >= view_.history && (heard_any_ || view_.solo);
    if (decides) add_decisions(index);
    say(turn_message(message), &message.calls);
    if (agents) calls_ += static_cast<int>(message.calls.size());
    if (!agents && message.role != Role::System) heard_any_ = true;
  }

  void add_decisions(std::size_t index) {
    const std::vector<Attempt>& attempts = episode_.messages[index].attempts;
    for (std::size_t attempt = 0; attempt <= attempts.size(); ++attempt) {
      built_.decisions.push_back({built_.messages.size(), index, attempt, built_.turns, calls_});
      if (attempt == attempts.size()) break;
      for (const TurnMessage& each : exchange_of(attempts[attempt])) say(each, nullptr);
    }
    ++built_.turns;
  }

  void say(const TurnMessage& message, const std::vector<ToolCall>* logged) {
    if (!seen_by(Party::Agent, message)) return;
    ChatMessage out = chat_message(message, Side::Agent);
    for (std::size_t i = 0; view_.as_logged && logged && i < out.calls.size(); ++i)
      out.calls[i].arguments = (*logged)[i].arguments;
    built_.messages.push_back(std::move(out));
  }

  const Episode& episode_;
  const AgentView& view_;
  AgentConversation built_;
  bool heard_any_ = false;
  int calls_ = 0;
};

}  // namespace

Result<AgentView> view_of_world(const Surface& surface, const Domain& world, const Task* task,
                                bool solo) {
  if (solo && !task)
    return Error{ErrorKind::InvalidArgument, "a solo agent's prompt needs its task", ""};
  AgentView view;
  const Value tools = agent_tools(surface, solo);
  view.prompt = solo ? solo_prompt(surface, world, *task) : agent_prompt(surface);
  view.tools = chat_tools(tools);
  view.offered = offered_tools(tools);
  if (!solo) view.others = tool_names(surface.user_tools);
  view.solo = solo;
  if (!task || !task->initial_state) return view;
  const Result<std::vector<TurnMessage>> history =
      turn_messages(task->initial_state->message_history);
  if (!history) return history.error();
  view.history = history->size();
  return view;
}

std::optional<AgentView> view_of_log(const Episode& episode) {
  if (!episode.agent_tools) return std::nullopt;
  AgentView view;
  view.as_logged = true;
  view.offered = *episode.agent_tools;
  for (const OfferedTool& tool : *episode.agent_tools) {
    if (tool.definition.empty()) return std::nullopt;
    view.tools += (view.tools.empty() ? "[" : ", ") + tool.definition;
  }
  if (!view.tools.empty()) view.tools += "]";
  return view;
}

AgentConversation conversation_of(const Episode& episode, const AgentView& view) {
  return ConversationBuilder(episode, view).build();
}

Message recorded_action(const Episode& episode, const AgentDecision& decision) {
  const Message& message = episode.messages[decision.message];
  Message action;
  action.role = Role::Agent;
  action.text = message.text;
  action.calls = message.calls;
  if (decision.attempt == message.attempts.size()) return action;
  action.text = message.attempts[decision.attempt].text;
  action.calls = message.attempts[decision.attempt].calls;
  return action;
}

}  // namespace unmask
