#include "llm/llama_decoder.h"

#include <fmt/format.h>
#include <llama.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>

#include "llm/llama_folder.h"

namespace unmask {
namespace {

constexpr int kBatch = 512;

// What llama.cpp logs, kept instead of printed; it has one log for the whole process.
class LibraryLog {
 public:
  static LibraryLog& instance() {
    static LibraryLog log;
    return log;
  }

  static void take(ggml_log_level level, const char* text, void*) { instance().add(level, text); }

  void clear() {
    const std::lock_guard lock(mutex_);
    lines_.clear();
  }

  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return {lines_.begin(), lines_.end()};
  }

  // The first line that has `word`; empty: none.
  std::string line_with(std::string_view word) const {
    const std::lock_guard lock(mutex_);
    for (const std::string& line : lines_)
      if (line.find(word) != std::string::npos) return line;
    return "";
  }

 private:
  void add(ggml_log_level level, const char* text) {
    constexpr std::size_t kMostLines = 50;
    const std::lock_guard lock(mutex_);
    if (level != GGML_LOG_LEVEL_CONT) keeping_ = level >= GGML_LOG_LEVEL_WARN;
    if (!keeping_) return;
    std::string line(text);
    while (!line.empty() && line.back() == '\n') line.pop_back();
    if (line.empty()) return;
    if (level == GGML_LOG_LEVEL_CONT && !lines_.empty()) {
      lines_.back() += line;
      return;
    }
    lines_.push_back(std::move(line));
    if (lines_.size() > kMostLines) lines_.pop_front();
  }

  mutable std::mutex mutex_;
  bool keeping_ = false;
  std::deque<std::string> lines_;
};

// Once for the process: the log, then the code for this processor.
Result<Done> load_library() {
  static const bool loaded = [] {
    llama_log_set(LibraryLog::take, nullptr);
    ggml_backend_load_all_from_path(llama_folder().c_str());
    llama_backend_init();
    return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) != nullptr;
  }();
  if (loaded) return Done{};
  return Error{ErrorKind::Unavailable, "llama.cpp's code for this processor is not in the folder",
               llama_folder()};
}

ggml_type kv_type(std::string_view name) {
  if (name == "f32") return GGML_TYPE_F32;
  if (name == "bf16") return GGML_TYPE_BF16;
  if (name == "q8_0") return GGML_TYPE_Q8_0;
  if (name == "q4_0") return GGML_TYPE_Q4_0;
  return GGML_TYPE_F16;
}

// llama.cpp ends the process where it cannot start its threads, so they are tried before.
Result<Done> check_threads(const ModelFile& model) {
  std::vector<std::jthread> threads;
  try {
    for (int i = 0; i < model.settings.threads; ++i)
      threads.emplace_back([](const std::stop_token&) {});
  } catch (const std::system_error& error) {
    return Error{ErrorKind::Unavailable,
                 fmt::format("{} threads cannot be started: {}", model.settings.threads,
                             error.code().message()),
                 model.settings.file};
  }
  return Done{};
}

struct FreeModel {
  void operator()(llama_model* model) const { llama_model_free(model); }
};
struct FreeContext {
  void operator()(llama_context* context) const { llama_free(context); }
};
using ModelPtr = std::unique_ptr<llama_model, FreeModel>;
using ContextPtr = std::unique_ptr<llama_context, FreeContext>;

Error not_loaded(const ModelFile& model) {
  const LibraryLog& log = LibraryLog::instance();
  if (!log.line_with("unknown model architecture").empty())
    return Error{ErrorKind::Unsupported,
                 fmt::format("is of the architecture '{}', which llama.cpp {} does not know",
                             model.architecture, llama_version()),
                 model.settings.file};
  const std::vector<std::string> lines = log.lines();
  const std::string& why = lines.empty() ? "it does not say why" : lines.front();
  return Error{ErrorKind::Malformed, "llama.cpp does not load it: " + why, model.settings.file};
}

llama_context_params context_params(const LlamaSettings& settings) {
  llama_context_params params = llama_context_default_params();
  const auto parallel = static_cast<std::uint32_t>(settings.parallel);
  params.n_ctx = static_cast<std::uint32_t>(settings.context) * parallel;
  params.n_batch = static_cast<std::uint32_t>(std::max(kBatch, settings.parallel));
  params.n_ubatch = params.n_batch;
  params.n_seq_max = parallel;
  params.n_threads = settings.threads;
  params.n_threads_batch = settings.threads;
  params.type_k = kv_type(settings.kv);
  params.type_v = kv_type(settings.kv);
  if (settings.kv == "q8_0" || settings.kv == "q4_0")
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;  // values in blocks need it
  params.swa_full = true;  // else what a prefix saw before the window is lost
  // Each sequence in a buffer of its own: in one for all, the attention of each passes over the
  // keys of all, and what lies between one's own moves the last bits.
  params.kv_unified = false;
  params.no_perf = true;
  return params;
}

class Grammar : public TokenGrammar {
 public:
  explicit Grammar(llama_sampler* sampler) : sampler_(sampler) {}
  Grammar(const Grammar&) = delete;
  Grammar& operator=(const Grammar&) = delete;
  ~Grammar() override { llama_sampler_free(sampler_); }

  void forbid(std::span<float> logits) override {
    candidates_.resize(logits.size());
    for (std::size_t i = 0; i < logits.size(); ++i)
      candidates_[i] = {static_cast<llama_token>(i), logits[i], 0};
    llama_token_data_array array{candidates_.data(), candidates_.size(), -1, false};
    llama_sampler_apply(sampler_, &array);
    for (std::size_t i = 0; i < array.size; ++i)
      logits[static_cast<std::size_t>(array.data[i].id)] = array.data[i].logit;
  }

  void accept(Token token) override { llama_sampler_accept(sampler_, token); }

 private:
  llama_sampler* sampler_;
  std::vector<llama_token_data> candidates_;
};

class Decoder : public LlamaDecoder {
 public:
  Decoder(const ModelFile& file, ModelPtr model, ContextPtr context)
      : settings_(file.settings),
        model_(std::move(model)),
        context_(std::move(context)),
        vocabulary_(llama_model_get_vocab(model_.get())),
        memory_(llama_get_memory(context_.get())),
        batch_(llama_batch_init(static_cast<int>(llama_n_batch(context_.get())), 0, 1)),
        warnings_(LibraryLog::instance().lines()) {}
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() override { llama_batch_free(batch_); }

  std::vector<Token> tokens(std::string_view text, bool at_beginning) const override {
    std::vector<Token> out(text.size() + 8);
    const int length = static_cast<int>(text.size());
    int count = llama_tokenize(vocabulary_, text.data(), length, out.data(),
                               static_cast<int>(out.size()), false, true);
    if (count < 0) {
      out.resize(static_cast<std::size_t>(-count));
      count = llama_tokenize(vocabulary_, text.data(), length, out.data(), -count, false, true);
    }
    out.resize(static_cast<std::size_t>(std::max(count, 0)));
    const Token first = llama_vocab_bos(vocabulary_);
    if (at_beginning && llama_vocab_get_add_bos(vocabulary_) && first != LLAMA_TOKEN_NULL &&
        (out.empty() || out.front() != first))
      out.insert(out.begin(), first);
    return out;
  }

  std::string text(Token token) const override {
    std::string out(64, '\0');
    int length =
        llama_token_to_piece(vocabulary_, token, out.data(), static_cast<int>(out.size()), 0, true);
    if (length < 0) {
      out.resize(static_cast<std::size_t>(-length));
      length = llama_token_to_piece(vocabulary_, token, out.data(), -length, 0, true);
    }
    out.resize(static_cast<std::size_t>(std::max(length, 0)));
    return out;
  }

  bool is_end(Token token) const override { return llama_vocab_is_eog(vocabulary_, token); }
  std::string bos() const override { return text_or_empty(llama_vocab_bos(vocabulary_)); }
  std::string eos() const override { return text_or_empty(llama_vocab_eos(vocabulary_)); }

  Result<std::unique_ptr<TokenGrammar>> grammar(const NameGrammar& grammar) const override {
    std::vector<const char*> patterns;
    for (const std::string& pattern : grammar.patterns) patterns.push_back(pattern.c_str());
    llama_sampler* sampler =
        grammar.lazy
            ? llama_sampler_init_grammar_lazy_patterns(vocabulary_, grammar.text.c_str(), "root",
                                                       patterns.data(), patterns.size(), nullptr, 0)
            : llama_sampler_init_grammar(vocabulary_, grammar.text.c_str(), "root");
    if (sampler == nullptr)
      return Error{ErrorKind::Unsupported,
                   "names cannot be constrained: llama.cpp refuses its own grammar for this chat "
                   "template",
                   settings_.file};
    std::unique_ptr<TokenGrammar> out = std::make_unique<Grammar>(sampler);
    if (!grammar.lazy)
      for (const Token token : tokens(grammar.opening, false)) out->accept(token);
    return out;
  }

  std::size_t most_at_once() const override { return llama_n_batch(context_.get()); }

  bool keep(int sequence, std::size_t kept) override {
    if (llama_memory_seq_rm(memory_, sequence, static_cast<llama_pos>(kept), -1) &&
        holds(sequence, kept))
      return true;
    llama_memory_seq_rm(memory_, sequence, -1, -1);
    return false;
  }

  bool copy(int from, int to, std::size_t count) override {
    llama_memory_seq_rm(memory_, to, -1, -1);
    llama_memory_seq_cp(memory_, from, to, -1, -1);  // buffers are copied as a whole only
    return keep(to, count);
  }

  Result<Done> decode(std::span<const BatchToken> batch) override {
    batch_.n_tokens = static_cast<int>(batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch_.token[i] = batch[i].token;
      batch_.pos[i] = batch[i].position;
      batch_.n_seq_id[i] = 1;
      batch_.seq_id[i][0] = batch[i].sequence;
      batch_.logits[i] = batch[i].logits;
    }
    const int status = llama_decode(context_.get(), batch_);
    if (status == 0) return Done{};
    for (const BatchToken& token : batch) llama_memory_seq_rm(memory_, token.sequence, -1, -1);
    return Error{ErrorKind::Unavailable,
                 status == 1 ? "llama.cpp found no room for the keys and values of a batch"
                             : fmt::format("llama.cpp failed to evaluate a batch ({})", status),
                 settings_.file};
  }

  std::span<float> logits(std::size_t index) override {
    float* const values = llama_get_logits_ith(context_.get(), static_cast<int>(index));
    if (values == nullptr) return {};
    return {values, static_cast<std::size_t>(llama_vocab_n_tokens(vocabulary_))};
  }

  std::uint64_t model_bytes() const override { return llama_model_size(model_.get()); }
  std::vector<std::string> warnings() const override { return warnings_; }

 private:
  std::string text_or_empty(Token token) const {
    return token == LLAMA_TOKEN_NULL ? "" : text(token);
  }

  bool holds(int sequence, std::size_t count) const {
    return count == 0 ||
           (llama_memory_seq_pos_max(memory_, sequence) == static_cast<llama_pos>(count) - 1 &&
            (llama_model_is_recurrent(model_.get()) ||
             llama_memory_seq_pos_min(memory_, sequence) == 0 ||
             llama_model_is_hybrid(model_.get())));
  }

  const LlamaSettings settings_;
  const ModelPtr model_;
  const ContextPtr context_;
  const llama_vocab* const vocabulary_;
  const llama_memory_t memory_;
  llama_batch batch_;
  const std::vector<std::string> warnings_;
};

}  // namespace

std::string llama_version_text() {
  return llama_version();
}

Result<std::unique_ptr<LlamaDecoder>> LlamaDecoder::open(const ModelFile& model) {
  const Result<Done> library = load_library();
  if (!library) return library.error();
  const Result<Done> threads = check_threads(model);
  if (!threads) return threads.error();
  static std::mutex loading;  // the log tells of one model at a time
  const std::lock_guard lock(loading);
  LibraryLog::instance().clear();
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = model.settings.gpu_layers;
  ModelPtr loaded(llama_model_load_from_file(model.settings.file.c_str(), params));
  if (!loaded) return not_loaded(model);
  if (llama_model_has_encoder(loaded.get()) || llama_model_is_diffusion(loaded.get()))
    return Error{ErrorKind::Unsupported, "is no model that goes on with a text",
                 model.settings.file};
  ContextPtr context(llama_init_from_model(loaded.get(), context_params(model.settings)));
  if (!context) {
    const std::vector<std::string> lines = LibraryLog::instance().lines();
    return Error{ErrorKind::Unavailable,
                 "llama.cpp makes no context for it: " +
                     (lines.empty() ? std::string("it does not say why") : lines.back()),
                 model.settings.file};
  }
  return std::unique_ptr<LlamaDecoder>(
      std::make_unique<Decoder>(model, std::move(loaded), std::move(context)));
}

}  // namespace unmask
