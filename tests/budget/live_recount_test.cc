// METHOD 3: runs stopped by max_errors = K + 1 must succeed exactly where the run under the usual
// budget succeeded with at most K failed calls. Both go the whole way: played, written, read back,
// classified, counted.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ostream>

#include "base/rng.h"
#include "environment/data_folder.h"
#include "environment/surface.h"
#include "failure/classify.h"
#include "ingest/ingest.h"
#include "metrics/arm.h"
#include "metrics/task_numbers.h"
#include "rollout/conversation.h"
#include "rollout/episode.h"
#include "rollout/repair.h"
#include "rollout/stochastic.h"
#include "trace/tau2_writer.h"

namespace unmask {
namespace {

constexpr int kUsualBudget = 10;

// Grants every assertion, so that what needs a judge is graded too.
class Generous : public Judge {
 public:
  Result<std::vector<AssertionJudgement>> judge(std::span<const ReplayMessage>,
                                                std::span<const std::string> assertions) override {
    std::vector<AssertionJudgement> granted;
    for (const std::string& assertion : assertions) granted.push_back({assertion, true, ""});
    return granted;
  }
};

struct Worlds {
  std::shared_ptr<const Domain> domain;
  std::vector<Task> tasks;
};

// nullopt: the data is not at hand.
std::optional<Worlds> worlds(const std::string& name) {
  const char* given = std::getenv("TAU2_DATA_DIR");
  const std::string folder = name == "mock" ? UNMASK_TEST_DATA "/environment/tau2"
                             : given        ? given
                                            : UNMASK_SHARED "/tau2/data";
  const Result<DataFolder> data = DataFolder::open(folder);
  if (!data) return std::nullopt;
  const DomainRow* row = find_domain(name);
  const Result<std::shared_ptr<const Domain>> domain = load_domain(*data, name);
  const Result<std::vector<Task>> tasks = load_tasks(*data, *row, row->default_split);
  if (!domain || !tasks) return std::nullopt;
  return Worlds{*domain, *tasks};
}

struct Scenario {
  std::string domain;
  int tasks = 0;  // at most
  int trials = 0;
  std::optional<RepairOptions> repair;
};

StochasticRates rates() {
  StochasticRates rates;
  rates.hallucinate = 0.3;
  rates.malformed = 0.1;
  rates.omit = 0.02;
  return rates;
}

void PrintTo(const Scenario& scenario, std::ostream* out) {
  *out << scenario.domain << ", " << scenario.tasks << " tasks, " << scenario.trials << " trials";
}

Episode played_episode(const Worlds& world, const Task& task, const Scenario& scenario, int trial,
                       int max_errors) {
  ScriptedPair pair = scripted_pair(task, rates());
  std::optional<RepairingAgent> repairing;
  if (scenario.repair)
    repairing.emplace(*pair.agent, offered_tools(own_surface(*world.domain).agent_tools),
                      *scenario.repair);
  Agent& agent = repairing ? static_cast<Agent&>(*repairing) : *pair.agent;
  TurnOptions options;
  options.max_errors = max_errors;
  options.seed = static_cast<std::int64_t>(Rng::hash(task.id) % 1000) * 100 + trial;
  Generous judge;
  Result<PlayedEpisode> played =
      play_episode(world.domain, task, agent, pair.user.get(), options, &judge);
  EXPECT_TRUE(played) << task.id << ": " << to_string(played.error());
  if (!played) return {};
  EXPECT_EQ(played->failure, "") << task.id;
  played->episode.id = task.id + "-" + std::to_string(trial);
  played->episode.trial = trial;
  return std::move(played->episode);
}

// The arm as an audit would see it: out of the written log.
Arm arm_of(const Worlds& world, const Scenario& scenario, int max_errors) {
  Run run;
  run.info.domain = scenario.domain;
  run.info.max_errors = max_errors;
  const std::size_t tasks = std::min(world.tasks.size(), static_cast<std::size_t>(scenario.tasks));
  for (std::size_t t = 0; t < tasks; ++t)
    for (int trial = 0; trial < scenario.trials; ++trial)
      run.episodes.push_back(played_episode(world, world.tasks[t], scenario, trial, max_errors));
  const Result<IngestReport> report = ingest_bytes(tau2_results(run), "run.json", {});
  EXPECT_TRUE(report) << to_string(report.error());
  EXPECT_TRUE(report->dropped.empty());
  const Classifier classifier(report->run.info, nullptr);
  std::vector<EpisodeFacts> facts;
  for (const Episode& episode : report->run.episodes)
    facts.push_back(episode_facts(episode, classifier.classify(episode)));
  return make_arm("", {}, report->run.info, std::move(facts));
}

long failures(const Arm& arm, Channel channel) {
  long count = 0;
  for (const EpisodeFacts& episode : arm.episodes)
    count += episode.agent_channel[static_cast<std::size_t>(channel)];
  return count;
}

void expect_reruns_to_agree(const Scenario& scenario) {
  const std::optional<Worlds> world = worlds(scenario.domain);
  if (!world) GTEST_SKIP() << "no data of " << scenario.domain;
  const Arm usual = arm_of(*world, scenario, kUsualBudget);
  EXPECT_GT(failures(usual, Channel::ToolName), 20);
  EXPECT_GT(failures(usual, Channel::Malformed), 0);
  std::vector<std::vector<std::optional<double>>> curve;
  for (int k = 0; k < kUsualBudget; ++k) {
    const Arm rerun = arm_of(*world, scenario, k + 1);
    curve.push_back(task_success_under_budget(usual, k, BudgetRule::AtMost, BudgetCount::All));
    EXPECT_EQ(curve.back(), task_success(rerun)) << "K = " << k;
    EXPECT_EQ(curve.back(),
              task_success_under_budget(usual, k + 1, BudgetRule::Live, BudgetCount::All));
  }
  EXPECT_EQ(curve.back(), task_success(usual)) << "the budget in force";
  EXPECT_NE(curve.front(), curve.back()) << "else nothing was tested";
}

class LiveRecount : public testing::TestWithParam<Scenario> {};
class RepairedRecount : public testing::TestWithParam<Scenario> {};

TEST_P(LiveRecount, EqualsARerunUnderEveryTighterBudget) {
  expect_reruns_to_agree(GetParam());
}

TEST_P(RepairedRecount, EqualsARerunUnderEveryTighterBudget) {
  expect_reruns_to_agree(GetParam());
}

TEST_P(RepairedRecount, KeepsRefusedCallsInTheRates) {
  const Scenario& scenario = GetParam();
  const std::optional<Worlds> world = worlds(scenario.domain);
  if (!world) GTEST_SKIP() << "no data of " << scenario.domain;
  const Arm repaired = arm_of(*world, scenario, kUsualBudget);
  RepairCounts counts;
  for (const EpisodeFacts& episode : repaired.episodes) {
    counts.refused += episode.repair.refused;
    counts.repaired += episode.repair.repaired;
    counts.unrepaired += episode.repair.unrepaired;
  }
  EXPECT_EQ(counts.refused, failures(repaired, Channel::ToolName));
  EXPECT_EQ(counts.refused, counts.repaired + counts.unrepaired) << "this agent never gives up";
  EXPECT_GT(counts.repaired, counts.unrepaired);
  EXPECT_GT(counts.unrepaired, 0);
}

RepairOptions spending() {
  RepairOptions options;
  options.attempts = 1;
  options.refusals_spend_budget = true;
  return options;
}

RepairOptions once() {
  RepairOptions options;
  options.attempts = 1;
  return options;
}

std::string name_of(const testing::TestParamInfo<Scenario>& each) {
  return each.param.domain + std::to_string(each.index);
}

INSTANTIATE_TEST_SUITE_P(Domains, LiveRecount,
                         testing::Values(Scenario{"mock", 10, 120, std::nullopt},
                                         Scenario{"retail", 40, 2, std::nullopt},
                                         Scenario{"telecom", 60, 3, std::nullopt}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(Domains, RepairedRecount,
                         testing::Values(Scenario{"mock", 10, 120, once()},
                                         Scenario{"mock", 10, 120, spending()},
                                         Scenario{"telecom", 40, 3, once()}),
                         name_of);

}  // namespace
}  // namespace unmask
