// One thread owns the decoder. In a loop it
//
//   gives waiting requests a slot (slots.h)  ->  fills a batch: one token of every reply that is
//   being written, then as much of the prompts as there is room for  ->  evaluates it  ->  draws a
//   token for each sequence whose logits are there, and ends the replies that are complete.
//
// The same sequence evaluated in batches of other shapes goes through other kernels of llama.cpp
// and gets other last bits. A deterministic engine therefore evaluates one sequence in a batch, its
// prompt in pieces that begin at multiples of kStep, and reuses whole pieces only: all keys, values
// and logits are then a function of the conversation's own tokens.
#include "llm/llama_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/check.h"
#include "llm/sampler.h"

namespace unmask {
namespace {

constexpr std::size_t kStep = 64;

struct Job {
  GenerationRequest request;
  std::promise<Result<Generation>> done;
  Generation generation;
  int slot = -1;              // -1: waiting
  std::size_t evaluated = 0;  // tokens that the slot holds
  Token next = 0;             // drawn, to be evaluated; once the prompt is
  bool is_prompt_done() const { return evaluated >= request.prompt.size(); }
};

Error stopped() {
  return Error{ErrorKind::Unavailable, "given up because a stop was asked for",
               std::string(kStopped)};
}

// What living engines have been promised: much of it is taken when it is first touched.
std::atomic<std::uint64_t> promised_bytes = 0;

class Engine : public LlamaEngine, public LlamaWork {
 public:
  Engine(ModelFile file, std::unique_ptr<LlamaDecoder> decoder,
         std::unique_ptr<ChatTemplate> chat_template, std::unique_ptr<ChatTemplate> tool_template)
      : settings_(std::move(file.settings)),
        decoder_(std::move(decoder)),
        template_(std::move(chat_template)),
        tool_template_(std::move(tool_template)),
        slots_(settings_.parallel, settings_.deterministic ? kStep : 1) {
    counters_.model_bytes = decoder_->model_bytes();
    counters_.kv_bytes = file.kv_bytes;
    promised_bytes += counters_.model_bytes + counters_.kv_bytes;
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  ~Engine() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    arrived_.notify_all();
    if (thread_.joinable()) thread_.join();
    promised_bytes -= counters_.model_bytes + counters_.kv_bytes;
  }

  void start() {
    thread_ = std::thread([this] { run(); });
  }

  LlamaCounters counters() const override {
    const std::lock_guard lock(mutex_);
    return counters_;
  }
  std::vector<std::string> warnings() const override { return decoder_->warnings(); }
  const LlamaSettings& settings() const override { return settings_; }
  LlamaWork& work() override { return *this; }

  const ChatTemplate& chat_template(bool with_tools) const override {
    return with_tools && tool_template_ ? *tool_template_ : *template_;
  }
  const LlamaDecoder& decoder() const override { return *decoder_; }

  Result<Generation> generate(GenerationRequest request) override {
    const std::size_t context = static_cast<std::size_t>(settings_.context);
    if (request.prompt.empty())
      return Error{ErrorKind::InvalidArgument, "the prompt is empty", settings_.file};
    if (request.prompt.size() >= context)
      return Error{ErrorKind::Unavailable,
                   fmt::format("the conversation has {} tokens and the context window {}",
                               request.prompt.size(), context),
                   std::string(kContextWindow)};
    const std::shared_ptr<Job> job = std::make_shared<Job>();
    job->request = std::move(request);
    std::future<Result<Generation>> done = job->done.get_future();
    {
      const std::lock_guard lock(mutex_);
      ++counters_.requests;
      counters_.prompt_tokens += static_cast<std::int64_t>(job->request.prompt.size());
      arrivals_.push_back(job);
    }
    arrived_.notify_one();
    return done.get();
  }

 private:
  using Jobs = std::list<std::shared_ptr<Job>>;

  void run() {
    while (take_arrivals()) {
      try {
        drop_stopped();
        place_waiting();
        fill_batch();
        if (!batch_.empty()) evaluate();
      } catch (const std::exception& error) {
        for (const std::shared_ptr<Job>& job : Jobs(jobs_))
          fail(job, Error{ErrorKind::Unavailable, std::string("the engine: ") + error.what(),
                          settings_.file});
      }
    }
  }

  // False: the engine is to end. Waits where there is nothing to do.
  bool take_arrivals() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return ending_ || !arrivals_.empty() || !jobs_.empty(); });
    jobs_.insert(jobs_.end(), arrivals_.begin(), arrivals_.end());
    arrivals_.clear();
    return !ending_;
  }

  void drop_stopped() {
    for (const std::shared_ptr<Job>& job : Jobs(jobs_))
      if (job->request.stop.stop_requested()) fail(job, stopped());
  }

  void place_waiting() {
    for (const std::shared_ptr<Job>& job : jobs_) {
      if (busy_ == settings_.parallel) return;
      if (job->slot >= 0) continue;
      const std::optional<Placement> placement = slots_.place(job->request.prompt);
      if (!placement) continue;
      ++busy_;
      job->slot = placement->slot;
      job->evaluated = placement->reused;
      const bool kept = placement->from == placement->slot
                            ? decoder_->keep(placement->slot, placement->reused)
                            : decoder_->copy(placement->from, placement->slot, placement->reused);
      if (!kept) {
        slots_.forget(job->slot);
        job->evaluated = 0;
      }
      job->generation.reused = static_cast<std::int64_t>(job->evaluated);
      const std::lock_guard lock(mutex_);
      counters_.reused_tokens += job->generation.reused;
    }
  }

  void fill_batch() {
    batch_.clear();
    in_batch_.clear();
    if (settings_.deterministic) return fill_with_one();
    for (const std::shared_ptr<Job>& job : jobs_)
      if (job->slot >= 0 && job->is_prompt_done()) add(job, 1);
    for (const std::shared_ptr<Job>& job : jobs_) {
      if (job->slot < 0 || job->is_prompt_done()) continue;
      const std::size_t room = decoder_->most_at_once() - batch_.size();
      if (room == 0) return;
      add(job, std::min(room, job->request.prompt.size() - job->evaluated));
    }
  }

  // The job that has waited longest for its turn.
  void fill_with_one() {
    const auto placed = [](const std::shared_ptr<Job>& job) { return job->slot >= 0; };
    const auto turn = std::find_if(jobs_.begin(), jobs_.end(), placed);
    if (turn == jobs_.end()) return;
    const std::shared_ptr<Job> job = *turn;
    jobs_.splice(jobs_.end(), jobs_, turn);
    const std::size_t left =
        job->request.prompt.size() - std::min(job->request.prompt.size(), job->evaluated);
    add(job, left == 0 ? 1 : std::min(left, kStep - job->evaluated % kStep));
  }

  // Puts the job's next `count` tokens into the batch: of its prompt, or the one it has drawn.
  void add(const std::shared_ptr<Job>& job, std::size_t count) {
    const std::vector<Token>& prompt = job->request.prompt;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t position = job->evaluated + i;
      const Token token = position < prompt.size() ? prompt[position] : job->next;
      batch_.push_back(
          {token, job->slot, static_cast<int>(position), position + 1 >= prompt.size()});
    }
    in_batch_.push_back({job, count, batch_.size() - 1});
  }

  void evaluate() {
    const Result<Done> decoded = decoder_->decode(batch_);
    {
      const std::lock_guard lock(mutex_);
      ++counters_.batches;
      counters_.evaluated_tokens += static_cast<std::int64_t>(batch_.size());
    }
    for (const Share& share : in_batch_) {
      if (!decoded) {
        slots_.forget(share.job->slot);
        fail(share.job, decoded.error());
        continue;
      }
      advance(share);
    }
  }

  struct Share {
    std::shared_ptr<Job> job;
    std::size_t count = 0;
    std::size_t last = 0;  // index in the batch
  };

  void advance(const Share& share) {
    Job& job = *share.job;
    if (job.is_prompt_done())
      slots_.generated(job.slot, job.next);
    else
      slots_.evaluated(job.slot, std::span(job.request.prompt).subspan(job.evaluated, share.count));
    job.evaluated += share.count;
    if (!job.is_prompt_done()) return;
    try {
      draw(share);
    } catch (const std::exception& error) {  // llama.cpp's grammars throw
      fail(share.job, Error{ErrorKind::Unavailable,
                            std::string("the grammar of names: ") + error.what(), settings_.file});
    }
  }

  void draw(const Share& share) {
    Job& job = *share.job;
    const std::span<float> logits = decoder_->logits(share.last);
    const LlamaSampling& sampling = job.request.sampling;
    std::vector<float> bound;
    std::span<const float> drawn_from = logits;
    if (job.request.grammar) {
      bound.assign(logits.begin(), logits.end());
      job.request.grammar->forbid(bound);
      drawn_from = bound;
    }
    const std::optional<std::size_t> drawn = sample_token(
        drawn_from, {sampling.temperature, sampling.top_p, sampling.top_k}, job.request.rng);
    if (!drawn)
      return fail(share.job, Error{ErrorKind::Unavailable, "the model's logits are not numbers",
                                   settings_.file});
    const Token token = static_cast<Token>(*drawn);
    note(job, logits, *drawn);
    if (decoder_->is_end(token)) return finish(share.job, "stop");
    if (job.request.grammar) job.request.grammar->accept(token);
    job.generation.text += decoder_->text(token);
    job.next = token;
    if (cut_at_stop(job)) return finish(share.job, "stop");
    const bool is_long = sampling.max_tokens && job.generation.generated >= *sampling.max_tokens;
    if (is_long || job.evaluated + 1 >= static_cast<std::size_t>(settings_.context))
      finish(share.job, "length");
  }

  // The log-probabilities are those of the model, whatever a grammar forbade.
  void note(Job& job, std::span<const float> logits, std::size_t drawn) {
    ++job.generation.generated;
    {
      const std::lock_guard lock(mutex_);
      ++counters_.generated_tokens;
    }
    if (job.request.sampling.logprobs == 0) return;
    const TokenLogprobs logprobs =
        token_logprobs(logits, drawn, static_cast<std::size_t>(job.request.sampling.logprobs));
    TokenChoice choice{decoder_->text(static_cast<Token>(drawn)), logprobs.chosen, {}};
    for (const auto& [token, logprob] : logprobs.top)
      choice.top.emplace_back(decoder_->text(static_cast<Token>(token)), logprob);
    job.generation.choices.push_back(std::move(choice));
  }

  static bool cut_at_stop(Job& job) {
    for (const std::string& stop : job.request.stops) {
      const std::size_t at = stop.empty() ? std::string::npos : job.generation.text.find(stop);
      if (at == std::string::npos) continue;
      job.generation.text.resize(at);
      return true;
    }
    return false;
  }

  void finish(const std::shared_ptr<Job>& job, const char* reason) {
    job->generation.finish_reason = reason;
    leave(job);
    job->done.set_value(std::move(job->generation));
  }

  void fail(const std::shared_ptr<Job>& job, Error error) {
    leave(job);
    job->done.set_value(std::move(error));
  }

  void leave(const std::shared_ptr<Job>& job) {
    jobs_.remove(job);
    if (job->slot < 0) return;
    slots_.release(job->slot);
    --busy_;
  }

  const LlamaSettings settings_;
  const std::unique_ptr<LlamaDecoder> decoder_;
  const std::unique_ptr<ChatTemplate> template_;
  const std::unique_ptr<ChatTemplate> tool_template_;  // nullptr: the other

  mutable std::mutex mutex_;  // guards these four
  std::condition_variable arrived_;
  std::deque<std::shared_ptr<Job>> arrivals_;
  LlamaCounters counters_;
  bool ending_ = false;

  // Of the engine's thread.
  SlotTable slots_;
  Jobs jobs_;  // waiting and in progress, the oldest first; by turns where deterministic
  int busy_ = 0;
  std::vector<BatchToken> batch_;
  std::vector<Share> in_batch_;
  std::thread thread_;
};

Result<std::unique_ptr<ChatTemplate>> open_template(const std::string& source,
                                                    const LlamaDecoder& decoder,
                                                    const LlamaSettings& settings) {
  Result<std::unique_ptr<ChatTemplate>> opened =
      ChatTemplate::open(source, decoder.bos(), decoder.eos());
  if (opened) return opened;
  Error error = opened.error();
  error.where = settings.template_file.empty() ? settings.file : settings.template_file;
  return error;
}

}  // namespace

Result<std::shared_ptr<LlamaEngine>> LlamaEngine::open(const LlamaSettings& settings) {
  Result<ModelFile> file = check_model_file(settings);
  if (!file) return file.error();
  std::optional<std::uint64_t> available = available_memory();
  if (available) *available -= std::min<std::uint64_t>(*available, promised_bytes);
  const Result<Done> fits = check_memory(*file, available);
  if (!fits) return fits.error();
  Result<std::unique_ptr<LlamaDecoder>> decoder = LlamaDecoder::open(*file);
  if (!decoder) return decoder.error();
  Result<std::unique_ptr<ChatTemplate>> chat =
      open_template(file->chat_template, **decoder, settings);
  if (!chat) return chat.error();
  std::unique_ptr<ChatTemplate> with_tools;
  if (!file->tool_template.empty() && file->tool_template != file->chat_template) {
    Result<std::unique_ptr<ChatTemplate>> opened =
        open_template(file->tool_template, **decoder, settings);
    if (!opened) return opened.error();
    with_tools = std::move(*opened);
  }
  const std::shared_ptr<Engine> engine = std::make_shared<Engine>(
      std::move(*file), std::move(*decoder), std::move(*chat), std::move(with_tools));
  try {
    engine->start();
  } catch (const std::system_error& error) {
    return Error{ErrorKind::Unavailable,
                 "the engine's thread cannot be started: " + error.code().message(), settings.file};
  }
  return std::shared_ptr<LlamaEngine>(engine);
}

}  // namespace unmask
