// One model and one context of llama.cpp, behind an interface that has none of its types. Internal
// to llm.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llm/chat_template.h"
#include "llm/model_file.h"
#include "llm/slots.h"

namespace unmask {

// A token to be evaluated at its place in a sequence.
struct BatchToken {
  Token token = 0;
  int sequence = 0;
  int position = 0;     // 0-based
  bool logits = false;  // wanted
};

// Binds generated tokens to a grammar.
class TokenGrammar {
 public:
  virtual ~TokenGrammar() = default;
  virtual void forbid(std::span<float> logits) = 0;  // -infinity where a token may not follow
  virtual void accept(Token token) = 0;
};

// Threads  what is const from any number; the rest from one.
class LlamaDecoder {
 public:
  // Errors   as LlamaEngine::open.
  static Result<std::unique_ptr<LlamaDecoder>> open(const ModelFile& model);
  virtual ~LlamaDecoder() = default;

  virtual std::vector<Token> tokens(std::string_view text, bool at_beginning) const = 0;
  virtual std::string text(Token token) const = 0;
  virtual bool is_end(Token token) const = 0;
  virtual std::string bos() const = 0;  // as templates write it; empty: none
  virtual std::string eos() const = 0;
  // Errors   Unsupported: llama.cpp refuses the grammar.
  virtual Result<std::unique_ptr<TokenGrammar>> grammar(const NameGrammar& grammar) const = 0;

  virtual std::size_t most_at_once() const = 0;  // tokens of a batch
  // Forgets what follows the first `kept` tokens. False: it cannot forget a part (recurrent
  // models), so nothing is kept.
  virtual bool keep(int sequence, std::size_t kept) = 0;
  // `to` becomes the first `count` tokens of `from`, which is another. False: as keep().
  virtual bool copy(int from, int to, std::size_t count) = 0;
  // Errors   Unavailable: llama.cpp failed; the sequences of the batch hold nothing now.
  virtual Result<Done> decode(std::span<const BatchToken> batch) = 0;
  // Of batch token `index`, which wanted them, until the next decode().
  virtual std::span<float> logits(std::size_t index) = 0;

  virtual std::uint64_t model_bytes() const = 0;
  // What llama.cpp warned of, oldest first.
  virtual std::vector<std::string> warnings() const = 0;
};

}  // namespace unmask
