// What a reader must know of a replay beside its numbers: replies and margins that are not there,
// and what the numbers do not carry. Internal to compare.
#pragma once

#include <vector>

#include "compare/mechanism.h"

namespace unmask {

// In a fixed order: of the replay, of each arm, of each candidate, of the screen.
// `every_arm_asked` is the analysis's (MechanismOptions).
std::vector<Warning> warnings_of(const Mechanism& mechanism, bool every_arm_asked);

}  // namespace unmask
