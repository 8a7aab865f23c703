// Does the test of amplification along the episode keep its level where amplification is the same
// everywhere, and find one that grows? Tasks are Beta distributed, the baseline's rate may itself
// rise along the episode, and one row goes through the whole instrument (plant -> log -> audit),
// where the budget cuts episodes short. Fails outside 2.5-8 % false alarms or below 50 % power.
//
//   position_calibration DRAWS
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <vector>

#include "base/parallel.h"
#include "base/rng.h"
#include "compare/arms_for_tests.h"
#include "compare/channel_comparison.h"
#include "planted_cells.h"
#include "stats/distribution.h"

namespace {

using namespace unmask;
using namespace unmask::calibration;

struct Setting {
  std::string name;
  int tasks = 114;
  std::array<double, kQuarters> baseline{};   // factor on the task's propensity, by quarter
  std::array<double, kQuarters> candidate{};  // A, by quarter
  bool alarm = true;                          // whether finding a trend is a false alarm
};

// A task's propensity: Beta of mean 0.08, correlation 0.2. Half of it is the arm's own.
double propensity(Rng& task, Rng& own) {
  const auto draw = [](Rng& rng) { return beta_quantile(rng.uniform(), 0.08 * 4, 0.92 * 4); };
  return 0.5 * draw(task) + 0.5 * draw(own);
}

Arm drawn(const Setting& setting, bool candidate, std::uint64_t seed) {
  Rng tasks(seed, "tasks");
  Rng own(seed, candidate ? "candidate" : "baseline");
  std::vector<EpisodeFacts> episodes;
  for (int t = 0; t < setting.tasks; ++t) {
    const double p = propensity(tasks, own);
    for (int trial = 0; trial < 4; ++trial) {
      const int calls = 4 + static_cast<int>(own.below(12));
      EpisodeFacts facts = for_tests::episode(std::to_string(t), trial, true, calls);
      for (int i = 0; i < calls; ++i) {
        const auto q = static_cast<std::size_t>(kQuarters * i / calls);
        const double rate = p * setting.baseline[q] * (candidate ? setting.candidate[q] : 1);
        ++facts.quarter_calls[q];
        if (own.bernoulli(std::min(rate, 0.95)))
          ++facts.quarter_failures[q][static_cast<std::size_t>(Channel::ToolName)];
      }
      episodes.push_back(std::move(facts));
    }
  }
  return for_tests::arm(std::move(episodes));
}

// The share of draws with a trend at 5 %; nullopt draws count as none.
double found(int draws, const std::function<std::optional<double>(std::uint64_t)>& p_of) {
  std::vector<char> hits(static_cast<std::size_t>(draws));
  parallel_for(hits.size(), 0, [&](std::size_t i) {
    const std::optional<double> p = p_of(i);
    hits[i] = p && *p < 0.05 ? 1 : 0;
  });
  double sum = 0;
  for (const char hit : hits) sum += hit;
  return sum / draws;
}

std::optional<double> p_of_trend(const std::map<Channel, PositionTrend>& trends) {
  const auto trend = trends.find(Channel::ToolName);
  return trend == trends.end() ? std::nullopt : std::optional<double>(trend->second.p);
}

bool report(const std::string& name, int draws, double share, bool alarm) {
  const double error = std::sqrt(std::max(share * (1 - share), 0.05 * 0.95) / draws);
  const bool kept = alarm ? share >= 0.025 - 2 * error && share <= 0.08 + 2 * error : share >= 0.5;
  fmt::print("| {} | {} | {:.1f} ± {:.1f} | {} |\n", name, draws, 100 * share, 100 * error,
             kept ? "yes" : "NO");
  std::fflush(stdout);
  return kept;
}

}  // namespace

int main(int argc, char** argv) {
  const int draws = argc > 1 ? std::atoi(argv[1]) : 1000;
  if (draws < 20) {
    fmt::print(stderr, "usage: position_calibration DRAWS\n");
    return 2;
  }
  const std::vector<Setting> settings = {
      {"A = 1 everywhere", 114, {1, 1, 1, 1}, {1, 1, 1, 1}, true},
      {"A = 2 everywhere", 114, {1, 1, 1, 1}, {2, 2, 2, 2}, true},
      {"A = 2, baseline rate doubling along the episode",
       114,
       {.7, .9, 1.1, 1.4},
       {2, 2, 2, 2},
       true},
      {"A = 2, 40 tasks", 40, {1, 1, 1, 1}, {2, 2, 2, 2}, true},
      {"A from 1 to 1.5", 114, {1, 1, 1, 1}, {1, 1.15, 1.3, 1.5}, false},
  };
  fmt::print(
      "| amplification | draws | trend found at 5 %, % | as promised |\n|---|---|---|---|\n");
  bool kept = true;
  for (const Setting& setting : settings) {
    const double share = found(draws, [&](std::uint64_t i) {
      const Result<PairedArms> arms =
          pair_tasks(drawn(setting, false, i + 1), drawn(setting, true, i + 1));
      return p_of_trend(position_trends(*arms));
    });
    kept = report(setting.name, draws, share, setting.alarm) && kept;
  }
  PlantOptions damaged = preset_damaged();
  const Planter planter = planter_of(damaged);
  const double share = found(draws / 4, [&](std::uint64_t i) {
    return p_of_trend(compare_planted(planter, 5000 + i).position_trends);
  });
  kept = report("planted damaged cell, budget of 10 in force", draws / 4, share, true) && kept;
  return kept ? 0 : 1;
}
