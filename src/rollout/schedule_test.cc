#include "rollout/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/rng.h"
#include "rollout/episode_key.h"
#include "rollout/runner.h"

namespace unmask {
namespace {

// How many jobs use each endpoint, now and at most.
class Meter {
 public:
  explicit Meter(std::size_t endpoints) : now_(endpoints), most_(endpoints) {}

  void enter(const Job& job) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const std::size_t endpoint : job.endpoints)
      most_[endpoint] = std::max(most_[endpoint], ++now_[endpoint]);
    most_together_ = std::max(most_together_, ++together_);
  }
  void leave(const Job& job) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const std::size_t endpoint : job.endpoints) --now_[endpoint];
    --together_;
  }
  int most(std::size_t endpoint) const { return most_[endpoint]; }
  int most_together() const { return most_together_; }

 private:
  std::mutex mutex_;
  std::vector<int> now_;
  std::vector<int> most_;
  int together_ = 0;
  int most_together_ = 0;
};

std::vector<Job> jobs_on(std::size_t count, std::size_t endpoints) {
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < count; ++i) {
    Job job{{i % endpoints}};
    if (i % 3 == 0 && endpoints > 1) job.endpoints.push_back((i + 1) % endpoints);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

void pause() {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(Schedule, RunsEachJobOnceWithinEveryLimit) {
  const std::vector<Job> jobs = jobs_on(200, 3);
  const ScheduleLimits limits{{4, 2, 7}, 9};
  Meter meter(3);
  std::vector<std::atomic<int>> runs(jobs.size());
  const ScheduleEnd end = run_schedule(jobs, limits, {}, [&](std::size_t i) -> Result<Done> {
    meter.enter(jobs[i]);
    pause();
    meter.leave(jobs[i]);
    ++runs[i];
    return Done{};
  });
  EXPECT_EQ(end.done, jobs.size());
  EXPECT_FALSE(end.stopped);
  for (const std::atomic<int>& count : runs) EXPECT_EQ(count, 1);
  for (std::size_t i = 0; i < limits.endpoints.size(); ++i)
    EXPECT_LE(meter.most(i), limits.endpoints[i]);
  EXPECT_LE(meter.most_together(), limits.total);
  EXPECT_GT(meter.most_together(), 4) << "jobs hardly ran at once";
}

TEST(Schedule, LetsABusyEndpointHoldUpOnlyItsOwnJobs) {
  // Endpoint 0's jobs wait for the last of endpoint 1's, which come after them.
  std::vector<Job> jobs(5, Job{{0}});
  jobs.resize(10, Job{{1}});
  std::atomic<int> left{5};
  const ScheduleEnd end = run_schedule(jobs, {{1, 1}, 0}, {}, [&](std::size_t i) -> Result<Done> {
    if (i >= 5) --left;
    while (i < 5 && left > 0) pause();
    return Done{};
  });
  EXPECT_EQ(end.done, 10u);
}

TEST(Schedule, BeginsInOrderWhereOneRunsAtATime) {
  const std::vector<Job> jobs = jobs_on(20, 2);
  std::vector<std::size_t> order;
  (void)run_schedule(jobs, {{1, 1}, 1}, {}, [&](std::size_t i) -> Result<Done> {
    order.push_back(i);
    return Done{};
  });
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.size(), jobs.size());
}

TEST(Schedule, FinishesWhatHasBegunAfterAStop) {
  const std::vector<Job> jobs = jobs_on(100, 1);
  std::stop_source stop;
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  const ScheduleEnd end = run_schedule(jobs, {{4}, 0}, stop.get_token(), [&](std::size_t) {
    if (++begun == 8) stop.request_stop();
    pause();
    ++ended;
    return Result<Done>(Done{});
  });
  EXPECT_TRUE(end.stopped);
  EXPECT_EQ(begun, ended);
  EXPECT_EQ(end.done, static_cast<std::size_t>(ended));
  EXPECT_LT(begun, 20);
}

TEST(Schedule, BeginsNothingMoreAfterAnError) {
  const std::vector<Job> jobs = jobs_on(100, 1);
  std::atomic<int> begun{0};
  const ScheduleEnd end = run_schedule(jobs, {{2}, 0}, {}, [&](std::size_t i) -> Result<Done> {
    ++begun;
    if (i == 5) return Error{ErrorKind::Unavailable, "no more", ""};
    pause();
    return Done{};
  });
  ASSERT_TRUE(end.error);
  EXPECT_EQ(end.error->message, "no more");
  EXPECT_FALSE(end.stopped);
  EXPECT_LT(begun, 20);
}

TEST(Schedule, PassesAnExceptionOn) {
  EXPECT_THROW(
      (void)run_schedule(jobs_on(10, 1), {{2}, 0}, {},
                         [](std::size_t) -> Result<Done> { throw std::runtime_error("a bug"); }),
      std::runtime_error);
}

TEST(Schedule, HasNothingToDoWithoutJobs) {
  const ScheduleEnd end =
      run_schedule({}, {{1}, 0}, {}, [](std::size_t) { return Result<Done>(Done{}); });
  EXPECT_EQ(end.done, 0u);
  EXPECT_FALSE(end.stopped);
  EXPECT_FALSE(end.error);
}

TEST(EpisodeSeed, IsAFunctionOfItsArgumentsAlone) {
  EXPECT_EQ(episode_seed(300, "retail", "12", 0), episode_seed(300, "retail", "12", 0));
  std::set<std::int64_t> seeds;
  for (const std::string domain : {"retail", "telecom"})
    for (int task = 0; task < 50; ++task)
      for (int trial = 0; trial < 4; ++trial)
        for (const std::uint64_t plan : {300, 301}) {
          const std::int64_t seed = episode_seed(plan, domain, std::to_string(task), trial);
          EXPECT_GE(seed, 0);
          EXPECT_LT(seed, std::int64_t{1} << 31);
          seeds.insert(seed);
        }
  EXPECT_EQ(seeds.size(), 800u);
  // "1" of "a1" and "11" of "a": the parts do not run into each other.
  EXPECT_NE(episode_seed(1, "a1", "1", 0), episode_seed(1, "a", "11", 0));
  // A log of today must be matched by the program of tomorrow.
  EXPECT_EQ(episode_seed(300, "mock", "one", 0), 1980651419);
}

RunPlan plan_of_arms(int trials) {
  RunPlan plan;
  plan.trials = trials;
  for (const char* label : {"BF16", "INT4"}) {
    plan.arms.emplace_back();
    plan.arms.back().label = label;
  }
  return plan;
}

TEST(PlannedEpisodes, AreSharedOutByShardsWithoutLossOrOverlap) {
  const RunPlan plan = plan_of_arms(3);
  Stages stages;
  for (int i = 0; i < 7; ++i) {
    Task task;
    task.id = std::to_string(i);
    stages["mock"].tasks.push_back(std::move(task));
  }
  std::set<EpisodeKey> all;
  for (const PlannedEpisode& episode : planned_episodes(plan, stages, {})) all.insert(episode.key);
  EXPECT_EQ(all.size(), 42u);
  for (const int count : {2, 4, 5, 100}) {
    std::set<EpisodeKey> together;
    std::size_t played = 0;
    for (int index = 1; index <= count; ++index) {
      std::map<EpisodeKey, int> arms;  // by the key without its arm
      for (const PlannedEpisode& episode : planned_episodes(plan, stages, {index, count})) {
        ++played;
        together.insert(episode.key);
        EpisodeKey pair = episode.key;
        pair.arm.clear();
        ++arms[pair];
      }
      for (const auto& [key, present] : arms) EXPECT_EQ(present, 2) << "arms of a pair are apart";
    }
    EXPECT_EQ(played, all.size());
    EXPECT_EQ(together, all);
  }
}

EnvironmentVariable variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> const char* {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : found->second.c_str();
  };
}

TEST(ParseShard, ReadsIndexAndCount) {
  EXPECT_EQ(*parse_shard("2/4", variables({})), (Shard{2, 4}));
  for (const char* wrong : {"0/4", "5/4", "4", "", "/", "a/4", "1/0", "1/4x", "-1/4", "auto/x"})
    EXPECT_FALSE(parse_shard(wrong, variables({}))) << wrong;
}

TEST(ParseShard, ReadsTheNumberingOfSlurmAndKubernetes) {
  EXPECT_EQ(*parse_shard("auto", variables({{"SLURM_ARRAY_TASK_ID", "12"},
                                            {"SLURM_ARRAY_TASK_MIN", "10"},
                                            {"SLURM_ARRAY_TASK_STEP", "2"},
                                            {"SLURM_ARRAY_TASK_COUNT", "3"}})),
            (Shard{2, 3}));
  EXPECT_EQ(*parse_shard("auto/8", variables({{"JOB_COMPLETION_INDEX", "0"}})), (Shard{1, 8}));
  EXPECT_FALSE(parse_shard("auto", variables({{"JOB_COMPLETION_INDEX", "0"}})));
  EXPECT_FALSE(parse_shard("auto/8", variables({{"JOB_COMPLETION_INDEX", "8"}})));
  EXPECT_FALSE(parse_shard("auto", variables({})));
}

}  // namespace
}  // namespace unmask
