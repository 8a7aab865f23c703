#include "compare/log_replay.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "compare/pairing.h"
#include "metrics/episode_decisions.h"

namespace unmask {
namespace {

bool took_part(const EpisodeFacts& episode) {
  return !episode.excluded && episode.decisions != nullptr;
}

// Whether a log's settings (sorted JSON without spaces) have a temperature of 0.
bool is_greedy(const RunInfo& info) {
  constexpr std::string_view kKey = "\"temperature\":0";
  const std::size_t at = info.agent_settings.find(kKey);
  if (at == std::string::npos) return false;
  const std::size_t end = info.agent_settings.find_first_not_of(".0", at + kKey.size());
  return end == std::string::npos || info.agent_settings[end] == ',' ||
         info.agent_settings[end] == '}';
}

// Names called in either arm that were not hallucinated there.
std::vector<std::string> names_that_work(const PairedArms& arms) {
  std::set<std::string> names;
  for (const Arm* arm : {&arms.baseline, &arms.candidate})
    for (const EpisodeFacts& episode : arm->episodes) {
      if (!took_part(episode) || episode.decisions->offered) continue;
      for (const LoggedDecision& decision : episode.decisions->decisions)
        if (decision.channel.empty())
          for (const LoggedCall& call : decision.calls) names.insert(call.name);
    }
  return {names.begin(), names.end()};
}

class Builder {
 public:
  explicit Builder(const PairedArms& arms) : arms_(arms), working_(names_that_work(arms)) {
    Replay& replay = out_.replay;
    replay.head.format = arms.baseline.info.format;
    replay.head.domain = arms.baseline.info.domain;
    replay.head.greedy = is_greedy(arms.baseline.info) && is_greedy(arms.candidate.info);
    labels_[0] = arms.baseline.label;
    labels_[1] = arms.candidate.label;
    if (labels_[0] == labels_[1]) labels_[1] += " (candidate)";
    for (const int arm : {0, 1}) {
      ReplayArm who;
      who.label = labels_[arm];
      who.model = (arm == 0 ? arms.baseline : arms.candidate).info.model;
      who.baseline = arm == 0;
      replay.head.arms.push_back(who);
    }
  }

  LogReplay build() && {
    for (std::size_t t = 0; t < arms_.baseline.tasks.size(); ++t) add_task(t);
    return std::move(out_);
  }

 private:
  void add_task(std::size_t t) {
    const TaskEpisodes& b = arms_.baseline.tasks[t];
    const TaskEpisodes& c = arms_.candidate.tasks[t];
    task_ = &b;
    std::map<int, const EpisodeFacts*> partner;  // (trial)
    for (std::size_t i = c.begin; i < c.end; ++i) {
      const EpisodeFacts& episode = arms_.candidate.episodes[i];
      if (took_part(episode)) partner.emplace(episode.trial, &episode);
    }
    std::set<const EpisodeFacts*> paired;
    for (std::size_t i = b.begin; i < b.end; ++i) {
      const EpisodeFacts& episode = arms_.baseline.episodes[i];
      if (!took_part(episode)) continue;
      const auto found = partner.find(episode.trial);
      const EpisodeFacts* other = found == partner.end() ? nullptr : found->second;
      if (other != nullptr && !paired.insert(other).second) other = nullptr;
      add_episodes(&episode, other);
    }
    for (std::size_t i = c.begin; i < c.end; ++i) {
      const EpisodeFacts& episode = arms_.candidate.episodes[i];
      if (took_part(episode) && paired.count(&episode) == 0) add_episodes(nullptr, &episode);
    }
  }

  // Either may be null.
  void add_episodes(const EpisodeFacts* baseline, const EpisodeFacts* candidate) {
    static const std::vector<LoggedDecision> kNone;
    const std::vector<LoggedDecision>& b = baseline ? baseline->decisions->decisions : kNone;
    const std::vector<LoggedDecision>& c = candidate ? candidate->decisions->decisions : kNone;
    std::size_t same = 0;
    while (same < b.size() && same < c.size() && b[same].history == c[same].history) ++same;
    for (std::size_t i = 0; i < same; ++i) {
      add_context(*baseline, b[i]);
      add_reply(0, b[i]);
      add_reply(1, c[i]);
    }
    for (std::size_t i = same; i < b.size(); ++i) {
      add_context(*baseline, b[i]);
      add_reply(0, b[i]);
    }
    for (std::size_t i = same; i < c.size(); ++i) {
      add_context(*candidate, c[i]);
      add_reply(1, c[i]);
    }
  }

  void add_context(const EpisodeFacts& episode, const LoggedDecision& decision) {
    ReplayContext context;
    context.id = std::to_string(out_.replay.contexts.size());
    context.domain = task_->domain;
    context.task_id = task_->id;
    context.trial = episode.trial;
    context.episode = episode.id;
    context.message = decision.message;
    context.attempt = decision.attempt;
    context.tools_id = tools_of(*episode.decisions);
    out_.replay.contexts.push_back(std::move(context));
  }

  void add_reply(int arm, const LoggedDecision& decision) {
    ReplayReply reply;
    reply.context_id = out_.replay.contexts.back().id;
    reply.arm = labels_[arm];
    reply.channel = decision.channel;
    if (decision.said != 0) reply.text = std::to_string(decision.said);
    for (const LoggedCall& made : decision.calls) {
      ToolCall call;
      call.name = made.name;
      call.arguments = std::to_string(made.arguments);
      reply.calls.push_back(std::move(call));
    }
    out_.replay.replies.push_back(std::move(reply));
    out_.decisions.push_back(decision.decision ? &*decision.decision : nullptr);
  }

  std::string tools_of(const EpisodeDecisions& decisions) {
    const std::vector<std::string>& names = decisions.offered ? *decisions.offered : working_;
    const auto [at, fresh] = tools_.emplace(names, std::to_string(tools_.size()));
    if (fresh) out_.replay.tools.push_back({at->second, names});
    return at->second;
  }

  const PairedArms& arms_;
  const std::vector<std::string> working_;
  std::map<std::vector<std::string>, std::string> tools_;
  std::string labels_[2];
  const TaskEpisodes* task_ = nullptr;
  LogReplay out_;
};

bool has_decisions(const Arm& arm) {
  return std::any_of(arm.episodes.begin(), arm.episodes.end(), took_part);
}

}  // namespace

std::optional<LogReplay> replay_of_logs(const Arm& baseline, const Arm& candidate) {
  if (!has_decisions(baseline) || !has_decisions(candidate)) return std::nullopt;
  const Result<PairedArms> arms = pair_tasks(baseline, candidate);
  if (!arms || !has_decisions(arms->baseline) || !has_decisions(arms->candidate))
    return std::nullopt;
  return Builder(*arms).build();
}

std::optional<Mechanism> mechanism_of_logs(const Arm& baseline, const Arm& candidate,
                                           const CompareOptions& options) {
  const std::optional<LogReplay> logs = replay_of_logs(baseline, candidate);
  if (!logs) return std::nullopt;
  MechanismOptions asked;
  asked.resamples = options.resamples;
  asked.seed = options.seed;
  asked.threads = options.threads;
  asked.screen_low = options.screen_low;
  asked.screen_high = options.screen_high;
  asked.every_arm_asked = false;
  Result<Mechanism> mechanism = analyse_mechanism(logs->replay, logs->decisions, asked);
  if (!mechanism) return std::nullopt;
  return std::move(*mechanism);
}

}  // namespace unmask
