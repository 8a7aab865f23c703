// A GGUF of a Llama-architecture model with random weights and a chat template, made when needed: a
// model for tests and benchmarks of the engine. Its text is noise with calls in it.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"

namespace unmask {

struct TinyShape {
  std::uint32_t width = 64;
  std::uint32_t layers = 2;
  std::uint32_t heads = 2;
  std::uint32_t inner = 128;
  std::uint32_t context = 2048;
  std::uint64_t seed = 1;
  std::string architecture = "llama";
  bool has_template = true;
};

// Calls are <call>NAME<args>JSON</call>, messages begin with a token for their role and the model's
// end with <e>.
inline constexpr std::string_view kTinyTemplate =
    "{%- for m in messages -%}"
    "{%- if m.role == 'system' -%}<s>{{ m.content }}"
    "{%- for t in tools %} {{ t.function.name }}{%- endfor -%}"
    "{%- elif m.role == 'user' -%}<u>{{ m.content }}"
    "{%- elif m.role == 'tool' -%}<t>{{ m.content }}"
    "{%- elif m.role == 'assistant' -%}<a>{%- if m.content %}{{ m.content }}{%- endif -%}"
    "{%- for c in m.tool_calls %}<call>{{ c.function.name }}<args>"
    "{{ c.function.arguments | tojson }}</call>{%- endfor -%}<e>"
    "{%- endif -%}{%- endfor -%}{%- if add_generation_prompt -%}<a>{%- endif -%}";

class TinyGguf {
 public:
  explicit TinyGguf(const TinyShape& shape) : shape_(shape), rng_(shape.seed) {
    make_vocabulary();
    make_tensors();
  }

  std::string bytes() {
    std::string out = "GGUF";
    put(out, std::uint32_t{3});
    put(out, std::uint64_t{tensors_.size()});
    std::string entries;
    std::uint64_t count = 0;
    write_entries(entries, count);
    put(out, count);
    out += entries;
    std::uint64_t offset = 0;
    for (const Tensor& tensor : tensors_) {
      text(out, tensor.name);
      put(out, static_cast<std::uint32_t>(tensor.shape.size()));
      for (const std::uint64_t extent : tensor.shape) put(out, extent);
      put(out, std::uint32_t{0});  // F32
      put(out, offset);
      offset += (tensor.numbers.size() * sizeof(float) + 31) / 32 * 32;
    }
    out.resize((out.size() + 31) / 32 * 32);
    for (const Tensor& tensor : tensors_) {
      out.append(reinterpret_cast<const char*>(tensor.numbers.data()),
                 tensor.numbers.size() * sizeof(float));
      out.resize((out.size() + 31) / 32 * 32);
    }
    return out;
  }

 private:
  struct Tensor {
    std::string name;
    std::vector<std::uint64_t> shape;
    std::vector<float> numbers;
  };

  template <typename T>
  static void put(std::string& out, T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  static void text(std::string& out, std::string_view value) {
    put(out, std::uint64_t{value.size()});
    out += value;
  }

  static void key(std::string& out, std::uint64_t& count, std::string_view name,
                  std::uint32_t type) {
    ++count;
    text(out, name);
    put(out, type);
  }

  static void number(std::string& out, std::uint64_t& count, std::string_view name,
                     std::uint32_t value) {
    key(out, count, name, 4);
    put(out, value);
  }

  void write_entries(std::string& out, std::uint64_t& count) const {
    const auto word = [&](std::string_view name, std::string_view value) {
      key(out, count, name, 8);
      text(out, value);
    };
    word("general.architecture", shape_.architecture);
    const std::string a = shape_.architecture + ".";
    number(out, count, a + "block_count", shape_.layers);
    number(out, count, a + "context_length", shape_.context);
    number(out, count, a + "embedding_length", shape_.width);
    number(out, count, a + "feed_forward_length", shape_.inner);
    number(out, count, a + "attention.head_count", shape_.heads);
    number(out, count, a + "rope.dimension_count", shape_.width / shape_.heads);
    key(out, count, a + "attention.layer_norm_rms_epsilon", 6);
    put(out, 1e-5F);
    word("tokenizer.ggml.model", "gpt2");
    word("tokenizer.ggml.pre", "gpt-2");
    key(out, count, "tokenizer.ggml.tokens", 9);
    put(out, std::uint32_t{8});
    put(out, std::uint64_t{tokens_.size()});
    for (const std::string& token : tokens_) text(out, token);
    key(out, count, "tokenizer.ggml.token_type", 9);
    put(out, std::uint32_t{5});
    put(out, std::uint64_t{tokens_.size()});
    for (std::size_t i = 0; i < tokens_.size(); ++i) put(out, std::int32_t{i < 256 ? 1 : 3});
    key(out, count, "tokenizer.ggml.merges", 9);
    put(out, std::uint32_t{8});
    put(out, std::uint64_t{1});
    text(out, "q q");
    number(out, count, "tokenizer.ggml.bos_token_id", token_of("<s>"));
    number(out, count, "tokenizer.ggml.eos_token_id", token_of("<e>"));
    key(out, count, "tokenizer.ggml.add_bos_token", 7);
    put(out, std::uint8_t{0});
    if (shape_.has_template) word("tokenizer.chat_template", kTinyTemplate);
  }

  // Bytes as GPT-2 writes them, then the tokens of the template.
  void make_vocabulary() {
    std::uint32_t next = 256;
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      const bool plain = (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
      const std::uint32_t code = plain ? byte : next++;
      std::string token;
      if (code < 128) {
        token += static_cast<char>(code);
      } else {
        token += static_cast<char>(0xC0 | (code >> 6));
        token += static_cast<char>(0x80 | (code & 63));
      }
      tokens_.push_back(token);
    }
    tokens_.push_back("qq");  // of the one merge
    for (const char* token : {"<s>", "<e>", "<u>", "<a>", "<t>", "<call>", "<args>", "</call>"})
      tokens_.emplace_back(token);
  }

  std::uint32_t token_of(std::string_view token) const {
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      if (tokens_[i] == token) return static_cast<std::uint32_t>(i);
    return 0;
  }

  void random(const std::string& name, std::vector<std::uint64_t> extents, double scale) {
    Tensor tensor{name, std::move(extents), {}};
    std::uint64_t count = 1;
    for (const std::uint64_t extent : tensor.shape) count *= extent;
    for (std::uint64_t i = 0; i < count; ++i)
      tensor.numbers.push_back(static_cast<float>(rng_.normal() * scale));
    tensors_.push_back(std::move(tensor));
  }

  void ones(const std::string& name) {
    tensors_.push_back({name, {shape_.width}, std::vector<float>(shape_.width, 1)});
  }

  void make_tensors() {
    const std::uint64_t width = shape_.width;
    const double scale = 1 / std::sqrt(static_cast<double>(width));
    random("token_embd.weight", {width, tokens_.size()}, 1);
    // The first number of every state is large and the same, so the first column of the output
    // says how likely a token is by itself.
    for (std::size_t i = 0; i < tokens_.size(); ++i) tensors_[0].numbers[i * width] = 4;
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
      const std::string block = "blk." + std::to_string(layer) + ".";
      ones(block + "attn_norm.weight");
      for (const char* part : {"attn_q", "attn_k", "attn_v", "attn_output"})
        random(block + part + ".weight", {width, width}, scale);
      ones(block + "ffn_norm.weight");
      random(block + "ffn_gate.weight", {width, shape_.inner}, scale);
      random(block + "ffn_up.weight", {width, shape_.inner}, scale);
      random(block + "ffn_down.weight", {shape_.inner, width}, scale / 2);
    }
    ones("output_norm.weight");
    random("output.weight", {width, tokens_.size()}, scale * 1.5);
    std::vector<float>& output = tensors_.back().numbers;
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      output[i * width] = static_cast<float>(likelihood(tokens_[i]));
  }

  static double likelihood(const std::string& token) {
    if (token == "<call>" || token == "<args>" || token == "</call>" || token == "<e>") return 1.2;
    if (token.size() == 1 && token[0] >= 'a' && token[0] <= 'z') return 0.6;
    if (token == "{" || token == "}" || token == "\"" || token == ":") return 0.8;
    if (token.size() == 1) return 0;
    return -3;
  }

  TinyShape shape_;
  Rng rng_;
  std::vector<std::string> tokens_;
  std::vector<Tensor> tensors_;
};

inline std::string tiny_gguf(const TinyShape& shape = {}) {
  return TinyGguf(shape).bytes();
}

}  // namespace unmask
