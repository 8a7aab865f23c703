// rollout: an agent, a user and an environment in conversation, turn by turn, until it ends.
//
// TurnMessage is a message of such a conversation. It is what a replay looks at, with what it cost
// to write beside it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "environment/environment.h"
#include "environment/value.h"
#include "trace/episode.h"

namespace unmask {

struct TurnMessage : ReplayMessage {
  std::optional<double> cost_usd;
  std::optional<TokenUsage> usage;
  std::optional<double> seconds;  // generation time
  // As in trace's Message: the raw completion where it differs from what was parsed.
  std::string raw_text;
  std::optional<int> raw_calls;
  std::string raw_data;           // the server's response, a JSON object as text
  std::vector<Attempt> attempts;  // what the harness had refused before (rollout/repair.h)
  std::string decision;           // log-probabilities at its decision (rollout/decision.h)
  std::string reasoning;  // thoughts the server gave apart; stays with the side it came from
};

TurnMessage text_message(ReplayMessage::Speaker speaker, std::string text);
TurnMessage calls_message(ReplayMessage::Speaker speaker, std::vector<ToolRequest> calls);

bool has_text(const TurnMessage& message);  // more than blanks

// A message of the agent or user as upstream prints it in error texts.
std::string described(const TurnMessage& message);

// Messages in upstream's JSON form, with their costs and usage.
// Errors   Malformed, as replay_messages.
Result<std::vector<TurnMessage>> turn_messages(const Value& json_list);

// Upstream's JSON form, without time stamps; what is absent is left out.
Value message_json(const TurnMessage& message);

// The message as a log has it, and a call of it.
Message trace_message(const TurnMessage& message);
ToolCall trace_call(const ToolRequest& call);

// The way back: what a participant said or heard, from what trace_message() made of it.
TurnMessage turn_message(const Message& message);

}  // namespace unmask
