// How this program was built, for --version and bug reports.
#pragma once

#include <string>

namespace unmask {

// Lines "name  value": version, commit where it is known, compiler, build type, llama.cpp.
std::string build_facts();

}  // namespace unmask
