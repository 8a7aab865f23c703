// The arguments of a tool call as a log has them -> the text kept in ToolCall. Internal to ingest.
#pragma once

#include <string>
#include <string_view>

#include "ingest/field_reader.h"
#include "trace/episode.h"

namespace unmask {

// An object is kept as its JSON text, a text holding a JSON object is taken as such; anything else
// is kept as logged with arguments_are_object false. What is kept as an object is always strict
// JSON that a parser will accept: NaN, infinities and lone surrogates are mended first, with a
// warning.
void read_call_arguments(LazyValue value, const FieldReader& fields, ToolCall& call);

// True when `text` is one strict JSON object.
bool is_json_object(std::string_view text);

}  // namespace unmask
