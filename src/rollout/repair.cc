#include "rollout/repair.h"

#include <algorithm>
#include <iterator>

#include "environment/json.h"
#include "failure/markup.h"

namespace unmask {

namespace {

using Speaker = ReplayMessage::Speaker;

constexpr std::string_view kOpening = "[Not executed] ";

NameList names_of(const std::vector<OfferedTool>& tools) {
  std::vector<std::string_view> names;
  for (const OfferedTool& tool : tools) names.push_back(tool.name);
  return NameList(std::move(names));
}

// What the agent hears: an answer to each of its calls, or a message where it has none.
std::vector<TurnMessage> refusal_of(const TurnMessage& message, std::size_t refused,
                                    const std::string& feedback) {
  if (!message.has_calls) return {text_message(Speaker::User, feedback)};
  std::vector<TurnMessage> answers;
  for (std::size_t i = 0; i < message.calls.size(); ++i) {
    const std::string other = std::string(kOpening) +
                              "Another call of the same message is not valid. Issue this one "
                              "again together with the corrected one, if it is still needed.";
    TurnMessage answer = text_message(Speaker::Tool, i == refused ? feedback : other);
    answer.call_id = message.calls[i].id;
    answer.side = Side::Agent;
    answer.error = true;
    answers.push_back(std::move(answer));
  }
  return answers;
}

// Costs are known together or not at all.
std::optional<double> added(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

}  // namespace

Result<Done> check(const RepairOptions& options) {
  if (options.attempts < 1)
    return Error{ErrorKind::InvalidArgument, "repair needs at least one attempt", ""};
  for (const Channel channel : options.channels)
    if (channel != Channel::ToolName && channel != Channel::Malformed && channel != Channel::Schema)
      return Error{ErrorKind::InvalidArgument,
                   "channel '" + std::string(to_string(channel)) +
                       "' cannot be repaired: only the environment knows it",
                   ""};
  return Done{};
}

RepairingAgent::RepairingAgent(Agent& agent, std::vector<OfferedTool> offered,
                               RepairOptions options)
    : agent_(agent),
      offered_(std::move(offered)),
      names_(names_of(offered_)),
      options_(std::move(options)) {}

Result<TurnMessage> RepairingAgent::next(std::span<const TurnMessage> incoming) {
  Result<TurnMessage> message = agent_.next(incoming);
  std::vector<Attempt> attempts;
  std::optional<double> cost = 0.0;
  std::optional<double> seconds = 0.0;
  while (message && static_cast<int>(attempts.size()) < options_.attempts) {
    const std::optional<Fault> fault = fault_of(*message);
    if (!fault) break;
    cost = added(cost, message->cost_usd);
    seconds = added(seconds, message->seconds);
    attempts.push_back(attempt_of(*message, *fault));
    message = agent_.next(refusal_of(*message, fault->call, attempts.back().feedback));
  }
  if (!message || attempts.empty()) return message;
  message->cost_usd = added(cost, message->cost_usd);
  message->seconds = added(seconds, message->seconds);
  message->attempts = std::move(attempts);
  return message;
}

bool RepairingAgent::repairs(Channel channel) const {
  return std::find(options_.channels.begin(), options_.channels.end(), channel) !=
         options_.channels.end();
}

// The first fault in the order of METHOD 2.
std::optional<RepairingAgent::Fault> RepairingAgent::fault_of(const ToolRequest& call) const {
  if (call.unreadable) {
    if (!repairs(Channel::Malformed)) return std::nullopt;
    return Fault{0, Channel::Malformed,
                 "The arguments of your call to '" + call.name + "' are not a JSON object."};
  }
  if (!names_.contains(call.name)) {
    if (!repairs(Channel::ToolName)) return std::nullopt;
    return Fault{0, Channel::ToolName, "There is no tool named '" + call.name + "'."};
  }
  if (!repairs(Channel::Schema)) return std::nullopt;
  const auto tool = std::find_if(offered_.begin(), offered_.end(),
                                 [&](const OfferedTool& each) { return each.name == call.name; });
  const std::optional<SchemaBreach> breach =
      schemas_.breach(tool->schema, dump_json(call.arguments));
  if (!breach) return std::nullopt;
  return Fault{0, Channel::Schema,
               "The arguments of your call to '" + call.name +
                   "' do not fit its parameters: " + breach->text + "."};
}

std::optional<RepairingAgent::Fault> RepairingAgent::fault_of(const TurnMessage& message) const {
  if (agent_.is_stop(message)) return std::nullopt;
  for (std::size_t i = 0; i < message.calls.size(); ++i) {
    std::optional<Fault> fault = fault_of(message.calls[i]);
    if (!fault) continue;
    fault->call = i;
    return fault;
  }
  const bool leaks =
      !message.has_calls && repairs(Channel::Malformed) &&
      (find_leaked_call(message.content.value_or("")) || find_leaked_call(message.raw_text));
  if (!leaks) return std::nullopt;
  return Fault{0, Channel::Malformed,
               "Your message holds a tool call as plain text, where it could not be read as one."};
}

Attempt RepairingAgent::attempt_of(const TurnMessage& message, const Fault& fault) const {
  Attempt attempt;
  attempt.text = message.content.value_or("");
  attempt.empty_text = message.has_calls && message.content && message.content->empty();
  attempt.reasoning = message.reasoning;
  for (const ToolRequest& call : message.calls) {
    attempt.calls.push_back(trace_call(call));
    attempt.calls.back().side = Side::Agent;
  }
  attempt.refused = fault.call;
  attempt.channel = std::string(to_string(fault.channel));
  attempt.feedback = feedback(fault);
  attempt.spends_budget = options_.refusals_spend_budget;
  attempt.usage = message.usage;
  return attempt;
}

std::string RepairingAgent::feedback(const Fault& fault) const {
  std::string text = std::string(kOpening) + fault.what + " The tools you can call are:";
  for (const std::string_view name : names_.names()) text += "\n- " + std::string(name);
  return text +
         "\nFirst diagnose what went wrong, then issue the corrected call. If none of these tools "
         "does "
         "what you need, continue without it.";
}

std::vector<TurnMessage> exchange_of(const Attempt& attempt) {
  Message said;
  said.role = Role::Agent;
  said.text = attempt.text;
  said.empty_text = attempt.empty_text;
  said.reasoning = attempt.reasoning;
  said.calls = attempt.calls;
  std::vector<TurnMessage> exchange = {turn_message(said)};
  std::vector<TurnMessage> answers =
      refusal_of(exchange.front(), attempt.refused, attempt.feedback);
  std::move(answers.begin(), answers.end(), std::back_inserter(exchange));
  return exchange;
}

bool is_refusal(const TurnMessage& message) {
  return message.content && message.content->starts_with(kOpening);
}

}  // namespace unmask
