// Every task of every domain, played from beginning to grade by the two who know its solution.
#include <gtest/gtest.h>

#include "parity.h"
#include "rollout/episode.h"
#include "rollout/reference.h"

namespace unmask::parity {
namespace {

// Grants every assertion: what is tested here is the world.
class Generous : public Judge {
 public:
  Result<std::vector<AssertionJudgement>> judge(std::span<const ReplayMessage>,
                                                std::span<const std::string> assertions) override {
    std::vector<AssertionJudgement> granted;
    for (const std::string& assertion : assertions) granted.push_back({assertion, true, ""});
    return granted;
  }
};

// Two of mock's tasks assert what none of their reference actions does.
bool asks_for_more_than_its_solution(const Task& task) {
  return task.id == "update_task_with_history_and_env_assertions" ||
         task.id == "update_task_with_user_tools";
}

class Reference : public testing::TestWithParam<const char*> {};

TEST_P(Reference, SolvesEveryTask) {
  const LoadedDomain* domain = loaded(GetParam());
  if (!domain) GTEST_SKIP() << "no data at " << data_folder_path();
  Generous judge;
  for (const Task& task : domain->tasks) {
    const auto plan = std::make_shared<ReferencePlan>(task);
    ReferenceAgent agent(plan);
    ReferenceUser user(plan, task.user_scenario);
    const Result<PlayedEpisode> played =
        play_episode(domain->domain, task, agent, &user, {}, &judge);
    ASSERT_TRUE(played) << task.id << ": " << to_string(played.error());
    EXPECT_EQ(played->episode.termination, Termination::UserStop) << task.id;
    EXPECT_EQ(played->failure, "") << task.id;
    EXPECT_EQ(played->episode.reward, asks_for_more_than_its_solution(task) ? 0.0 : 1.0) << task.id;
  }
}

INSTANTIATE_TEST_SUITE_P(Domains, Reference,
                         testing::Values("mock", "retail", "telecom", "airline"),
                         [](const testing::TestParamInfo<const char*>& each) {
                           return std::string(each.param);
                         });

}  // namespace
}  // namespace unmask::parity
