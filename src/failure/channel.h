// failure: why a call failed. The taxonomy of METHOD 2 and the classifier that puts each call in
// exactly one channel, with the evidence for it.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace unmask {

enum class Channel {
  Ok,
  Malformed,   // the call could not be read
  ToolName,    // a hallucinated tool name
  Schema,      // offered tool, arguments break its signature
  Entity,      // an identifier or value names nothing that exists
  Rejected,    // well-formed and existing, refused by the environment's rules
  System,      // timeout or harness fault: not the agent's doing
  Unanswered,  // no reply in the log: outside the rates, counted
};

inline constexpr int kChannelCount = 8;

// The channels that count as failures of the agent, in report order.
inline constexpr std::array<Channel, 5> kFailureChannels = {
    Channel::Malformed, Channel::ToolName, Channel::Schema, Channel::Entity, Channel::Rejected};

enum class SubKind {
  None,
  BadJson,       // malformed: arguments are not a JSON object
  LeakedMarkup,  // malformed: call markup in the text, no call extracted
  OtherSide,     // tool_name: the other party's tool
  NearMiss,      // tool_name: equal after folding, or edit distance <= 0.25
  Invented,      // tool_name: anything else
  Missing,       // schema: a required argument is missing
  Unexpected,    // schema: an argument the tool does not have
  WrongType,     // schema: wrong type or shape
  UnknownText,   // rejected: no rule knows the error text
};

// Why a call is malformed (METHOD 12): Parser when the raw completion holds a call the parsed
// message lacks, Unknown otherwise.
enum class Cause { None, Parser, Unknown };

// What became of a call that the harness handed back before the environment saw it (METHOD 9).
enum class Repair {
  None,        // no such call
  Repaired,    // the message that came of it has calls, none of them broken in a refused channel
  Unrepaired,  // still broken when the attempts were used up
  Withdrawn,   // the agent talked instead
};

std::string_view to_string(Channel channel);  // "tool_name"
std::string_view to_string(SubKind kind);     // "other_side"
std::string_view to_string(Cause cause);      // "parser"
std::string_view to_string(Repair repair);    // "repaired"

// The failure channel of that name; nullopt for any other word.
std::optional<Channel> failure_channel(std::string_view word);

constexpr bool is_failure(Channel channel) {
  return channel != Channel::Ok && channel != Channel::System && channel != Channel::Unanswered;
}

}  // namespace unmask
