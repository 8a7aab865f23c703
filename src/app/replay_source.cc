#include "app/replay_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/file.h"
#include "environment/json.h"
#include "ingest/text_hash.h"
#include "rollout/conversation.h"
#include "rollout/regrade.h"

namespace unmask {
namespace {

constexpr std::string_view kUsualAgent = "llm_agent";
constexpr std::string_view kSoloAgent = "llm_agent_solo";
// It is shown the reference solution, in a prompt that nothing here has.
constexpr std::string_view kAgentWithSolution = "llm_agent_gt";

struct StagedWorld {
  std::shared_ptr<const Domain> domain;
  Surface surface;
  std::map<std::string, Task, std::less<>> tasks;
};

struct FoundView {
  std::shared_ptr<const AgentView> view;
  std::string why;  // there is none
};

bool begins_with_system(const Episode& episode) {
  return !episode.messages.empty() && episode.messages.front().role == Role::System;
}

// The agent's tools of a file: a list in OpenAI's form, or {"assistant": [...]}.
Result<AgentView> view_of_tools(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  const Result<Value> json = parse_json(*text);
  if (!json) return Error{ErrorKind::Malformed, json.error().message, path};
  const Value* agent = json->is_dict() ? json->find("assistant") : nullptr;
  const Value& list = agent ? *agent : *json;
  AgentView view;
  view.as_logged = true;
  if (list.is_list()) view.offered = offered_tools(list);
  if (view.offered.empty() || view.offered.size() != list.size())
    return Error{ErrorKind::Malformed,
                 "is no list of tools with their definitions: [{\"type\": \"function\", "
                 "\"function\": {...}}, ...]",
                 path};
  view.tools = chat_tools(list);
  return view;
}

class SourceReader {
 public:
  SourceReader(const ReplaySourceFlags& flags, Progress& progress)
      : flags_(flags), progress_(progress) {}

  Result<ReplaySources> read(const std::vector<std::string>& paths) {
    if (!flags_.tools.empty()) {
      Result<AgentView> tools = view_of_tools(flags_.tools);
      if (!tools) return tools.error();
      tools_ = std::make_shared<const AgentView>(std::move(*tools));
    }
    for (const std::string& path : paths) {
      const Result<Done> added = add_log(path);
      if (!added) return added.error();
    }
    out_.format = fmt::format("{}", fmt::join(formats_, ","));
    out_.domain = fmt::format("{}", fmt::join(domains_, ","));
    warn_of_policies();
    return std::move(out_);
  }

 private:
  Result<Done> add_log(const std::string& path) {
    ReadOptions options;
    options.format = flags_.format;
    options.threads = flags_.threads;
    options.progress = [&](std::uint64_t done, std::uint64_t all) { progress_.bytes(done, all); };
    progress_.step("reading " + path);
    Result<IngestReport> log = ingest(path, options);
    if (!log) return log.error();
    out_.runs.push_back(std::move(log->run));
    const Run& run = out_.runs.back();
    formats_.insert(run.info.format);
    if (!log->dropped.empty())
      out_.warnings.push_back({"dropped",
                               fmt::format("{} records could not be read; the first: {}",
                                           log->dropped.size(), log->dropped.front().reason),
                               path, static_cast<std::int64_t>(log->dropped.size())});
    for (const Episode& episode : run.episodes) {
      ReplaySource source{&episode, domain_of(episode, run.info), nullptr};
      if (!source.domain.empty()) domains_.insert(source.domain);
      std::string why;
      Result<std::shared_ptr<const AgentView>> view = view_of(source, run.info, path, why);
      if (!view) return view.error();
      source.view = std::move(*view);
      if (!source.view) ++out_.without[why];
      out_.sources.push_back(std::move(source));
    }
    return Done{};
  }

  std::string domain_of(const Episode& episode, const RunInfo& info) const {
    if (!flags_.domain.empty()) return flags_.domain;
    return episode.domain.empty() ? info.domain : episode.domain;
  }

  // nullptr, and why: there is none.
  Result<std::shared_ptr<const AgentView>> view_of(const ReplaySource& source, const RunInfo& info,
                                                   const std::string& path, std::string& why) {
    const Episode& episode = *source.episode;
    if (info.format == "tau2" && !begins_with_system(episode))
      return world_view(source, info, path, why);
    if (std::optional<AgentView> own = view_of_log(episode))
      return std::make_shared<const AgentView>(std::move(*own));
    if (tools_ && begins_with_system(episode)) return tools_;
    why = begins_with_system(episode)
              ? "the log does not hold its tools' definitions: give them with --tools FILE"
              : "the log holds neither the prompt nor the tools of its agent";
    return std::shared_ptr<const AgentView>();
  }

  Result<std::shared_ptr<const AgentView>> world_view(const ReplaySource& source,
                                                      const RunInfo& info, const std::string& path,
                                                      std::string& why) {
    if (info.agent_implementation == kAgentWithSolution) {
      why = fmt::format("the prompt of '{}' is not known", info.agent_implementation);
      return std::shared_ptr<const AgentView>();
    }
    if (source.domain.empty() || !find_domain(source.domain)) {
      why = source.domain.empty()
                ? "the log does not say which domain it is of: give it with --domain"
                : fmt::format("there is no domain '{}' here", source.domain);
      return std::shared_ptr<const AgentView>();
    }
    const bool solo = info.agent_implementation == kSoloAgent;
    const std::string key = fmt::format("{}\n{}\n{}\n{}", path, source.domain,
                                        source.episode->task_id, solo ? "solo" : "");
    const auto known = views_.find(key);
    if (known != views_.end()) {
      why = known->second.why;
      return known->second.view;
    }
    const Result<StagedWorld*> world = staged(source.domain, path);
    if (!world) return world.error();
    FoundView found;
    Result<AgentView> made = made_view(**world, *source.episode, solo);
    if (made)
      found.view = std::make_shared<const AgentView>(std::move(*made));
    else
      found.why = made.error().message;
    why = found.why;
    note_agent(info, path);
    return views_.emplace(key, std::move(found)).first->second.view;
  }

  Result<AgentView> made_view(StagedWorld& world, const Episode& episode, bool solo) {
    const Result<std::shared_ptr<const Domain>> own = domain_of_task(world.domain, episode.task_id);
    if (!own) return own.error();
    const Surface surface = surface_of_task(world.surface, **own);
    if (!episode.policy_hash.empty() && episode.policy_hash != text_hash(surface.policy))
      other_policies_[std::string(world.domain->row->name)] = surface.source;
    const auto task = world.tasks.find(episode.task_id);
    return view_of_world(surface, **own, task == world.tasks.end() ? nullptr : &task->second, solo);
  }

  Result<StagedWorld*> staged(const std::string& name, const std::string& path) {
    const std::string key = path + "\n" + name;
    const auto known = worlds_.find(key);
    if (known != worlds_.end()) return &known->second;
    const Result<const DomainRow*> row = domain_named(name);
    if (!row) return row.error();
    const Result<DataFolder> data = open_data(flags_.world, **row);
    if (!data) return data.error();
    StagedWorld world;
    Result<std::shared_ptr<const Domain>> domain = load_domain(*data, name);
    if (!domain) return domain.error();
    world.domain = std::move(*domain);
    Result<Surface> surface =
        find_surface(flags_.surface, tau2_folder(flags_.world), *world.domain);
    if (!surface) return surface.error();
    world.surface = std::move(*surface);
    const Result<Done> tasks = load_tasks_of(**row, *data, path, world);
    if (!tasks) return tasks.error();
    return &worlds_.emplace(key, std::move(world)).first->second;
  }

  // Those of the data, but what the log carries in full is what was played.
  Result<Done> load_tasks_of(const DomainRow& row, const DataFolder& data, const std::string& path,
                             StagedWorld& world) {
    Result<std::vector<Task>> tasks = load_tasks(data, row);
    if (!tasks) return tasks.error();
    for (Task& task : *tasks) world.tasks.insert_or_assign(task.id, std::move(task));
    if (row.generated) return Done{};
    Result<std::vector<Task>> logged = tasks_of_log(path);
    if (!logged) return logged.error();
    for (Task& task : *logged)
      if (task.initial_state || task.criteria)
        world.tasks.insert_or_assign(task.id, std::move(task));
    return Done{};
  }

  void note_agent(const RunInfo& info, const std::string& path) {
    const std::string& agent = info.agent_implementation;
    if (agent.empty() || agent == kUsualAgent || agent == kSoloAgent) return;
    if (!odd_agents_.insert(agent).second) return;
    out_.warnings.push_back(
        {"unknown_agent",
         fmt::format("its agent is '{}', whose prompt is not known: it is shown "
                     "what '{}' is shown",
                     agent, kUsualAgent),
         path, 1});
  }

  void warn_of_policies() {
    for (const auto& [domain, source] : other_policies_)
      out_.warnings.push_back({"policy_differs",
                               fmt::format("{}: the log was made with another policy text than the "
                                           "one here ({})",
                                           domain, source),
                               "", 1});
  }

  const ReplaySourceFlags& flags_;
  Progress& progress_;
  ReplaySources out_;
  std::shared_ptr<const AgentView> tools_;
  std::set<std::string> formats_;
  std::set<std::string> domains_;
  std::map<std::string, StagedWorld> worlds_;
  std::map<std::string, FoundView> views_;             // by log, domain and task
  std::map<std::string, std::string> other_policies_;  // by domain: the surface's source
  std::set<std::string> odd_agents_;
};

}  // namespace

Result<ReplaySources> read_replay_sources(const std::vector<std::string>& paths,
                                          const ReplaySourceFlags& flags, Progress& progress) {
  return SourceReader(flags, progress).read(paths);
}

}  // namespace unmask
