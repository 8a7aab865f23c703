// Writes "unmask.replay/1" (trace/replay.h), a line of it at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/replay.h"

namespace unmask {

// One line each, with its newline.
std::string replay_line(const ReplayHead& head);
std::string replay_line(const ReplayTools& tools);
std::string replay_line(const ReplayContext& context);
std::string replay_line(const ReplayReply& reply);
// The reply's as earlier versions wrote it, without a check, for a file of theirs to go on.
std::string unchecked_replay_line(const ReplayReply& reply);

// Whether a reply's line, without its newline, is as it was written, by the check at its end.
// nullopt: it has none, as those of earlier versions; in a file where another reply has one that is
// a change.
std::optional<bool> is_as_written(std::string_view reply_line);

// The whole replay: each context after its tools, and its replies after it in the order they have.
// A reply to a context that is not there is left out.
std::string write_replay(const Replay& replay);

// The same into a file, atomically; "-" is standard output.
// Errors   Unavailable, as write_file.
Result<Done> write_replay_file(const Replay& replay, const std::string& path);

}  // namespace unmask
