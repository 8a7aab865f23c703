// What an arm says of itself: in its metadata, and at length in the JSON beside it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "quantize/quantize.h"

namespace unmask {

struct SourceFacts {
  std::string path;
  std::string sha256;
  std::uint64_t bytes = 0;
};

// Metadata keys "unmask.*" of an arm. Values are texts of up to 127 bytes.
using ArmFacts = std::map<std::string, std::string>;
ArmFacts arm_facts(const QuantizeRequest& request, const SourceFacts& source, const Recipe& recipe,
                   const std::optional<Calibration>& calibration);

// Whether the file's "unmask.*" metadata say the same but for the version that wrote them.
bool same_facts(const Gguf& file, const ArmFacts& facts);

// "unmask.quantize/1".
std::string arm_json(const QuantizeRequest& request, const SourceFacts& source,
                     const Recipe& recipe, const std::optional<Calibration>& calibration,
                     const ArmOutcome& outcome, const SourceFacts& output);

}  // namespace unmask
