// Models that run in this process, on llama.cpp: many conversations in one context, decoded
// together, each prefix evaluated once. docs/llama.md says how, and where it differs from a server.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "llm/chat_model.h"

namespace unmask {

// What an engine is: everything that takes memory or decides how numbers are computed.
struct LlamaSettings {
  std::string file;           // a GGUF
  std::string template_file;  // a chat template in its place; empty: the file's own
  int threads = 0;            // 0: one for each processor; one for files of less than 64 MB
  int gpu_layers = 0;         // -1: all
  std::string kv = "f16";     // how keys and values are kept: f32, f16, bf16, q8_0, q4_0
  int context = 0;            // tokens of one conversation; 0: the model's, at most 32768
  int parallel = 8;           // conversations kept and decoded together, 1 to 256
  // One conversation at a time, in pieces that depend on nothing else: the same bytes at any
  // number of callers, for a multiple of the time.
  bool deterministic = false;

  bool operator==(const LlamaSettings&) const = default;
};

// How one of its models speaks. The defaults are the model's own distribution.
struct LlamaSampling {
  double temperature = 1;         // 0: the most likely token
  double top_p = 1;               // in (0, 1]
  int top_k = 0;                  // 0: no such limit
  std::optional<int> max_tokens;  // of a reply; nullopt: as many as the context holds
  int logprobs = 20;              // alternatives at each token, at temperature 1; 0: none
};

// Since the engine was opened; of replies that ended in an error, too.
struct LlamaCounters {
  std::int64_t requests = 0;
  std::int64_t prompt_tokens = 0;     // asked
  std::int64_t reused_tokens = 0;     // of these, not evaluated again
  std::int64_t evaluated_tokens = 0;  // given to the model, prompt and generated
  std::int64_t generated_tokens = 0;
  std::int64_t batches = 0;
  std::uint64_t model_bytes = 0;
  std::uint64_t kv_bytes = 0;
};

// One file in memory and the thread that decodes.
//
// Threads  any number, also complete() of its models.
class LlamaEngine {
 public:
  // Loads the file. Nothing is printed; what llama.cpp has to say is in warnings().
  //
  // Errors   NotFound: no file. Malformed: no GGUF, or cut. Unsupported: an architecture that this
  //          llama.cpp lacks, no chat template (give template_file), or a build without llama.cpp.
  //          InvalidArgument: a setting makes no sense. Unavailable: it does not fit the memory, or
  //          no thread can be started.
  static Result<std::shared_ptr<LlamaEngine>> open(const LlamaSettings& settings);

  virtual ~LlamaEngine() = default;
  virtual LlamaCounters counters() const = 0;
  virtual std::vector<std::string> warnings() const = 0;
  // The settings with every 0 that stands for a default replaced.
  virtual const LlamaSettings& settings() const = 0;
  // What complete() needs; in llama_engine.h.
  virtual class LlamaWork& work() = 0;
};

// A ChatModel called `name` on an engine, which it keeps alive. Sampling is by our own code: the
// seed of the request and the number of its messages decide, where the logits are the same.
//
// complete()  Calls of names that were not offered are calls like any other, and so are calls whose
//             arguments are no JSON or were cut off, where the name can be read. `raw` is in the
//             shape of OpenAI's replies, the completion with all markup as its content.
// Errors   InvalidArgument: an option makes no sense; the message names it.
Result<std::unique_ptr<ChatModel>> open_llama(std::shared_ptr<LlamaEngine> engine, std::string name,
                                              const LlamaSampling& sampling);

// llama.cpp's version, "0.5.0"; empty: this build has no engine.
std::string llama_version_text();

}  // namespace unmask
