// For tests: a whole model of the llama architecture, small enough to make in the test and real
// enough for llama.cpp to load and run.
#pragma once

#include <cstdint>
#include <string>

namespace unmask {

struct TestModelShape {
  std::uint32_t width = 64;  // a multiple of 4 times heads
  std::uint32_t blocks = 2;
  std::uint32_t heads = 2;
  std::uint32_t ffn = 96;
  std::uint32_t experts = 0;  // 0: dense
  std::uint32_t experts_used = 2;
  std::uint32_t context = 256;
  std::string type = "f32";  // of the matrices: f32, f16 or bf16
  std::uint64_t seed = 1;
};

// The bytes of a GGUF: random weights, a byte-level tokenizer with one token for each of the 256
// bytes and "<s>", "</s>" (ids 256, 257), no chat template.
std::string test_model(const TestModelShape& shape);

}  // namespace unmask
