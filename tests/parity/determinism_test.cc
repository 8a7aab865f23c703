// The same task gives the same databases whichever thread plays it, and however many play at once.
#include <gtest/gtest.h>

#include "base/parallel.h"
#include "environment/environment.h"
#include "parity.h"

namespace unmask::parity {
namespace {

// The databases after the task's golden actions, or what kept it from beginning.
std::string played(const std::shared_ptr<const Domain>& domain, const Task& task) {
  Result<Environment> world = Environment::start(domain);
  if (!world) return to_string(world.error());
  const InitialState initial = task.initial_state.value_or(InitialState{});
  const Result<std::vector<ReplayMessage>> history = replay_messages(initial.message_history);
  if (!history) return to_string(history.error());
  const Result<Done> set = world->set_state(initial, *history);
  if (!set) return to_string(set.error());
  std::string out;
  if (task.criteria && task.criteria->actions)
    for (const GoldenAction& action : *task.criteria->actions)
      out += world->respond({action.id, action.name, action.arguments, action.side}).content;
  return out + world->agent_hash() + world->user_hash().value_or("");
}

class Determinism : public testing::TestWithParam<const char*> {};

TEST_P(Determinism, EightThreadsPlayEveryTaskAlike) {
  constexpr int kThreads = 8;
  const LoadedDomain* domain = loaded(GetParam());
  if (!domain) GTEST_SKIP() << "no data at " << data_folder_path();
  const std::size_t tasks = domain->tasks.size();
  std::vector<std::string> alone(tasks);
  for (std::size_t i = 0; i < tasks; ++i) alone[i] = played(domain->domain, domain->tasks[i]);
  std::vector<std::string> together(tasks * kThreads);
  parallel_for(together.size(), kThreads, [&](std::size_t i) {
    together[i] = played(domain->domain, domain->tasks[i / kThreads]);
  });
  for (std::size_t i = 0; i < together.size(); ++i)
    EXPECT_EQ(together[i], alone[i / kThreads]) << domain->tasks[i / kThreads].id;
  EXPECT_GT(tasks, 0u);
}

INSTANTIATE_TEST_SUITE_P(Domains, Determinism,
                         testing::Values("mock", "retail", "telecom", "airline"),
                         [](const testing::TestParamInfo<const char*>& each) {
                           return std::string(each.param);
                         });

}  // namespace
}  // namespace unmask::parity
