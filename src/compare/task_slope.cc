// Does amplification hit the tasks that already failed, or all alike? The naive regression of
// (candidate - baseline) on baseline has the baseline's noise on both sides with opposite signs,
// which alone makes a slope of about -0.25 at four trials. Splitting the trials removes it.

#include <array>
#include <cmath>
#include <map>
#include <span>

#include "compare/channel_comparison.h"
#include "stats/distribution.h"
#include "stats/slope.h"

namespace unmask {
namespace {

struct HalfRates {
  std::array<double, 2> failures{};
  std::array<double, 2> calls{};

  bool defined() const { return calls[0] > 0 && calls[1] > 0; }
  double rate(std::size_t half) const { return failures[half] / calls[half]; }
};

// (task) -> tool_name failures and calls in the even and the odd trials.
std::vector<HalfRates> rates_by_half(const Arm& arm) {
  std::map<int, std::size_t> rank;
  for (const EpisodeFacts& episode : arm.episodes) rank.emplace(episode.trial, 0);
  std::size_t next = 0;
  for (auto& [trial, r] : rank) r = next++;
  std::vector<HalfRates> rates(arm.tasks.size());
  for (std::size_t t = 0; t < arm.tasks.size(); ++t) {
    for (std::size_t e = arm.tasks[t].begin; e < arm.tasks[t].end; ++e) {
      const EpisodeFacts& episode = arm.episodes[e];
      if (episode.excluded) continue;
      const std::size_t half = rank[episode.trial] % 2;
      rates[t].failures[half] += episode.agent_channel[static_cast<std::size_t>(Channel::ToolName)];
      rates[t].calls[half] += episode.agent_calls;
    }
  }
  return rates;
}

struct Points {
  std::array<std::vector<double>, 2> rate;      // (half): baseline rate in this half
  std::array<std::vector<double>, 2> increase;  // (half): candidate - baseline in the other half
};

std::optional<double> mean_slope(const Points& points) {
  double total = 0;
  for (std::size_t half = 0; half < 2; ++half) {
    const Result<Slope> line = ols_slope(points.rate[half], points.increase[half]);
    if (!line) return std::nullopt;
    total += line->slope;
  }
  return total / 2;
}

Points without(const Points& points, std::size_t left_out) {
  Points fewer = points;
  for (std::size_t half = 0; half < 2; ++half) {
    const auto at = static_cast<std::ptrdiff_t>(left_out);
    fewer.rate[half].erase(fewer.rate[half].begin() + at);
    fewer.increase[half].erase(fewer.increase[half].begin() + at);
  }
  return fewer;
}

std::optional<double> jackknife_error(const Points& points) {
  const std::size_t n = points.rate[0].size();
  std::vector<double> left_out;
  double mean = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::optional<double> value = mean_slope(without(points, i));
    if (!value) return std::nullopt;
    left_out.push_back(*value);
    mean += *value / static_cast<double>(n);
  }
  double squares = 0;
  for (const double value : left_out) squares += (value - mean) * (value - mean);
  const double se = std::sqrt(squares * static_cast<double>(n - 1) / static_cast<double>(n));
  if (!(se > 0)) return std::nullopt;
  return se;
}

}  // namespace

TaskSlope task_slope(const PairedArms& arms, bool baseline_trials_are_copies) {
  TaskSlope out;
  if (baseline_trials_are_copies) return out;
  const std::vector<HalfRates> b = rates_by_half(arms.baseline);
  const std::vector<HalfRates> c = rates_by_half(arms.candidate);
  Points points;
  for (std::size_t t = 0; t < b.size(); ++t) {
    if (!b[t].defined() || !c[t].defined()) continue;
    for (std::size_t half = 0; half < 2; ++half) {
      const std::size_t other = 1 - half;
      points.rate[half].push_back(b[t].rate(half));
      points.increase[half].push_back(c[t].rate(other) - b[t].rate(other));
    }
  }
  out.slope = mean_slope(points);
  if (!out.slope) return out;
  const std::optional<double> se = jackknife_error(points);
  const double df = static_cast<double>(points.rate[0].size()) - 2;
  if (!se || !(df > 0)) return out;
  const double reach = t_quantile(0.975, df) * *se;
  out.ci95 = Interval{*out.slope - reach, *out.slope + reach};
  out.p = two_sided_t_p(*out.slope / *se, df);
  return out;
}

}  // namespace unmask
