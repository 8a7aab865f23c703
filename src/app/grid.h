// Many cells from a folder of logs: which file is which arm (docs/grid.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit.h"
#include "base/result.h"

namespace unmask {

struct GridArm {
  std::string label;
  std::string family;        // "gemma-4"
  std::string architecture;  // "dense", "moe"; may be empty
  std::string domain;
  std::string precision;  // "BF16"
  std::vector<std::string> files;
  std::vector<std::string> rerun;  // a second run of the same settings; empty: none
  bool baseline = false;
  std::string where;  // "arms.toml:12", or the file's own name
};

// A folder with an arms.toml, a folder whose file names say what they are, or a TOML file of any
// name. Errors   NotFound, Malformed (with file and line), InvalidArgument: no cell, unclear
// baseline.
Result<std::vector<CellSources>> read_grid(const std::string& path);

// The arms of a TOML text; relative files are taken from `folder`.
Result<std::vector<GridArm>> parse_arms(std::string_view toml, const std::string& name,
                                        const std::string& folder);

// FAMILY[-dense|-moe]_DOMAIN_PRECISION[_rerun].EXTENSION; nullopt: the name says something else.
std::optional<GridArm> arm_of_file_name(const std::string& path);

// Arms of one family, architecture and domain are one cell each with their baseline.
Result<std::vector<CellSources>> cells_of_grid(const std::vector<GridArm>& arms);

// Bits of a weight by the name of a precision: "BF16" 16, "Q4_K_M" 4, "int4-awq" 4; nullopt:
// unknown.
std::optional<int> precision_bits(std::string_view precision);

}  // namespace unmask
