// llm: models that answer in a conversation with tools. Texts go in and come out as JSON text, so
// that no JSON library is part of the interface.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "trace/episode.h"

namespace unmask {

// The `where` of an Error that says a conversation no longer fits the model's context window.
inline constexpr std::string_view kContextWindow = "context_window";
// The warning of a reply whose only call is what the model wrote and its server could not read.
inline constexpr std::string_view kUnreadOutput = "unread_output";
// The `where` of an Error that says the request was given up because a stop was asked for.
inline constexpr std::string_view kStopped = "stopped";

struct ChatCall {
  std::string id;         // never empty in a reply: made up where the server sent none
  std::string name;       // exactly as the model wrote it
  std::string arguments;  // the text the model wrote, a JSON object or not
};

struct ChatMessage {
  enum class Role { System, User, Assistant, Tool };
  Role role = Role::User;
  std::optional<std::string> content;  // nullopt: null
  std::vector<ChatCall> calls;         // Assistant
  std::string call_id;                 // Tool: which call it answers
  std::string reasoning;  // Assistant: thoughts the server gave apart; sent back only on request
};

// The alternatives at one generated token, natural logarithms, most likely first.
struct TokenChoice {
  std::string token;
  double logprob = 0.0;
  std::vector<std::pair<std::string, double>> top;
};

struct ChatRequest {
  std::span<const ChatMessage> messages;
  // A JSON list of tools in OpenAI's form; empty: none are offered.
  std::string_view tools;
  std::optional<std::int64_t> seed;
  // Only names of offered tools may be generated. Errors  Unsupported where it cannot be had.
  bool constrain_names = false;
  std::stop_token stop;
};

struct ChatReply {
  ChatMessage message;
  std::string finish_reason;  // as the server says it; empty: it does not
  std::optional<TokenUsage> usage;
  std::optional<double> cost_usd;
  double seconds = 0.0;  // from the request to the whole reply, the last attempt only
  int retries = 0;
  // What the server returned, compact JSON without the log-probabilities: the raw completion.
  std::string raw;
  // At every generated token, where the server gives them; else empty.
  std::vector<TokenChoice> logprobs;
  std::vector<std::string> warnings;  // "arguments_not_text", "call_without_id" ...: docs/faults.md
};

// Threads  complete() may be called from many at once.
class ChatModel {
 public:
  virtual ~ChatModel() = default;

  // What reports and logs call it, without any secret.
  virtual const std::string& name() const = 0;
  // Sampling settings as compact JSON with sorted keys, without any secret.
  virtual const std::string& settings() const = 0;

  // Blocks until the whole reply is there.
  //
  // Errors   Unavailable: not reached, or failing after all retries. where = kContextWindow: the
  //          conversation is too long. where = kStopped. Unsupported: it cannot do what is asked.
  //          InvalidArgument: it refuses the request; the message has what it said.
  virtual Result<ChatReply> complete(const ChatRequest& request) = 0;
};

}  // namespace unmask
