#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "environment/pocket/scene.h"
#include "rollout/participant_factory.h"
#include "rollout/pocket_expert.h"
#include "rollout/pocket_user.h"
#include "rollout/reference.h"
#include "rollout/stochastic.h"

namespace unmask {

namespace {

constexpr double kLongestMs = 600000;  // a pause of ten minutes

// An agent that thinks for a while before each message, or until it is stopped.
class DelayedAgent : public Agent {
 public:
  DelayedAgent(std::unique_ptr<Agent> agent, double seconds, std::stop_token stop)
      : agent_(std::move(agent)), seconds_(seconds), stop_(std::move(stop)) {}

  void set_seed(std::int64_t seed) override { agent_->set_seed(seed); }
  Result<Done> begin(std::span<const TurnMessage> history) override {
    return agent_->begin(history);
  }
  Result<TurnMessage> next(std::span<const TurnMessage> incoming) override {
    std::mutex mutex;
    std::unique_lock<std::mutex> lock(mutex);
    std::condition_variable_any never;
    (void)never.wait_for(lock, stop_, std::chrono::duration<double>(seconds_),
                         [] { return false; });
    if (stop_.stop_requested())
      return Error{ErrorKind::Unavailable, "given up: the run was stopped", std::string(kStopped)};
    return agent_->next(incoming);
  }
  bool is_stop(const TurnMessage& message) const override { return agent_->is_stop(message); }

 private:
  std::unique_ptr<Agent> agent_;
  double seconds_;
  std::stop_token stop_;
};

Result<Cast> reference_cast(const ScriptedModel& model, const Casting& casting) {
  const Result<double> delay_ms = number_option(model, "delay_ms", 0, kLongestMs, 0);
  if (!delay_ms) return delay_ms.error();
  const auto solution = std::make_shared<ReferencePlan>(casting.task);
  Cast cast;
  cast.agent = std::make_unique<ReferenceAgent>(solution);
  cast.user = std::make_unique<ReferenceUser>(solution, casting.task.user_scenario);
  if (*delay_ms > 0)
    cast.agent =
        std::make_unique<DelayedAgent>(std::move(cast.agent), *delay_ms / 1000, casting.stop);
  return cast;
}

Result<Cast> stochastic_cast(const ScriptedModel& model, const Casting& casting) {
  StochasticRates rates;
  const std::pair<std::string_view, double*> options[] = {{"hallucinate", &rates.hallucinate},
                                                          {"malformed", &rates.malformed},
                                                          {"recover", &rates.recover},
                                                          {"repair", &rates.repair},
                                                          {"omit", &rates.omit}};
  for (const auto& [name, rate] : options) {
    const Result<double> value = number_option(model, name, 0, 1, *rate);
    if (!value) return value.error();
    *rate = *value;
  }
  ScriptedPair pair = scripted_pair(casting.task, rates);
  return Cast{std::move(pair.agent), std::move(pair.user)};
}

Result<Cast> pocket_parties(const ScriptedModel& model, const Casting& casting,
                            const PocketRates& rates) {
  const DomainRow& row = *casting.stage.domain->row;
  const pocket::PocketWorld* world = pocket::find_world(row.name);
  const std::optional<pocket::TaskNumber> number = pocket::task_number(casting.task.id);
  if (!world || !number)
    return Error{
        ErrorKind::InvalidArgument,
        "scripted:" + model.kind + " plays the pocket worlds only, not " + std::string(row.name),
        ""};
  pocket::Scene scene = pocket::scene_of(*world, *number);
  const Toolkit tools = pocket::toolkit_of(*world, scene, Side::User);
  Cast cast;
  cast.user = std::make_unique<PocketUser>(&tools, scene.opening);
  cast.agent = std::make_unique<PocketExpert>(*world, std::move(scene), rates);
  return cast;
}

Result<Cast> pocket_cast(const ScriptedModel& model, const Casting& casting) {
  return pocket_parties(model, casting, PocketRates{});
}

Result<Cast> pocket_expert_cast(const ScriptedModel& model, const Casting& casting) {
  PocketRates rates;
  const std::pair<std::string_view, double*> options[] = {
      {"mistake", &rates.mistake}, {"wander", &rates.wander}, {"recover", &rates.recover}};
  for (const auto& [name, rate] : options) {
    const Result<double> value = number_option(model, name, 0, 1, *rate);
    if (!value) return value.error();
    *rate = *value;
  }
  return pocket_parties(model, casting, rates);
}

Result<const ScriptKind*> kind_of(const ScriptedModel& model) {
  std::string known;
  for (const ScriptKind& row : script_kinds()) {
    if (row.kind == model.kind) return &row;
    known += (known.empty() ? "" : ", ") + std::string(row.kind);
  }
  return Error{ErrorKind::InvalidArgument,
               "there is no script '" + model.kind + "'; there are: " + known, ""};
}

}  // namespace

const std::vector<ScriptKind>& script_kinds() {
  static const std::vector<ScriptKind> kKinds = {
      {"reference", {{"delay_ms", 0, kLongestMs}}, reference_cast},
      {"stochastic",
       {{"hallucinate"}, {"malformed"}, {"recover"}, {"repair"}, {"omit"}},
       stochastic_cast},
      {"pocket", {}, pocket_cast},
      {"pocket_expert", {{"mistake"}, {"wander"}, {"recover"}}, pocket_expert_cast}};
  return kKinds;
}

Result<double> number_option(const ScriptedModel& model, std::string_view name, double least,
                             double most, double otherwise) {
  const std::string* text = model.option(name);
  if (!text) return otherwise;
  double value = 0;
  const char* end = text->data() + text->size();
  const std::from_chars_result read = std::from_chars(text->data(), end, value);
  if (read.ec == std::errc() && read.ptr == end && value >= least && value <= most) return value;
  const auto plain = [](double v) { return std::to_string(static_cast<long long>(v)); };
  return Error{ErrorKind::InvalidArgument,
               "scripted:" + model.kind + ": " + std::string(name) + " must be a number from " +
                   plain(least) + " to " + plain(most) + ", not '" + *text + "'",
               ""};
}

Result<Done> check_scripted(std::string_view model) {
  const Result<ScriptedModel> scripted = scripted_model(model);
  if (!scripted) return scripted.error();
  const Result<const ScriptKind*> kind = kind_of(*scripted);
  if (!kind) return kind.error();
  const std::vector<ScriptOption>& known = (*kind)->options;
  for (const auto& [name, value] : scripted->options) {
    const auto option =
        std::find_if(known.begin(), known.end(),
                     [&sought = name](const ScriptOption& each) { return each.name == sought; });
    if (option == known.end())
      return Error{ErrorKind::InvalidArgument,
                   "scripted:" + scripted->kind + " has no option '" + name + "'", ""};
    const Result<double> number =
        number_option(*scripted, name, option->least, option->most, option->least);
    if (!number) return number.error();
  }
  return Done{};
}

Result<Done> ScriptedFactory::prepare(const RunPlan& plan, const std::stop_token&) {
  std::vector<std::string> models = {plan.user.model};
  for (const ArmPlan& arm : plan.arms) models.push_back(arm.agent.model);
  for (const std::string& model : models) {
    const Result<Done> checked = check_scripted(model);
    if (!checked) return checked.error();
  }
  return Done{};
}

Result<Cast> ScriptedFactory::cast(const Casting& casting) {
  const bool has_agent = is_scripted(casting.arm.agent.model);
  const Result<ScriptedModel> model =
      scripted_model(has_agent ? casting.arm.agent.model : casting.user.model);
  if (!model) return model.error();
  const Result<const ScriptKind*> kind = kind_of(*model);
  if (!kind) return kind.error();
  return (*kind)->cast(*model, casting);
}

}  // namespace unmask
