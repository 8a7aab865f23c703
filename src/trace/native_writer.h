// unmask's own log, "unmask.log/1": JSON Lines that hold everything a Run can.
//
// The first line is the run: {"schema": "unmask.log/1", "format": "tau2", "domain": "retail", ...}
// with the members of RunInfo under their own names. Every further line is one episode, with the
// members of Episode, Message, ToolCall and ToolResult under theirs. What is empty, absent or at
// its default is left out. ingest() of what is written gives an equal run, as long as the texts are
// UTF-8, the numbers finite, and every episode has a task_id.
#pragma once

#include <string>

#include "base/result.h"
#include "trace/episode.h"

namespace unmask {

inline constexpr std::string_view kNativeSchema = "unmask.log/1";

// One line each, with its newline.
std::string native_header(const RunInfo& info);
std::string native_episode(const Episode& episode);

// The whole log.
std::string write_native(const Run& run);

// The same into a file, atomically; "-" is standard output.
// Errors   Unavailable, as write_file.
Result<Done> write_native_file(const Run& run, const std::string& path);

}  // namespace unmask
