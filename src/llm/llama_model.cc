// A conversation -> the template's prompt -> tokens -> a completion -> the template's message.
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "base/json_writer.h"
#include "base/utf8.h"
#include "llm/chat_tools.h"
#include "llm/llama_engine.h"

namespace unmask {
namespace {

std::string settings_text(const LlamaSampling& sampling) {
  JsonWriter json;
  json.begin_object();
  if (sampling.max_tokens) json.field("max_tokens", *sampling.max_tokens);
  json.field("temperature", sampling.temperature);
  if (sampling.top_k > 0) json.field("top_k", sampling.top_k);
  if (sampling.top_p < 1) json.field("top_p", sampling.top_p);
  json.end_object();
  return json.take();
}

void write_calls(JsonWriter& json, const std::vector<ChatCall>& calls) {
  json.key("tool_calls").begin_array();
  for (const ChatCall& call : calls) {
    json.begin_object().field("id", call.id).field("type", "function").key("function");
    json.begin_object().field("name", call.name).field("arguments", call.arguments);
    json.end_object().end_object();
  }
  json.end_array();
}

// The reply as a server would send it, but that the content is the whole completion, markup and
// thoughts included: what was parsed is in the message beside it.
std::string raw_reply(const std::string& model, const ChatReply& reply,
                      const Generation& generation) {
  JsonWriter json;
  json.begin_object().field("model", model).key("choices").begin_array().begin_object();
  json.field("index", 0).field("finish_reason", reply.finish_reason).key("message").begin_object();
  json.field("role", "assistant").field("content", generation.text);
  if (!reply.message.calls.empty()) write_calls(json, reply.message.calls);
  json.end_object().end_object().end_array().key("usage").begin_object();
  json.field("prompt_tokens", reply.usage->prompt);
  json.field("completion_tokens", reply.usage->completion);
  json.field("prompt_tokens_reused", generation.reused).end_object().end_object();
  return json.take();
}

class LlamaModel : public ChatModel {
 public:
  LlamaModel(std::shared_ptr<LlamaEngine> engine, std::string name, const LlamaSampling& sampling)
      : engine_(std::move(engine)),
        name_(std::move(name)),
        sampling_(sampling),
        settings_(settings_text(sampling)) {}

  const std::string& name() const override { return name_; }
  const std::string& settings() const override { return settings_; }

  Result<ChatReply> complete(const ChatRequest& request) override {
    const auto begun = std::chrono::steady_clock::now();
    const Result<std::vector<ChatTool>> tools = read_chat_tools(request.tools);
    if (!tools) return tools.error();
    LlamaWork& work = engine_->work();
    const ChatTemplate& chat = work.chat_template(!tools->empty());
    const Result<ChatPrompt> prompt = chat.render(request.messages, *tools);
    if (!prompt) return prompt.error();
    GenerationRequest generation;
    if (request.constrain_names && !tools->empty()) {
      const Result<Done> bound = bind_names(request, *tools, generation);
      if (!bound) return bound.error();
    }
    generation.prompt = work.decoder().tokens(prompt->text, true);
    generation.sampling = sampling_;
    generation.rng =
        Rng(static_cast<std::uint64_t>(request.seed.value_or(0)), request.messages.size());
    generation.stops = prompt->stops;
    generation.stop = request.stop;
    const auto prompt_tokens = static_cast<std::int64_t>(generation.prompt.size());
    Result<Generation> generated = work.generate(std::move(generation));
    if (!generated) return generated.error();
    generated->text = to_utf8(generated->text);
    ParsedCompletion parsed =
        chat.parse(generated->text, prompt->opening, request.messages, *tools);
    ChatReply reply = reply_of(std::move(parsed), *generated, prompt_tokens, request);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun;
    reply.seconds = seconds.count();
    return reply;
  }

 private:
  Result<Done> bind_names(const ChatRequest& request, const std::vector<ChatTool>& tools,
                          GenerationRequest& generation) const {
    LlamaWork& work = engine_->work();
    const Result<NameGrammar> names =
        work.chat_template(true).name_grammar(request.messages, tools);
    if (!names) return names.error();
    Result<std::unique_ptr<TokenGrammar>> grammar = work.decoder().grammar(*names);
    if (!grammar) return grammar.error();
    generation.grammar = std::move(*grammar);
    return Done{};
  }

  ChatReply reply_of(ParsedCompletion parsed, Generation& generated, std::int64_t prompt_tokens,
                     const ChatRequest& request) const {
    ChatReply reply;
    reply.message = std::move(parsed.message);
    name_calls(reply.message.calls, request);
    reply.finish_reason = generated.finish_reason;
    if (reply.finish_reason == "stop" && !reply.message.calls.empty())
      reply.finish_reason = "tool_calls";
    reply.usage = TokenUsage{prompt_tokens, generated.generated};
    if (parsed.irregular) reply.warnings.emplace_back("irregular_completion");
    if (reply.message.calls.empty() && reply.message.content.value_or("").empty())
      reply.warnings.emplace_back("empty_message");
    reply.raw = raw_reply(name_, reply, generated);
    reply.logprobs = std::move(generated.choices);
    return reply;
  }

  // Ids that a conversation has once, short and of letters and digits: some templates insist.
  static void name_calls(std::vector<ChatCall>& calls, const ChatRequest& request) {
    for (std::size_t i = 0; i < calls.size(); ++i)
      calls[i].id = fmt::format("c{:04}{:04}", request.messages.size() % 10000, i % 10000);
  }

  const std::shared_ptr<LlamaEngine> engine_;
  const std::string name_;
  const LlamaSampling sampling_;
  const std::string settings_;
};

Error wrong(const std::string& sentence) {
  return Error{ErrorKind::InvalidArgument, sentence, ""};
}

}  // namespace

Result<std::unique_ptr<ChatModel>> open_llama(std::shared_ptr<LlamaEngine> engine, std::string name,
                                              const LlamaSampling& sampling) {
  if (!(sampling.temperature >= 0) || !std::isfinite(sampling.temperature))
    return wrong("temperature must not be negative");
  if (!(sampling.top_p > 0 && sampling.top_p <= 1)) return wrong("top_p must be in (0, 1]");
  if (sampling.top_k < 0) return wrong("top_k must not be negative");
  if (sampling.max_tokens && *sampling.max_tokens < 1) return wrong("max_tokens must be positive");
  if (sampling.logprobs < 0) return wrong("logprobs must not be negative");
  return std::unique_ptr<ChatModel>(
      std::make_unique<LlamaModel>(std::move(engine), std::move(name), sampling));
}

}  // namespace unmask
