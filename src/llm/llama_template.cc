// Reading a completion goes from the strict to the lenient, and the first way that loses nothing of
// it is taken; llama.cpp's parsers alone drop what they do not understand:
//
//   1. the parser made for the offered tools, which knows the types of their arguments
//   2. the same with schemas that take any object, or, where each argument has a tag, the arguments
//      that were written: wrong ones are for the failure channels
//   3. with the names that were written added to the offered ones: a made-up name is a finding
//   4. by the literals around a call (call_markup.h): broken or cut arguments, the text as it is
//   5. as text
#include <chat.h>
#include <log.h>

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <optional>

#include "llm/call_markup.h"
#include "llm/chat_request.h"
#include "llm/chat_template.h"

namespace unmask {
namespace {

constexpr const char* kAnyObject = R"({"type":"object"})";
constexpr std::size_t kMostParsers = 256;  // kept; each belongs to a list of tools
constexpr int kTrustedAfter = 12;          // equal renderings

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(kBlanks) - first + 1));
}

const char* role_name(ChatMessage::Role role) {
  switch (role) {
    case ChatMessage::Role::System:
      return "system";
    case ChatMessage::Role::User:
      return "user";
    case ChatMessage::Role::Assistant:
      return "assistant";
    case ChatMessage::Role::Tool:
      return "tool";
  }
  return "user";
}

std::string name_of_call(std::span<const ChatMessage> messages, const std::string& id) {
  for (auto message = messages.rbegin(); message != messages.rend(); ++message)
    for (const ChatCall& call : message->calls)
      if (call.id == id) return call.name;
  return "";
}

std::vector<common_chat_msg> llama_messages(std::span<const ChatMessage> messages) {
  std::vector<common_chat_msg> out;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const ChatMessage& message = messages[i];
    common_chat_msg& to = out.emplace_back();
    to.role = role_name(message.role);
    to.content = message.content.value_or("");
    to.reasoning_content = message.reasoning;
    for (const ChatCall& call : message.calls)
      to.tool_calls.push_back({call.name, sendable_arguments(call.arguments), call.id});
    if (message.role != ChatMessage::Role::Tool) continue;
    to.tool_call_id = message.call_id;
    to.tool_name = name_of_call(messages.first(i), message.call_id);
  }
  return out;
}

std::vector<common_chat_tool> llama_tools(std::span<const ChatTool> tools,
                                          ArgumentRules rules = ArgumentRules::Typed,
                                          const std::vector<std::string>& names = {}) {
  std::vector<common_chat_tool> out;
  for (const ChatTool& tool : tools)
    out.push_back({tool.name, tool.description, loosened(tool.parameters, rules, names)});
  return out;
}

common_chat_templates_inputs inputs_of(std::span<const ChatMessage> messages,
                                       std::vector<common_chat_tool> tools) {
  common_chat_templates_inputs inputs;
  inputs.messages = llama_messages(messages);
  inputs.tools = std::move(tools);
  inputs.parallel_tool_calls = true;
  inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
  // A date that moves would make yesterday's episodes other episodes.
  inputs.now = std::chrono::system_clock::time_point(std::chrono::seconds(1767225600));
  return inputs;
}

std::string escaped(const std::string& word) {
  constexpr std::string_view kSpecial = ".^$|()*+?[]{}\\";
  std::string out;
  for (const char c : word) {
    if (kSpecial.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string pattern_of(const common_grammar_trigger& trigger) {
  if (trigger.type == COMMON_GRAMMAR_TRIGGER_TYPE_PATTERN) return trigger.value;
  if (trigger.type == COMMON_GRAMMAR_TRIGGER_TYPE_PATTERN_FULL) {
    std::string anchored = trigger.value;
    if (!anchored.starts_with('^')) anchored = "^" + anchored;
    if (!anchored.ends_with('$')) anchored += "$";
    return anchored;
  }
  // Without blanks at its end, which may be part of the token that begins the name: the grammar has
  // to be there before that token.
  const std::string word = trigger.value;
  const std::size_t end = word.find_last_not_of(" \t\r\n");
  return escaped(end == std::string::npos ? word : word.substr(0, end + 1));
}

class LlamaTemplate : public ChatTemplate {
 public:
  explicit LlamaTemplate(common_chat_templates_ptr templates) : templates_(std::move(templates)) {}

  Result<ChatPrompt> render(std::span<const ChatMessage> messages,
                            std::span<const ChatTool> tools) const override {
    const std::lock_guard lock(mutex_);
    try {
      common_chat_templates_inputs inputs = inputs_of(messages, llama_tools(tools));
      const std::string key = parser_key(inputs.tools);
      if (plain_equal_ >= kTrustedAfter)
        if (std::optional<ChatPrompt> prompt = rendered_plainly(inputs, key)) return *prompt;
      common_chat_params params = common_chat_templates_apply(templates_.get(), inputs);
      kept(params, key);
      if (plain_equal_ >= 0 && plain_equal_ < kTrustedAfter) compare_plain(inputs, key, params);
      return ChatPrompt{std::move(params.prompt), std::move(params.generation_prompt),
                        std::move(params.additional_stops)};
    } catch (const std::exception& error) {
      return refused(error);
    }
  }

  Result<NameGrammar> name_grammar(std::span<const ChatMessage> messages,
                                   std::span<const ChatTool> tools) const override {
    const std::lock_guard lock(mutex_);
    try {
      const common_chat_params params = common_chat_templates_apply(
          templates_.get(), inputs_of(messages, llama_tools(tools, ArgumentRules::Untyped)));
      if (params.grammar.empty())
        return Error{ErrorKind::Unsupported,
                     "names cannot be constrained: llama.cpp has no grammar for this chat template",
                     ""};
      NameGrammar grammar{params.grammar, params.grammar_lazy, {}, params.generation_prompt};
      for (const common_grammar_trigger& trigger : params.grammar_triggers)
        grammar.patterns.push_back(pattern_of(trigger));
      return grammar;
    } catch (const std::exception& error) {
      return refused(error);
    }
  }

  ParsedCompletion parse(std::string_view completion, const std::string& opening,
                         std::span<const ChatMessage> messages,
                         std::span<const ChatTool> tools) const override {
    const std::lock_guard lock(mutex_);
    const Completion read{std::string(completion), opening, messages,
                          written_in(completion, tools)};
    if (std::optional<ParsedCompletion> parsed = parse_leniently(read, tools)) return *parsed;
    if (read.written.calls.empty()) return as_text(completion, messages);
    std::vector<ChatTool> known(tools.begin(), tools.end());
    for (const ChatCall& call : read.written.calls) {
      const auto is_it = [&](const ChatTool& tool) { return tool.name == call.name; };
      if (std::none_of(known.begin(), known.end(), is_it))
        known.push_back({call.name, "", kAnyObject});
    }
    if (known.size() > tools.size())
      if (std::optional<ParsedCompletion> parsed = parse_leniently(read, known)) return *parsed;
    ParsedCompletion out = as_text(read.written.content, messages);
    out.message.calls = read.written.calls;
    return out;
  }

 private:
  // Applying a template, llama.cpp works out a parser for its calls each time, at ten times the
  // cost of the text. Where that parser is kept, the text alone will do, provided that it is the
  // same: some templates have code of their own in llama.cpp that changes it. So the first
  // renderings are done both ways, until some with results of tools among them have come out alike.
  std::optional<ChatPrompt> rendered_plainly(common_chat_templates_inputs inputs,
                                             const std::string& key) const {
    inputs.force_pure_content = true;
    common_chat_params params = common_chat_templates_apply(templates_.get(), inputs);
    const auto parser = parsers_.find(key + '\0' + params.generation_prompt);
    if (parser == parsers_.end()) return std::nullopt;
    return ChatPrompt{std::move(params.prompt), std::move(params.generation_prompt),
                      parser->second.stops};
  }

  void compare_plain(const common_chat_templates_inputs& inputs, const std::string& key,
                     const common_chat_params& params) const {
    const std::optional<ChatPrompt> plain = rendered_plainly(inputs, key);
    const bool alike = plain && plain->text == params.prompt;
    const bool has_result = !inputs.messages.empty() && inputs.messages.back().role == "tool";
    if (!alike)
      plain_equal_ = -1;
    else if (has_result || plain_equal_ + 1 < kTrustedAfter)
      ++plain_equal_;
  }

  static Error refused(const std::exception& error) {
    return Error{ErrorKind::InvalidArgument,
                 std::string("the chat template refuses the conversation: ") + error.what(), ""};
  }

  static std::string parser_key(const std::vector<common_chat_tool>& tools) {
    std::string key;
    for (const common_chat_tool& tool : tools) key += tool.name + '\0' + tool.parameters + '\0';
    return key;
  }

  // What is to be read, and the calls in it as call_markup.h sees them.
  struct Completion {
    std::string text;
    std::string opening;
    std::span<const ChatMessage> messages;
    WrittenCalls written;
  };

  struct Parser {
    common_chat_parser_params params;
    std::vector<std::string> thought_tags;
    std::vector<std::string> stops;
  };

  WrittenCalls written_in(std::string_view completion, std::span<const ChatTool> tools) const {
    if (tools.empty() || !call_markup()) return {};
    return read_written_calls(completion, *call_markup());
  }

  // A parser belongs to the tools and to the beginning that the prompt gave the message.
  const Parser& kept(const common_chat_params& params, const std::string& key) const {
    const std::string full = key + '\0' + params.generation_prompt;
    const auto found = parsers_.find(full);
    if (found != parsers_.end()) return found->second;
    if (parsers_.size() >= kMostParsers) parsers_.clear();
    Parser parser{common_chat_parser_params(params), params.thinking_end_tags,
                  params.additional_stops};
    parser.thought_tags.push_back(params.thinking_start_tag);
    parser.params.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    if (!params.parser.empty()) parser.params.parser.load(params.parser);
    return parsers_.emplace(full, std::move(parser)).first->second;
  }

  const Parser& parser_for(const Completion& read,
                           const std::vector<common_chat_tool>& tools) const {
    const std::string key = parser_key(tools);
    const auto found = parsers_.find(key + '\0' + read.opening);
    if (found != parsers_.end()) return found->second;
    return kept(common_chat_templates_apply(templates_.get(), inputs_of(read.messages, tools)),
                key);
  }

  std::optional<ParsedCompletion> parse_leniently(const Completion& read,
                                                  std::span<const ChatTool> tools) const {
    for (const ArgumentRules rules : {ArgumentRules::Typed, ArgumentRules::Untyped,
                                      ArgumentRules::Named, ArgumentRules::NamedOnly}) {
      const bool names = rules == ArgumentRules::Named || rules == ArgumentRules::NamedOnly;
      if (names && read.written.argument_names.empty()) continue;
      if (std::optional<ParsedCompletion> parsed =
              parse_with(read, llama_tools(tools, rules, read.written.argument_names)))
        return parsed;
    }
    return std::nullopt;
  }

  std::optional<ParsedCompletion> parse_with(const Completion& read,
                                             const std::vector<common_chat_tool>& tools) const {
    try {
      const Parser& parser = parser_for(read, tools);
      const common_chat_msg message = common_chat_parse(read.text, false, parser.params);
      ParsedCompletion parsed;
      parsed.message.role = ChatMessage::Role::Assistant;
      if (!message.content.empty()) parsed.message.content = message.content;
      parsed.message.reasoning = trimmed(message.reasoning_content);
      for (const common_chat_tool_call& call : message.tool_calls)
        parsed.message.calls.push_back({call.id, call.name, call.arguments});
      if (has_lost_calls(parsed.message, read)) return std::nullopt;
      if (parsed.message.calls.empty() && has_lost_text(parsed.message, read.text, parser))
        return std::nullopt;
      return parsed;
    } catch (const std::exception&) {
      return std::nullopt;  // another way is tried
    }
  }

  // llama.cpp's parsers read as far as they can and drop the rest without a word: a call of a name
  // that was not offered may vanish. What the message holds is taken out of the completion, and
  // then no call may be left that the message lacks.
  bool has_lost_calls(const ChatMessage& message, const Completion& read) const {
    if (read.written.calls.empty()) return false;
    std::string left = read.text;
    for (const ChatCall& call : message.calls) {
      const std::size_t at = left.find(call.arguments);  // in them markup is only a text
      if (call.arguments.size() > 2 && at != std::string::npos)
        left.erase(at, call.arguments.size());
    }
    const std::vector<ChatCall> written = read_written_calls(left, *call_markup()).calls;
    if (message.calls.size() < written.size()) return true;
    for (std::size_t i = 0; i < written.size(); ++i)
      if (message.calls[i].name != written[i].name) return true;
    return false;
  }

  // True where more than the tags around thoughts is in neither content nor thoughts.
  static bool has_lost_text(const ChatMessage& message, std::string left, const Parser& parser) {
    const auto drop = [&](std::string_view part) {
      const std::size_t at = part.empty() ? std::string::npos : left.find(part);
      if (at != std::string::npos) left.erase(at, part.size());
    };
    drop(message.reasoning);
    drop(trimmed(message.content.value_or("")));
    for (const std::string& tag : parser.thought_tags) drop(trimmed(tag));
    return !trimmed(left).empty();
  }

  // The thoughts apart, where the template says what ends them; all else is content.
  ParsedCompletion as_text(std::string_view completion,
                           std::span<const ChatMessage> messages) const {
    ParsedCompletion out;
    out.irregular = true;
    out.message.role = ChatMessage::Role::Assistant;
    std::string_view content = completion;
    try {
      const common_chat_params params =
          common_chat_templates_apply(templates_.get(), inputs_of(messages, {}));
      for (const std::string& end : params.thinking_end_tags) {
        const std::size_t at = end.empty() ? std::string_view::npos : content.find(end);
        if (at == std::string_view::npos) continue;
        std::string_view thoughts = content.substr(0, at);
        if (thoughts.starts_with(params.thinking_start_tag))
          thoughts.remove_prefix(params.thinking_start_tag.size());
        out.message.reasoning = trimmed(thoughts);
        content.remove_prefix(at + end.size());
        break;
      }
    } catch (const std::exception&) {
      // Then nothing is taken for thoughts.
    }
    if (content.find_first_not_of(" \t\r\n") != std::string_view::npos)
      out.message.content = std::string(content);
    return out;
  }

  std::optional<std::string> render_call(const std::string& content, const std::string& name,
                                         const std::string& arguments, int count) const {
    ChatMessage user;
    user.content = "go";
    ChatMessage assistant;
    assistant.role = ChatMessage::Role::Assistant;
    assistant.content = content;
    for (int i = 0; i < count; ++i)
      assistant.calls.push_back({"call0000" + std::to_string(i), name, arguments});
    const ChatMessage messages[] = {user, assistant};
    const ChatTool probe{name, "", kAnyObject};
    try {
      common_chat_templates_inputs inputs = inputs_of(messages, llama_tools(std::span(&probe, 1)));
      inputs.add_generation_prompt = false;
      inputs.force_pure_content = true;
      return common_chat_templates_apply(templates_.get(), inputs).prompt;
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

  const std::optional<CallMarkup>& call_markup() const {
    if (!markup_is_learned_) {
      markup_ = learn_call_markup(
          [&](const std::string& content, const std::string& name, const std::string& arguments,
              int count) { return render_call(content, name, arguments, count); });
      markup_is_learned_ = true;
    }
    return markup_;
  }

  const common_chat_templates_ptr templates_;
  mutable std::mutex mutex_;  // guards all that follows, and llama.cpp's interpreter
  mutable std::map<std::string, Parser> parsers_;
  mutable int plain_equal_ = 0;  // renderings that came out alike; -1: one did not
  mutable bool markup_is_learned_ = false;
  mutable std::optional<CallMarkup> markup_;
};

}  // namespace

Result<std::unique_ptr<ChatTemplate>> ChatTemplate::open(const std::string& source,
                                                         const std::string& bos,
                                                         const std::string& eos) {
  common_log_set_verbosity_thold(-1);  // it would print
  try {
    return std::unique_ptr<ChatTemplate>(
        std::make_unique<LlamaTemplate>(common_chat_templates_init(nullptr, source, bos, eos)));
  } catch (const std::exception& error) {
    return Error{ErrorKind::Malformed,
                 std::string("the chat template cannot be read: ") + error.what(), ""};
  }
}

}  // namespace unmask
