// JSON of any bytes, for the files of this room: included by .cc files only.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace unmask {

// nullopt where it is not JSON or is nested deeper than 200. Bytes that are not UTF-8 and escapes
// of single surrogates, which Python servers let through, are read as U+FFFD.
std::optional<nlohmann::ordered_json> read_json(std::string_view text);

// Without blanks.
std::string compact_json(const nlohmann::ordered_json& value);
// Without blanks, the keys of every object sorted.
std::string sorted_json(const nlohmann::ordered_json& value);

}  // namespace unmask
