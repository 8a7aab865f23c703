#include "rollout/stochastic.h"

#include "environment/json.h"
#include "rollout/repair.h"

namespace unmask {

namespace {

using Speaker = ReplayMessage::Speaker;

constexpr std::string_view kStream = "scripted agent";

Error refused(const std::string& what) {
  return Error{ErrorKind::InvalidArgument, "scripted agent: " + what, ""};
}

}  // namespace

Result<Done> check(const StochasticRates& rates) {
  const std::pair<const char*, double> all[] = {{"hallucinate", rates.hallucinate},
                                                {"malformed", rates.malformed},
                                                {"recover", rates.recover},
                                                {"repair", rates.repair},
                                                {"omit", rates.omit}};
  for (const auto& [name, rate] : all)
    if (!(rate >= 0 && rate <= 1)) return refused(std::string(name) + " is not within 0 and 1");
  double total = 0;
  for (const auto& [name, weight] : rates.names) {
    if (!(weight >= 0)) return refused("the weight of '" + name + "' is negative");
    total += weight;
  }
  if (rates.hallucinate > 0 && !(total > 0)) return refused("no name has a positive weight");
  return Done{};
}

StochasticAgent::StochasticAgent(std::shared_ptr<ReferencePlan> plan, StochasticRates rates)
    : plan_(std::move(plan)), rates_(std::move(rates)), rng_(0, kStream) {}

void StochasticAgent::set_seed(std::int64_t seed) {
  rng_ = Rng(static_cast<std::uint64_t>(seed), kStream);
}

Result<Done> StochasticAgent::begin(std::span<const TurnMessage>) {
  return Done{};
}

Result<TurnMessage> StochasticAgent::next(std::span<const TurnMessage> incoming) {
  while (!pending_) {
    pending_ = plan_->act(Side::Agent);
    if (!pending_)
      return text_message(Speaker::Agent,
                          plan_->state().value_or("What would you like to do next?"));
    if (rng_.bernoulli(rates_.omit)) pending_.reset();
  }
  failing_ = fails(incoming);
  TurnMessage message = failing_ ? failing_call() : std::move(*pending_);
  if (!failing_) pending_.reset();
  message.calls.front().id = "scripted_" + std::to_string(++calls_);
  return message;
}

// Whether the next try of the pending call goes wrong.
bool StochasticAgent::fails(std::span<const TurnMessage> incoming) {
  if (!failing_)
    return rng_.bernoulli(rates_.hallucinate + (1 - rates_.hallucinate) * rates_.malformed);
  const bool handed_back = !incoming.empty() && is_refusal(incoming.front());
  return !rng_.bernoulli(handed_back ? rates_.repair : rates_.recover);
}

TurnMessage StochasticAgent::failing_call() {
  TurnMessage message = *pending_;
  ToolRequest& call = message.calls.front();
  const double any = rates_.hallucinate + (1 - rates_.hallucinate) * rates_.malformed;
  if (any > 0 && rng_.uniform() * any < rates_.hallucinate) {
    call.name = drawn_name();
    return message;
  }
  const std::string written = dump_json(call.arguments);
  call.unreadable = written.substr(0, written.size() - 1);
  call.arguments = Value::dict();
  return message;
}

std::string StochasticAgent::drawn_name() {
  double total = 0;
  for (const auto& [name, weight] : rates_.names) total += weight;
  double left = rng_.uniform() * total;
  for (const auto& [name, weight] : rates_.names) {
    left -= weight;
    if (left < 0) return name;
  }
  return rates_.names.back().first;
}

ScriptedPair scripted_pair(const Task& task, const StochasticRates& rates) {
  const std::shared_ptr<ReferencePlan> plan = std::make_shared<ReferencePlan>(task);
  return {std::make_unique<StochasticAgent>(plan, rates),
          std::make_unique<ReferenceUser>(plan, task.user_scenario)};
}

}  // namespace unmask
