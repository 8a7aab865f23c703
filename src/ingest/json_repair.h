// Mends a JSON text that Python's json module reads and a strict parser refuses. Internal to
// ingest.
#pragma once

#include <string>
#include <string_view>

#include "ingest/json_tree.h"

namespace unmask {

// `text` with everything JsonRepairs lists mended, and noted in `repairs`. Whatever else is wrong
// with the text stays wrong.
std::string repair_json(std::string_view text, JsonRepairs& repairs);

}  // namespace unmask
