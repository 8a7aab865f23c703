// The turn loop: who speaks next, what a call is answered, and when it is over.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "environment/environment.h"
#include "environment/task.h"
#include "rollout/participant.h"
#include "rollout/turn_message.h"
#include "trace/episode.h"

namespace unmask {

enum class Party { Agent, User, Environment };

std::string_view to_string(Party party);  // upstream's spelling: "agent", "user", "env"

// Seconds since some moment, never going back.
using Clock = std::function<double()>;
Clock steady_clock();

struct TurnOptions {
  int max_steps = 200;
  int max_errors = 10;
  std::optional<std::int64_t> seed = std::nullopt;
  // A side that sends text together with calls, or nothing, ends the episode as its error.
  bool validate_communication = false;
  std::optional<double> timeout_seconds = std::nullopt;
  Clock clock = nullptr;  // empty: no timeout, and the duration is 0
};

// An episode as it was played, before grading.
struct Simulation {
  std::string task_id;
  Termination termination = Termination::Unknown;
  std::vector<TurnMessage> messages;  // with their turn indices
  // nullopt: some message of that side has no cost.
  std::optional<double> agent_cost_usd;
  std::optional<double> user_cost_usd;
  std::optional<std::int64_t> seed;
  double duration_seconds = 0.0;
};

// The agent sees the user's words but not their calls, and the other way round.
bool seen_by(Party party, const TurnMessage& message);

// One episode. Steps, as max_steps counts them, are messages handed on: from one side to the other,
// to the environment, or back. Errors, as max_errors counts them, are failed results and those
// refused attempts of the agent that spend budget. Neither limit is looked at while a call is
// waiting for its answer, and errors win over steps; both win over a stop on the very same step.
//
// Errors   where upstream raises, as Environment says it: message = str(exception), where = its
//          class; those of the participants as they are. The loop is over then, and its state stays
//          readable.
// Threads  one thread; the task and the participants must outlive it.
// Source   τ²-bench 1.0.1, orchestrator/orchestrator.py.
class TurnLoop {
 public:
  // user: nullptr where the environment is in solo mode, and only there.
  TurnLoop(const Task& task, Environment environment, Agent& agent, User* user,
           TurnOptions options = {});

  // begin() and play_on().
  Result<Simulation> run();

  // Brings the environment to the task's initial state and the participants to their places.
  Result<Done> begin();
  // Steps until a side or a limit ends it, then concludes.
  Result<Simulation> play_on();

  // One message handed on, without a look at the limits.
  Result<Done> step();
  // What was played so far, as a simulation that ended by termination().
  Result<Simulation> conclude();

  bool done() const { return done_; }
  Termination termination() const { return termination_; }
  int step_count() const { return step_count_; }
  int error_count() const { return error_count_; }
  Party from() const { return from_; }
  Party to() const { return to_; }
  // Who broke the rules of the conversation, where that is why an Error was returned.
  std::optional<Party> at_fault() const { return at_fault_; }
  const Environment& environment() const { return environment_; }
  std::span<const TurnMessage> messages() const { return messages_; }

 private:
  Result<Done> begin_after(const std::vector<TurnMessage>& history);
  Result<Done> begin_dialogue();
  Result<Done> begin_solo();
  Result<Done> begin_participants(std::span<const TurnMessage> history, Party last_seen_by);
  Result<TurnMessage> ask(Party party);
  Result<Done> user_turn();
  Result<Done> agent_turn();
  Result<Done> environment_turn();
  void check_communication();
  void check_limits();
  void end(Termination termination);
  void say(Party from, Party to, TurnMessage message);

  const Task& task_;
  Environment environment_;
  Agent& agent_;
  User* user_;
  TurnOptions options_;
  double started_ = 0.0;

  std::vector<TurnMessage> messages_;
  std::vector<TurnMessage> current_;  // on its way from from_ to to_; several: results of calls
  Party from_ = Party::Agent;
  Party to_ = Party::User;
  bool done_ = false;
  Termination termination_ = Termination::Unknown;
  int step_count_ = 0;
  int error_count_ = 0;
  std::optional<Party> at_fault_;
};

// A history must consist of messages of agent, user and tools in which every call is followed by
// its result. Errors   what upstream raises.
Result<Done> check_history(std::span<const TurnMessage> history);

// Upstream's SimulationRun without id, times and what is absent.
Value simulation_json(const Simulation& simulation);

}  // namespace unmask
