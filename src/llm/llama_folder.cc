#include "llm/llama_folder.h"

#include <dlfcn.h>
#include <ggml-backend.h>

#include <filesystem>

namespace unmask {

std::string llama_folder() {
  Dl_info library = {};
  if (dladdr(reinterpret_cast<const void*>(&ggml_backend_load_all_from_path), &library) != 0 &&
      library.dli_fname != nullptr) {
    const std::filesystem::path folder = std::filesystem::path(library.dli_fname).parent_path();
    if (!folder.empty()) return folder.lexically_normal().string();
  }
  return UNMASK_LLAMA_LIBRARIES;
}

}  // namespace unmask
