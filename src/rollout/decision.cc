// Finding the name in the completion. The tokens put together are the text the model wrote, and in
// it the called name stands where a call format puts names:
//
//   {"name": "get_user", ...    <function=get_user>    functions.get_user    call:get_user{...
//
// Prose and arguments may hold the same word ("I will use get_user"), so a place that a call format
// explains is taken before any other; and without one, only a word that occurs once.
#include "rollout/decision.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/json_writer.h"

namespace unmask {

namespace {

constexpr std::string_view kThoughtsEnd = "</think>";
constexpr std::string_view kBlanks = " \t\r\n";

// The completion and where each of its tokens begins.
struct Completion {
  std::string text;
  std::vector<std::size_t> begins;
};

Completion completion_of(std::span<const TokenChoice> tokens) {
  Completion completion;
  for (const TokenChoice& token : tokens) {
    completion.begins.push_back(completion.text.size());
    completion.text += token.token;
  }
  return completion;
}

std::size_t after_thoughts(std::string_view text) {
  const std::size_t end = text.rfind(kThoughtsEnd);
  return end == std::string_view::npos ? 0 : end + kThoughtsEnd.size();
}

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || static_cast<unsigned char>(c) >= 0x80;
}

bool stands_alone(std::string_view text, std::size_t at, std::size_t length) {
  const bool before = at > 0 && is_name_byte(text[at - 1]);
  const std::size_t end = at + length;
  return !before && (end == text.size() || !is_name_byte(text[end]));
}

// What precedes a name in the call formats of model families, blanks and quotes taken off.
bool is_named_by_a_call(std::string_view before) {
  constexpr std::string_view kOpenings[] = {"\"name\":",     "'name':",      "name=", "<function=",
                                            "<tool_call>",   "[TOOL_CALLS]", "call:", "functions.",
                                            "<|tool_call|>", "to=",          "["};
  const std::size_t last = before.find_last_not_of(std::string(kBlanks) + "\"'");
  if (last == std::string_view::npos) return false;
  before = before.substr(0, last + 1);
  return std::any_of(std::begin(kOpenings), std::end(kOpenings),
                     [&](std::string_view opening) { return before.ends_with(opening); });
}

std::optional<std::size_t> place_of(std::string_view text, std::string_view name) {
  std::vector<std::size_t> places;
  for (std::size_t at = text.find(name, after_thoughts(text)); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    if (!stands_alone(text, at, name.size())) continue;
    if (is_named_by_a_call(text.substr(0, at))) return at;
    places.push_back(at);
  }
  if (places.size() != 1) return std::nullopt;
  return places.front();
}

void write_choice(JsonWriter& json, const TokenChoice& choice) {
  json.begin_object().field("token", choice.token).field("logprob", choice.logprob);
  json.key("top").begin_array();
  const std::size_t shown = std::min(choice.top.size(), kMostAlternatives);
  for (std::size_t i = 0; i < shown; ++i)
    json.begin_array().value(choice.top[i].first).value(choice.top[i].second).end_array();
  json.end_array().end_object();
}

void write_first(JsonWriter& json, std::span<const TokenChoice> tokens,
                 const Completion& completion) {
  const std::size_t begin = after_thoughts(completion.text);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool blank = tokens[i].token.find_first_not_of(kBlanks) == std::string::npos;
    if (completion.begins[i] < begin || blank) continue;
    json.key("first");
    return write_choice(json, tokens[i]);
  }
}

void write_name(JsonWriter& json, std::span<const TokenChoice> tokens, const Completion& completion,
                const std::string& name) {
  if (name.empty()) return;
  const std::optional<std::size_t> at = place_of(completion.text, name);
  if (!at) return;
  json.key("name").begin_object().field("name", name).key("tokens").begin_array();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::size_t begin = completion.begins[i];
    const std::size_t end = begin + tokens[i].token.size();
    if (end > *at && begin < *at + name.size()) write_choice(json, tokens[i]);
  }
  json.end_array().end_object();
}

}  // namespace

std::string decision_json(std::span<const TokenChoice> tokens, std::span<const ToolRequest> calls) {
  if (tokens.empty()) return "";
  const Completion completion = completion_of(tokens);
  JsonWriter json;
  json.begin_object();
  write_first(json, tokens, completion);
  if (!calls.empty()) write_name(json, tokens, completion, calls.front().name);
  json.end_object();
  return json.take();
}

}  // namespace unmask
