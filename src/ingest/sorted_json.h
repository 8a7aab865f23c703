// JSON with its keys in order, to compare settings by their text. Internal to ingest.
#pragma once

#include <string>
#include <string_view>

namespace unmask {

// Compact, keys sorted by their bytes at every level; "" where `text` is not JSON.
std::string sorted_json(std::string_view text);

}  // namespace unmask
