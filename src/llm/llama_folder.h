// Where llama.cpp's libraries are.
#pragma once

#include <string>

namespace unmask {

// The folder that the loaded libraries are in, where their code for each processor is too; an
// installed program has them elsewhere than the build.
std::string llama_folder();

}  // namespace unmask
