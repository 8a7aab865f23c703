#include "app/run_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "app/console.h"
#include "app/world_flags.h"
#include "base/rng.h"
#include "base/units.h"
#include "environment/json.h"
#include "llm/file_hash.h"

namespace unmask {
namespace {

Result<std::vector<Task>> tasks_of(const RunPlan& plan, const DataFolder& data,
                                   const DomainRow& row) {
  Result<std::vector<Task>> all = load_tasks(data, row, plan.split);
  if (!all || plan.tasks.empty()) return all;
  std::vector<Task> chosen;
  for (const std::string& id : plan.tasks) {
    Result<Task> task = task_named(row, *all, id);
    if (!task) return task.error();
    chosen.push_back(std::move(*task));
  }
  return chosen;
}

bool needs_guidelines(const RunPlan& plan) {
  return !is_scripted(plan.user.model);
}

Result<std::string> guidelines(const DataFolder& data, const Domain& domain) {
  if (domain.row->generated) return std::string(domain.row->generated->user_guidelines);
  return user_guidelines(data, domain.user_tools != nullptr);
}

Result<StagedDomain> staged(const RunPlan& plan, const WorldFlags& world, const std::string& name) {
  StagedDomain stage;
  const Result<const DomainRow*> row = domain_named(name);
  if (!row) return row.error();
  const Result<DataFolder> data = open_data(world, **row);
  if (!data) return data.error();
  Result<std::shared_ptr<const Domain>> domain = load_domain(*data, name);
  if (!domain) return domain.error();
  stage.domain = std::move(*domain);
  Result<Surface> surface = find_surface(plan.surface, tau2_folder(world), *stage.domain);
  if (!surface) return surface.error();
  stage.surface = std::move(*surface);
  if (needs_guidelines(plan)) {
    Result<std::string> rules = guidelines(*data, *stage.domain);
    if (!rules) return rules.error();
    stage.user_guidelines = std::move(*rules);
  }
  Result<std::vector<Task>> tasks = tasks_of(plan, *data, **row);
  if (!tasks) return tasks.error();
  stage.tasks = std::move(*tasks);
  return stage;
}

std::string fingerprint(const StagedDomain& stage) {
  const Surface& surface = stage.surface;
  std::string shown = dump_json(surface.agent_tools) + dump_json(surface.user_tools);
  for (const std::string* text :
       {&surface.policy, &surface.agent_prompt, &surface.user_prompt, &stage.user_guidelines})
    shown += *text + '\0';
  if (const GeneratedWorlds* generated = stage.domain->row->generated) {
    const Result<Task> first = generated->task(*stage.domain->row, "t0");  // as code makes them now
    if (first) shown += dump_json(first->json);
  }
  return fmt::format("{:016x}", Rng::hash(shown));
}

// The contents of the files that models are in, each read once.
class FileHashes {
 public:
  void add(const std::string& owner, const ModelPlan& model, std::vector<Setting>& settings) {
    if (!model.engine) return;
    add_file(owner + " file sha256", model.engine->file, settings);
    if (!model.engine->template_file.empty())
      add_file(owner + " template sha256", model.engine->template_file, settings);
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  void add_file(const std::string& name, const std::string& path, std::vector<Setting>& settings) {
    if (error_) return;
    std::string& hash = hashes_[path];
    if (hash.empty()) {
      const Result<std::string> hashed = file_sha256(path);
      if (!hashed) {
        error_ = hashed.error();
        return;
      }
      hash = *hashed;
    }
    settings.emplace_back(name, hash);
  }

  std::map<std::string, std::string> hashes_;
  std::optional<Error> error_;
};

// Messages of the two sides that the reference solution needs, and what frames it: the user tells
// and ends, the agent answers.
long long least_calls(const PlannedEpisode& episode) {
  constexpr long long kFrame = 3;
  const std::optional<EvaluationCriteria>& criteria = episode.task->criteria;
  const bool has_actions = criteria && criteria->actions;
  return kFrame + (has_actions ? static_cast<long long>(criteria->actions->size()) : 0);
}

std::string model_text(const ModelPlan& model) {
  if (model.engine) return model.model + " in this process";
  if (is_scripted(model.model)) return model.model;
  return fmt::format("{} at {}", model.model, model.endpoint.base_url);
}

std::string arm_text(const RunPlan& plan, const ArmPlan& arm) {
  std::string text = fmt::format("  {:<14} {}, {} errors end it", arm.label, model_text(arm.agent),
                                 max_errors_of(plan, arm));
  if (settings_of(arm.agent.sampling) != "{}") text += ", " + settings_of(arm.agent.sampling);
  if (arm.repair)
    text += fmt::format(", repairs {} {} times", fmt::join(arm.repair->channels, ", "),
                        arm.repair->attempts);
  if (arm.constrain_names) text += ", names constrained";
  return text + "\n";
}

}  // namespace

Result<Stages> load_stages(const RunPlan& plan, const std::string& tau2) {
  WorldFlags world;
  world.tau2 = plan.tau2.empty() ? tau2 : plan.tau2;
  Stages stages;
  for (const std::string& name : plan.domains) {
    Result<StagedDomain> stage = staged(plan, world, name);
    if (!stage) return stage.error();
    stages.emplace(name, std::move(*stage));
  }
  return stages;
}

Result<std::vector<Setting>> run_settings(const RunPlan& plan, const Stages& stages) {
  std::vector<Setting> settings = settings_of(plan);
  FileHashes hashes;
  for (const ArmPlan& arm : plan.arms) hashes.add("arm '" + arm.label + "'", arm.agent, settings);
  hashes.add("user", plan.user, settings);
  if (plan.judge) hashes.add("judge", *plan.judge, settings);
  if (hashes.error()) return *hashes.error();
  for (const auto& [name, stage] : stages)
    settings.emplace_back("domain '" + name + "' texts", fingerprint(stage));
  std::sort(settings.begin(), settings.end());
  return settings;
}

std::string plan_summary(const RunPlan& plan, const Stages& stages,
                         const std::vector<PlannedEpisode>& episodes, const StoreContents& found,
                         const Shard& shard) {
  std::size_t done = 0;
  long long calls = 0;
  for (const PlannedEpisode& episode : episodes) {
    if (found.done(episode.key))
      ++done;
    else
      calls += least_calls(episode);
  }
  const long long left = static_cast<long long>(episodes.size() - done);
  std::string text = fmt::format("plan '{}', kept in {}\n\narms\n", plan.name, plan.out);
  for (const ArmPlan& arm : plan.arms) text += arm_text(plan, arm);
  text += fmt::format("  {:<14} {}\n", "(user)", model_text(plan.user));
  if (plan.judge) text += fmt::format("  {:<14} {}\n", "(judge)", model_text(*plan.judge));
  text += "\ndomains\n";
  for (const auto& [name, stage] : stages)
    text +=
        fmt::format("  {:<14} {}; prompts and tools: {}\n", name,
                    counted(static_cast<long>(stage.tasks.size()), "task"), stage.surface.source);
  text += "\nat once\n";
  const EndpointTable endpoints = endpoints_of(plan);
  for (std::size_t i = 0; i < endpoints.names.size(); ++i)
    text += fmt::format("  {:<4} episodes at {}\n", endpoints.slots[i], endpoints.names[i]);
  if (plan.concurrency > 0) text += fmt::format("  {:<4} in all\n", plan.concurrency);
  text += fmt::format("\n{} of {}, seed {}", counted(static_cast<long>(episodes.size()), "episode"),
                      counted(plan.trials, "trial"), plan.seed);
  if (!shard.whole()) text += fmt::format(", shard {} of {}", shard.index, shard.count);
  text += fmt::format("; {} are done, {} to play\n", done, left);
  text += fmt::format("{} at least (by the reference solutions), {} at most (max_steps)\n",
                      counted(static_cast<long>(calls), "model call"),
                      count_text(static_cast<long>(left * plan.max_steps)));
  return safe_lines(text);
}

}  // namespace unmask
