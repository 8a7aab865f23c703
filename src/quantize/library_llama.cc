#ifdef UNMASK_WITH_LLAMA
#include <fmt/format.h>
#include <ggml.h>
#include <llama.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "quantize/library.h"
#include "quantize/library_session.h"

namespace unmask {
namespace {

std::vector<llama_model_imatrix_data> importance_table(const ImportanceMatrix& importance) {
  std::vector<llama_model_imatrix_data> table;
  for (const auto& [name, values] : importance)
    table.push_back({name.c_str(), values.data(), values.size()});
  table.push_back({nullptr, nullptr, 0});
  return table;
}

std::vector<llama_model_kv_override> override_table(
    const std::map<std::string, std::string>& texts) {
  std::vector<llama_model_kv_override> table;
  for (const auto& [key, text] : texts) {
    llama_model_kv_override entry{};
    UNMASK_CHECK(key.size() < sizeof entry.key && text.size() < sizeof entry.val_str);
    entry.tag = LLAMA_KV_OVERRIDE_TYPE_STR;
    std::memcpy(entry.key, key.c_str(), key.size() + 1);
    std::memcpy(entry.val_str, text.c_str(), text.size() + 1);
    table.push_back(entry);
  }
  table.emplace_back();  // an empty key ends it
  table.back().key[0] = 0;
  return table;
}

}  // namespace

std::string library_version() {
  return fmt::format("llama.cpp {}", llama_version());
}

Result<Done> quantize_with_library(const LibraryJob& job) {
  const LibrarySession session;
  llama_model_quantize_params params = llama_model_quantize_default_params();
  params.ftype = static_cast<llama_ftype>(job.file_type);
  params.nthread = job.threads;
  std::vector<llama_model_imatrix_data> importance;
  if (job.importance) {
    importance = importance_table(*job.importance);
    params.imatrix = importance.data();
  }
  const std::vector<llama_model_kv_override> overrides = override_table(job.texts);
  params.kv_overrides = overrides.data();
  if (llama_model_quantize(job.source.c_str(), job.destination.c_str(), &params) == 0)
    return Done{};
  const std::string reason = session.complaint("no reason given");
  if (reason.find("iostream error") != std::string::npos)  // what its output stream throws
    return Error{ErrorKind::Unavailable, "cannot write the file; is the disk full?",
                 job.destination};
  return Error{ErrorKind::Unsupported, "llama.cpp cannot quantize it: " + reason, job.source};
}

Result<Done> read_quantized(std::string_view bytes, const GgufTensorType& type,
                            std::span<float> values) {
  const ggml_type_traits* traits = ggml_get_type_traits(static_cast<ggml_type>(type.id));
  if (traits == nullptr || traits->to_float == nullptr)
    return Error{ErrorKind::Unsupported,
                 fmt::format("llama.cpp cannot read {} back", std::string(type.name)), ""};
  UNMASK_CHECK(bytes.size() / type.bytes * type.numbers == values.size());
  traits->to_float(bytes.data(), values.data(), static_cast<std::int64_t>(values.size()));
  return Done{};
}

}  // namespace unmask
#endif
