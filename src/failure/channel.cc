#include "failure/channel.h"

namespace unmask {

std::string_view to_string(Channel channel) {
  switch (channel) {
    case Channel::Ok:
      return "ok";
    case Channel::Malformed:
      return "malformed";
    case Channel::ToolName:
      return "tool_name";
    case Channel::Schema:
      return "schema";
    case Channel::Entity:
      return "entity";
    case Channel::Rejected:
      return "rejected";
    case Channel::System:
      return "system";
    case Channel::Unanswered:
      return "unanswered";
  }
  return "unknown";
}

std::string_view to_string(SubKind kind) {
  switch (kind) {
    case SubKind::None:
      return "none";
    case SubKind::BadJson:
      return "bad_json";
    case SubKind::LeakedMarkup:
      return "leaked_markup";
    case SubKind::OtherSide:
      return "other_side";
    case SubKind::NearMiss:
      return "near_miss";
    case SubKind::Invented:
      return "invented";
    case SubKind::Missing:
      return "missing";
    case SubKind::Unexpected:
      return "unexpected";
    case SubKind::WrongType:
      return "wrong_type";
    case SubKind::UnknownText:
      return "unknown_text";
  }
  return "unknown";
}

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::None:
      return "none";
    case Cause::Parser:
      return "parser";
    case Cause::Unknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view to_string(Repair repair) {
  switch (repair) {
    case Repair::None:
      return "none";
    case Repair::Repaired:
      return "repaired";
    case Repair::Unrepaired:
      return "unrepaired";
    case Repair::Withdrawn:
      return "withdrawn";
  }
  return "unknown";
}

std::optional<Channel> failure_channel(std::string_view word) {
  for (const Channel channel : kFailureChannels)
    if (to_string(channel) == word) return channel;
  return std::nullopt;
}

}  // namespace unmask
