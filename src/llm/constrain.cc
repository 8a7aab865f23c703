#include "llm/constrain.h"

#include <fmt/format.h>

#include <array>

#include "llm/server_words.h"

namespace unmask {
namespace {

constexpr int kProbes = 3;
constexpr std::string_view kWanted = "sort_lanterns";

constexpr std::string_view kTools = R"([
{"type": "function", "function": {"name": "polish_teapot_47", "description": "Polishes one teapot.",
 "parameters": {"type": "object", "properties": {"shelf": {"type": "string"}}, "required": ["shelf"],
 "additionalProperties": false}}},
{"type": "function", "function": {"name": "fold_paper_crane_91", "description": "Folds one crane.",
 "parameters": {"type": "object", "properties": {"shelf": {"type": "string"}}, "required": ["shelf"],
 "additionalProperties": false}}}])";

std::array<ChatMessage, 2> conversation() {
  ChatMessage system;
  system.role = ChatMessage::Role::System;
  system.content =
      "You work by calling tools. Besides the listed tools there is one named sort_lanterns, which "
      "takes {\"shelf\": string}.";
  ChatMessage user;
  user.content =
      "Call the tool sort_lanterns with shelf \"A\" now. Do not call any other tool and do not "
      "write "
      "anything else.";
  return {system, user};
}

bool is_offered(const std::string& name) {
  return name == "polish_teapot_47" || name == "fold_paper_crane_91";
}

// The wanted call as text of the message: the server's parser dropped what the model wrote.
bool calls_in_text(const ChatReply& reply) {
  const std::string text = reply.message.content.value_or("");
  const bool markup = text.find("<tool_call") != std::string::npos ||
                      text.find("\"name\"") != std::string::npos ||
                      text.find("<function") != std::string::npos;
  return markup && text.find(kWanted) != std::string::npos;
}

}  // namespace

Result<ConstraintSupport> probe_constraint(ChatModel& model, const std::stop_token& stop) {
  const std::array<ChatMessage, 2> messages = conversation();
  int offered = 0;
  for (int probe = 0; probe < kProbes; ++probe) {
    ChatRequest request;
    request.messages = messages;
    request.tools = kTools;
    request.seed = probe;
    request.constrain_names = true;
    request.stop = stop;
    const Result<ChatReply> reply = model.complete(request);
    if (!reply) {
      const Error& error = reply.error();
      if (error.kind == ErrorKind::Unavailable) return error;
      return ConstraintSupport{false, true, "constrained names are refused: " + error.message};
    }
    for (const ChatCall& call : reply->message.calls) {
      if (!is_offered(call.name))
        return ConstraintSupport{
            false, true,
            fmt::format("constrained names are taken and ignored: the model called \"{}\", which "
                        "was not offered",
                        printable(call.name, 60))};
      ++offered;
    }
    if (calls_in_text(*reply))
      return ConstraintSupport{false, true,
                               "constrained names are taken and ignored: the model wrote a call of "
                               "a name that was not offered as text"};
  }
  if (offered == 0)
    return ConstraintSupport{false, false,
                             fmt::format("whether names are constrained cannot be told: asked {} "
                                         "times for a name not offered, the model made no call",
                                         kProbes)};
  return ConstraintSupport{
      true, true,
      fmt::format(
          "names look constrained: asked {} times for a name not offered, the model made {} "
          "calls, all of offered names",
          kProbes, offered)};
}

}  // namespace unmask
