// The pieces of the JSON contract that both schemas share. Every function writes the members of an
// object that is already open, or one value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "report/audit_report.h"

namespace unmask {

// [lo, hi] or null.
void write_interval(JsonWriter& json, const std::optional<Interval>& interval);

// The arm summary: "arm", "episodes", "success" ... "screen".
void write_arm_members(JsonWriter& json, const ArmSummary& arm);

// "warnings", "dropped", "options" and "provenance".
void write_closing_members(JsonWriter& json, const std::vector<Warning>& warnings,
                           const std::vector<Dropped>& dropped, const CompareOptions& options,
                           const Provenance& provenance);

void write_warnings(JsonWriter& json, const std::vector<Warning>& warnings);
void write_dropped(JsonWriter& json, const std::vector<Dropped>& dropped);
void write_provenance(JsonWriter& json, const Provenance& provenance);

// "contexts", "tasks", "arms", "candidates", "screen" and "warnings".
void write_mechanism_members(JsonWriter& json, const Mechanism& mechanism);

// Characters that reorder, hide or control what a terminal shows become \uXXXX escapes, so that
// printing the JSON is as safe as reading it. `json` must be valid JSON text; it stays the same
// value.
std::string escape_invisible(std::string_view json);

}  // namespace unmask
