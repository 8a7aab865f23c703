#include "rollout/llm_agent.h"

#include <algorithm>

namespace unmask {

namespace {

// A solo agent says that it has finished by calling this tool, which reaches no environment.
constexpr const char* kDone = "done";

Value done_tool() {
  Value parameters = Value::dict({{"properties", Value::dict()}, {"type", "object"}});
  return Value::dict({{"type", "function"},
                      {"function", Value::dict({{"name", kDone},
                                                {"description", "Ends your work on the ticket."},
                                                {"parameters", std::move(parameters)}})}});
}

bool calls_done(const TurnMessage& message) {
  return std::any_of(message.calls.begin(), message.calls.end(),
                     [](const ToolRequest& call) { return call.name == kDone; });
}

}  // namespace

std::string agent_prompt(const Surface& surface) {
  return filled(surface.agent_prompt, {{"domain_policy", surface.policy}});
}

std::string solo_prompt(const Surface& surface, const Domain& domain, const Task& task) {
  return filled(surface.solo_prompt,
                {{"domain_policy", domain.solo_policy}, {"ticket", task.ticket.value_or("")}});
}

Value agent_tools(const Surface& surface, bool solo) {
  Value tools = surface.agent_tools;
  if (!solo) return tools;
  for (const Value& tool : surface.user_tools.items()) tools.append(tool);
  tools.append(done_tool());
  return tools;
}

Result<Done> LlmAgent::begin(std::span<const TurnMessage> history) {
  conversation_.begin(history);
  return Done{};
}

Result<TurnMessage> LlmAgent::next(std::span<const TurnMessage> incoming) {
  conversation_.hear(incoming);
  Result<TurnMessage> message = conversation_.reply();
  if (!message || !solo_ || !calls_done(*message)) return message;
  message->content = "###STOP###";
  message->has_calls = false;
  message->calls.clear();
  return message;
}

}  // namespace unmask
