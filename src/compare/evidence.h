// Evidence quality (METHOD 12) as warnings: of one arm, and between two.
#pragma once

#include <vector>

#include "metrics/arm.h"

namespace unmask {

std::vector<Warning> evidence_warnings(const Arm& arm);
std::vector<Warning> pairing_warnings(const Arm& baseline, const Arm& candidate);

}  // namespace unmask
