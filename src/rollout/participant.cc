#include "rollout/participant.h"

#include <algorithm>
#include <array>

namespace unmask {

namespace {

constexpr std::string_view kStop = "###STOP###";
constexpr std::array<std::string_view, 3> kUserEnds = {kStop, "###TRANSFER###",
                                                       "###OUT-OF-SCOPE###"};

bool has(const TurnMessage& message, std::string_view token) {
  return message.content && message.content->find(token) != std::string::npos;
}

}  // namespace

bool says_stop(const TurnMessage& message) {
  return has(message, kStop);
}

bool ends_conversation(const TurnMessage& message) {
  if (message.has_calls) return false;
  return std::any_of(kUserEnds.begin(), kUserEnds.end(),
                     [&](std::string_view token) { return has(message, token); });
}

}  // namespace unmask
