#include "app/build_facts.h"

#include <fmt/format.h>

namespace unmask {

extern const char* const kCommit;  // written by cmake/commit.cmake at every build

std::string build_facts() {
  std::string text = fmt::format("unmask {}\n", UNMASK_VERSION);
  if (kCommit[0] != '\0') text += fmt::format("  commit     {}\n", kCommit);
  return text + fmt::format("  compiler   {}\n  build      {}\n  llama.cpp  {}\n  charts     {}\n",
                            UNMASK_COMPILER, UNMASK_BUILD_TYPE, UNMASK_LLAMA_VERSION,
                            UNMASK_CHARTS_VERSION);
}

}  // namespace unmask
