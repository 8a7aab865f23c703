#include "llm/logprobs.h"

#include <simdjson.h>

#include <algorithm>

namespace unmask {

namespace {

namespace dom = simdjson::dom;
namespace ondemand = simdjson::ondemand;

// Where the values of the "logprobs" members of the choices stand in the text.
struct Spans {
  std::vector<std::string_view> all;  // in order
  std::string_view of_first;          // choice; empty: none
};

bool read_choice(ondemand::object choice, bool is_first, Spans& spans) {
  for (auto field : choice) {
    std::string_view key;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return false;
    if (key != "logprobs") continue;
    ondemand::object logprobs;
    std::string_view written;
    if (field.value().get_object().get(logprobs) != simdjson::SUCCESS) continue;  // null
    if (logprobs.raw_json().get(written) != simdjson::SUCCESS) return false;
    spans.all.push_back(written);
    if (is_first) spans.of_first = written;
  }
  return true;
}

std::optional<Spans> find_spans(ondemand::parser& parser, simdjson::padded_string& text) {
  ondemand::document document;
  ondemand::object root;
  if (parser.iterate(text).get(document) != simdjson::SUCCESS ||
      document.get_object().get(root) != simdjson::SUCCESS)
    return std::nullopt;
  Spans spans;
  for (auto field : root) {
    std::string_view key;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return std::nullopt;
    if (key != "choices") continue;
    ondemand::array choices;
    if (field.value().get_array().get(choices) != simdjson::SUCCESS) return std::nullopt;
    bool is_first = true;
    for (auto choice : choices) {
      ondemand::object members;
      if (choice.get_object().get(members) != simdjson::SUCCESS ||
          !read_choice(members, is_first, spans))
        return std::nullopt;
      is_first = false;
    }
  }
  return spans;
}

// False where an entry has no text "token" or no number "logprob".
bool read_token(const dom::element& entry, std::string& token, double& logprob) {
  std::string_view text;
  if (entry["token"].get(text) != simdjson::SUCCESS ||
      entry["logprob"].get_double().get(logprob) != simdjson::SUCCESS)
    return false;
  token = text;
  return true;
}

std::optional<std::vector<TokenChoice>> read_choices(std::string_view written) {
  thread_local dom::parser parser;
  dom::element logprobs;
  dom::array tokens;
  if (parser.parse(written.data(), written.size()).get(logprobs) != simdjson::SUCCESS ||
      logprobs["content"].get(tokens) != simdjson::SUCCESS)
    return std::nullopt;
  std::vector<TokenChoice> choices;
  choices.reserve(tokens.size());
  for (const dom::element& entry : tokens) {
    TokenChoice choice;
    if (!read_token(entry, choice.token, choice.logprob)) return std::nullopt;
    dom::array alternatives;
    if (entry["top_logprobs"].get(alternatives) == simdjson::SUCCESS) {
      choice.top.reserve(alternatives.size());
      for (const dom::element& alternative : alternatives) {
        std::pair<std::string, double> top;
        if (read_token(alternative, top.first, top.second)) choice.top.push_back(std::move(top));
      }
    }
    std::stable_sort(choice.top.begin(), choice.top.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace

std::optional<SplitReply> split_logprobs(std::string_view body) {
  thread_local ondemand::parser parser;
  simdjson::padded_string text(body);
  const std::optional<Spans> spans = find_spans(parser, text);
  if (!spans || spans->of_first.empty()) return std::nullopt;
  std::optional<std::vector<TokenChoice>> choices = read_choices(spans->of_first);
  if (!choices) return std::nullopt;
  SplitReply split;
  split.choices = std::move(*choices);
  const char* at = text.data();
  const char* const end = at + text.size();
  for (const std::string_view span : spans->all) {
    split.rest.append(at, span.data());
    split.rest += "null";
    at = span.data() + span.size();
  }
  split.rest.append(at, end);
  return split;
}

}  // namespace unmask
