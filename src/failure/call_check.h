// What can be told of a message's calls without asking an environment.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "failure/channel.h"
#include "failure/names.h"
#include "failure/schema_check.h"
#include "trace/episode.h"

namespace unmask {

struct CallFault {
  std::size_t call = 0;  // index of the call; of leaked markup, which is no call, their number
  Channel channel = Channel::ToolName;  // Malformed, ToolName or Schema
  SubKind kind = SubKind::None;
};

// Threads  fault() may be called concurrently.
class CallCheck {
 public:
  // offered: the tools of the side whose messages are looked at; others: names of the other side's.
  CallCheck(std::vector<OfferedTool> offered, std::vector<std::string> others);
  CallCheck(const CallCheck&) = delete;
  CallCheck& operator=(const CallCheck&) = delete;

  // The first call of the agent's message that is in one of those channels, by the rules of METHOD
  // 2 in their order; then a call that leaked into the text. nullopt: none is, which does not say
  // that an environment would answer them all.
  std::optional<CallFault> fault(const Message& message) const;

 private:
  std::optional<CallFault> fault(const ToolCall& call) const;

  std::vector<OfferedTool> offered_;
  std::vector<std::string> others_;
  NameList names_;  // views into offered_ and others_
  NameList other_names_;
  SchemaChecker schemas_;
};

}  // namespace unmask
