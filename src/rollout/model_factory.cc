#include "rollout/model_factory.h"

#include <algorithm>
#include <optional>

#include "llm/constrain.h"
#include "llm/llama.h"
#include "llm/openai.h"
#include "rollout/conversation.h"
#include "rollout/llm_agent.h"
#include "rollout/llm_judge.h"
#include "rollout/llm_user.h"
#include "rollout/repair.h"

namespace unmask {

namespace {

// A repairing agent together with the agent it stands before.
class OwnedRepair : public Agent {
 public:
  OwnedRepair(std::unique_ptr<Agent> inner, std::vector<OfferedTool> offered, RepairOptions options)
      : inner_(std::move(inner)), repair_(*inner_, std::move(offered), std::move(options)) {}

  void set_seed(std::int64_t seed) override { repair_.set_seed(seed); }
  Result<Done> begin(std::span<const TurnMessage> history) override {
    return repair_.begin(history);
  }
  Result<TurnMessage> next(std::span<const TurnMessage> incoming) override {
    return repair_.next(incoming);
  }
  bool is_stop(const TurnMessage& message) const override { return repair_.is_stop(message); }

 private:
  std::unique_ptr<Agent> inner_;
  RepairingAgent repair_;
};

RepairOptions repair_options(const RepairPlan& plan) {
  RepairOptions options;
  options.channels.clear();
  for (const std::string& name : plan.channels)
    options.channels.push_back(name == "malformed" ? Channel::Malformed
                               : name == "schema"  ? Channel::Schema
                                                   : Channel::ToolName);
  options.attempts = plan.attempts;
  options.refusals_spend_budget = plan.spends_budget;
  return options;
}

EndpointOptions endpoint_options(const ModelPlan& plan, std::string key) {
  EndpointOptions options;
  options.base_url = plan.endpoint.base_url;
  options.model = plan.model;
  options.api_key = std::move(key);
  options.max_connections = plan.endpoint.max_concurrency;
  options.connect_timeout_seconds = plan.endpoint.connect_timeout_seconds;
  options.first_byte_timeout_seconds = plan.endpoint.first_byte_timeout_seconds;
  options.total_timeout_seconds = plan.endpoint.timeout_seconds;
  options.max_retries = plan.endpoint.retries;
  options.temperature = plan.sampling.temperature;
  options.top_p = plan.sampling.top_p;
  options.max_tokens = plan.sampling.max_tokens;
  options.extra_body = plan.sampling.extra_body;
  options.logprobs = plan.sampling.logprobs > 0;
  options.top_logprobs = plan.sampling.logprobs;
  options.send_reasoning = plan.send_reasoning;
  options.usd_per_million_prompt_tokens = plan.prompt_usd_per_million;
  options.usd_per_million_completion_tokens = plan.completion_usd_per_million;
  return options;
}

LlamaSampling llama_sampling(const Sampling& plan) {
  LlamaSampling sampling;
  sampling.temperature = plan.temperature.value_or(sampling.temperature);
  sampling.top_p = plan.top_p.value_or(sampling.top_p);
  sampling.top_k = plan.top_k.value_or(sampling.top_k);
  sampling.max_tokens = plan.max_tokens;
  sampling.logprobs = plan.logprobs;
  return sampling;
}

// The engines that the agents, the user and the judge want, each kind of role once: agents of
// several arms that share one are never more at once than its `parallel`, but a user's conversation
// is there beside its agent's.
std::vector<LlamaSettings> roles_of(const RunPlan& plan) {
  std::vector<LlamaSettings> roles;
  for (const ArmPlan& arm : plan.arms)
    if (arm.agent.engine && std::find(roles.begin(), roles.end(), *arm.agent.engine) == roles.end())
      roles.push_back(*arm.agent.engine);
  if (plan.user.engine) roles.push_back(*plan.user.engine);
  if (plan.judge && plan.judge->engine) roles.push_back(*plan.judge->engine);
  return roles;
}

Error of_arm(const ArmPlan& arm, const Error& error) {
  if (error.where == kStopped) return error;
  return Error{error.kind, "arm '" + arm.label + "': " + error.message, arm.where};
}

}  // namespace

ChatModel* ModelFactory::opened(const ModelPlan& plan, bool constrain_names) const {
  for (const Opened& each : models_)
    if (each.constrain_names == constrain_names && each.plan == plan) return each.model.get();
  return nullptr;
}

Result<EndpointOptions> ModelFactory::options_of(const ModelPlan& plan) const {
  std::string key;
  if (!plan.endpoint.api_key_env.empty()) {
    key = variables_(plan.endpoint.api_key_env).value_or("");
    if (key.empty())
      return Error{ErrorKind::InvalidArgument,
                   "the environment variable " + plan.endpoint.api_key_env +
                       ", which api_key_env names for " + plan.model + ", is not set",
                   ""};
  }
  return endpoint_options(plan, std::move(key));
}

Result<std::unique_ptr<ChatModel>> ModelFactory::open_server(const ModelPlan& plan) const {
  const Result<EndpointOptions> options = options_of(plan);
  if (!options) return options.error();
  return open_openai(*options);
}

Result<std::unique_ptr<ChatModel>> ModelFactory::open_file(const ModelPlan& plan) {
  const LlamaSampling sampling = llama_sampling(plan.sampling);
  for (const OpenedEngine& opened : engines_)
    if (opened.asked == *plan.engine) return open_llama(opened.engine, plan.model, sampling);
  constexpr int kMost = 256;
  LlamaSettings settings = *plan.engine;
  const auto roles = std::count(roles_.begin(), roles_.end(), settings);
  settings.parallel = std::min(kMost, settings.parallel * std::max(1, static_cast<int>(roles)));
  Result<std::shared_ptr<LlamaEngine>> engine = LlamaEngine::open(settings);
  if (!engine) return engine.error();
  engines_.push_back({*plan.engine, *engine});
  return open_llama(std::move(*engine), plan.model, sampling);
}

Result<ChatModel*> ModelFactory::open(const ModelPlan& plan) {
  if (ChatModel* model = opened(plan, false)) return model;
  Result<std::unique_ptr<ChatModel>> model = plan.engine ? open_file(plan) : open_server(plan);
  if (!model) return model.error();
  models_.push_back({plan, false, std::move(*model)});
  return models_.back().model.get();
}

// A file's names are bound by a grammar; the probe only says whether the model would call another.
Result<ConstrainedModel> ModelFactory::constrained(const ModelPlan& plan,
                                                   const std::stop_token& stop) {
  if (!plan.engine) {
    const Result<EndpointOptions> options = options_of(plan);
    if (!options) return options.error();
    return unmask::open_constrained(*options, stop);
  }
  Result<std::unique_ptr<ChatModel>> model = open_file(plan);
  if (!model) return model.error();
  Result<ConstraintSupport> support = probe_constraint(**model, stop);
  if (!support) return support.error();
  if (!support->supported && support->settled)
    return Error{ErrorKind::Unsupported,
                 "names cannot be constrained in " + plan.model + ": " + support->sentence, ""};
  return ConstrainedModel{std::move(*model), NameConstraint::Grammar, std::move(*support)};
}

Result<ChatModel*> ModelFactory::open_constrained(const ArmPlan& arm, const std::stop_token& stop) {
  if (opened(arm.agent, true) == nullptr) {
    Result<ConstrainedModel> found = constrained(arm.agent, stop);
    if (!found) return found.error();
    models_.push_back({arm.agent, true, std::move(found->model),
                       std::string(to_string(found->form)), found->support.sentence});
  }
  const auto model = std::find_if(models_.begin(), models_.end(), [&](const Opened& each) {
    return each.constrain_names && each.plan == arm.agent;
  });
  constraints_.push_back({arm.label, model->form, model->seen});
  return model->model.get();
}

Result<Done> ModelFactory::prepare(const RunPlan& plan, const std::stop_token& stop) {
  roles_ = roles_of(plan);
  for (const ArmPlan& arm : plan.arms) {
    if (is_scripted(arm.agent.model)) {
      const Result<Done> checked = check_scripted(arm.agent.model);
      if (!checked) return of_arm(arm, checked.error());
      continue;
    }
    const Result<ChatModel*> model =
        arm.constrain_names ? open_constrained(arm, stop) : open(arm.agent);
    if (!model) return of_arm(arm, model.error());
  }
  if (is_scripted(plan.user.model)) {
    const Result<Done> checked = check_scripted(plan.user.model);
    if (!checked) return checked.error();
  } else if (!plan.user.model.empty()) {
    const Result<ChatModel*> model = open(plan.user);
    if (!model) return model.error();
  }
  if (plan.judge) {
    const Result<ChatModel*> model = open(*plan.judge);
    if (!model) return model.error();
    judge_ = std::make_unique<LlmJudge>(**model);
  }
  return Done{};
}

Result<std::unique_ptr<Agent>> ModelFactory::cast_agent(const Casting& casting,
                                                        const Surface& surface,
                                                        Cast& scripted) const {
  const ArmPlan& arm = casting.arm;
  const Value tools = agent_tools(surface, false);
  std::unique_ptr<Agent> agent;
  if (is_scripted(arm.agent.model)) {
    agent = std::move(scripted.agent);
  } else {
    ChatModel* model = opened(arm.agent, arm.constrain_names);
    if (model == nullptr)
      return Error{ErrorKind::InvalidArgument, "arm '" + arm.label + "' was not prepared", ""};
    ConversationOptions options;
    options.constrain_names = arm.constrain_names;
    options.stop = casting.stop;
    agent = std::make_unique<LlmAgent>(*model, agent_prompt(surface), chat_tools(tools), options);
  }
  if (!arm.repair) return agent;
  RepairOptions options = repair_options(*arm.repair);
  const Result<Done> checked = check(options);
  if (!checked) return of_arm(arm, checked.error());
  return std::unique_ptr<Agent>(
      std::make_unique<OwnedRepair>(std::move(agent), offered_tools(tools), std::move(options)));
}

Result<std::unique_ptr<User>> ModelFactory::cast_user(const Casting& casting,
                                                      const Surface& surface,
                                                      Cast& scripted) const {
  if (casting.user.model.empty() || is_scripted(casting.user.model))
    return std::move(scripted.user);
  ChatModel* model = opened(casting.user, false);
  if (model == nullptr)
    return Error{ErrorKind::InvalidArgument, "the user's model was not prepared", ""};
  ConversationOptions options;
  options.stop = casting.stop;
  return std::unique_ptr<User>(std::make_unique<LlmUser>(
      *model, user_prompt(surface, casting.stage.user_guidelines, casting.task),
      chat_tools(surface.user_tools), options));
}

Result<Cast> ModelFactory::cast(const Casting& casting) {
  Cast scripted;
  const bool agent_is_scripted = is_scripted(casting.arm.agent.model);
  if (agent_is_scripted || casting.user.model.empty() || is_scripted(casting.user.model)) {
    Result<Cast> both = scripts_.cast(casting);
    if (!both) return both;
    scripted = std::move(*both);
  }
  const Result<std::shared_ptr<const Domain>> world =
      domain_of_task(casting.stage.domain, casting.task.id);
  if (!world) return world.error();
  const Surface surface = surface_of_task(casting.stage.surface, **world);
  Result<std::unique_ptr<Agent>> agent = cast_agent(casting, surface, scripted);
  if (!agent) return agent.error();
  Result<std::unique_ptr<User>> user = cast_user(casting, surface, scripted);
  if (!user) return user.error();
  return Cast{std::move(*agent), std::move(*user)};
}

}  // namespace unmask
