// What must hold of a GGUF before it is loaded, so that what is wrong is said in a sentence of
// ours. Internal to llm; needs no llama.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "llm/llama.h"

namespace unmask {

struct ModelFile {
  LlamaSettings settings;  // with the defaults filled in
  std::string architecture;
  std::string chat_template;
  std::string tool_template;  // used where tools are offered; empty: the same
  std::uint64_t file_bytes = 0;
  std::uint64_t kv_bytes = 0;  // of all conversations together; an estimate
};

// Errors   as LlamaEngine::open, but for what only llama.cpp can find.
Result<ModelFile> check_model_file(const LlamaSettings& settings);

// Bytes of memory that processes may still have; nullopt: the system does not say.
std::optional<std::uint64_t> available_memory();

// Unavailable where `need` is more than `available`.
Result<Done> check_memory(const ModelFile& model, std::optional<std::uint64_t> available);

}  // namespace unmask
