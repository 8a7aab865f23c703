#include "llm/server_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "llm/json_text.h"

namespace unmask {
namespace {

using nlohmann::ordered_json;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// In lower case; each is what one of the servers says and no other refusal does. docs/faults.md
// says where each was read.
constexpr std::array kOverflowPhrases = {
    std::string_view("context_length_exceeded"),               // OpenAI
    std::string_view("maximum context length"),                // vLLM, SGLang, Mistral, OpenRouter
    std::string_view("the model's context length is only"),    // vLLM
    std::string_view("longer than the maximum model length"),  // vLLM
    std::string_view("reduce the length of the input"),        // vLLM
    std::string_view("reduce the length of the messages"),     // vLLM, Groq
    std::string_view("exceed_context_size_error"),             // llama.cpp
    std::string_view("exceeds the available context size"),    // llama.cpp
    std::string_view("context size has been exceeded"),        // llama.cpp, midway
    std::string_view("longer than the model's context length"),      // SGLang
    std::string_view("tokens) exceeds the maximum allowed length"),  // SGLang, its cache
    std::string_view("longer than the context length"),              // Ollama
    std::string_view("exceeds the context length"),                  // Ollama
    std::string_view("exceeded max context length"),                 // Ollama, hosted
    std::string_view("`inputs` tokens + `max_new_tokens` must"),     // TGI
    std::string_view("`inputs` must have less than"),                // TGI
    std::string_view("exceeds the context window"),                  // OpenAI
    std::string_view("exceeds the maximum number of tokens"),        // Gemini
    std::string_view("prompt is too long"),                          // Anthropic
    std::string_view("exceed context limit"),                        // Anthropic
    std::string_view("input is too long for requested model"),       // Bedrock
    std::string_view("maximum prompt length is"),                    // xAI
};

// The text between the tags of a page, without scripts and styles.
std::string page_text(std::string_view page) {
  const std::string lowered = lower(page);
  std::string text;
  for (std::size_t i = 0; i < page.size();) {
    if (page[i] != '<') {
      text += page[i++];
      continue;
    }
    std::string_view rest = std::string_view(lowered).substr(i);
    std::size_t end = std::string_view::npos;
    if (rest.starts_with("<script")) end = lowered.find("</script", i);
    if (rest.starts_with("<style")) end = lowered.find("</style", i);
    end = page.find('>', end == std::string_view::npos ? i : end);
    text += ' ';
    i = end == std::string_view::npos ? page.size() : end + 1;
  }
  return text;
}

std::string text_of(const ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? "" : compact_json(value);
}

// FastAPI: [{"loc": ["body", "messages"], "msg": "Field required"}, ...].
std::string detail_of(const ordered_json& detail) {
  if (!detail.is_array()) return text_of(detail);
  std::string text;
  for (const ordered_json& item : detail) {
    if (!item.is_object() || !item.contains("msg")) return text_of(detail);
    text += (text.empty() ? "" : "; ") + text_of(item["msg"]);
    if (item.contains("loc")) text += " at " + text_of(item["loc"]);
  }
  return text;
}

std::string sentence_of(const ordered_json& reply) {
  if (!reply.is_object()) return text_of(reply);
  if (reply.contains("error")) {
    const ordered_json& error = reply["error"];
    if (error.is_object() && error.contains("message")) return text_of(error["message"]);
    return text_of(error);
  }
  if (reply.contains("detail")) return detail_of(reply["detail"]);
  if (reply.contains("message")) return text_of(reply["message"]);
  return compact_json(reply);
}

// What Ollama puts in front of the arguments it cannot read, and after them.
constexpr std::string_view kOllamaOpening = "error parsing tool call: raw='";
constexpr std::string_view kOllamaClosing = "', err=";

// What llama.cpp writes between the place where its parser stopped and the output from there on.
std::optional<std::string> quoted_by_llama(const std::string& said) {
  constexpr std::string_view kOpening = "Failed to parse input at pos ";
  const std::size_t opening = said.find(kOpening);
  if (opening == std::string::npos) return std::nullopt;
  const std::size_t number = opening + kOpening.size();
  const std::size_t colon = said.find_first_not_of("0123456789", number);
  if (colon == number || colon == std::string::npos || said[colon] != ':') return std::nullopt;
  const std::size_t quoted = colon + 1;
  return said.substr(quoted < said.size() && said[quoted] == ' ' ? quoted + 1 : quoted);
}

std::optional<std::string> quoted_by_ollama(const std::string& said) {
  const std::size_t opening = said.find(kOllamaOpening);
  if (opening == std::string::npos) return std::nullopt;
  const std::size_t raw = opening + kOllamaOpening.size();
  const std::size_t closing = said.rfind(kOllamaClosing);
  return said.substr(raw, closing == std::string::npos || closing < raw ? closing : closing - raw);
}

}  // namespace

std::string printable(std::string_view text, std::size_t max_bytes) {
  // More than is kept is looked at only as far as blanks may take up.
  const std::string valid = to_utf8(text.substr(0, max_bytes * 8));
  std::string out;
  for (std::size_t i = 0; i < valid.size();) {
    const Utf8Step step = decode_utf8(valid, i);
    const bool blank =
        step.code_point <= 0x20 || (step.code_point >= 0x7f && step.code_point < 0xa1);
    const bool turns_text = (step.code_point >= 0x200b && step.code_point <= 0x200f) ||
                            (step.code_point >= 0x2028 && step.code_point <= 0x202e) ||
                            (step.code_point >= 0x2066 && step.code_point <= 0x2069);
    if (!blank && !turns_text) {
      if (out.size() + step.length > max_bytes) {
        if (!out.empty() && out.back() == ' ') out.pop_back();
        return out + "...";
      }
      out.append(valid, i, step.length);
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
    i += step.length;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string server_message(std::string_view body) {
  const std::string_view start = body.substr(0, std::size_t{1} << 16);
  if (const std::optional<ordered_json> reply = read_json(start))
    return printable(sentence_of(*reply));
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && start[first] == '<') return printable(page_text(start));
  return printable(start);
}

bool says_context_overflow(std::string_view body) {
  const std::string words = lower(body.substr(0, std::size_t{1} << 16));
  return std::any_of(
      kOverflowPhrases.begin(), kOverflowPhrases.end(),
      [&](std::string_view phrase) { return words.find(phrase) != std::string::npos; });
}

bool mentions_logprobs(std::string_view body) {
  const std::string words = lower(body.substr(0, std::size_t{1} << 16));
  return words.find("logprob") != std::string::npos || words.find("log prob") != std::string::npos;
}

std::optional<std::string> unread_output(std::string_view body) {
  const std::optional<ordered_json> reply = read_json(body);
  if (!reply) return std::nullopt;
  const std::string said = sentence_of(*reply);
  if (std::optional<std::string> quoted = quoted_by_llama(said)) return quoted;
  if (std::optional<std::string> quoted = quoted_by_ollama(said)) return quoted;
  constexpr std::string_view kLlama = "The model produced output that does not match the expected ";
  return said.find(kLlama) == std::string::npos ? std::nullopt : std::optional<std::string>("");
}

void Secrets::add(std::string_view secret) {
  if (secret.empty()) return;
  secrets_.emplace_back(secret);
  std::string escaped;  // as some servers write it in JSON
  for (const char c : secret) escaped += c == '/' ? std::string("\\/") : std::string(1, c);
  if (escaped != secret) secrets_.push_back(std::move(escaped));
  // The longest first, so that no secret inside another leaves its rest behind.
  std::sort(secrets_.begin(), secrets_.end(),
            [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string Secrets::hide(std::string text) const {
  return hide(std::move(text), 1);
}

std::string Secrets::hide_long(std::string text) const {
  return hide(std::move(text), 8);
}

std::string Secrets::hide(std::string text, std::size_t min_bytes) const {
  constexpr std::string_view kHidden = "[hidden]";
  for (const std::string& secret : secrets_) {
    if (secret.size() < min_bytes) continue;
    for (std::size_t at = text.find(secret); at != std::string::npos;
         at = text.find(secret, at + kHidden.size()))
      text.replace(at, secret.size(), kHidden);
  }
  return text;
}

}  // namespace unmask
