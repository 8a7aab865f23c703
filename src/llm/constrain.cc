#include "llm/constrain.h"

#include <fmt/format.h>

#include <algorithm>
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

// The names in it are not known.
bool is_unread(const ChatReply& reply) {
  return std::find(reply.warnings.begin(), reply.warnings.end(), kUnreadOutput) !=
         reply.warnings.end();
}

// The name that was called though it was not offered; empty: none was.
std::string stray_name(const ChatReply& reply) {
  if (is_unread(reply)) return "";
  for (const ChatCall& call : reply.message.calls)
    if (!is_offered(call.name)) return call.name.empty() ? "?" : call.name;
  return calls_in_text(reply) ? std::string(kWanted) : "";
}

Result<ChatReply> asked(ChatModel& model, int probe, bool constrained,
                        const std::stop_token& stop) {
  const std::array<ChatMessage, 2> messages = conversation();
  ChatRequest request;
  request.messages = messages;
  request.tools = kTools;
  request.seed = probe;
  request.constrain_names = constrained;
  request.stop = stop;
  return model.complete(request);
}

// Whether the model calls what is not offered where nothing keeps it from it. A refusal tells
// nothing.
Result<bool> strays_when_free(ChatModel& model, const std::stop_token& stop) {
  for (int probe = 0; probe < kProbes; ++probe) {
    const Result<ChatReply> reply = asked(model, probe, false, stop);
    if (!reply && reply.error().kind == ErrorKind::Unavailable) return reply.error();
    if (!reply) return false;
    if (!stray_name(*reply).empty()) return true;
  }
  return false;
}

// The forms in the order they are tried: the first needs no knowledge of how the model writes a
// call.
constexpr std::array kForms = {NameConstraint::StrictTools, NameConstraint::StructuralTag};

}  // namespace

std::string_view to_string(NameConstraint form) {
  switch (form) {
    case NameConstraint::None:
      return "none";
    case NameConstraint::StrictTools:
      return "strict tools";
    case NameConstraint::StructuralTag:
      return "structural tags";
    case NameConstraint::Grammar:
      return "grammar";
  }
  return "none";
}

Result<ConstraintSupport> probe_constraint(ChatModel& model, const std::stop_token& stop) {
  std::size_t calls = 0;
  for (int probe = 0; probe < kProbes; ++probe) {
    const Result<ChatReply> reply = asked(model, probe, true, stop);
    if (!reply) {
      const Error& error = reply.error();
      if (error.kind == ErrorKind::Unavailable) return error;
      return ConstraintSupport{false, true, false, "refused: " + error.message};
    }
    const std::string stray = stray_name(*reply);
    if (!stray.empty())
      return ConstraintSupport{
          false, true, false,
          fmt::format("taken and ignored: the model called \"{}\", which was not offered{}",
                      printable(stray, 60),
                      reply->message.calls.empty() ? ", as text of its message" : "")};
    if (!is_unread(*reply)) calls += reply->message.calls.size();
  }
  if (calls == 0)
    return ConstraintSupport{false, false, false,
                             fmt::format("cannot be told: asked {} times for a name not offered, "
                                         "the model made no call that can be "
                                         "read",
                                         kProbes)};
  const Result<bool> strays = strays_when_free(model, stop);
  if (!strays) return strays.error();
  return ConstraintSupport{
      true, true, *strays,
      fmt::format("asked {} times for a name not offered, the model made {} {}, of offered names "
                  "only; {}",
                  kProbes, calls, calls == 1 ? "call" : "calls",
                  *strays ? "without the constraint it called the name not offered"
                          : "without the constraint it did not call that name either, so this "
                            "proves little")};
}

Result<ConstrainedModel> open_constrained(const EndpointOptions& options,
                                          const std::stop_token& stop) {
  std::string tried;
  for (const NameConstraint form : kForms) {
    EndpointOptions constrained = options;
    constrained.constraint = form;
    Result<std::unique_ptr<ChatModel>> model = open_openai(constrained);
    if (!model) return model.error();
    Result<ConstraintSupport> support = probe_constraint(**model, stop);
    if (!support) return support.error();
    if (support->supported) return ConstrainedModel{std::move(*model), form, std::move(*support)};
    tried += fmt::format("{}{}: {}", tried.empty() ? "" : "; ", to_string(form), support->sentence);
  }
  return Error{ErrorKind::Unsupported, "names cannot be constrained: " + tried, ""};
}

}  // namespace unmask
