#include "rollout/runner.h"

#include <algorithm>
#include <mutex>

#include "base/check.h"
#include "llm/endpoint_url.h"
#include "rollout/episode.h"
#include "rollout/model_health.h"

namespace unmask {

namespace {

std::string endpoint_name(const ModelPlan& model) {
  if (model.engine) return model.engine->file + " with kv " + model.engine->kv;
  return is_scripted(model.model) ? "scripted models" : model.endpoint.base_url;
}

// However a base_url ends, it is the same server.
std::string endpoint_identity(const ModelPlan& model) {
  if (model.engine || is_scripted(model.model)) return endpoint_name(model);
  const Result<EndpointUrl> url = chat_completions_url(model.endpoint.base_url);
  return url ? url->full : model.endpoint.base_url;
}

// A side that remembers what its last error was and whether it ever answered.
struct Witness {
  bool answered = false;
  std::optional<Error> error;

  template <typename T>
  Result<T> seen(Result<T> result) {
    if (result)
      answered = true;
    else
      error = result.error();
    return result;
  }
};

class WitnessedAgent : public Agent {
 public:
  WitnessedAgent(Agent& agent, Witness& witness) : agent_(agent), witness_(witness) {}
  void set_seed(std::int64_t seed) override { agent_.set_seed(seed); }
  Result<Done> begin(std::span<const TurnMessage> history) override {
    return agent_.begin(history);
  }
  Result<TurnMessage> next(std::span<const TurnMessage> incoming) override {
    return witness_.seen(agent_.next(incoming));
  }
  bool is_stop(const TurnMessage& message) const override { return agent_.is_stop(message); }

 private:
  Agent& agent_;
  Witness& witness_;
};

class WitnessedUser : public User {
 public:
  WitnessedUser(User& user, Witness& witness) : user_(user), witness_(witness) {}
  void set_seed(std::int64_t seed) override { user_.set_seed(seed); }
  Result<Done> begin(std::span<const TurnMessage> history) override { return user_.begin(history); }
  Result<TurnMessage> next(std::span<const TurnMessage> incoming) override {
    return witness_.seen(user_.next(incoming));
  }

 private:
  User& user_;
  Witness& witness_;
};

bool was_stopped(const Witness& witness) {
  return witness.error && witness.error->where == kStopped;
}

// The agents of the arms in order, then the user.
std::string model_name(const RunPlan& plan, std::size_t model) {
  if (model == plan.arms.size()) return "user (" + endpoint_name(plan.user) + ")";
  const ArmPlan& arm = plan.arms[model];
  return "arm '" + arm.label + "' (" + endpoint_name(arm.agent) + ")";
}

std::vector<ModelHealth::Model> models_of(const RunPlan& plan, const EndpointTable& endpoints) {
  std::vector<ModelHealth::Model> models;
  for (std::size_t i = 0; i <= plan.arms.size(); ++i) {
    const ModelPlan& model = i < plan.arms.size() ? plan.arms[i].agent : plan.user;
    models.push_back({model_name(plan, i), endpoints.slots[endpoints.index(model)]});
  }
  return models;
}

class Runner {
 public:
  Runner(const RunPlan& plan, const std::vector<PlannedEpisode>& episodes,
         ParticipantFactory& factory, EpisodeStore& store, RunObserver& observer,
         const RunControl& control)
      : plan_(plan),
        factory_(factory),
        store_(store),
        observer_(observer),
        control_(control),
        endpoints_(endpoints_of(plan)),
        health_(models_of(plan, endpoints_)) {
    for (const PlannedEpisode& episode : episodes)
      if (!store.found().done(episode.key)) waiting_.push_back(&episode);
  }

  RunEnd run() {
    const ScheduleLimits limits{endpoints_.slots, plan_.concurrency};
    const ScheduleEnd ended = run_schedule(
        jobs(), limits, control_.drain, [this](std::size_t job) { return play(*waiting_[job]); });
    RunEnd end;
    end.saved = saved_;
    end.left = waiting_.size() - saved_;
    end.stopped = ended.stopped || control_.abandon.stop_requested();
    end.error = ended.error;
    if (!end.error && !end.stopped && end.left > 0) end.error = refusal_;
    return end;
  }

 private:
  std::vector<Job> jobs() const {
    std::vector<Job> jobs;
    for (const PlannedEpisode* episode : waiting_) {
      Job job;
      job.endpoints = {endpoints_.index(episode->arm->agent)};
      const std::size_t user = endpoints_.index(plan_.user);
      if (user != job.endpoints.front()) job.endpoints.push_back(user);
      jobs.push_back(std::move(job));
    }
    return jobs;
  }

  TurnOptions turn_options(const PlannedEpisode& episode, std::int64_t seed) const {
    TurnOptions options;
    options.max_steps = plan_.max_steps;
    options.max_errors = max_errors_of(plan_, *episode.arm);
    options.seed = seed;
    options.clock = steady_clock();
    return options;
  }

  Result<Done> play(const PlannedEpisode& planned) {
    tell([&] { observer_.begun(planned.key); });
    const EpisodeKey& key = planned.key;
    const std::int64_t seed = episode_seed(plan_.seed, key.domain, key.task, key.trial);
    const Casting casting{*planned.arm,  plan_.user, *planned.stage,
                          *planned.task, seed,       control_.abandon};
    const Result<Cast> cast = factory_.cast(casting);
    if (!cast) return cast.error();
    Witness agent_witness;
    Witness user_witness;
    WitnessedAgent agent(*cast->agent, agent_witness);
    WitnessedUser user(*cast->user, user_witness);
    Result<PlayedEpisode> played = play_episode(planned.stage->domain, *planned.task, agent, &user,
                                                turn_options(planned, seed), factory_.judge());
    if (!played)
      return Error{played.error().kind,
                   "cannot begin (" + to_string(key) + "): " + to_string(played.error()), ""};
    if (was_stopped(agent_witness) || was_stopped(user_witness)) return leave(planned);
    const Result<bool> worth_saving = judged_by_health(planned, agent_witness, user_witness);
    if (!worth_saving) return worth_saving.error();
    if (!*worth_saving) return leave(planned);
    return save(planned, std::move(played->episode));
  }

  // False: a server that never answered refused the episode, which says nothing about the agent.
  Result<bool> judged_by_health(const PlannedEpisode& planned, const Witness& agent,
                                const Witness& user) {
    const std::lock_guard<std::mutex> lock(mutex_);
    bool counts = true;
    const std::pair<std::size_t, const Witness*> sides[] = {
        {static_cast<std::size_t>(planned.arm - plan_.arms.data()), &agent},
        {plan_.arms.size(), &user}};
    for (const auto& [model, witness] : sides) {
      if (witness->answered) health_.answered(model);
      if (!witness->error) continue;
      const Result<ModelHealth::Count> verdict = health_.failed(model, *witness->error);
      if (!verdict) return verdict.error();
      if (*verdict == ModelHealth::Count::AsPlayed) continue;
      counts = false;
      refusal_ = Error{witness->error->kind, "refused every request: " + witness->error->message,
                       model_name(plan_, model)};
    }
    return counts;
  }

  Result<Done> save(const PlannedEpisode& planned, Episode episode) {
    const EpisodeKey& key = planned.key;
    episode.id = key.domain + "_" + key.task + "_" + std::to_string(key.trial);
    episode.trial = key.trial;
    const Result<Done> done =
        store_.append(key, run_info(plan_, *planned.arm, key.domain), episode);
    if (!done) return done.error();
    tell([&] {
      ++saved_;
      observer_.saved(key, episode);
    });
    return Done{};
  }

  Result<Done> leave(const PlannedEpisode& planned) {
    tell([&] { observer_.left(planned.key); });
    return Done{};
  }

  template <typename Call>
  void tell(const Call& call) {
    const std::lock_guard<std::mutex> lock(mutex_);
    call();
  }

  const RunPlan& plan_;
  ParticipantFactory& factory_;
  EpisodeStore& store_;
  RunObserver& observer_;
  const RunControl& control_;
  EndpointTable endpoints_;
  std::vector<const PlannedEpisode*> waiting_;
  std::mutex mutex_;  // of what is below, and of the observer
  ModelHealth health_;
  std::optional<Error> refusal_;  // of a model that had never answered
  std::size_t saved_ = 0;
};

}  // namespace

std::vector<PlannedEpisode> planned_episodes(const RunPlan& plan, const Stages& stages,
                                             const Shard& shard) {
  std::vector<PlannedEpisode> episodes;
  std::size_t position = 0;
  for (int trial = 0; trial < plan.trials; ++trial) {
    for (const auto& [domain, stage] : stages) {
      for (const Task& task : stage.tasks) {
        if (!shard.takes(position++)) continue;
        for (const ArmPlan& arm : plan.arms)
          episodes.push_back({{arm.label, domain, task.id, trial}, &arm, &stage, &task});
      }
    }
  }
  return episodes;
}

std::size_t EndpointTable::index(const ModelPlan& model) const {
  const auto found = std::find(identities.begin(), identities.end(), endpoint_identity(model));
  UNMASK_CHECK(found != identities.end());
  return static_cast<std::size_t>(found - identities.begin());
}

EndpointTable endpoints_of(const RunPlan& plan) {
  EndpointTable table;
  const auto add = [&](const ModelPlan& model) {
    const std::string identity = endpoint_identity(model);
    const auto found = std::find(table.identities.begin(), table.identities.end(), identity);
    if (found == table.identities.end()) {
      table.identities.push_back(identity);
      table.names.push_back(endpoint_name(model));
      table.slots.push_back(model.endpoint.max_concurrency);
    } else {
      int& slots = table.slots[static_cast<std::size_t>(found - table.identities.begin())];
      slots = std::min(slots, model.endpoint.max_concurrency);
    }
  };
  for (const ArmPlan& arm : plan.arms) add(arm.agent);
  add(plan.user);
  return table;
}

RunEnd run_episodes(const RunPlan& plan, const std::vector<PlannedEpisode>& episodes,
                    ParticipantFactory& factory, EpisodeStore& store, RunObserver& observer,
                    const RunControl& control) {
  return Runner(plan, episodes, factory, store, observer, control).run();
}

}  // namespace unmask
