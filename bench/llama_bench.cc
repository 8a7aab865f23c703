// How much does the embedded engine evaluate and answer? Episodes of 10 turns with a policy of
// 1,000 tokens, on a model of the pocket agent's size (2 M parameters, random weights), by 1, 8 and
// 32 callers at once; deterministic as well.
//
//   saved    tokens that one request at a time without reuse of prefixes would evaluate, for each
//            token that is evaluated: the issue is at least 5
//   evaluated, an episode's share
#include <benchmark/benchmark.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "llm/llama.h"
#include "llm/tiny_gguf_for_tests.h"

namespace unmask {
namespace {

constexpr int kTurns = 10;
constexpr int kEpisodes = 32;
constexpr const char* kTools = R"([{"type": "function", "function": {"name": "get_user",
  "parameters": {"type": "object", "properties": {}}}}])";

std::string model_file() {
  static const std::string kFile = [] {
    const std::string path =
        (std::filesystem::temp_directory_path() / "unmask_llama_bench.gguf").string();
    std::ofstream(path, std::ios::binary)
        << tiny_gguf({.width = 256, .layers = 3, .heads = 4, .inner = 512, .context = 4096});
    return path;
  }();
  return kFile;
}

// False: a request failed.
bool play_episode(ChatModel& model, int episode) {
  std::vector<ChatMessage> messages(2);
  messages[0].role = ChatMessage::Role::System;
  messages[0].content = std::string(1000, 'p');
  messages[1].content = "customer " + std::to_string(episode) + " has no service";
  for (int turn = 0; turn < kTurns; ++turn) {
    ChatRequest request;
    request.messages = messages;
    request.tools = kTools;
    request.seed = episode;
    const Result<ChatReply> reply = model.complete(request);
    if (!reply) return false;
    messages.push_back(reply->message);
    for (const ChatCall& call : reply->message.calls) {
      ChatMessage& result = messages.emplace_back();
      result.role = ChatMessage::Role::Tool;
      result.call_id = call.id;
      result.content = "airplane mode is on";
    }
    messages.emplace_back().content = "I did that, what is next?";
  }
  return true;
}

void play_all(benchmark::State& state, ChatModel& model, int callers) {
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller)
    threads.emplace_back([&, caller] {
      for (int episode = caller; episode < kEpisodes; episode += callers)
        if (!play_episode(model, episode)) state.SkipWithError("a request failed");
    });
  for (std::thread& thread : threads) thread.join();
}

void report(benchmark::State& state, const LlamaCounters& counters) {
  const double alone =
      static_cast<double>(counters.prompt_tokens + counters.generated_tokens - counters.requests);
  const auto rate = [&](double count) {
    return benchmark::Counter(count, benchmark::Counter::kIsRate);
  };
  state.counters["saved"] = alone / static_cast<double>(counters.evaluated_tokens);
  state.counters["evaluated"] = static_cast<double>(counters.evaluated_tokens) /
                                static_cast<double>(state.iterations() * kEpisodes);
  state.counters["requests/s"] = rate(static_cast<double>(counters.requests));
  state.counters["written/s"] = rate(static_cast<double>(counters.generated_tokens));
  state.counters["model_MB"] = static_cast<double>(counters.model_bytes) * 1e-6;
  state.counters["kv_MB"] = static_cast<double>(counters.kv_bytes) * 1e-6;
}

void BM_Episodes(benchmark::State& state) {
  LlamaSettings settings;
  settings.file = model_file();
  settings.parallel = static_cast<int>(state.range(0));
  settings.deterministic = state.range(1) != 0;
  const Result<std::shared_ptr<LlamaEngine>> engine = LlamaEngine::open(settings);
  if (!engine) return state.SkipWithError(to_string(engine.error()).c_str());
  LlamaSampling sampling;
  sampling.max_tokens = 16;
  const Result<std::unique_ptr<ChatModel>> model = open_llama(*engine, "bench", sampling);
  if (!model) return state.SkipWithError(to_string(model.error()).c_str());
  for (auto _ : state) play_all(state, **model, settings.parallel);
  report(state, (*engine)->counters());
}
BENCHMARK(BM_Episodes)
    ->ArgNames({"callers", "deterministic"})
    ->Args({1, 0})
    ->Args({8, 0})
    ->Args({32, 0})
    ->Args({8, 1})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace unmask

BENCHMARK_MAIN();
