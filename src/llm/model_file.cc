#include "llm/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <thread>

#include "base/file.h"
#include "llm/gguf.h"

namespace unmask {
namespace {

constexpr int kLongestContext = 32768;  // unless asked for: memory grows with it
constexpr int kMostParallel = 256;      // llama.cpp's limit on sequences

struct KvType {
  std::string_view name;
  double bytes;  // of one number
};
constexpr std::array kKvTypes = {KvType{"f32", 4}, KvType{"f16", 2}, KvType{"bf16", 2},
                                 KvType{"q8_0", 34.0 / 32}, KvType{"q4_0", 18.0 / 32}};

Error wrong(const std::string& sentence, const std::string& where = "") {
  return Error{ErrorKind::InvalidArgument, sentence, where};
}

const KvType* kv_type(std::string_view name) {
  for (const KvType& type : kKvTypes)
    if (type.name == name) return &type;
  return nullptr;
}

Result<Done> check_settings(const LlamaSettings& settings) {
  if (settings.file.empty()) return wrong("no model file is named");
  if (!kv_type(settings.kv))
    return wrong("kv must be f32, f16, bf16, q8_0 or q4_0, not '" + settings.kv + "'");
  if (settings.threads < 0 || settings.threads > 1024) return wrong("threads must be 1 to 1024");
  if (settings.gpu_layers < -1) return wrong("gpu_layers must not be negative");
  if (settings.context < 0) return wrong("context must not be negative");
  if (settings.parallel < 1 || settings.parallel > kMostParallel)
    return wrong(fmt::format("parallel must be 1 to {}", kMostParallel));
  return Done{};
}

// The key as a number in [1, 2^31); `otherwise` where there is none.
double positive(const Gguf& file, std::string_view key, double otherwise) {
  const GgufValue* value = file.of_architecture(key);
  const std::optional<std::int64_t> whole = value ? value->whole() : std::nullopt;
  return whole && *whole > 0 && *whole < (std::int64_t{1} << 31) ? static_cast<double>(*whole)
                                                                 : otherwise;
}

// Heads that have keys and values, of all layers together; the key may be one number or a list.
double kv_heads(const Gguf& file, double layers) {
  const double heads = positive(file, "attention.head_count", 1);
  const GgufValue* value = file.of_architecture("attention.head_count_kv");
  if (value && value->type == GgufType::Array) {
    double sum = 0;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(value->count, 4096); ++i) {
      const std::optional<GgufValue> item = value->at(i);
      const std::optional<std::int64_t> whole = item ? item->whole() : std::nullopt;
      if (whole && *whole > 0) sum += static_cast<double>(*whole);
    }
    return sum;
  }
  return layers * positive(file, "attention.head_count_kv", heads);
}

std::uint64_t kv_bytes(const Gguf& file, const LlamaSettings& settings) {
  const double layers = positive(file, "block_count", 1);
  const double heads = positive(file, "attention.head_count", 1);
  const double head = positive(file, "embedding_length", 1) / heads;
  const double width =
      positive(file, "attention.key_length", head) + positive(file, "attention.value_length", head);
  const double per_token = kv_heads(file, layers) * width * kv_type(settings.kv)->bytes;
  return static_cast<std::uint64_t>(
      std::min(per_token * settings.context * settings.parallel, 1e18));
}

std::string text_of(const Gguf& file, std::string_view key) {
  const GgufValue* value = file.find(key);
  const std::optional<std::string_view> text = value ? value->text() : std::nullopt;
  return std::string(text.value_or(""));
}

Result<Done> read_templates(const Gguf& file, ModelFile& model) {
  const std::string& path = model.settings.template_file;
  if (!path.empty()) {
    constexpr std::uint64_t kLargest = 4 << 20;
    Result<std::string> text = read_file(path, kLargest);
    if (!text) return text.error();
    if (text->find_first_not_of(" \t\r\n") == std::string::npos)
      return wrong("the chat template is empty", path);
    model.chat_template = std::move(*text);
    return Done{};
  }
  model.chat_template = text_of(file, "tokenizer.chat_template");
  model.tool_template = text_of(file, "tokenizer.chat_template.tool_use");
  if (model.chat_template.empty()) model.chat_template = model.tool_template;
  if (model.chat_template.empty())
    return Error{ErrorKind::Unsupported,
                 "has no chat template, so how it is spoken to must be said: template = FILE",
                 model.settings.file};
  return Done{};
}

// In a small model a thread's share of an operation is shorter than waiting for the others, and
// llama.cpp waits by spinning: two threads on a busy machine take a hundred times as long as one.
int usual_threads(std::uint64_t file_bytes) {
  constexpr std::uint64_t kSmall = 64 << 20;
  if (file_bytes < kSmall) return 1;
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

std::string gigabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) * 1e-9);
}

}  // namespace

Result<ModelFile> check_model_file(const LlamaSettings& settings) {
  const Result<Done> sound = check_settings(settings);
  if (!sound) return sound.error();
  const Result<Gguf> file = Gguf::open(settings.file);
  if (!file) return file.error();
  ModelFile model;
  model.settings = settings;
  model.architecture = file->architecture();
  if (model.architecture.empty())
    return Error{ErrorKind::Malformed, "says no architecture (general.architecture)",
                 settings.file};
  if (file->tensors().empty())
    return Error{ErrorKind::Unsupported, "holds no tensors, only a vocabulary", settings.file};
  const Result<Done> templates = read_templates(*file, model);
  if (!templates) return templates.error();
  LlamaSettings& filled = model.settings;
  const int trained = static_cast<int>(positive(*file, "context_length", kLongestContext));
  if (filled.context == 0) filled.context = std::min(trained, kLongestContext);
  if (filled.context < 16) return wrong("context must be at least 16", settings.file);
  model.file_bytes = file->bytes().size();
  if (filled.threads == 0) filled.threads = usual_threads(model.file_bytes);
  model.kv_bytes = kv_bytes(*file, filled);
  return model;
}

std::optional<std::uint64_t> available_memory() {
  const Result<std::string> text = read_file("/proc/meminfo");
  if (!text) return std::nullopt;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    unsigned long long kilobytes = 0;
    if (std::sscanf(line.c_str(), "MemAvailable: %llu kB", &kilobytes) == 1)
      return std::uint64_t{kilobytes} * 1024;
  }
  return std::nullopt;
}

Result<Done> check_memory(const ModelFile& model, std::optional<std::uint64_t> available) {
  const std::uint64_t need = model.file_bytes + model.kv_bytes;
  if (!available || need <= *available) return Done{};
  return Error{
      ErrorKind::Unavailable,
      fmt::format("does not fit the memory: {} of weights and {} of keys and values ({} "
                  "conversations of {} tokens in {}) where {} are free; a smaller context or "
                  "parallel needs less",
                  gigabytes(model.file_bytes), gigabytes(model.kv_bytes), model.settings.parallel,
                  model.settings.context, model.settings.kv, gigabytes(*available)),
      model.settings.file};
}

}  // namespace unmask
