// The contexts an agent decided in, rebuilt from a log: what its model was sent before each
// message.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "environment/surface.h"
#include "environment/task.h"
#include "llm/chat_model.h"
#include "trace/episode.h"

namespace unmask {

// What an episode's agent was told beside its conversation.
struct AgentView {
  std::optional<std::string> prompt;  // of the system; nullopt: it is among the log's messages
  std::string tools;                  // as chat_tools()
  std::vector<OfferedTool> offered;
  std::vector<std::string> others;  // names of the user's tools
  bool solo = false;
  std::size_t history = 0;  // messages at the beginning that are the task's and no decisions
  bool as_logged = false;   // arguments are sent as the log has them, not as our runner writes them
};

// As our own runner shows a domain: `world` is that of the task. solo: upstream's llm_agent_solo,
// which needs the task.
//
// Errors   InvalidArgument: a solo agent without its task. Malformed: the task's message history.
Result<AgentView> view_of_world(const Surface& surface, const Domain& world, const Task* task,
                                bool solo);

// As a log that lists the agent's tools with their definitions says itself.
// nullopt   it does not.
std::optional<AgentView> view_of_log(const Episode& episode);

// Before a message of the agent, or before an attempt at it that was handed back.
struct AgentDecision {
  std::size_t heard = 0;    // messages of the conversation that the model was sent
  std::size_t message = 0;  // index into Episode::messages
  std::size_t attempt = 0;  // index into its attempts; their number: the message itself
  int turn = 0;             // 0-based, of messages with decisions
  int call_index = 0;       // calls of the agent in earlier messages
};

// The conversation of an agent's model as it grew, and where it decided. A greeting, which nothing
// was heard before, is the harness's and no decision, but for an agent alone.
struct AgentConversation {
  std::vector<ChatMessage> messages;
  std::vector<AgentDecision> decisions;
  int turns = 0;  // messages with decisions
};

// The same messages, byte for byte, as the Conversation of a run sends: it says each by the same
// chat_message(), and leaves the same ones out by seen_by().
AgentConversation conversation_of(const Episode& episode, const AgentView& view);

// What the agent did at a decision: a message of it without results.
Message recorded_action(const Episode& episode, const AgentDecision& decision);

}  // namespace unmask
