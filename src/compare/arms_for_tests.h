// Arms made by hand for the tests of `compare` and `verdict`: facts of episodes without any log.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "compare/comparison.h"
#include "metrics/arm.h"

namespace unmask::for_tests {

inline FailedCall failed(Channel channel, std::string name, int position = 0,
                         SubKind kind = SubKind::None) {
  FailedCall call;
  call.channel = channel;
  call.kind = kind;
  call.name = std::move(name);
  call.position = position;
  call.in_budget = kind != SubKind::LeakedMarkup;
  return call;
}

// An episode of `calls` agent calls of which `failures` failed; E counts those in the budget.
inline EpisodeFacts episode(std::string task, int trial, std::optional<bool> success, int calls,
                            std::vector<FailedCall> failures = {}) {
  EpisodeFacts facts;
  facts.domain = "telecom";
  facts.task_id = std::move(task);
  facts.trial = trial;
  facts.termination = Termination::UserStop;
  facts.success = success;
  facts.tool_evidence = ToolEvidence::Domain;
  facts.agent_calls = calls;
  for (int i = 0; i < calls; ++i) ++facts.position_calls[static_cast<std::size_t>(position_bin(i))];
  for (const FailedCall& call : failures) {
    const std::size_t channel = static_cast<std::size_t>(call.channel);
    if (call.in_budget) ++facts.errors_all;
    if (call.in_budget && call.side == Side::Agent) ++facts.errors_agent;
    if (call.side == Side::User) continue;
    ++facts.agent_channel[channel];
    ++facts.position_failures[static_cast<std::size_t>(position_bin(call.position))][channel];
  }
  facts.agent_channel[0] = calls - static_cast<int>(failures.size());
  facts.failures = std::move(failures);
  facts.trajectory_hash = Rng::hash(facts.task_id) * 31 + static_cast<std::uint64_t>(trial) + 1;
  facts.seed = 1000 + trial;
  return facts;
}

inline Arm arm(std::vector<EpisodeFacts> episodes, std::optional<int> max_errors = 10,
               std::string label = "BF16") {
  RunInfo info;
  info.format = "tau2";
  info.domain = "telecom";
  info.max_errors = max_errors;
  return make_arm(std::move(label), {"log.json"}, info, std::move(episodes));
}

// What a random arm is like. Failures are tool names unless stated, at most `max_errors` an
// episode.
struct Habits {
  int tasks = 40;
  int trials = 4;
  int calls = 10;          // an episode
  double tool_name = 0.1;  // per call
  double rejected = 0.0;   // per call
  double success = 0.7;    // of an episode within no more than `patience` failures
  int patience = 10;       // with more failures than this an episode never succeeds
  int names = 8;
  std::uint64_t seed = 1;
  std::uint64_t task_seed = 1;  // same: the same tasks, as easy or hard in every arm
};

inline Arm random_arm(const Habits& habits, std::string label = "BF16") {
  constexpr int kBudget = 10;
  Rng rng(habits.seed, "episodes");
  Rng task_rng(habits.task_seed, "tasks");
  std::vector<EpisodeFacts> episodes;
  for (int t = 0; t < habits.tasks; ++t) {
    const double ease = 0.4 + 1.2 * task_rng.uniform();  // tasks differ
    for (int j = 0; j < habits.trials; ++j) {
      std::vector<FailedCall> failures;
      for (int i = 0; i < habits.calls && static_cast<int>(failures.size()) < kBudget; ++i) {
        const double u = rng.uniform();
        if (u < habits.tool_name * ease) {
          const std::uint32_t n = rng.below(static_cast<std::uint32_t>(habits.names));
          failures.push_back(
              failed(Channel::ToolName, "name_" + std::to_string(n), i, SubKind::Invented));
        } else if (u < (habits.tool_name + habits.rejected) * ease) {
          failures.push_back(failed(Channel::Rejected, "refund", i));
        }
        if (!failures.empty() && failures.back().position == i && rng.bernoulli(0.5))
          failures.back().recovery = FailedCall::Recovery::Recovered;
      }
      const bool success = static_cast<int>(failures.size()) <= habits.patience &&
                           static_cast<int>(failures.size()) < kBudget &&
                           rng.bernoulli(std::min(1.0, habits.success * (1.6 - 0.6 * ease)));
      episodes.push_back(episode(std::to_string(t), j, success, habits.calls, failures));
    }
  }
  return arm(std::move(episodes), kBudget, std::move(label));
}

inline CompareOptions few_resamples() {
  CompareOptions options;
  options.resamples = 500;
  options.threads = 1;
  return options;
}

inline CellComparison compared(const Arm& baseline, const Arm& candidate,
                               const CompareOptions& options = few_resamples()) {
  const Result<CellComparison> cell = compare_arms(baseline, candidate, options);
  EXPECT_TRUE(cell.has_value()) << (cell ? "" : cell.error().message);
  return *cell;
}

inline bool warned(const std::vector<Warning>& warnings, const std::string& code) {
  return std::any_of(warnings.begin(), warnings.end(),
                     [&](const Warning& w) { return w.code == code; });
}

}  // namespace unmask::for_tests
