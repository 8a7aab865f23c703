// What quantization needs of llama.cpp: its own types, their values, and a forward pass to watch.
// Built without it (-DUNMASK_LLAMA=off) every function says so.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llm/gguf.h"
#include "quantize/calibration.h"

namespace unmask {

// "llama.cpp 0.5.0"; empty where this build has none.
std::string library_version();

// An importance matrix: mean squares of inputs, (expert, column), by the weight's name.
using ImportanceMatrix = std::map<std::string, std::vector<float>>;

struct LibraryJob {
  std::string source;       // a float GGUF
  std::string destination;  // a file that may be there; it is written over
  int file_type = 0;        // GGUF's general.file_type, llama.cpp's numbers
  const ImportanceMatrix* importance = nullptr;
  std::map<std::string, std::string> texts;  // metadata to add; values of up to 127 bytes
  int threads = 1;
};

// Writes `source` in one of llama.cpp's types, byte for byte as its llama-quantize does.
//
// Errors   Unavailable: this build has no llama.cpp; the disk. Unsupported: llama.cpp refuses, in
//          its words. A full disk may also leave a short file and no error: read it back.
// Threads  one at a time: llama.cpp's log is the process's.
Result<Done> quantize_with_library(const LibraryJob& job);

// The numbers of a tensor of any type that llama.cpp can read back.
// Errors   Unavailable, Unsupported.
Result<Done> read_quantized(std::string_view bytes, const GgufTensorType& type,
                            std::span<float> values);

// Evaluates the texts with the model and watches the inputs of its linear weights.
//
// Each text is cut into pieces of up to 512 tokens (or the model's context, if smaller), each read
// from an empty context.
// `progress` is called with tokens done and to do.
// Errors   Unavailable: no llama.cpp; interrupted by `stop`. Unsupported: the model cannot be
//          loaded, has no tokenizer, or cannot be evaluated.
// Threads  one at a time.
Result<Calibration> watch_inputs(const std::string& model, const std::vector<std::string>& texts,
                                 const CalibrationOptions& options, const std::stop_token& stop,
                                 const std::function<void(std::uint64_t, std::uint64_t)>& progress);

}  // namespace unmask
