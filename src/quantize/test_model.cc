#include "quantize/test_model.h"

#include <cmath>
#include <vector>

#include "base/rng.h"
#include "quantize/gguf_writer.h"
#include "quantize/tensor_values.h"

namespace unmask {
namespace {

constexpr std::int32_t kNormalToken = 1;
constexpr std::int32_t kControlToken = 3;

std::string utf8(std::uint32_t code) {
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xc0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3f))};
}

// GPT-2's alphabet: printable bytes stand for themselves, the others for code points from 256.
std::vector<std::string> byte_tokens() {
  std::vector<std::string> tokens;
  std::uint32_t next = 256;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    const bool printable =
        (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    tokens.push_back(utf8(printable ? byte : next++));
  }
  return tokens;
}

void add_tokenizer(GgufLayout& layout) {
  std::vector<std::string> tokens = byte_tokens();
  std::vector<std::int32_t> types(tokens.size(), kNormalToken);
  for (const char* control : {"<s>", "</s>"}) {
    tokens.emplace_back(control);
    types.push_back(kControlToken);
  }
  layout.set(gguf_text("tokenizer.ggml.model", "gpt2"));
  layout.set(gguf_text("tokenizer.ggml.pre", "gpt-2"));
  layout.set(gguf_texts("tokenizer.ggml.tokens", tokens));
  layout.set(gguf_i32s("tokenizer.ggml.token_type", types));
  // llama.cpp wants merges; one that never applies will do.
  layout.set(gguf_texts("tokenizer.ggml.merges", {"a b"}));
  layout.set(gguf_u32("tokenizer.ggml.bos_token_id", 256));
  layout.set(gguf_u32("tokenizer.ggml.eos_token_id", 257));
  layout.set(gguf_bool("tokenizer.ggml.add_bos_token", false));
}

void add_settings(GgufLayout& layout, const TestModelShape& shape) {
  layout.set(gguf_text("general.architecture", "llama"));
  layout.set(gguf_text("general.name", "test model"));
  layout.set(gguf_u32("llama.context_length", shape.context));
  layout.set(gguf_u32("llama.embedding_length", shape.width));
  layout.set(gguf_u32("llama.block_count", shape.blocks));
  layout.set(gguf_u32("llama.feed_forward_length", shape.ffn));
  layout.set(gguf_u32("llama.attention.head_count", shape.heads));
  layout.set(gguf_u32("llama.attention.head_count_kv", shape.heads));
  layout.set(gguf_f32("llama.attention.layer_norm_rms_epsilon", 1e-5f));
  layout.set(gguf_u32("llama.rope.dimension_count", shape.width / shape.heads));
  layout.set(gguf_u32("llama.vocab_size", 258));
  if (shape.experts == 0) return;
  layout.set(gguf_u32("llama.expert_count", shape.experts));
  layout.set(gguf_u32("llama.expert_used_count", shape.experts_used));
}

void add_block(GgufLayout& layout, const TestModelShape& shape, std::uint32_t block) {
  const GgufTensorType* narrow = gguf_tensor_type(shape.type);
  const GgufTensorType* full = gguf_tensor_type("f32");
  const std::uint64_t d = shape.width;
  const std::uint64_t f = shape.ffn;
  const std::uint64_t e = shape.experts;
  const std::string prefix = "blk." + std::to_string(block) + ".";
  const auto add = [&](const char* name, std::vector<std::uint64_t> extents,
                       const GgufTensorType* type) {
    layout.tensors.push_back({prefix + name, std::move(extents), type});
  };
  add("attn_norm.weight", {d}, full);
  for (const char* name : {"attn_q.weight", "attn_k.weight", "attn_v.weight", "attn_output.weight"})
    add(name, {d, d}, narrow);
  add("ffn_norm.weight", {d}, full);
  if (e == 0) {
    add("ffn_gate.weight", {d, f}, narrow);
    add("ffn_up.weight", {d, f}, narrow);
    add("ffn_down.weight", {f, d}, narrow);
    return;
  }
  add("ffn_gate_inp.weight", {d, e}, full);
  add("ffn_gate_exps.weight", {d, f, e}, narrow);
  add("ffn_up_exps.weight", {d, f, e}, narrow);
  add("ffn_down_exps.weight", {f, d, e}, narrow);
}

std::string random_weights(const GgufPlannedTensor& tensor, Rng& rng) {
  const bool norm = tensor.name.find("_norm.") != std::string::npos;
  std::vector<float> values(tensor_bytes(tensor) / tensor.type->bytes);
  const double spread = 1 / std::sqrt(static_cast<double>(tensor.shape[0]));
  for (float& value : values)
    value = static_cast<float>(norm ? 1 + 0.1 * rng.normal() : spread * rng.normal());
  std::string bytes(tensor_bytes(tensor), '\0');
  write_floats(values, *tensor.type, bytes);
  return bytes;
}

}  // namespace

std::string test_model(const TestModelShape& shape) {
  GgufLayout layout;
  add_settings(layout, shape);
  add_tokenizer(layout);
  const GgufTensorType* narrow = gguf_tensor_type(shape.type);
  layout.tensors.push_back({"token_embd.weight", {shape.width, 258}, narrow});
  layout.tensors.push_back({"output_norm.weight", {shape.width}, gguf_tensor_type("f32")});
  layout.tensors.push_back({"output.weight", {shape.width, 258}, narrow});
  for (std::uint32_t block = 0; block < shape.blocks; ++block) add_block(layout, shape, block);
  std::string bytes = gguf_head(layout);
  Rng rng(shape.seed, "test model");
  for (const GgufPlannedTensor& tensor : layout.tensors) {
    bytes += random_weights(tensor, rng);
    bytes.resize((bytes.size() + layout.alignment - 1) / layout.alignment * layout.alignment);
  }
  return bytes;
}

}  // namespace unmask
