#include "rollout/turn_loop.h"

#include <chrono>

namespace unmask {

namespace {

using Speaker = ReplayMessage::Speaker;

constexpr const char* kGreeting = "Hi! How can I help you today?";

Error raised(std::string text, std::string class_name = "ValueError") {
  return Error{ErrorKind::InvalidArgument, std::move(text), std::move(class_name)};
}

Speaker speaker_of(Party party) {
  return party == Party::Agent  ? Speaker::Agent
         : party == Party::User ? Speaker::User
                                : Speaker::Tool;
}

std::vector<TurnMessage> seen_of(std::span<const TurnMessage> history, Party party) {
  std::vector<TurnMessage> seen;
  for (const TurnMessage& message : history)
    if (seen_by(party, message)) seen.push_back(message);
  return seen;
}

std::optional<double> cost_of(std::span<const TurnMessage> messages, Speaker speaker) {
  double cost = 0.0;
  for (const TurnMessage& message : messages) {
    if (message.speaker != speaker) continue;
    if (!message.cost_usd) return std::nullopt;
    cost += *message.cost_usd;
  }
  return cost;
}

}  // namespace

bool seen_by(Party party, const TurnMessage& message) {
  const Side side = party == Party::Agent ? Side::Agent : Side::User;
  if (message.speaker == Speaker::Tool) return message.side == side;
  return message.speaker == speaker_of(party) || !message.has_calls;
}

std::string_view to_string(Party party) {
  switch (party) {
    case Party::Agent:
      return "agent";
    case Party::User:
      return "user";
    case Party::Environment:
      return "env";
  }
  return "";
}

Clock steady_clock() {
  return [] {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
  };
}

TurnLoop::TurnLoop(const Task& task, Environment environment, Agent& agent, User* user,
                   TurnOptions options)
    : task_(task),
      environment_(std::move(environment)),
      agent_(agent),
      user_(user),
      options_(std::move(options)) {}

void TurnLoop::end(Termination termination) {
  done_ = true;
  termination_ = termination;
}

void TurnLoop::say(Party from, Party to, TurnMessage message) {
  from_ = from;
  to_ = to;
  current_.assign(1, message);
  messages_.push_back(std::move(message));
}

Result<Done> TurnLoop::begin() {
  if (options_.clock) started_ = options_.clock();
  const InitialState initial = task_.initial_state.value_or(InitialState{});
  Result<std::vector<TurnMessage>> history = turn_messages(initial.message_history);
  if (!history) return history.error();
  for (TurnMessage& message : *history) message.turn_index.reset();
  if (environment_.solo() && user_)
    return raised("User must be a DummyUser in solo mode", "AssertionError");
  // A replay looks only at the ReplayMessage in each.
  const std::vector<ReplayMessage> replayed(history->begin(), history->end());
  const Result<Done> set = environment_.set_state(initial, replayed);
  if (!set) return set.error();
  if (options_.seed) {
    agent_.set_seed(*options_.seed);
    if (user_) user_->set_seed(*options_.seed);
  }
  const Result<Done> begun = !history->empty()     ? begin_after(*history)
                             : environment_.solo() ? begin_solo()
                                                   : begin_dialogue();
  if (!begun) return begun.error();
  if (options_.validate_communication) check_communication();
  return environment_.synchronize();
}

// `last_seen_by` has not yet been given the last message of `history`: it comes by next(). For
// Party::Environment both have seen all.
Result<Done> TurnLoop::begin_participants(std::span<const TurnMessage> history,
                                          Party last_seen_by) {
  for (const Party party : {Party::User, Party::Agent}) {
    if (party == Party::User && !user_) continue;
    Participant& participant = party == Party::User ? static_cast<Participant&>(*user_)
                                                    : static_cast<Participant&>(agent_);
    const bool waits = party == last_seen_by;
    const Result<Done> begun =
        participant.begin(seen_of(waits ? history.first(history.size() - 1) : history, party));
    if (!begun) return begun.error();
  }
  return Done{};
}

Result<Done> TurnLoop::begin_after(const std::vector<TurnMessage>& history) {
  const Result<Done> checked = check_history(history);
  if (!checked) return checked.error();
  const TurnMessage& last = history.back();
  messages_ = history;
  current_.assign(1, last);
  if (last.speaker == Speaker::Tool) {
    from_ = Party::Environment;
    to_ = last.side == Side::Agent ? Party::Agent : Party::User;
    return begin_participants(history, to_);
  }
  const Party other = last.speaker == Speaker::Agent ? Party::User : Party::Agent;
  from_ = last.speaker == Speaker::Agent ? Party::Agent : Party::User;
  to_ = last.has_calls ? Party::Environment : other;
  const Result<Done> begun = begin_participants(history, other);
  if (!begun) return begun.error();
  if (last.speaker == Speaker::Agent && agent_.is_stop(last)) end(Termination::AgentStop);
  if (last.speaker == Speaker::User && ends_conversation(last)) end(Termination::UserStop);
  return Done{};
}

Result<Done> TurnLoop::begin_dialogue() {
  TurnMessage greeting = text_message(Speaker::Agent, kGreeting);
  greeting.cost_usd = 0.0;
  say(Party::Agent, Party::User, std::move(greeting));
  return begin_participants(messages_, Party::User);
}

Result<Done> TurnLoop::begin_solo() {
  const Result<Done> begun = agent_.begin({});
  if (!begun) return begun.error();
  current_.clear();
  Result<TurnMessage> first = ask(Party::Agent);
  if (!first) return first.error();
  const bool stops = agent_.is_stop(*first);
  // A stop goes to nobody, so that no call is left waiting.
  const bool calls = first->has_calls && !stops;
  say(Party::Agent, calls ? Party::Environment : Party::User, std::move(*first));
  if (!calls) end(stops ? Termination::AgentStop : Termination::AgentError);
  return Done{};
}

// Asks a side for its next message and sees to it that it is theirs.
Result<TurnMessage> TurnLoop::ask(Party party) {
  if (party == Party::User && !user_)
    return raised("DummyUser does not support generate_next_message", "NotImplementedError");
  Result<TurnMessage> message =
      party == Party::Agent ? agent_.next(current_) : user_->next(current_);
  if (!message) return message;
  message->speaker = speaker_of(party);
  message->turn_index.reset();
  for (ToolRequest& call : message->calls)
    call.side = party == Party::Agent ? Side::Agent : Side::User;
  return message;
}

namespace {

// Upstream refuses these whether or not it validates the conversation.
Result<Done> check_said_something(const TurnMessage& message) {
  if (has_text(message) || message.has_calls) return Done{};
  const bool user = message.speaker == Speaker::User;
  return raised(std::string(user ? "UserMessage" : "AssistantMessage") +
                " must have either content or tool_calls. Got " + described(message));
}

}  // namespace

Result<Done> TurnLoop::user_turn() {
  Result<TurnMessage> message = ask(Party::User);
  if (!message) return message.error();
  const Result<Done> said = check_said_something(*message);
  if (!said) {
    at_fault_ = Party::User;
    return said.error();
  }
  if (ends_conversation(*message)) end(Termination::UserStop);
  const bool calls = message->has_calls;
  say(Party::User, calls ? Party::Environment : Party::Agent, std::move(*message));
  return Done{};
}

Result<Done> TurnLoop::agent_turn() {
  Result<TurnMessage> message = ask(Party::Agent);
  if (!message) return message.error();
  const Result<Done> said = check_said_something(*message);
  if (!said) {
    at_fault_ = Party::Agent;
    return said.error();
  }
  for (const Attempt& attempt : message->attempts)
    if (attempt.spends_budget) ++error_count_;
  const bool stops = agent_.is_stop(*message);
  const bool calls = message->has_calls;
  if (stops) end(Termination::AgentStop);
  // Alone, the agent has nobody to talk to.
  if (environment_.solo() && !calls && !stops) end(Termination::AgentError);
  say(Party::Agent, calls ? Party::Environment : Party::User, std::move(*message));
  return Done{};
}

Result<Done> TurnLoop::environment_turn() {
  const TurnMessage asked = current_.front();
  std::vector<TurnMessage> results;
  for (const ToolRequest& call : asked.calls) {
    const ToolReply reply = environment_.respond(call);
    if (reply.error) ++error_count_;
    TurnMessage result = text_message(Speaker::Tool, reply.content);
    result.call_id = call.id;
    result.side = call.side;
    result.error = reply.error;
    results.push_back(std::move(result));
  }
  // A list of calls without a call.
  if (results.empty()) {
    at_fault_ = from_;
    return raised("list index out of range", "IndexError");
  }
  messages_.insert(messages_.end(), results.begin(), results.end());
  current_ = std::move(results);
  to_ = from_;
  from_ = Party::Environment;
  return Done{};
}

Result<Done> TurnLoop::step() {
  if (done_) return raised("Simulation is done");
  const Result<Done> handed = to_ == Party::User    ? user_turn()
                              : to_ == Party::Agent ? agent_turn()
                                                    : environment_turn();
  if (!handed) return handed.error();
  if (options_.validate_communication) check_communication();
  ++step_count_;
  return environment_.synchronize();
}

void TurnLoop::check_communication() {
  if (from_ == Party::Environment) return;
  const TurnMessage& message = current_.front();
  const bool text = has_text(message);
  const bool empty_or_mixed = text == message.has_calls;
  const bool talks_alone =
      environment_.solo() && from_ == Party::Agent && text && !agent_.is_stop(message);
  if (empty_or_mixed || talks_alone)
    end(from_ == Party::User ? Termination::UserError : Termination::AgentError);
}

void TurnLoop::check_limits() {
  if (to_ == Party::Environment) return;
  if (step_count_ >= options_.max_steps) end(Termination::MaxSteps);
  if (error_count_ >= options_.max_errors) end(Termination::TooManyErrors);
  if (done_ || !options_.timeout_seconds || !options_.clock) return;
  if (options_.clock() - started_ >= *options_.timeout_seconds) end(Termination::Timeout);
}

Result<Simulation> TurnLoop::run() {
  const Result<Done> begun = begin();
  if (!begun) return begun.error();
  return play_on();
}

Result<Simulation> TurnLoop::play_on() {
  while (!done_) {
    const Result<Done> stepped = step();
    if (!stepped) return stepped.error();
    check_limits();
  }
  return conclude();
}

Result<Simulation> TurnLoop::conclude() {
  const bool broken =
      termination_ == Termination::AgentError || termination_ == Termination::UserError;
  if (to_ == Party::Environment && !broken)
    return raised("Environment should not receive the last message. Last message: " +
                  described(current_.front()));
  Simulation simulation;
  simulation.task_id = task_.id;
  simulation.termination = termination_;
  simulation.messages = messages_;
  for (std::size_t i = 0; i < messages_.size(); ++i)
    simulation.messages[i].turn_index = static_cast<int>(i);
  simulation.agent_cost_usd = cost_of(messages_, Speaker::Agent);
  simulation.user_cost_usd = cost_of(messages_, Speaker::User);
  simulation.seed = options_.seed;
  if (options_.clock) simulation.duration_seconds = options_.clock() - started_;
  return simulation;
}

Result<Done> check_history(std::span<const TurnMessage> history) {
  std::size_t awaited = 0;
  bool called = false;
  Side caller = Side::Agent;
  for (const TurnMessage& message : history) {
    const bool user = message.speaker == Speaker::User;
    if (message.speaker == Speaker::Other)
      return raised("Invalid message type: <class 'tau2.data_model.message.SystemMessage'>");
    if (message.speaker == Speaker::Tool) {
      if (awaited == 0 || !called) return raised("No tool messages expected.");
      if (caller != message.side)
        return raised(std::string("Got tool message from ") + (message.side == Side::User
                                                                   ? "user, expected assistant."
                                                                   : "assistant, expected user."));
      --awaited;
      continue;
    }
    const Result<Done> said = check_said_something(message);
    if (!said) return said.error();
    called = message.has_calls;
    if (!called) continue;
    if (awaited > 0)
      return raised(std::to_string(awaited) + " tool messages are missing. Got " +
                    (user ? "user" : "assistant") + " message.");
    awaited = message.calls.size();
    caller = user ? Side::User : Side::Agent;
  }
  return Done{};
}

Value simulation_json(const Simulation& simulation) {
  std::vector<Value> messages;
  for (const TurnMessage& message : simulation.messages) messages.push_back(message_json(message));
  Value json = Value::dict(
      {{"task_id", simulation.task_id}, {"termination_reason", to_string(simulation.termination)}});
  if (simulation.agent_cost_usd) json.set("agent_cost", *simulation.agent_cost_usd);
  if (simulation.user_cost_usd) json.set("user_cost", *simulation.user_cost_usd);
  json.set("messages", Value::list(std::move(messages)));
  if (simulation.seed) json.set("seed", *simulation.seed);
  json.set("mode", "half_duplex");
  json.set("hallucination_retries_used", 0);
  return json;
}

}  // namespace unmask
