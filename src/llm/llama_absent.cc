// The embedded engine of a build without llama.cpp.
#include "llm/chat_template.h"
#include "llm/llama.h"
#include "llm/model_file.h"

namespace unmask {
namespace {

Error absent(const std::string& where) {
  return Error{ErrorKind::Unsupported,
               "this build has no engine for models in files: it was made with -DUNMASK_LLAMA=off",
               where};
}

}  // namespace

Result<std::shared_ptr<LlamaEngine>> LlamaEngine::open(const LlamaSettings& settings) {
  return absent(settings.file);
}

Result<std::unique_ptr<ChatModel>> open_llama(std::shared_ptr<LlamaEngine>, std::string name,
                                              const LlamaSampling&) {
  return absent(name);
}

Result<std::unique_ptr<ChatTemplate>> ChatTemplate::open(const std::string&, const std::string&,
                                                         const std::string&) {
  return absent("");
}

std::string llama_version_text() {
  return "";
}

}  // namespace unmask
