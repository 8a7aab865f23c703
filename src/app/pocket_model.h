// The pocket agent that is part of the program: a teaching and test model (docs/pocket.md).
#pragma once

#include <string_view>

namespace unmask {

// The model, a GGUF file's bytes; empty where this build has none.
std::string_view pocket_model();
// Prompts of training structures, JSON Lines, for recipes that watch a model read.
std::string_view pocket_calibration();

}  // namespace unmask
