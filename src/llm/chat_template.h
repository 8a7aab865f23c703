// A model's chat template: conversations into prompts, completions into messages, both by
// llama.cpp's reading of it. Internal to llm; implemented in llama_template.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llm/chat_model.h"
#include "llm/chat_tools.h"

namespace unmask {

// What binds the names of calls: GBNF, active from the first match of a pattern on.
struct NameGrammar {
  std::string text;  // empty: the template has none
  bool lazy = false;
  std::vector<std::string> patterns;  // regular expressions over all that was generated
  std::string opening;                // where not lazy: generated already, by the prompt
};

struct ChatPrompt {
  std::string text;
  std::string opening;             // of the model's message, the end of `text`: "<think>\n"
  std::vector<std::string> stops;  // texts that end the reply, beside the model's own tokens
};

struct ParsedCompletion {
  ChatMessage message;  // calls without ids where the format has none
  // Nothing explained all of the completion, so the message is what could be told of it.
  bool irregular = false;
};

// Threads  any number.
class ChatTemplate {
 public:
  // bos, eos: as the template is to write them.
  // Errors   Malformed: it is no template that can be read. Unsupported: no llama.cpp.
  static Result<std::unique_ptr<ChatTemplate>> open(const std::string& source,
                                                    const std::string& bos, const std::string& eos);
  virtual ~ChatTemplate() = default;

  // The date, where a template shows one, is always 1 January 2026.
  // Errors   InvalidArgument: the template refuses the conversation.
  virtual Result<ChatPrompt> render(std::span<const ChatMessage> messages,
                                    std::span<const ChatTool> tools) const = 0;

  // Names bound to those of `tools`, arguments any JSON object.
  // Errors   Unsupported: the template has no such grammar.
  virtual Result<NameGrammar> name_grammar(std::span<const ChatMessage> messages,
                                           std::span<const ChatTool> tools) const = 0;

  // What the model answered to the prompt of these messages and tools, which opened its message
  // with `opening` (ChatPrompt). Never fails: see
  // ParsedCompletion. Names that are not among `tools` and arguments that their schemas refuse
  // are kept as they are.
  virtual ParsedCompletion parse(std::string_view completion, const std::string& opening,
                                 std::span<const ChatMessage> messages,
                                 std::span<const ChatTool> tools) const = 0;
};

}  // namespace unmask
