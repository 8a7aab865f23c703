// What our own runs add to a message (trace/attempt_json.h). Internal to ingest.
#pragma once

#include <string>
#include <vector>

#include "ingest/field_reader.h"
#include "trace/episode.h"

namespace unmask {

// One tool call in τ²-bench's form. True: it names its requestor.
bool read_tau2_call(LazyValue value, const FieldReader& fields, ToolCall& call);

// {"prompt_tokens", "completion_tokens"}; nullopt where it has neither.
void read_tau2_usage(LazyValue value, const FieldReader& fields, std::optional<TokenUsage>& usage);

// "assistant" or "user"; anything else is warned of and leaves `side` empty.
void read_tau2_side(LazyValue value, const FieldReader& fields, std::optional<Side>& side);

// An attempt that does not say why it was refused is left out, with a warning.
void read_attempts(LazyValue value, const FieldReader& fields, std::vector<Attempt>& attempts);

// A JSON object, kept as its text where it is strict JSON; anything else is warned of.
void read_decision(LazyValue value, const FieldReader& fields, std::string& decision);

}  // namespace unmask
