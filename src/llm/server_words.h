// What servers say when they refuse, made fit for an error message of ours.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace unmask {

// One line of valid UTF-8 without control characters, blanks run together, at most `max_bytes` with
// "..." for what was cut.
std::string printable(std::string_view text, std::size_t max_bytes = 300);

// The sentence in the body of an error reply: OpenAI's error.message, FastAPI's detail, llama.cpp's
// and Ollama's forms, the text of an HTML page; else the body. Printable; may be empty.
std::string server_message(std::string_view body);

// The body says that the conversation does not fit the context window, in the words of vLLM,
// llama.cpp, SGLang, Ollama or a hosted API.
bool says_context_overflow(std::string_view body);

bool mentions_logprobs(std::string_view body);

// The body says that the model generated something its server could not read as text and calls, in
// the words of llama.cpp or Ollama: what of it the server quotes, which may be nothing. nullopt: it
// says something else.
std::optional<std::string> unread_output(std::string_view body);

// Texts that no error and no log may hold.
class Secrets {
 public:
  // An empty text is no secret.
  void add(std::string_view secret);

  // Every secret replaced by "[hidden]".
  std::string hide(std::string text) const;
  // The same, but texts under 8 bytes stay: keys like "EMPTY" are words that a model may write.
  std::string hide_long(std::string text) const;

 private:
  std::string hide(std::string text, std::size_t min_bytes) const;
  std::vector<std::string> secrets_;
};

}  // namespace unmask
