// --gate [CRITERIA.toml], of the commands that end with an audit.
#pragma once

#include <optional>
#include <string>

#include "app/command.h"
#include "base/result.h"
#include "verdict/gate.h"

namespace CLI {
class App;
}

namespace unmask {

struct GateFlag {
  std::string given;  // empty: not asked for; else the file, or kDefaultGate
};
inline constexpr const char* kDefaultGate = "true";  // as CLI11 says of a flag without a value

void add_gate_flag(CLI::App& app, GateFlag& flag);

// nullopt: no gate was asked for. Errors   those of the criteria file.
Result<std::optional<GateCriteria>> gate_criteria(const GateFlag& flag);

// What the gate's result makes of a command that is done.
ExitStatus exit_status(GateStatus status);

}  // namespace unmask
