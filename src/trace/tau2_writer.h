// Writes a Run as tau2-bench 1.0 results, in both of its forms. ingest() of what is written gives
// the run back, for every field the format can hold.
//
// What the format cannot hold is lost: Episode::domain, model, policy_hash, where, termination_text
// beside a known Termination, the offered tools but for their names and schemas,
// ToolResult::error_type, RunInfo::policy_hash.
// The grader's account (reward_info, and its evidence under info.unmask.grading) is written, but a
// reader takes only the reward from it.
// Where a message has raw_data it is written as it is, and raw_text and raw_calls are not: a reader
// takes them from it. Attempts, the decision and the reasoning go under message.raw_data.unmask.
// Times of day are not in a Run: they are derived from the positions of episodes and messages, so
// that the same run always gives the same bytes.
//
// tau2-bench's own loader accepts the result wherever the run has what it requires: a duration, a
// known termination, num_trials, max_steps and max_errors (what is absent is written null), and
// arguments that are objects. Arguments that could not be read are written as the string they were.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/episode.h"

namespace unmask {

// Takes the next bytes of the output; an Error stops the writing and is returned.
using ByteSink = std::function<Result<Done>(std::string_view bytes)>;

// The single file form, results.json, in pieces of about a megabyte.
// Errors   those of the sink.
Result<Done> write_tau2(const Run& run, const ByteSink& sink);

// The same as one text.
std::string tau2_results(const Run& run);

// The single file form, written atomically; "-" is standard output.
// Errors   Unavailable, as write_file.
Result<Done> write_tau2_file(const Run& run, const std::string& path);

// The directory form: FOLDER/simulations/<id>.json, then FOLDER/results.json with the index, each
// written atomically. Folders are created as needed.
// Errors   InvalidArgument: an episode's id is empty, repeated, or not usable as a file name, or
//          simulations/ already holds a simulation the run lacks (a loader would take it for one of
//          the run's). Unavailable: cannot be created or written.
Result<Done> write_tau2_directory(const Run& run, const std::string& folder);

}  // namespace unmask
