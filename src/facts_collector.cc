#include "facts_collector.h"

#include <optional>
#include <utility>

#include "ingest/decision.h"
#include "metrics/episode_decisions.h"

namespace unmask {
namespace {

std::optional<Decision> readable(std::string_view json) {
  Result<Decision> decision = parse_decision(json);
  if (!decision) return std::nullopt;
  return std::move(*decision);
}

}  // namespace

void FactsCollector::take(const RunInfo& info, std::size_t index, const Episode& episode) {
  std::call_once(made_, [&] { classifier_ = std::make_unique<Classifier>(info, tools_); });
  ClassifiedEpisode classified = classifier_->classify(episode);
  EpisodeFacts facts = episode_facts(episode, classified);
  if (facts.domain.empty()) facts.domain = info.domain;
  if (options_.excerpts_per_channel > 0) {
    const std::lock_guard<std::mutex> lock(shelf_mutex_);
    shelf_.take(episode, facts.domain, classified);
  }
  if (options_.keep_decisions)
    facts.decisions = episode_decisions(info, episode, classified, *classifier_, readable);
  if (options_.keep_calls) facts.calls = std::move(classified.calls);
  EpisodeList::Shared shared = std::make_shared<const EpisodeFacts>(std::move(facts));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (facts_.size() <= index) facts_.resize(index + 1);
  facts_[index] = std::move(shared);
}

std::vector<Warning> decision_warnings(const std::vector<EpisodeList::Shared>& episodes) {
  std::vector<Warning> warnings = {
      {"unreadable_decision",
       "the log-probabilities of some messages could not be read and were left out", "", 0},
      {"contradictory_logprobs",
       "the log-probabilities of some messages contradict themselves: a token's own differs from "
       "the "
       "one among its alternatives, or they add up to more than 1",
       "", 0}};
  for (const EpisodeList::Shared& episode : episodes) {
    if (!episode->decisions) continue;
    warnings[0].count += episode->decisions->unreadable;
    warnings[1].count += episode->decisions->contradictory;
  }
  std::erase_if(warnings, [](const Warning& warning) { return warning.count == 0; });
  return warnings;
}

}  // namespace unmask
