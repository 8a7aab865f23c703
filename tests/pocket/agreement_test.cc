// llama.cpp computes of a pocket agent's file what PyTorch computed when it was made
// (pocket/reference.py):
//   agreement_test MODEL.gguf REFERENCE.json
// Prints the largest difference of a logit and how often both hold the same token likeliest; exit
// status 1 where a prompt of ours is not the text that Python's template gave, the tokens differ,
// the likeliest tokens agree in less than 99.5 %, or a logit is off by more than 0.05. Of a mixture
// of experts 2 % of the logits may be off by up to 0.5: where two experts are as good as tied, the
// last bits decide which is asked.
#include <ggml-backend.h>
#include <llama.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "environment/json.h"
#include "llm/chat_template.h"
#include "llm/chat_tools.h"
#include "llm/gguf.h"

namespace {

using unmask::Value;

struct Agreement {
  double largest = 0;
  int compared = 0;
  int apart = 0;  // by more than 0.05
  int positions = 0;
  int same = 0;
  bool tokens_differ = false;
  int prompts = 0;
  int other_prompts = 0;  // that are not the text of the reference
};

std::vector<llama_token> tokenized(const llama_vocab* vocab, const std::string& text) {
  std::vector<llama_token> tokens(text.size() + 8);
  const int count = llama_tokenize(vocab, text.data(), static_cast<int>(text.size()), tokens.data(),
                                   static_cast<int>(tokens.size()), false, true);
  tokens.resize(static_cast<std::size_t>(std::max(count, 0)));
  return tokens;
}

const Value& at(const Value& dict, std::string_view key) {
  const Value* found = dict.find(key);
  UNMASK_CHECK(found != nullptr);
  return *found;
}

double number(const Value& value) {
  return value.kind() == unmask::Kind::Int ? static_cast<double>(value.as_int()) : value.as_float();
}

// Logits after every token; false: the text is cut into other tokens than expected, or nothing is
// computed.
bool evaluate(llama_context* context, const llama_vocab* vocab, const Value& episode) {
  const std::vector<llama_token> tokens = tokenized(vocab, at(episode, "text").as_str());
  const Value& expected = at(episode, "tokens");
  bool same = tokens.size() == expected.size();
  for (std::size_t i = 0; same && i < tokens.size(); ++i) same = tokens[i] == expected[i].as_int();
  if (!same) return false;
  llama_memory_clear(llama_get_memory(context), true);
  llama_batch batch = llama_batch_init(static_cast<int>(tokens.size()), 0, 1);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    batch.token[i] = tokens[i];
    batch.pos[i] = static_cast<llama_pos>(i);
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = 0;
    batch.logits[i] = 1;
  }
  batch.n_tokens = static_cast<int>(tokens.size());
  const int status = llama_decode(context, batch);
  llama_batch_free(batch);
  return status == 0;
}

void compare(llama_context* context, const llama_vocab* vocab, const Value& episode,
             Agreement& out) {
  if (!evaluate(context, vocab, episode)) {
    out.tokens_differ = true;
    return;
  }
  const int width = llama_vocab_n_tokens(vocab);
  const Value& likeliest = at(episode, "likeliest");
  for (std::size_t i = 0; i < likeliest.size(); ++i, ++out.positions) {
    const float* row = llama_get_logits_ith(context, static_cast<int>(i));
    out.same += std::max_element(row, row + width) - row == likeliest[i].as_int();
  }
  const Value& rows = at(episode, "rows");
  const Value& columns = at(episode, "columns");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const float* row = llama_get_logits_ith(context, static_cast<int>(rows[r].as_int()));
    for (std::size_t c = 0; c < columns.size(); ++c, ++out.compared) {
      const double expected = number(at(episode, "logits")[r][c]);
      const double off = std::fabs(static_cast<double>(row[columns[c].as_int()]) - expected);
      out.largest = std::max(out.largest, off);
      out.apart += off > 0.05;
    }
  }
}

unmask::ChatMessage chat_message(const Value& message) {
  using Role = unmask::ChatMessage::Role;
  unmask::ChatMessage out;
  const std::string& role = at(message, "role").as_str();
  out.role = role == "system"      ? Role::System
             : role == "assistant" ? Role::Assistant
             : role == "tool"      ? Role::Tool
                                   : Role::User;
  out.content = at(message, "content").as_str();
  if (const Value* calls = message.find("tool_calls"))
    for (const Value& call : calls->items())
      out.calls.push_back({"call", at(call, "name").as_str(), dump_json(at(call, "arguments"))});
  if (out.role == Role::Tool) out.call_id = "call";
  return out;
}

// The prompt before each of the agent's messages is what the text begins with.
void compare_prompts(const unmask::ChatTemplate& chat, const Value& episode, Agreement& out) {
  const auto tools = unmask::read_chat_tools(dump_json(at(episode, "tools")));
  UNMASK_CHECK(tools.has_value());
  const std::string& text = at(episode, "text").as_str();
  std::vector<unmask::ChatMessage> messages;
  for (const Value& value : at(episode, "messages").items()) {
    unmask::ChatMessage message = chat_message(value);
    if (message.role == unmask::ChatMessage::Role::Assistant) {
      const auto prompt = chat.render(messages, *tools);
      ++out.prompts;
      out.other_prompts += !prompt || !text.starts_with(prompt->text);
    }
    messages.push_back(std::move(message));
  }
}

std::unique_ptr<unmask::ChatTemplate> template_of(const unmask::Gguf& header) {
  const unmask::GgufValue* source = header.find("tokenizer.chat_template");
  UNMASK_CHECK(source != nullptr && source->text().has_value());
  auto chat = unmask::ChatTemplate::open(std::string(*source->text()), "<s>", "<e>");
  UNMASK_CHECK(chat.has_value());
  return std::move(*chat);
}

int run(const char* model_file, const char* reference_file) {
  const auto text = unmask::read_file(reference_file);
  UNMASK_CHECK(text.has_value());
  const auto reference = unmask::parse_json(*text);
  UNMASK_CHECK(reference.has_value() && reference->size() > 0);
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  ggml_backend_load_all_from_path(UNMASK_LLAMA_LIBRARIES);
  std::unique_ptr<llama_model, decltype(&llama_model_free)> model(
      llama_model_load_from_file(model_file, llama_model_default_params()), &llama_model_free);
  UNMASK_CHECK(model != nullptr);
  llama_context_params params = llama_context_default_params();
  params.n_ctx = params.n_batch = params.n_ubatch = 2048;
  params.type_k = params.type_v = GGML_TYPE_F32;
  std::unique_ptr<llama_context, decltype(&llama_free)> context(
      llama_init_from_model(model.get(), params), &llama_free);
  UNMASK_CHECK(context != nullptr);
  Agreement out;
  const auto header = unmask::Gguf::open(model_file);
  UNMASK_CHECK(header.has_value());
  const bool experts = header->of_architecture("expert_count") != nullptr;
  const std::unique_ptr<unmask::ChatTemplate> chat = template_of(*header);
  for (const Value& episode : reference->items()) {
    compare(context.get(), llama_model_get_vocab(model.get()), episode, out);
    compare_prompts(*chat, episode, out);
  }
  std::printf(
      "%s: %d of %d prompts are the reference's; %d logits, largest difference %.5f, %d above "
      "0.05; "
      "the likeliest token is the same at %d of %d positions%s\n",
      model_file, out.prompts - out.other_prompts, out.prompts, out.compared, out.largest,
      out.apart, out.same, out.positions,
      out.tokens_differ ? "; texts are cut into other tokens" : "");
  const bool close =
      experts ? out.largest < 0.5 && out.apart <= 0.02 * out.compared : out.apart == 0;
  const bool agree = out.prompts > 0 && out.other_prompts == 0 && !out.tokens_differ &&
                     out.compared > 0 && close && out.same >= 0.995 * out.positions;
  return agree ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return run(argv[1], argv[2]);
}
