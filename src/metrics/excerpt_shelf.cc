#include "metrics/excerpt_shelf.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "metrics/arm.h"

namespace unmask {
namespace {

bool same_task(const Excerpt& a, const Excerpt& b) {
  return a.channel == b.channel && a.domain == b.domain && a.task == b.task;
}

bool before(const Excerpt& a, const Excerpt& b) {
  if (a.channel != b.channel) return a.channel < b.channel;
  if (a.domain != b.domain) return a.domain < b.domain;
  if (a.task != b.task) return comes_before(a.task, b.task);
  return std::tie(a.trial, a.position, a.message, a.where) <
         std::tie(b.trial, b.position, b.message, b.where);
}

// Everything of an excerpt but its texts, to decide whether they are worth copying.
Excerpt place_of(const Episode& episode, const std::string& domain, const ClassifiedCall& call) {
  Excerpt place;
  place.domain = domain;
  place.task = episode.task_id;
  place.trial = episode.trial;
  place.where = episode.where;
  place.channel = call.channel;
  place.message = call.message;
  place.position = call.position;
  return place;
}

}  // namespace

bool ExcerptShelf::belongs(const Excerpt& place) const {
  std::size_t earlier = 0;
  for (const Excerpt& kept : kept_) {
    if (kept.channel != place.channel) continue;
    if (!before(place, kept)) {
      if (same_task(kept, place)) return false;
      ++earlier;
    }
  }
  return earlier < per_channel_;
}

void ExcerptShelf::keep(Excerpt excerpt) {
  std::erase_if(kept_, [&](const Excerpt& kept) { return same_task(kept, excerpt); });
  const Channel channel = excerpt.channel;
  kept_.insert(std::upper_bound(kept_.begin(), kept_.end(), excerpt, before), std::move(excerpt));
  std::size_t seen = 0;
  std::erase_if(
      kept_, [&](const Excerpt& kept) { return kept.channel == channel && ++seen > per_channel_; });
}

void ExcerptShelf::take(const Episode& episode, const std::string& domain,
                        const ClassifiedEpisode& classified) {
  if (ended_in_infrastructure_error(episode)) return;
  std::set<Channel> taken;
  for (const ClassifiedCall& call : classified.calls) {
    if (call.side != Side::Agent || !is_failure(call.channel)) continue;
    // Later calls of the episode come after this one.
    if (!taken.insert(call.channel).second) continue;
    if (!belongs(place_of(episode, domain, call))) continue;
    Excerpt excerpt = excerpt_of(episode, call);
    excerpt.domain = domain;
    keep(std::move(excerpt));
  }
}

void ExcerptShelf::take(std::vector<Excerpt> excerpts) {
  for (Excerpt& excerpt : excerpts)
    if (belongs(excerpt)) keep(std::move(excerpt));
}

std::vector<Excerpt> ExcerptShelf::take_all() {
  return std::move(kept_);
}

}  // namespace unmask
