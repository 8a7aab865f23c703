#include "rollout/pocket_expert.h"

#include <algorithm>

#include "environment/json.h"

namespace unmask {

namespace {

using Speaker = ReplayMessage::Speaker;

constexpr std::string_view kStream = "pocket expert";
constexpr double kUsualName = 0.6;  // of wrong names, where the usual one is not offered
constexpr double kWrongId = 0.5;    // of mistakes, in a world of many ids
constexpr double kMisplaced = 0.5;  // of wrong ids, where one was seen elsewhere

bool says_no(std::string_view text) {
  return text.starts_with("i have no ") || text == "sorry";
}

}  // namespace

Result<Done> check(const PocketRates& rates) {
  const std::pair<const char*, double> all[] = {
      {"mistake", rates.mistake}, {"wander", rates.wander}, {"recover", rates.recover}};
  for (const auto& [name, rate] : all)
    if (!(rate >= 0 && rate <= 1))
      return Error{ErrorKind::InvalidArgument,
                   std::string("pocket expert: ") + name + " is not within 0 and 1", ""};
  return Done{};
}

std::string_view to_string(PocketMove move) {
  switch (move) {
    case PocketMove::Right:
      return "right";
    case PocketMove::Mistake:
      return "mistake";
    case PocketMove::Wander:
      return "wander";
  }
  return "";
}

PocketExpert::PocketExpert(const pocket::PocketWorld& world, pocket::Scene scene, PocketRates rates)
    : world_(world), scene_(std::move(scene)), rates_(rates), rng_(0, kStream) {
  if (rates_.mistake > 0) ids_ = dump_json(scene_.database);
}

void PocketExpert::set_seed(std::int64_t seed) {
  rng_ = Rng(static_cast<std::uint64_t>(seed), kStream);
}

Result<Done> PocketExpert::begin(std::span<const TurnMessage> history) {
  for (const TurnMessage& message : history)
    if (message.speaker == Speaker::User) hear({&message, 1});
  return Done{};
}

void PocketExpert::hear(std::span<const TurnMessage> incoming) {
  if (incoming.empty()) return;
  const TurnMessage& message = incoming.front();
  const std::string text = message.content.value_or("");
  if (!plan_) {
    plan_ = pocket_plan(world_, scene_, text);
    return;
  }
  if (awaited_ && !message.error && !says_no(text)) plan_->learn(*awaited_, text);
  awaited_.reset();
}

Result<TurnMessage> PocketExpert::next(std::span<const TurnMessage> incoming) {
  hear(incoming);
  const auto move = [&](PocketMove kind, TurnMessage message) {
    moves_.push_back(kind);
    if (kind == PocketMove::Mistake)
      mistake_ = message;
    else
      mistake_.reset();
    return message;
  };
  const std::optional<PocketStep> step = plan_ ? plan_->next() : std::nullopt;
  if (!step) return move(PocketMove::Right, text_message(Speaker::Agent, "done"));
  if (mistake_) {
    if (rng_.bernoulli(1 - rates_.recover)) {
      TurnMessage again = *mistake_;
      again.calls.front().id = "call_" + std::to_string(++calls_);
      return move(PocketMove::Mistake, std::move(again));
    }
  } else if (rng_.bernoulli(rates_.mistake)) {
    return move(PocketMove::Mistake, wrong(*step));
  } else if (rng_.bernoulli(rates_.wander)) {
    awaited_ = plan_->detour(rng_);
    if (awaited_) return move(PocketMove::Wander, right(*awaited_));
  }
  awaited_ = step;
  return move(PocketMove::Right, right(*step));
}

TurnMessage PocketExpert::call(const PocketStep& step, std::string name) {
  Value keywords = Value::dict();
  const std::vector<std::string>& parameters = world_.topics[step.topic].parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    keywords.set(parameters[i], step.arguments[i]);
  TurnMessage message = calls_message(
      Speaker::Agent,
      {{"call_" + std::to_string(++calls_), std::move(name), std::move(keywords), Side::Agent}});
  message.content = std::string(world_.topics[step.topic].noun);
  if (!step.about.empty()) *message.content += " " + step.about;
  return message;
}

TurnMessage PocketExpert::right(const PocketStep& step) {
  const pocket::NamedTool& tool = scene_.tool(step.topic);
  if (tool.side == Side::Agent) return call(step, tool.name);
  return text_message(Speaker::Agent,
                      std::string(world_.topics[step.topic].noun) + " ask " + tool.name);
}

TurnMessage PocketExpert::wrong(const PocketStep& step) {
  const pocket::NamedTool& tool = scene_.tool(step.topic);
  if (tool.side == Side::User) return call(step, tool.name);
  if (&world_ == &pocket::retail() && rng_.bernoulli(kWrongId)) {
    PocketStep changed = step;
    const std::size_t argument = rng_.below(static_cast<std::uint32_t>(step.arguments.size()));
    changed.arguments[argument] = wrong_id(step, argument);
    return call(changed, tool.name);
  }
  return call(step, wrong_name(tool));
}

// The usual verb, or another: of those some come to mind more often than others, each topic having
// an order of its own.
std::string PocketExpert::wrong_name(const pocket::NamedTool& tool) {
  const pocket::Topic& topic = world_.topics[tool.topic];
  const std::string usual = pocket::usual_name(topic);
  if (tool.name != usual && rng_.bernoulli(kUsualName)) return usual;
  const std::span<const std::string_view> verbs = pocket::verbs(topic.changes_state);
  while (true) {
    std::size_t rank = 0;
    while (rank + 1 < verbs.size() && rng_.bernoulli(0.5)) ++rank;
    const std::string name =
        pocket::tool_name(topic, verbs[(tool.topic * 3 + rank) % verbs.size()]);
    if (name != tool.name) return name;
  }
}

std::string PocketExpert::wrong_id(const PocketStep& step, std::size_t argument) {
  const std::vector<std::string> seen = plan_->misplaced(step, argument);
  if (!seen.empty() && rng_.bernoulli(kMisplaced))
    return seen[rng_.below(static_cast<std::uint32_t>(seen.size()))];
  while (true) {
    std::string id = step.arguments[argument];
    const bool first = rng_.bernoulli(0.5);
    id[first ? 1 : 2] = static_cast<char>((first ? '1' : '0') + rng_.below(first ? 9 : 10));
    if (ids_.find("\"" + id + "\"") == std::string::npos) return id;
  }
}

}  // namespace unmask
