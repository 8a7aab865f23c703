// Each model family writes calls in its own markup, and the server's parser is to turn that into
// structured calls. Where the parser fails, the markup stays in the text:
//
//   <tool_call>\n{"name": "get_user", "arguments": {"id": "u1"}}\n</tool_call>
//
// The table lists openings; the character an opening starts or ends with finds candidates in one
// pass over the text, so that a long message costs no more than a search for a few characters.
#include "failure/markup.h"

#include <algorithm>
#include <cstddef>

#include <nlohmann/json.hpp>
#include "failure/text.h"

namespace unmask {
namespace {

constexpr std::size_t kLongestBody = 4096;
constexpr std::size_t kLongestName = 256;
constexpr std::size_t kLongestBareJson = 1 << 16;

// What must follow the marker, after optional space.
enum class Follows {
  Call,    // an object, a list, another tag, or a name with its arguments
  Name,    // a name at once, without space
  Object,  // an object or a list
  Quote,   // a quoted name at once: name="x"
  Any,     // the marker is never written for anything else
};

struct Marker {
  std::string_view text;
  Follows follows;
};

// Longer markers before their own beginnings.
constexpr Marker kMarkers[] = {
    // Hermes, Qwen, GLM and many others; Qwen3-Coder; MiniMax; Seed; LongCat
    {"<tool_call>", Follows::Call},
    {"<tool_calls>", Follows::Call},
    {"<function=", Follows::Name},
    {"<function_call>", Follows::Call},
    {"<functioncall>", Follows::Call},
    {"<function_calls>", Follows::Call},
    {"<minimax:tool_call>", Follows::Call},
    {"<seed:tool_call>", Follows::Call},
    {"<longcat_tool_call>", Follows::Call},
    {"<tool_use>", Follows::Call},
    {"<TOOLCALL>", Follows::Object},
    {"<invoke name=", Follows::Quote},
    // Gemma
    {"<|tool_call>", Follows::Call},
    {"<tool_call|>", Follows::Any},
    {"<start_function_call>", Follows::Call},
    {"```tool_call", Follows::Call},
    {"```tool_code", Follows::Call},
    {"```tool_use", Follows::Call},
    // Mistral
    {"[TOOL_CALLS]", Follows::Call},
    {"[TOOL_CALL]", Follows::Call},
    // Granite, Phi, LFM, Cohere, InternLM, Llama
    {"<|tool_call|>", Follows::Call},
    {"<|tool_calls|>", Follows::Call},
    {"<|tool_call_start|>", Follows::Object},
    {"<|START_ACTION|>", Follows::Object},
    {"<|action_start|><|plugin|>", Follows::Object},
    {"<|python_tag|>", Follows::Call},
    {"functools[", Follows::Object},
    // DeepSeek (full-width bars and lower one eighth blocks) and Kimi
    {"<\xEF\xBD\x9Ctool\xE2\x96\x81"
     "calls\xE2\x96\x81"
     "begin\xEF\xBD\x9C>",
     Follows::Any},
    {"<\xEF\xBD\x9Ctool\xE2\x96\x81"
     "call\xE2\x96\x81"
     "begin\xEF\xBD\x9C>",
     Follows::Any},
    {"<\xEF\xBD\x9C"
     "DSML\xEF\xBD\x9C",
     Follows::Any},
    {"<|tool_calls_begin|>", Follows::Any},
    {"<|tool_call_begin|>", Follows::Any},
    {"<|tool_calls_section_begin|>", Follows::Any},
    // Harmony (gpt-oss)
    {"to=functions.", Follows::Name},
};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_name_char(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == ':' || c == '/';
}

std::string_view leading_name(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && end < kLongestName && is_name_char(text[end])) ++end;
  return text.substr(0, end);
}

std::string_view left_trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  return text;
}

// The string after the first `"name":` of a JSON-like text; empty when there is none.
std::string_view json_name(std::string_view text) {
  for (const std::string_view key : {"\"name\"", "'name'", "\"function\"", "\"tool_name\""}) {
    const std::size_t at = text.find(key);
    if (at == std::string_view::npos) continue;
    std::string_view rest = left_trimmed(text.substr(at + key.size()));
    if (!rest.starts_with(':')) continue;
    rest = left_trimmed(rest.substr(1));
    if (rest.empty() || (rest.front() != '"' && rest.front() != '\'')) continue;
    const std::size_t end = rest.find(rest.front(), 1);
    if (end == std::string_view::npos || end > kLongestName) continue;
    return rest.substr(1, end - 1);
  }
  return {};
}

// "call:get_user" (Gemma), "functions.get_user:0" (Kimi), "print(default_api.get_user" (Gemma).
std::string_view bare_name(std::string_view name) {
  for (const std::string_view wrapper : {"call:", "functions.", "default_api."}) {
    if (name.starts_with(wrapper)) name.remove_prefix(wrapper.size());
  }
  const std::size_t colon = name.find(':');
  if (colon != std::string_view::npos &&
      name.find_first_not_of("0123456789", colon + 1) == std::string_view::npos) {
    name = name.substr(0, colon);
  }
  while (!name.empty() && (name.back() == '.' || name.back() == ':')) name.remove_suffix(1);
  return name;
}

// The quoted name of <invoke name="x">, at most a name long.
std::string_view quoted_name(std::string_view text) {
  if (text.empty() || (text.front() != '"' && text.front() != '\'')) return {};
  const std::size_t end = text.substr(0, kLongestName + 2).find(text.front(), 1);
  return end == std::string_view::npos ? std::string_view{} : text.substr(1, end - 1);
}

// True when what follows a name is the beginning of its arguments.
bool arguments_follow(std::string_view rest) {
  if (rest.starts_with('{') || rest.starts_with('(') || rest.starts_with('[')) return true;
  const std::string_view next = left_trimmed(rest);
  return next.starts_with('{') || next.starts_with("<arg_key>") || next.starts_with("</tool_call>");
}

// Whether the text after a marker is a call, and its name where readable.
std::optional<std::string_view> call_after(Follows follows, std::string_view rest) {
  const std::string_view next = left_trimmed(rest);
  const bool object = next.starts_with('{') || next.starts_with('[');
  switch (follows) {
    case Follows::Object:
      if (!object) return std::nullopt;
      return json_name(next);
    case Follows::Name: {
      const std::string_view name = bare_name(leading_name(rest));
      if (name.empty() || !is_letter(name.front())) return std::nullopt;
      return name;
    }
    case Follows::Quote: {
      const std::string_view name = quoted_name(rest);
      if (name.empty()) return std::nullopt;
      return name;
    }
    case Follows::Any: {
      const std::string_view name = json_name(next);
      return name.empty() ? bare_name(leading_name(next)) : name;
    }
    case Follows::Call:
      break;
  }
  if (object) return json_name(next);
  if (next.starts_with("<function=")) return call_after(Follows::Name, next.substr(10));
  if (next.starts_with("<invoke name=")) return call_after(Follows::Quote, next.substr(13));
  if (next.starts_with("<name>")) return leading_name(next.substr(6));
  if (next.starts_with("print(")) return bare_name(leading_name(next.substr(6)));
  const std::string_view name = leading_name(next);
  if (name.empty() || !arguments_follow(next.substr(name.size()))) return std::nullopt;
  return bare_name(name);
}

std::optional<LeakedCall> call_at(std::string_view text, std::size_t at) {
  const std::string_view from = text.substr(at);
  for (const Marker& marker : kMarkers) {
    if (!from.starts_with(marker.text)) continue;
    // The opening bracket of "functools[" belongs to the list that must follow.
    const std::size_t length = marker.text.size() - (marker.text.ends_with('[') ? 1 : 0);
    const std::string_view body = clipped(from, kLongestBody);
    const std::optional<std::string_view> name =
        call_after(marker.follows, body.substr(std::min(length, body.size())));
    if (name) return LeakedCall{std::string(marker.text), std::string(*name), body};
  }
  return std::nullopt;
}

// A message that is nothing but {"name": ..., "arguments": {...}}, fenced or not.
std::optional<LeakedCall> bare_json_call(std::string_view text) {
  std::string_view body = trimmed(text);
  if (body.size() > kLongestBareJson) return std::nullopt;
  if (body.starts_with("```") && body.ends_with("```") && body.size() > 6) {
    body = body.substr(3, body.size() - 6);
    if (body.starts_with("json")) body.remove_prefix(4);
    body = trimmed(body);
  }
  if (!body.starts_with('{') || !body.ends_with('}') || json_name(body).empty()) {
    return std::nullopt;
  }
  const nlohmann::json value = nlohmann::json::parse(body, nullptr, false);
  if (!value.is_object() || !value.contains("name") || !value["name"].is_string()) {
    return std::nullopt;
  }
  for (const char* key : {"arguments", "parameters"}) {
    if (!value.contains(key) || !(value[key].is_object() || value[key].is_string())) continue;
    return LeakedCall{"{", value["name"].get<std::string>(), clipped(body, kLongestBody)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<LeakedCall> find_leaked_call(std::string_view text) {
  constexpr std::string_view kFunctools = "functools[";
  constexpr std::string_view kRecipient = "to=functions.";
  for (std::size_t at = text.find_first_of("<[`="); at != std::string_view::npos;
       at = text.find_first_of("<[`=", at + 1)) {
    std::size_t start = at;
    if (text[at] == '=') {
      if (at < 2 || text.substr(at - 2, kRecipient.size()) != kRecipient) continue;
      start = at - 2;
    } else if (text[at] == '[' && at + 1 >= kFunctools.size() &&
               text.substr(at + 1 - kFunctools.size(), kFunctools.size()) == kFunctools) {
      start = at + 1 - kFunctools.size();
    }
    std::optional<LeakedCall> call = call_at(text, start);
    if (call) return call;
  }
  return bare_json_call(text);
}

}  // namespace unmask
