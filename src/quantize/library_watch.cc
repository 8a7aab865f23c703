// The inputs are seen by llama.cpp's evaluation callback: it is asked before each operation whether
// it wants to see the result, and called after it, when the operands are still there.
#ifdef UNMASK_WITH_LLAMA
#include <fmt/format.h>
#include <ggml-backend.h>
#include <ggml.h>
#include <llama.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "quantize/library.h"
#include "quantize/library_session.h"
#include "quantize/tensor_values.h"

namespace unmask {
namespace {

constexpr std::uint32_t kPieceTokens = 512;

struct FreeModel {
  void operator()(llama_model* model) const { llama_model_free(model); }
};
struct FreeContext {
  void operator()(llama_context* context) const { llama_free(context); }
};
using ModelPointer = std::unique_ptr<llama_model, FreeModel>;
using ContextPointer = std::unique_ptr<llama_context, FreeContext>;

class InputWatch {
 public:
  explicit InputWatch(std::map<std::string, LayerInputs, std::less<>>& inputs) : inputs_(inputs) {}

  // nullptr: not a product with a weight that is watched.
  LayerInputs* inputs_of(const ggml_tensor& node) const {
    if (node.op != GGML_OP_MUL_MAT && node.op != GGML_OP_MUL_MAT_ID) return nullptr;
    if (node.src[1]->type != GGML_TYPE_F32) return nullptr;
    const auto found = inputs_.find(std::string_view(node.src[0]->name));
    return found == inputs_.end() ? nullptr : &found->second;
  }

  void see(const ggml_tensor& node) {
    LayerInputs* inputs = inputs_of(node);
    const ggml_tensor& x = *node.src[1];
    if (static_cast<std::size_t>(x.ne[0]) != inputs->columns()) return;
    const char* bytes = host_bytes(x, buffer_);
    if (node.op == GGML_OP_MUL_MAT) return see_rows(*inputs, x, bytes);
    see_routed(*inputs, x, bytes, *node.src[2]);
  }

 private:
  static const char* host_bytes(const ggml_tensor& tensor, std::vector<char>& buffer) {
    if (ggml_backend_buffer_is_host(tensor.buffer)) return static_cast<const char*>(tensor.data);
    buffer.resize(ggml_nbytes(&tensor));
    ggml_backend_tensor_get(&tensor, buffer.data(), 0, buffer.size());
    return buffer.data();
  }

  std::span<const float> row(const ggml_tensor& x, const char* bytes, std::int64_t i1,
                             std::int64_t i2, std::int64_t i3) {
    const char* begin = bytes + i1 * x.nb[1] + i2 * x.nb[2] + i3 * x.nb[3];
    return {reinterpret_cast<const float*>(begin), static_cast<std::size_t>(x.ne[0])};
  }

  void see_rows(LayerInputs& inputs, const ggml_tensor& x, const char* bytes) {
    for (std::int64_t i3 = 0; i3 < x.ne[3]; ++i3)
      for (std::int64_t i2 = 0; i2 < x.ne[2]; ++i2)
        for (std::int64_t i1 = 0; i1 < x.ne[1]; ++i1) inputs.add(0, row(x, bytes, i1, i2, i3));
  }

  // x is (column, expert used or 1, token), ids (expert used, token).
  void see_routed(LayerInputs& inputs, const ggml_tensor& x, const char* bytes,
                  const ggml_tensor& ids) {
    const char* id_bytes = host_bytes(ids, id_buffer_);
    for (std::int64_t token = 0; token < ids.ne[1]; ++token) {
      for (std::int64_t used = 0; used < ids.ne[0]; ++used) {
        const auto expert =
            *reinterpret_cast<const std::int32_t*>(id_bytes + token * ids.nb[1] + used * ids.nb[0]);
        if (expert < 0 || static_cast<std::size_t>(expert) >= inputs.matrices()) continue;
        inputs.add(static_cast<std::size_t>(expert), row(x, bytes, used % x.ne[1], token, 0));
      }
    }
  }

  std::map<std::string, LayerInputs, std::less<>>& inputs_;
  std::vector<char> buffer_;
  std::vector<char> id_buffer_;
};

bool on_node(ggml_tensor* node, bool ask, void* watch) {
  if (ask) return static_cast<InputWatch*>(watch)->inputs_of(*node) != nullptr;
  static_cast<InputWatch*>(watch)->see(*node);
  return true;
}

ModelPointer load_model(const std::string& path) {
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = 0;
  params.use_extra_bufts = false;  // repacked weights lose their names
  return ModelPointer(llama_model_load_from_file(path.c_str(), params));
}

ContextPointer open_context(llama_model& model, InputWatch& watch, int threads) {
  llama_context_params params = llama_context_default_params();
  const int trained = llama_model_n_ctx_train(&model);
  params.n_ctx =
      trained > 0 ? std::min(kPieceTokens, static_cast<std::uint32_t>(trained)) : kPieceTokens;
  params.n_batch = params.n_ctx;
  params.n_ubatch = params.n_ctx;
  params.n_threads = threads;
  params.n_threads_batch = threads;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.cb_eval = on_node;
  params.cb_eval_user_data = &watch;
  return ContextPointer(llama_init_from_model(&model, params));
}

// Empty: the tokenizer cannot.
std::vector<llama_token> tokens_of(const llama_vocab& vocab, const std::string& text) {
  constexpr bool kAddBeginning = true;
  constexpr bool kParseSpecial = true;
  std::vector<llama_token> tokens(text.size() + 8);
  const auto tokenize = [&] {
    return llama_tokenize(&vocab, text.data(), static_cast<std::int32_t>(text.size()),
                          tokens.data(), static_cast<std::int32_t>(tokens.size()), kAddBeginning,
                          kParseSpecial);
  };
  std::int32_t count = tokenize();
  if (count < 0 && count != INT32_MIN) {
    tokens.resize(static_cast<std::size_t>(-count));
    count = tokenize();
  }
  tokens.resize(static_cast<std::size_t>(std::max(count, 0)));
  return tokens;
}

// All outputs are asked for: without, the last block would see only the last token of a piece.
bool evaluate(llama_context& context, std::span<llama_token> tokens) {
  std::vector<std::int8_t> wanted(tokens.size(), 1);
  llama_batch batch = llama_batch_get_one(tokens.data(), static_cast<std::int32_t>(tokens.size()));
  batch.logits = wanted.data();
  llama_memory_clear(llama_get_memory(&context), true);
  return llama_decode(&context, batch) == 0;
}

Error refused(const std::string& model, const std::string& what, const LibrarySession& session) {
  return Error{ErrorKind::Unsupported, what + ": " + session.complaint("no reason given"), model};
}

Result<Calibration> nothing_seen_yet(const std::string& model, std::size_t most_rows) {
  const Result<Gguf> file = Gguf::open(model);
  if (!file) return file.error();
  Calibration calibration;
  for (const GgufTensor& tensor : file->tensors()) {
    if (!is_linear_weight(tensor)) continue;
    const TensorMatrices all = matrices_of(tensor);
    calibration.inputs.emplace(std::string(tensor.name),
                               LayerInputs(all.shape.columns, all.count, most_rows, tensor.name));
  }
  return calibration;
}

using Piece = std::vector<llama_token>;

// Up to `most_tokens` tokens of the texts, in pieces of up to `longest`. Counts records and tokens.
std::vector<Piece> pieces_of(const std::vector<std::string>& texts, const llama_vocab& vocab,
                             std::size_t longest, std::uint64_t most_tokens,
                             Calibration& calibration) {
  std::vector<Piece> pieces;
  for (const std::string& text : texts) {
    ++calibration.records;
    const Piece tokens = tokens_of(vocab, text);
    for (std::size_t begin = 0; begin < tokens.size(); begin += longest) {
      const std::size_t wanted = std::min(longest, tokens.size() - begin);
      const std::size_t length = std::min<std::size_t>(wanted, most_tokens - calibration.tokens);
      calibration.cut = calibration.cut || length < wanted;
      if (length == 0) break;
      const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(begin);
      pieces.emplace_back(first, first + static_cast<std::ptrdiff_t>(length));
      calibration.tokens += length;
    }
  }
  return pieces;
}

}  // namespace

Result<Calibration> watch_inputs(
    const std::string& model_path, const std::vector<std::string>& texts,
    const CalibrationOptions& options, const std::stop_token& stop,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  Result<Calibration> calibration = nothing_seen_yet(model_path, options.most_rows);
  if (!calibration) return calibration;
  const LibrarySession session;
  const ModelPointer model = load_model(model_path);
  if (!model) return refused(model_path, "llama.cpp cannot load the model", session);
  const llama_vocab* vocab = llama_model_get_vocab(model.get());
  if (llama_vocab_type(vocab) == LLAMA_VOCAB_TYPE_NONE)
    return Error{ErrorKind::Unsupported, "calibration needs a tokenizer, and the model has none",
                 model_path};
  InputWatch watch(calibration->inputs);
  const ContextPointer context = open_context(*model, watch, options.threads);
  if (!context) return refused(model_path, "llama.cpp cannot evaluate the model", session);

  std::vector<Piece> pieces =
      pieces_of(texts, *vocab, llama_n_ctx(context.get()), options.most_tokens, *calibration);
  if (pieces.empty())
    return Error{ErrorKind::Unsupported, "the model's tokenizer makes no token of the text",
                 model_path};
  std::uint64_t done = 0;
  for (Piece& piece : pieces) {
    if (stop.stop_requested())
      return Error{ErrorKind::Unavailable, "interrupted during calibration", ""};
    if (!evaluate(*context, piece))
      return refused(model_path, "llama.cpp cannot evaluate the calibration text", session);
    done += piece.size();
    progress(done, calibration->tokens);
  }
  return calibration;
}

}  // namespace unmask
#endif
