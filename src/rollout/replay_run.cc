#include "rollout/replay_run.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/rng.h"
#include "failure/call_check.h"
#include "rollout/conversation.h"
#include "rollout/model_health.h"
#include "rollout/schedule.h"

namespace unmask {

namespace {

// All decisions of one episode, for one arm.
struct Piece {
  std::size_t arm = 0;
  std::size_t first = 0;  // half-open range of contexts
  std::size_t last = 0;
};

// A reply that is an error and may yet turn out to be none, because its server is gone.
struct Doubtful {
  std::size_t number = 0;
  ReplayReply reply;
  bool unreached = false;
};

std::vector<Piece> pieces_of(const ReplayPlan& plan) {
  std::vector<Piece> pieces;
  for (std::size_t first = 0; first < plan.contexts.size();) {
    std::size_t last = first;
    while (last < plan.contexts.size() &&
           plan.contexts[last].item.source == plan.contexts[first].item.source)
      ++last;
    for (std::size_t arm = 0; arm < plan.arms.size(); ++arm) pieces.push_back({arm, first, last});
    first = last;
  }
  return pieces;
}

std::vector<ModelHealth::Model> models_of(const ReplayPlan& plan) {
  std::vector<ModelHealth::Model> models;
  for (const ReplayAsked& arm : plan.arms) models.push_back({arm.name, plan.slots[arm.endpoint]});
  return models;
}

class Replayer {
 public:
  Replayer(const ReplayPlan& plan, ReplayFile& file, ReplayObserver& observer,
           const ReplayControl& control)
      : plan_(plan),
        file_(file),
        observer_(observer),
        control_(control),
        pieces_(pieces_of(plan)),
        health_(models_of(plan)),
        doubtful_(plan.arms.size()),
        finished_(pieces_.size(), false),
        done_(file.found()) {
    for (std::size_t arm = 0; arm < plan.arms.size(); ++arm)
      if (file.answered_before(arm)) health_.answered(arm);
  }

  ReplayEnd run() {
    std::vector<Job> jobs;
    for (const Piece& piece : pieces_) jobs.push_back({{plan_.arms[piece.arm].endpoint}});
    const ScheduleEnd ended =
        run_schedule(jobs, {plan_.slots, plan_.concurrency}, control_.drain, [&](std::size_t job) {
          Result<Done> done = ask_all(job);
          finish(job, done.has_value());
          return done;
        });
    ReplayEnd end;
    end.stopped = ended.stopped || control_.drain.stop_requested();
    end.error = ended.error;
    if (!end.error && !end.stopped) end.error = settle_doubts();
    const Result<Done> saved = file_.sync();
    if (!saved && !end.error) end.error = saved.error();
    end.written = file_.written();
    end.left = file_.total() - end.written;
    return end;
  }

 private:
  // How many episodes may be ahead of the first that is not done: what waits for its turn is lost
  // when the process is killed.
  std::size_t most_ahead() const {
    const int slots = *std::max_element(plan_.slots.begin(), plan_.slots.end());
    return 2 + 2 * static_cast<std::size_t>(slots);
  }

  void wait_for_turn(std::size_t piece) {
    std::unique_lock<std::mutex> lock(mutex_);
    moved_.wait(lock, control_.drain,
                [&] { return failed_ || piece < unfinished_ + most_ahead() * plan_.arms.size(); });
  }

  void finish(std::size_t piece, bool well) {
    const std::lock_guard<std::mutex> lock(mutex_);
    finished_[piece] = true;
    failed_ |= !well;
    while (unfinished_ < finished_.size() && finished_[unfinished_]) ++unfinished_;
    moved_.notify_all();
  }

  Result<Done> ask_all(std::size_t index) {
    const Piece& piece = pieces_[index];
    const std::size_t end = file_.number({piece.last - 1, piece.arm, plan_.samples - 1});
    if (end < file_.found()) return Done{};
    wait_for_turn(index);
    const ReplaySource& source = plan_.sources[plan_.contexts[piece.first].item.source];
    const AgentConversation conversation = conversation_of(*source.episode, *source.view);
    const CallCheck check(source.view->offered, source.view->others);
    for (std::size_t context = piece.first; context < piece.last; ++context)
      for (int sample = 0; sample < plan_.samples; ++sample) {
        const std::size_t number = file_.number({context, piece.arm, sample});
        if (number < file_.found()) continue;
        if (control_.drain.stop_requested()) return Done{};
        const Result<Done> asked =
            ask({context, piece.arm, sample}, conversation, source.view->tools, check);
        if (!asked) return asked;
      }
    return file_.sync();
  }

  Result<Done> ask(const ReplayPlace& place, const AgentConversation& conversation,
                   std::string_view tools, const CallCheck& check) {
    const ReplayAsked& arm = plan_.arms[place.arm];
    const PreparedContext& context = plan_.contexts[place.context];
    ChatRequest request;
    request.messages = std::span(conversation.messages).first(context.item.decision.heard);
    request.tools = tools;
    request.seed = seed_of(place);
    request.constrain_names = arm.constrain_names && !tools.empty();
    request.stop = control_.abandon;
    Result<ChatReply> said = arm.model->complete(request);
    if (!said && said.error().where == kStopped) return Done{};
    ReplayReply reply;
    if (said) reply = replay_reply(std::move(*said), check);
    if (!plan_.timings) reply.seconds.reset();
    reply.context_id = context.id;
    reply.arm = arm.arm.label;
    reply.sample = place.sample;
    return said ? keep(place, reply) : keep_error(place, std::move(reply), said.error());
  }

  // The same for all arms, but for one that is asked once more.
  std::int64_t seed_of(const ReplayPlace& place) const {
    std::string name = plan_.contexts[place.context].id + '\0' + std::to_string(place.sample);
    if (!plan_.arms[place.arm].arm.repeats.empty()) name += " again";
    return static_cast<std::int64_t>(Rng(plan_.seed, std::string_view(name)).next() >> 33);
  }

  Result<Done> keep(const ReplayPlace& place, const ReplayReply& reply) {
    std::vector<Doubtful> settled;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      health_.answered(place.arm);
      settled = std::exchange(doubtful_[place.arm], {});
    }
    for (const Doubtful& each : settled) {
      const Result<Done> put = write(each.number, each.reply);
      if (!put) return put;
    }
    return write(file_.number(place), reply);
  }

  Result<Done> keep_error(const ReplayPlace& place, ReplayReply reply, const Error& error) {
    reply.error = error.message;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const Result<ModelHealth::Count> counted = health_.failed(place.arm, error);
      if (!counted) return counted.error();
      const bool refused = error.kind == ErrorKind::Unavailable ||
                           error.kind == ErrorKind::InvalidArgument ||
                           error.kind == ErrorKind::Unsupported;
      const bool doubtful =
          *counted == ModelHealth::Count::NotAtAll || (refused && error.where != kContextWindow);
      if (doubtful) {
        doubtful_[place.arm].push_back(
            {file_.number(place), std::move(reply), error.kind == ErrorKind::Unavailable});
        return Done{};
      }
    }
    return write(file_.number(place), reply);
  }

  Result<Done> write(std::size_t number, const ReplayReply& reply) {
    const Result<Done> put = file_.put(number, reply);
    if (!put) return put;
    const std::lock_guard<std::mutex> lock(mutex_);
    observer_.answered(++done_);
    return Done{};
  }

  // At the end: a server that refused its last requests was there; one that did not answer them may
  // answer tomorrow.
  std::optional<Error> settle_doubts() {
    for (std::size_t arm = 0; arm < doubtful_.size(); ++arm) {
      for (const Doubtful& each : doubtful_[arm]) {
        if (each.unreached || done_ == 0)
          return Error{
              each.unreached ? ErrorKind::Unavailable : ErrorKind::InvalidArgument,
              std::string(each.unreached ? "does not answer: " : "refuses every request: ") +
                  each.reply.error,
              plan_.arms[arm].name};
      }
      for (const Doubtful& each : std::exchange(doubtful_[arm], {})) {
        const Result<Done> put = write(each.number, each.reply);
        if (!put) return put.error();
      }
    }
    return std::nullopt;
  }

  const ReplayPlan& plan_;
  ReplayFile& file_;
  ReplayObserver& observer_;
  const ReplayControl& control_;
  std::vector<Piece> pieces_;
  std::mutex mutex_;  // of what is below, and of the observer
  ModelHealth health_;
  std::vector<std::vector<Doubtful>> doubtful_;  // by arm
  std::condition_variable_any moved_;
  std::vector<bool> finished_;  // pieces that were asked
  std::size_t unfinished_ = 0;  // the first that was not
  bool failed_ = false;
  std::size_t done_ = 0;
};

}  // namespace

ReplayReply replay_reply(ChatReply said, const CallCheck& check) {
  const Message message = trace_message(turn_message(std::move(said), Side::Agent));
  ReplayReply reply;
  reply.text = message.text;
  reply.calls = message.calls;
  reply.decision = message.decision;
  reply.usage = message.usage;
  reply.seconds = message.seconds;
  const std::optional<CallFault> fault = check.fault(message);
  if (!fault) return reply;
  reply.channel = std::string(to_string(fault->channel));
  reply.sub_kind = std::string(to_string(fault->kind));
  return reply;
}

ReplayEnd replay_decisions(const ReplayPlan& plan, ReplayFile& file, ReplayObserver& observer,
                           const ReplayControl& control) {
  return Replayer(plan, file, observer, control).run();
}

}  // namespace unmask
