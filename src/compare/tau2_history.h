// What is known of tau2-bench's own history that bears on what a log can show (METHOD 12).
#pragma once

#include <string_view>

#include "trace/episode.h"

namespace unmask {

enum class SelectionWindow {
  Outside,   // the commit is known to be outside, or the log is not tau2-bench's, or nothing points
             // in
  ByCommit,  // the log's commit is one of the mainline commits with the defect
  ByDate,    // the commit is unknown or missing, and the log's date falls into those weeks
};

// Whether the log was written by a tau2-bench whose replay raised on a tool name that does not
// exist: the episode was retried and ended as `infrastructure_error`, which scores leave out. From
// v1.0.0 (2026-03-18) to the fix "skip hallucinated tool calls during replay instead of raising"
// (2be69166, 2026-04-29).
//
// A commit counts from 7 hexadecimal digits on. Anything else in its place ("", "unknown", a
// version) leaves the date to decide, and a commit of someone's fork does too. Source   the
// repository sierra-research/tau2-bench; ancestors of the fix, from v1.0.0 on.
SelectionWindow selection_window(const RunInfo& info);

}  // namespace unmask
