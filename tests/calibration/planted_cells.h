// Planted pairs through the whole instrument: plant -> log -> ingest -> audit. Mistakes end the
// program.
#pragma once

#include <cstdint>
#include <string>

#include "compare/comparison.h"
#include "metrics/arm.h"
#include "plant/plant.h"

namespace unmask::calibration {

// The run as a tau2 file, read back, classified and measured.
Arm read_back(const Run& run, const std::string& label);

// The planter's pair of this seed, compared; Holm has been applied to it as the only comparison.
CellComparison compare_planted(const Planter& planter, std::uint64_t seed);

Planter planter_of(const PlantOptions& options);

}  // namespace unmask::calibration
