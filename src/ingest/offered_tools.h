// Lists of offered tools as our own logs have them: [{"name", "schema", "definition"}, ...], the
// last two as text.
// Internal to ingest.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ingest/field_reader.h"
#include "trace/episode.h"

namespace unmask {

void read_offered_tools(LazyValue value, std::string_view field, const FieldReader& fields,
                        std::optional<std::vector<OfferedTool>>& tools);

}  // namespace unmask
