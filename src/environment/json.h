// JSON as Python's json module reads and writes it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "environment/value.h"

namespace unmask {

// Reads one JSON value. Integers stay integers whatever their size, 5.0 is a float, NaN and
// Infinity are read as Python reads them, the last of equal keys wins (at the first one's place).
// Errors   Malformed, where = "line L, byte B": not JSON, or nested deeper than 500.
Result<Value> parse_json(std::string_view text);

enum class KeyOrder { Kept, Sorted };

// json.dumps(value, default=str): ", " and ": ", ASCII only, floats as repr. Models are written as
// their dump, dates as str(date).
std::string dump_json(const Value& value, KeyOrder order = KeyOrder::Kept);
void append_json(std::string& out, const Value& value, KeyOrder order = KeyOrder::Kept);

// json.dumps(value, indent=spaces).
std::string dump_json_indented(const Value& value, int spaces);

// What a tool message says for a tool's result: a str as it is; else JSON in which bare numbers and
// bools, but not those inside models, have become strings ("9.5", "True").
std::string tool_content(const Value& result);

// sha256 hex of the sorted JSON of a database. The JSON of each entry of its top-level dicts, and
// the whole hash, are kept with the entries, so that what is unchanged is not written again.
std::string database_hash(const Value& database);

}  // namespace unmask
