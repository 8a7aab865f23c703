#include "llm/chat_reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>

#include "llm/json_text.h"
#include "llm/logprobs.h"
#include "llm/server_words.h"

namespace unmask {
namespace {

using nlohmann::ordered_json;

constexpr std::array kFinishReasons = {
    std::string_view("stop"), std::string_view("length"), std::string_view("tool_calls"),
    std::string_view("function_call"), std::string_view("content_filter")};

// The member of an object; null where `value` is no object, lacks it, or has null there.
const ordered_json* member(const ordered_json& value, const char* name) {
  if (!value.is_object()) return nullptr;
  const auto at = value.find(name);
  return at == value.end() || at->is_null() ? nullptr : &*at;
}

const ordered_json* text_member(const ordered_json& value, const char* name) {
  const ordered_json* found = member(value, name);
  return found && found->is_string() ? found : nullptr;
}

std::string text_or_dump(const ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : compact_json(value);
}

std::string made_up_id(std::uint64_t id_seed, std::size_t index) {
  return fmt::format("call_{:016x}_{}", id_seed, index);
}

// Reads one reply; every step adds to `reply_` and warns of what it mended.
class ReplyReader {
 public:
  // logprobs: those of the reply where they were read before; they are not in `body` then.
  ReplyReader(ordered_json body, std::uint64_t id_seed, std::vector<TokenChoice> logprobs)
      : body_(std::move(body)), id_seed_(id_seed) {
    reply_.logprobs = std::move(logprobs);
  }

  Result<ChatReply> read() {
    const ordered_json* choices = member(body_, "choices");
    if (!choices || !choices->is_array() || choices->empty()) return no_choice();
    const ordered_json& choice = choices->front();
    const ordered_json* message = member(choice, "message");
    if (!message || !message->is_object()) return no_choice();
    if (choices->size() > 1) warn("several_choices");

    reply_.message.role = ChatMessage::Role::Assistant;
    read_reasoning(*message);
    read_content(*message);
    read_calls(*message);
    read_finish_reason(choice);
    read_logprobs(choice);
    read_usage();
    const std::string& text = reply_.message.content ? *reply_.message.content : "";
    if (text.empty() && reply_.message.calls.empty()) warn("empty_message");
    keep_raw();
    return std::move(reply_);
  }

 private:
  Error no_choice() const {
    const std::string said = server_message(compact_json(body_));
    return Error{ErrorKind::Malformed, "the reply has no choice with a message: " + said, ""};
  }

  void warn(const char* code) {
    std::vector<std::string>& warnings = reply_.warnings;
    if (std::find(warnings.begin(), warnings.end(), code) == warnings.end())
      warnings.emplace_back(code);
  }

  void read_reasoning(const ordered_json& message) {
    for (const char* name : {"reasoning_content", "reasoning"}) {
      const ordered_json* reasoning = text_member(message, name);
      if (!reasoning || !reply_.message.reasoning.empty()) continue;
      reply_.message.reasoning = reasoning->get<std::string>();
    }
  }

  void read_content(const ordered_json& message) {
    const ordered_json* content = member(message, "content");
    if (!content) {
      if (const ordered_json* refusal = text_member(message, "refusal")) {
        reply_.message.content = refusal->get<std::string>();
        warn("refusal");
      }
    } else if (content->is_string()) {
      reply_.message.content = content->get<std::string>();
    } else if (content->is_array()) {
      warn("content_parts");
      for (const ordered_json& part : *content) read_part(part);
    } else {
      warn("content_not_text");
      reply_.message.content = compact_json(*content);
    }
  }

  void read_part(const ordered_json& part) {
    if (!reply_.message.content) reply_.message.content = "";
    if (part.is_string()) {
      *reply_.message.content += part.get<std::string>();
    } else if (const ordered_json* text = text_member(part, "text")) {
      *reply_.message.content += text->get<std::string>();
    } else if (const ordered_json* thinking = text_member(part, "thinking")) {
      reply_.message.reasoning += thinking->get<std::string>();
    } else if (const ordered_json* refusal = text_member(part, "refusal")) {
      *reply_.message.content += refusal->get<std::string>();
    }
  }

  void read_calls(const ordered_json& message) {
    const ordered_json* calls = member(message, "tool_calls");
    if (calls && calls->is_object()) {  // one call, not in a list
      warn("calls_not_a_list");
      read_call(*calls);
    } else if (calls && calls->is_array()) {
      for (const ordered_json& call : *calls) read_call(call);
    } else if (calls) {
      warn("calls_not_a_list");
    }
    const ordered_json* function_call = member(message, "function_call");
    if (!reply_.message.calls.empty() || !function_call || !function_call->is_object()) return;
    warn("function_call");
    read_call(ordered_json{{"function", *function_call}});
  }

  void read_call(const ordered_json& call) {
    const ordered_json* function = member(call, "function");
    // Some servers put name and arguments into the call itself.
    const ordered_json& holder = function && function->is_object() ? *function : call;
    ChatCall read;
    if (const ordered_json* name = member(holder, "name")) {
      read.name = text_or_dump(*name);
      if (!name->is_string()) warn("name_not_text");
    } else {
      warn("call_without_name");
    }
    read.arguments = arguments_of(holder);
    read.id = id_of(call);
    reply_.message.calls.push_back(std::move(read));
  }

  std::string arguments_of(const ordered_json& holder) {
    const ordered_json* arguments = member(holder, "arguments");
    if (!arguments) {
      warn("call_without_arguments");
      return "{}";  // as litellm has it
    }
    if (!arguments->is_string()) warn("arguments_not_text");
    return text_or_dump(*arguments);
  }

  std::string id_of(const ordered_json& call) {
    const ordered_json* given = member(call, "id");
    std::string id = given ? text_or_dump(*given) : "";
    if (id.empty()) {
      warn("call_without_id");
      id = made_up_id(id_seed_, reply_.message.calls.size());
    }
    int& uses = uses_[id];
    if (ids_.insert(id).second) return id;
    warn("duplicate_call_id");
    if (uses == 0) uses = 1;
    while (true) {
      const std::string renamed = fmt::format("{}_{}", id, ++uses);
      if (ids_.insert(renamed).second) return renamed;
    }
  }

  void read_finish_reason(const ordered_json& choice) {
    const ordered_json* reason = member(choice, "finish_reason");
    if (!reason) return;
    reply_.finish_reason = text_or_dump(*reason);
    if (std::find(kFinishReasons.begin(), kFinishReasons.end(), reply_.finish_reason) ==
        kFinishReasons.end())
      warn("unknown_finish_reason");
  }

  static bool is_choice(const ordered_json& entry) {
    const ordered_json* logprob = member(entry, "logprob");
    return text_member(entry, "token") && logprob && logprob->is_number();
  }

  static TokenChoice token_choice(const ordered_json& entry) {
    TokenChoice choice{entry["token"].get<std::string>(), entry["logprob"].get<double>(), {}};
    const ordered_json* top = member(entry, "top_logprobs");
    if (!top || !top->is_array()) return choice;
    for (const ordered_json& alternative : *top)
      if (is_choice(alternative))
        choice.top.emplace_back(alternative["token"].get<std::string>(),
                                alternative["logprob"].get<double>());
    std::stable_sort(choice.top.begin(), choice.top.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return choice;
  }

  // All or nothing: a hole would move every later token.
  void read_logprobs(const ordered_json& choice) {
    const ordered_json* logprobs = member(choice, "logprobs");
    const ordered_json* tokens = logprobs ? member(*logprobs, "content") : nullptr;
    if (!tokens) return;
    if (!tokens->is_array() || !std::all_of(tokens->begin(), tokens->end(), is_choice))
      return warn("logprobs_unreadable");
    reply_.logprobs.reserve(tokens->size());
    for (const ordered_json& entry : *tokens) reply_.logprobs.push_back(token_choice(entry));
  }

  static std::optional<std::int64_t> count(const ordered_json& usage, const char* name) {
    const ordered_json* value = member(usage, name);
    if (!value || !value->is_number()) return std::nullopt;
    const double number = value->get<double>();
    if (!(number >= 0 && number < 1e15)) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }

  void read_usage() {
    const ordered_json* usage = member(body_, "usage");
    if (!usage) return;
    const std::optional<std::int64_t> prompt = count(*usage, "prompt_tokens");
    const std::optional<std::int64_t> completion = count(*usage, "completion_tokens");
    if (prompt && completion) reply_.usage = TokenUsage{*prompt, *completion};
    const ordered_json* cost = member(*usage, "cost");
    if (cost && cost->is_number() && cost->get<double>() >= 0)
      reply_.cost_usd = cost->get<double>();
  }

  void keep_raw() {
    for (ordered_json& choice : body_["choices"])
      if (choice.is_object()) choice.erase("logprobs");
    reply_.raw = compact_json(body_);
  }

  ordered_json body_;
  std::uint64_t id_seed_;
  ChatReply reply_;
  std::set<std::string> ids_;
  std::map<std::string, int> uses_;  // the last number an id was renamed with
};

}  // namespace

namespace {

// What a body is that has no words to quote.
std::string without_words(std::string_view body) {
  const std::size_t at = body.find_first_not_of(" \t\r\n");
  if (at == std::string_view::npos) return "the reply is empty";
  if (body[at] == '<')
    return "the reply is a page of HTML or XML without text, not JSON: is this the address of the "
           "API?";
  return "the reply is not JSON, and nothing in it can be read";
}

}  // namespace

Result<ChatReply> read_chat_reply(std::string_view body, std::uint64_t id_seed) {
  std::optional<SplitReply> split = split_logprobs(body);
  std::optional<ordered_json> value = read_json(split ? std::string_view(split->rest) : body);
  if (!value) {
    const std::string said = server_message(body.substr(0, 4096));
    return Error{ErrorKind::Malformed,
                 said.empty() ? without_words(body) : "the reply is not JSON: " + said, ""};
  }
  return ReplyReader(std::move(*value), id_seed,
                     split ? std::move(split->choices) : std::vector<TokenChoice>())
      .read();
}

std::optional<ChatReply> read_unread_output(std::string_view body, std::uint64_t id_seed) {
  std::optional<std::string> quoted = unread_output(body);
  if (!quoted) return std::nullopt;
  const std::optional<ordered_json> error = read_json(body);
  const std::optional<ordered_json> arguments = read_json(*quoted);
  if (arguments && arguments->is_object()) quoted->clear();  // what broke stands before it
  ChatReply reply;
  reply.message.role = ChatMessage::Role::Assistant;
  reply.message.calls.push_back({made_up_id(id_seed, 0), "", std::move(*quoted)});
  reply.warnings.emplace_back(kUnreadOutput);
  if (error) reply.raw = compact_json(*error);
  return reply;
}

}  // namespace unmask
