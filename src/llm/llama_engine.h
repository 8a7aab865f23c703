// What an engine does for its models: templates, and prompts into completions. Internal to llm.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "llm/llama.h"
#include "llm/llama_decoder.h"

namespace unmask {

struct GenerationRequest {
  std::vector<Token> prompt;
  LlamaSampling sampling;
  Rng rng{0};
  std::unique_ptr<TokenGrammar> grammar;  // nullptr: any token may follow
  std::vector<std::string> stops;
  std::stop_token stop;
};

struct Generation {
  std::string text;  // without what ended it
  std::vector<TokenChoice> choices;
  std::string finish_reason;  // "stop", or "length": max_tokens or the context's end
  std::int64_t generated = 0;
  std::int64_t reused = 0;  // tokens of the prompt
};

class LlamaWork {
 public:
  virtual ~LlamaWork() = default;
  virtual const ChatTemplate& chat_template(bool with_tools) const = 0;
  virtual const LlamaDecoder& decoder() const = 0;
  // Blocks until the completion is there.
  //
  // Errors   Unavailable, where = kContextWindow: the prompt leaves no room in it. where =
  //          kStopped. Unavailable: llama.cpp failed.
  virtual Result<Generation> generate(GenerationRequest request) = 0;
};

}  // namespace unmask
