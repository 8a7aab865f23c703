#include "compare/same_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "base/units.h"

namespace unmask {
namespace {

constexpr double kNearlyAll = 0.9;
constexpr long kFewestMessages = 20;

bool speaks(const EpisodeFacts& episode) {
  return !episode.excluded && episode.agent_turns > 0;
}

using TextKey = std::tuple<std::string, std::string, std::uint64_t>;

TextKey text_key(const EpisodeFacts& episode) {
  return {episode.domain, episode.task_id, episode.trajectory_hash};
}

using ByTrial = std::multimap<int, const EpisodeFacts*>;

// Takes one of the episodes out, that of the same trial where there is one.
const EpisodeFacts* take_alike(ByTrial& alike, int trial) {
  if (alike.empty()) return nullptr;
  ByTrial::iterator found = alike.find(trial);
  if (found == alike.end()) found = alike.begin();
  const EpisodeFacts* taken = found->second;
  alike.erase(found);
  return taken;
}

bool both_timed(const EpisodeFacts& a, const EpisodeFacts& b) {
  return a.seconds.value_or(0) > 0 && b.seconds.value_or(0) > 0;
}

// Whole seconds may well be the same twice.
bool timed_alike(const EpisodeFacts& a, const EpisodeFacts& b) {
  return both_timed(a, b) && a.seconds == b.seconds && *a.seconds != std::floor(*a.seconds);
}

// A whole log under other ids: as many episodes took the same time as say the same.
bool is_copied_whole(const SameText& same) {
  return same.is_one_run() && same.timed_alike == same.episodes;
}

// "46 of its 46 episodes"
std::string of_its_episodes(long same, long all) {
  return count_text(same) + " of its " + counted(all, "episode");
}

}  // namespace

bool SameText::is_one_run() const {
  return static_cast<double>(episodes) >= kNearlyAll * static_cast<double>(of) &&
         agent_messages >= kFewestMessages;
}

SameText same_text(const Arm& first, const Arm& second) {
  std::map<TextKey, ByTrial> known;
  for (const EpisodeFacts& episode : first.episodes)
    if (speaks(episode)) known[text_key(episode)].emplace(episode.trial, &episode);
  SameText same;
  same.ids = same.costs = true;
  for (const EpisodeFacts& episode : second.episodes) {
    if (!speaks(episode)) continue;
    ++same.of;
    const auto alike = known.find(text_key(episode));
    const EpisodeFacts* other =
        alike == known.end() ? nullptr : take_alike(alike->second, episode.trial);
    if (other == nullptr) continue;
    ++same.episodes;
    same.agent_messages += episode.agent_turns;
    if (timed_alike(*other, episode)) ++same.timed_alike;
    if (both_timed(*other, episode) && other->seconds != episode.seconds) ++same.timed_apart;
    if (episode.id.empty() || episode.id != other->id) same.ids = false;
    if (!(episode.agent_cost_usd.value_or(0) > 0) ||
        episode.agent_cost_usd != other->agent_cost_usd)
      same.costs = false;
  }
  return same;
}

long copied_episodes(const Arm& first, const Arm& second) {
  const auto identity = [](const EpisodeFacts& e) {
    return std::tie(e.domain, e.task_id, e.trial, e.id, e.seed, e.seconds, e.trajectory_hash);
  };
  using Identity = std::tuple<std::string, std::string, int, std::string,
                              std::optional<std::int64_t>, std::optional<double>, std::uint64_t>;
  std::set<Identity> known;
  for (const EpisodeFacts& episode : first.episodes) known.insert(identity(episode));
  return std::count_if(second.episodes.begin(), second.episodes.end(), [&](const auto& episode) {
    return !episode.id.empty() && episode.seconds.value_or(0) > 0 &&
           known.contains(identity(episode));
  });
}

std::optional<Warning> same_run_warning(const Arm& baseline, const Arm& candidate) {
  const long copied = copied_episodes(baseline, candidate);
  const SameText same = same_text(baseline, candidate);
  if (copied == 0 && is_copied_whole(same))
    return Warning{"same_episodes",
                   "The candidate holds episodes of the baseline: duration and messages of " +
                       of_its_episodes(same.episodes, same.of) +
                       " are the same, under other ids, so there nothing of another model is "
                       "compared.",
                   "", same.episodes};
  if (copied > 0)
    return Warning{
        "same_episodes",
        "The candidate holds episodes of the baseline: id, seed, duration and messages of " +
            of_its_episodes(copied, static_cast<long>(candidate.episodes.size())) +
            " are the same, so there nothing of another model is compared.",
        "", copied};
  if (!same.is_one_run() || same.timed_apart > 0) return std::nullopt;
  std::string too;
  if (same.ids) too = same.costs ? " (ids and costs too)" : " (ids too)";
  if (!same.ids && same.costs) too = " (costs too)";
  return Warning{
      "same_text",
      "The candidate says and calls the same as the baseline, letter for letter, in " +
          of_its_episodes(same.episodes, same.of) + too +
          ", and no durations tell the runs apart: it is a copy of the baseline's log, or both "
          "arms were the same deterministic agent. Either way no damage can show here.",
      "", same.episodes};
}

std::optional<Warning> rerun_warning(const std::string& which, const Arm& first, const Arm& rerun) {
  const long copied = copied_episodes(first, rerun);
  const SameText same = same_text(first, rerun);
  if (copied == 0 && !same.is_one_run()) return std::nullopt;
  const std::string repeats = "The rerun of the " + which + " repeats it letter for letter in ";
  if (copied > 0)
    return Warning{"rerun_repeats",
                   repeats + of_its_episodes(copied, static_cast<long>(rerun.episodes.size())) +
                       ", durations too: it holds a copy of the log and shows nothing of chance, "
                       "so no noise floor is told.",
                   "", copied};
  return Warning{"rerun_repeats",
                 repeats + of_its_episodes(same.episodes, same.of) +
                     ": it is a copy of the log, or the agent is deterministic. Either way it "
                     "shows nothing of chance, so no noise floor is told.",
                 "", same.episodes};
}

}  // namespace unmask
