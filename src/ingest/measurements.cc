#include "ingest/measurements.h"

#include <fmt/format.h>

#include <cmath>

#include "base/units.h"

namespace unmask {

void Measurements::check(std::size_t index, Episode& episode) {
  take_out(index, episode, "duration", episode.duration_seconds);
  take_out(index, episode, "cost", episode.agent_cost_usd);
}

void Measurements::take_out(std::size_t index, const Episode& episode, const char* what,
                            std::optional<double>& value) {
  if (!value || (std::isfinite(*value) && *value >= 0)) return;
  const std::string sample = fmt::format("a {} of {:g}", what, *value);
  value.reset();
  const std::lock_guard lock(mutex_);
  if (count_ == 0 || index < first_) {
    first_ = index;
    sample_ = sample;
    where_ = episode.where.empty() ? "task " + episode.task_id : episode.where;
  }
  ++count_;
}

std::optional<Warning> Measurements::warning() const {
  if (count_ == 0) return std::nullopt;
  return Warning{"not_a_measurement",
                 fmt::format("{} of the log, the first {}, cannot have been measured (negative or "
                             "not finite) and {} treated as not given",
                             count_ == 1 ? std::string("one duration or cost")
                                         : count_text(count_) + " durations or costs",
                             sample_, count_ == 1 ? "is" : "are"),
                 where_, count_};
}

}  // namespace unmask
