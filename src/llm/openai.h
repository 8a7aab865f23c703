// A ChatModel behind an OpenAI-compatible server: vLLM, llama.cpp's server, SGLang, Ollama, hosted
// APIs. docs/faults.md lists what servers do wrong and what becomes of it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "llm/chat_model.h"

namespace unmask {

// How a request says that only the names of offered tools may be generated. No server is believed:
// probe_constraint (constrain.h) tells whether it works.
enum class NameConstraint {
  None,         // it cannot be said: requests with constrain_names end in Unsupported
  StrictTools,  // "strict": true on every tool (vLLM, hosted APIs; llama.cpp takes and ignores it)
  StructuralTag,  // response_format of type "structural_tag" (vLLM, SGLang), by ToolMarkup
  Grammar,        // llama.cpp in this process; no server is asked for it
};

// How the model writes a call, for NameConstraint::StructuralTag; the defaults are Hermes' and
// Qwen's form. "{name}" in `begin` stands for the tool's name; the arguments follow it.
struct ToolMarkup {
  std::string trigger = "<tool_call>";
  std::string begin = "<tool_call>\n{\"name\": \"{name}\", \"arguments\": ";
  std::string end = "}\n</tool_call>";
};

struct EndpointOptions {
  // "http://host:8000", with or without "/v1", "/v1/chat/completions" and a slash at the end.
  std::string base_url;
  std::string model;
  std::string api_key;  // the key itself, empty: none is sent; in no error, reply or setting

  int max_connections = 16;  // more requests wait their turn, first come first served
  // From the moment a connection was free for the request.
  double connect_timeout_seconds = 10;
  double first_byte_timeout_seconds = 600;  // non-streaming: generation happens before it
  double total_timeout_seconds = 1200;
  // Log-probabilities of a long thought fill tens of megabytes, one text of a reply never does: a
  // transfer is broken off at the first byte beyond either.
  std::size_t max_reply_bytes = std::size_t{64} << 20;
  std::size_t max_text_bytes = std::size_t{16} << 20;

  int max_retries = 8;                // per request, after the first attempt
  double backoff_base_seconds = 0.5;  // doubles with every retry, half of it at random
  double backoff_cap_seconds = 30;
  double retry_after_cap_seconds = 120;  // of what a server's Retry-After may ask

  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<int> max_tokens;
  // A JSON object whose members go into every request ("chat_template_kwargs", "top_k" ...); not
  // those that have an option of their own.
  std::string extra_body;

  bool logprobs = true;  // asked for until the server refuses them
  int top_logprobs = 20;
  bool send_reasoning = false;  // earlier thoughts go back as "reasoning_content"
  std::optional<double> usd_per_million_prompt_tokens;
  std::optional<double> usd_per_million_completion_tokens;
  NameConstraint constraint = NameConstraint::None;
  ToolMarkup markup;
};

// Nothing is sent yet. TLS and proxies are libcurl's defaults (https_proxy, no_proxy,
// SSL_CERT_FILE).
//
// Errors   InvalidArgument: an option makes no sense; the message names it.
// Threads  the model has one thread of its own for the network; it must outlive no call into it.
Result<std::unique_ptr<ChatModel>> open_openai(const EndpointOptions& options);

}  // namespace unmask
