// Three families over the comparisons of one audit (METHOD 10), each with Holm's correction: Delta,
// U, and channel tests. Then, and only then, `amplified` is decided.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compare/channel_comparison.h"
#include "stats/multiplicity.h"

namespace unmask {
namespace {

constexpr double kAlpha = 0.05;

std::optional<double> p_of(const std::optional<MeanTest>& test) {
  if (!test) return std::nullopt;
  return test->p;
}

// One p value's place in a cell, and where its adjusted value goes.
struct Member {
  std::optional<double> p;
  std::optional<double>* adjusted;
};

void adjust(const std::vector<Member>& family) {
  std::vector<std::optional<double>> p;
  for (const Member& member : family) p.push_back(member.p);
  const std::vector<std::optional<double>> adjusted = holm(p);
  for (std::size_t i = 0; i < family.size(); ++i) *family[i].adjusted = adjusted[i];
}

void decide_amplified(ChannelComparison& channel) {
  channel.amplified = false;
  channel.is_new = false;
  if (!channel.p_holm || *channel.p_holm >= kAlpha) return;
  const bool enough = large_enough_to_amplify(channel);
  channel.amplified = enough;
  channel.is_new = enough && channel.no_propensity;
}

}  // namespace

bool large_enough_to_amplify(const ChannelComparison& channel) {
  if (!channel.difference || *channel.difference < kLeastAmplifiedDifference) return false;
  if (channel.weighed_difference && *channel.weighed_difference < kLeastAmplifiedDifference)
    return false;
  if (channel.weighed_amplification && *channel.weighed_amplification < kLeastAmplification)
    return false;
  return channel.no_propensity || *channel.candidate >= kLeastAmplification * *channel.baseline;
}

void apply_multiplicity(std::vector<CellComparison>& cells) {
  std::vector<Member> delta;
  std::vector<Member> unmasked;
  std::vector<Member> agent_only;
  std::vector<Member> all_sides;
  std::vector<Member> channels;
  for (CellComparison& cell : cells) {
    BudgetComparison& budget = cell.budget;
    delta.push_back({p_of(cell.outcome.delta), &cell.outcome.p_holm});
    unmasked.push_back({p_of(budget.unmasked.test), &budget.unmasked.p_holm});
    agent_only.push_back({p_of(budget.agent_only.test), &budget.agent_only.p_holm});
    all_sides.push_back({p_of(budget.all_sides.test), &budget.all_sides.p_holm});
    for (auto& [name, channel] : cell.channels) channels.push_back({channel.p, &channel.p_holm});
  }
  adjust(delta);
  adjust(unmasked);
  adjust(agent_only);
  adjust(all_sides);
  adjust(channels);
  for (CellComparison& cell : cells) {
    for (auto& [name, channel] : cell.channels) decide_amplified(channel);
  }
}

std::optional<Warning> resamples_warning(std::span<const CellComparison* const> cells,
                                         int resamples) {
  std::int64_t tests = 0;
  for (const CellComparison* cell : cells)
    tests += std::count_if(cell->channels.begin(), cell->channels.end(),
                           [](const auto& named) { return named.second.p.has_value(); });
  const auto family = static_cast<double>(tests);
  if (family / (resamples + 1.0) < kAlpha) return std::nullopt;
  return Warning{
      "resamples_too_few",
      fmt::format("no channel can be called amplified: {} permutations give no p below 1 / {}, and "
                  "Holm's correction over the audit's {} channel tests asks less than {:g} / {} of "
                  "the smallest; --bootstrap {:.0f} or more would do",
                  resamples, resamples + 1, tests, kAlpha, tests, std::ceil(family / kAlpha)),
      "", 1};
}

}  // namespace unmask
