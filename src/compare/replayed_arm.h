// One arm of a replay by itself: how many replies, why some have no margin, and the margins of its
// own choices. Internal to compare.
#pragma once

#include "compare/mechanism.h"
#include "compare/replay_table.h"

namespace unmask {

// `arm` is an index into the head's arms.
ReplayedArm describe_arm(const ReplayTable& table, std::size_t arm,
                         const MechanismOptions& options);

}  // namespace unmask
