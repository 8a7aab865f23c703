// The gate's criteria from a TOML file (docs/gate.md).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "verdict/gate.h"

namespace unmask {

// Errors   NotFound; Malformed: not TOML, an unknown key (with the nearest), a wrong type or value,
//          with file and line.
Result<GateCriteria> read_gate(const std::string& path);
Result<GateCriteria> parse_gate(std::string_view toml, const std::string& file);

}  // namespace unmask
