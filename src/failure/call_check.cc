#include "failure/call_check.h"

#include <algorithm>
#include <utility>

#include "failure/markup.h"

namespace unmask {
namespace {

NameList offered_names(const std::vector<OfferedTool>& tools) {
  std::vector<std::string_view> names;
  for (const OfferedTool& tool : tools) names.push_back(tool.name);
  return NameList(std::move(names));
}

// No call was extracted although the message shows one, or its completion has more than were.
bool shows_leak(const Message& message) {
  if (message.raw_calls && *message.raw_calls > static_cast<int>(message.calls.size())) return true;
  return message.calls.empty() &&
         (find_leaked_call(message.raw_text) || find_leaked_call(message.text));
}

}  // namespace

CallCheck::CallCheck(std::vector<OfferedTool> offered, std::vector<std::string> others)
    : offered_(std::move(offered)),
      others_(std::move(others)),
      names_(offered_names(offered_)),
      other_names_(std::vector<std::string_view>(others_.begin(), others_.end())) {}

std::optional<CallFault> CallCheck::fault(const ToolCall& call) const {
  if (!call.arguments_are_object) return CallFault{0, Channel::Malformed, SubKind::BadJson};
  if (!names_.contains(call.name)) {
    const SubKind kind = other_names_.contains(call.name)       ? SubKind::OtherSide
                         : !names_.near_miss(call.name).empty() ? SubKind::NearMiss
                                                                : SubKind::Invented;
    return CallFault{0, Channel::ToolName, kind};
  }
  const auto tool = std::find_if(offered_.begin(), offered_.end(),
                                 [&](const OfferedTool& each) { return each.name == call.name; });
  const std::optional<SchemaBreach> breach = schemas_.breach(tool->schema, call.arguments);
  if (!breach) return std::nullopt;
  return CallFault{0, Channel::Schema, breach->kind};
}

std::optional<CallFault> CallCheck::fault(const Message& message) const {
  for (std::size_t i = 0; i < message.calls.size(); ++i) {
    std::optional<CallFault> found = fault(message.calls[i]);
    if (!found) continue;
    found->call = i;
    return found;
  }
  if (!shows_leak(message)) return std::nullopt;
  return CallFault{message.calls.size(), Channel::Malformed, SubKind::LeakedMarkup};
}

}  // namespace unmask
