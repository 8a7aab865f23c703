// What a replay's file holds, counted for a first look; how arms differ is for `unmask margins`.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/result.h"
#include "failure/channel.h"

namespace unmask {

struct ReplayTally {
  std::string label;
  bool baseline = false;
  long replies = 0;  // without those that are errors
  long errors = 0;
  long calls = 0;  // in the replies; a call that leaked into the text is one
  // Replies by the channel of their first failing call; indices are those of kReplayChannels.
  std::array<long, 3> failures = {};
  // Replies to contexts and samples that the baseline has a reply to as well, and how many of these
  // are the same action: the same calls with the same arguments, or words in both.
  long compared = 0;
  long same = 0;
};

// The channels that need no environment, in report order.
inline constexpr std::array<Channel, 3> kReplayChannels = {Channel::Malformed, Channel::ToolName,
                                                           Channel::Schema};

// Of each arm, in the order of the file's head.
// Errors   those of reading the file. Malformed, with the line.
Result<std::vector<ReplayTally>> tally_replay(const std::string& path);

}  // namespace unmask
