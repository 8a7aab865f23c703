#include "compare/power_simulation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stats/power.h"

namespace unmask {
namespace {

PowerOptions quick(int simulations = 1500) {
  PowerOptions options;
  options.simulations = simulations;
  options.threads = 2;
  return options;
}

// Tasks alike, arms unrelated: closed forms know these.
PowerModel plain() {
  PowerModel model;
  model.failure = {{0.05, 0}, {0.10, 0}, 0};
  model.success = {{0.65, 0}, {0.65, 0}, 0};
  model.masked = {{0.05, 0}, {0.12, 0}, 0};
  model.calls.task_spread = model.calls.episode_spread = 0;
  model.decisions = {0.2, 0.05, 0};
  return model;
}

PowerModel clustered(double pairing) {
  PowerModel model = plain();
  model.calls = CallHabits{};
  model.failure = {{0.05, 0.2}, {0.10, 0.2}, pairing};
  model.success = {{0.65, 0.4}, {0.65, 0.4}, pairing};
  model.masked = {{0.05, 0.2}, {0.15, 0.2}, pairing};
  model.decisions.correlation = 0.2;
  return model;
}

double power(const PowerModel& model, PowerGoal goal, Design design,
             const PowerOptions& options = quick()) {
  EXPECT_TRUE(check_model(model).has_value());
  return simulated_power(PowerDraw(model), goal, design, options).power;
}

constexpr double kThreeErrors = 3 * 0.0115;  // of a power of 0.73 from 1500 simulations

TEST(SimulatedPower, AgreesWithTheNoncentralTOfEquivalenceWithoutClusters) {
  const double sd = std::sqrt(2 * 0.65 * 0.35 / 4);
  for (const int tasks : {150, 220, 300})
    EXPECT_NEAR(power(plain(), PowerGoal::Equivalence, {tasks, 4}),
                power_of_equivalence(0, sd, 0.075, 0.05, tasks), kThreeErrors)
        << tasks;
}

TEST(SimulatedPower, AgreesWithTheNoncentralTOfTheUnmaskedGapWithoutClusters) {
  const double sd = std::sqrt((0.05 * 0.95 + 0.12 * 0.88) / 4);
  for (const int tasks : {50, 80, 114})
    EXPECT_NEAR(power(plain(), PowerGoal::UnmaskedGap, {tasks, 4}),
                power_to_detect(0.07, sd, 0.05, tasks), kThreeErrors)
        << tasks;
}

TEST(SimulatedPower, AgreesWithTwoProportionsOfIndependentCalls) {
  // The difference of two proportions of 200 x 7.3 calls; the permutation test is on the log ratio,
  // which at counts this large is the same test.
  PowerModel model = plain();
  model.failure.candidate.mean = 0.075;
  const double calls = 200 * 7.3;
  const double se = std::sqrt((0.05 * 0.95 + 0.075 * 0.925) / calls);
  const double z = 0.025 / se;
  const double expected = 0.5 * std::erfc(-(z - 1.96) / std::sqrt(2.0));
  // The size rule asks A >= 1.25 and 1 point of the estimate as well, both nearly certain here.
  EXPECT_NEAR(power(model, PowerGoal::Amplification, {200, 1}), expected, 0.05);
}

TEST(SimulatedPower, IsThePublishedValueOfAPairedT) {
  // Cohen (1988), as every table of the paired t has it: dz = 0.5, n = 34, two-sided 5 %: 0.81.
  // 20 decisions a task: dz = 0.05 / sqrt((0.2 - 0.05^2) / 20) = 0.503.
  EXPECT_NEAR(power(plain(), PowerGoal::Decisions, {34, 20}), 0.81, kThreeErrors);
}

TEST(SimulatedPower, GrowsWithTasksTrialsAndEffect) {
  const PowerModel model = clustered(0.8);
  for (const PowerGoal goal : kPowerGoals) {
    const PowerOptions few = quick(400);
    EXPECT_GT(power(model, goal, {120, 4}, few), power(model, goal, {30, 4}, few) + 0.05)
        << to_string(goal);
    EXPECT_GT(power(model, goal, {60, 8}, few), power(model, goal, {60, 1}, few) + 0.05)
        << to_string(goal);
  }
  PowerModel larger = model;
  larger.failure.candidate.mean = 0.13;
  larger.masked.candidate.mean = 0.2;
  larger.decisions.difference = 0.08;
  for (const PowerGoal goal :
       {PowerGoal::Amplification, PowerGoal::UnmaskedGap, PowerGoal::Decisions})
    EXPECT_GT(power(larger, goal, {30, 2}, quick(400)), power(model, goal, {30, 2}, quick(400)))
        << to_string(goal);
}

TEST(PowerDraw, CorrelatesThePropensitiesThemselvesByThePairing) {
  // Endless trials show the propensities: the variance of the difference is
  // v_b + v_c - 2 pairing sqrt(v_b v_c).
  for (const double pairing : {0.0, 0.3, 0.8, 0.95, 1.0}) {
    PowerModel model;
    model.success = {{0.65, 0.5}, {0.55, 0.5}, pairing};
    const double b = 0.5 * 0.65 * 0.35;
    const double c = 0.5 * 0.55 * 0.45;
    const double most = pairing < 1 ? pairing : 0.99;  // of two different distributions
    Rng rng(4);
    const std::vector<double> d = PowerDraw(model).success_differences(60000, kEndlessTrials, rng);
    double squares = 0;
    for (const double x : d) squares += (x + 0.1) * (x + 0.1) / 60000;
    EXPECT_NEAR(squares, b + c - 2 * most * std::sqrt(b * c), 0.004) << pairing;
  }
}

TEST(SimulatedPower, HasTheSizeOfItsTestWhereNothingIsToBeFound) {
  PowerModel model = clustered(0.8);
  model.masked.candidate = model.masked.baseline;
  model.decisions.difference = 0;
  EXPECT_NEAR(power(model, PowerGoal::UnmaskedGap, {60, 4}), 0.025, 0.013);  // one side of 5 %
  EXPECT_NEAR(power(model, PowerGoal::Decisions, {60, 10}), 0.025, 0.013);
  model.success.candidate.mean = 0.65 - 0.075;  // at the margin
  EXPECT_LE(power(model, PowerGoal::Equivalence, {200, 8}), 0.07);
}

TEST(SimulatedPower, IsTheSameAtAnyNumberOfThreads) {
  PowerOptions one = quick(60);
  one.threads = 1;
  PowerOptions four = one;
  four.threads = 4;
  for (const PowerGoal goal : kPowerGoals)
    EXPECT_EQ(power(clustered(0.8), goal, {40, 2}, one),
              power(clustered(0.8), goal, {40, 2}, four));
}

TEST(SimulatedPower, FallsWithTheNumberOfComparisons) {
  PowerOptions many = quick(600);
  many.comparisons = 10;
  const PowerModel model = clustered(0.8);
  for (const PowerGoal goal : {PowerGoal::Amplification, PowerGoal::UnmaskedGap})
    EXPECT_LT(power(model, goal, {50, 2}, many), power(model, goal, {50, 2}, quick(600)) - 0.05);
  EXPECT_EQ(power(model, PowerGoal::Equivalence, {50, 2}, many),
            power(model, PowerGoal::Equivalence, {50, 2}, quick(600)));
}

PowerOptions small_grid() {
  PowerOptions options = quick(300);
  options.tasks = {25, 50, 100, 200};
  options.trials = {1, 4};
  options.decisions = {5, 20};
  options.goals = {std::begin(kPowerGoals), std::end(kPowerGoals)};
  return options;
}

TEST(PowerOfDesigns, SaysWhereNoNumberOfTrialsWouldDo) {
  // Unrelated tasks of an intra-task correlation of 0.4: sd between = sqrt(2 x 0.4 x 0.2275) =
  // 0.43.
  PowerOptions options = small_grid();
  options.goals = {PowerGoal::Equivalence};
  const GoalPower goal = power_of_designs(clustered(0), options)->front();
  const double sd = std::sqrt(2 * 0.4 * 0.65 * 0.35);
  ASSERT_EQ(goal.limit.size(), 4u);
  EXPECT_NEAR(goal.limit[3].power, power_of_equivalence(0, sd, 0.075, 0.05, 200), 0.09);
  EXPECT_EQ(goal.trials_fail_up_to.value_or(0), 200);
  EXPECT_FALSE(goal.smallest);
  // Tasks that are as hard for both arms leave nothing between them.
  const GoalPower paired = power_of_designs(clustered(1), options)->front();
  EXPECT_EQ(paired.limit[3].power, 1);
  EXPECT_FALSE(paired.trials_fail_up_to == 200);
}

TEST(PowerOfDesigns, FindsTheSmallestDesignThatReachesThePower) {
  PowerOptions options = small_grid();
  options.goals = {PowerGoal::UnmaskedGap};
  options.simulations = 1500;
  const GoalPower goal = power_of_designs(plain(), options)->front();
  ASSERT_TRUE(goal.smallest);
  EXPECT_NEAR(goal.smallest->power, 0.8, 0.05);
  ASSERT_EQ(goal.needed.size(), 3u);  // 1, 4, endless
  EXPECT_EQ(goal.needed.back().trials, kEndlessTrials);
  const double sd = std::sqrt((0.05 * 0.95 + 0.12 * 0.88) / 4);
  EXPECT_NEAR(*goal.needed[1].tasks, *tasks_to_detect(0.07, sd, 0.05, 0.8), 6);
  // The grid is tasks-major.
  EXPECT_EQ(goal.grid[1].design, (Design{25, 4}));
  EXPECT_EQ(goal.grid[2].design, (Design{50, 1}));
}

TEST(PowerOfDesigns, LeavesAnUndefinedGoalWithoutNumbers) {
  PowerModel model = plain();
  model.failure.baseline.mean = 0;
  model.success.candidate.mean = 0.5;
  model.masked.candidate.mean = 0.01;
  model.decisions.difference = 0;
  const Result<std::vector<GoalPower>> goals = power_of_designs(model, small_grid());
  ASSERT_TRUE(goals.has_value());
  for (const GoalPower& goal : *goals) {
    EXPECT_TRUE(goal.undefined) << to_string(goal.goal);
    EXPECT_TRUE(goal.grid.empty() && goal.limit.empty() && !goal.smallest);
  }
  EXPECT_NE((*goals)[0].undefined->find("propensity"), std::string::npos);
  model.failure = {{0.05, 0}, {0.055, 0}, 0};
  EXPECT_NE(power_of_designs(model, small_grid())->front().undefined->find("1.25"),
            std::string::npos);
  model.failure = {{0.005, 0}, {0.010, 0}, 0};
  EXPECT_NE(power_of_designs(model, small_grid())->front().undefined->find("1 point"),
            std::string::npos);
}

TEST(PowerOfDesigns, RefusesWhatCannotBe) {
  PowerOptions options = small_grid();
  options.tasks = {50, 25};
  EXPECT_EQ(power_of_designs(plain(), options).error().kind, ErrorKind::InvalidArgument);
  PowerModel model = plain();
  model.success.candidate.mean = 1.2;
  EXPECT_EQ(power_of_designs(model, small_grid()).error().where, "success rate of the candidate");
  model = plain();
  model.calls.leave = 0.5;
  model.failure.baseline = {0.6, 0.5};
  EXPECT_EQ(power_of_designs(model, small_grid()).error().where,
            "correlation of the failure rate within a task");
  model.decisions.difference = 0.5;
  const Error decisions = power_of_designs(model, small_grid()).error();
  EXPECT_EQ(decisions.where, "difference in decisions");
  EXPECT_NE(decisions.message.find("points where the discordance is 0.2, not 50"),
            std::string::npos)
      << decisions.message;
}

TEST(PowerOfDesigns, NamesTheOneDifferenceThatConcordantDecisionsAllow) {
  PowerModel model = plain();
  model.decisions = {0, 0.02, 0.2};
  EXPECT_EQ(power_of_designs(model, small_grid()).error().message,
            "must be 0 points where the discordance is 0, not 2");
}

TEST(PowerOfDesigns, HandlesTasksWithoutSpread) {
  // Every episode succeeds: zero variance, and the interval of mean_t_test's unseen tasks.
  PowerModel model = plain();
  model.success = {{1, 0}, {1, 0}, 0};
  EXPECT_EQ(power(model, PowerGoal::Equivalence, {100, 1}, quick(50)), 1);
  EXPECT_EQ(power(model, PowerGoal::Equivalence, {10, 1}, quick(50)), 0);
}

// Tasks that are all alike: 1 - 0.05^(1/38) is above the margin of 7.5 points, 1 - 0.05^(1/39) is
// below, so the power is a step at 39 and no line between two designs of the grid leads to it.
TEST(PowerOfDesigns, FindsTheStepOfTasksThatAreAllAlike) {
  ASSERT_GT(1 - std::pow(0.05, 1.0 / 38), 0.075);
  ASSERT_LT(1 - std::pow(0.05, 1.0 / 39), 0.075);
  PowerModel alike = plain();
  alike.success = {{1, 0}, {1, 0}, 0};
  PowerModel paired = plain();
  paired.success = {{0.65, 0.3}, {0.65, 0.3}, 1};
  PowerOptions options = quick(100);
  options.goals = {PowerGoal::Equivalence};
  options.trials = {1, 4};
  for (const std::vector<int>& grid : {std::vector{25, 100}, {25, 400}, {5, 30, 5000}}) {
    options.tasks = grid;
    const GoalPower goal = power_of_designs(alike, options)->front();
    for (const TasksNeeded& needed : goal.needed) EXPECT_EQ(needed.tasks.value_or(0), 39);
    EXPECT_EQ(goal.smallest->design, (Design{39, 1}));
    EXPECT_EQ(goal.trials_limit, TrialsLimit::UnseenTasks);
    EXPECT_EQ(goal.grid.size(), 2 * grid.size());  // as asked, whatever was simulated between
    const GoalPower endless = power_of_designs(paired, options)->front();
    EXPECT_EQ(endless.needed.back().tasks.value_or(0), 39);
    EXPECT_EQ(endless.trials_limit, TrialsLimit::UnseenTasks);
  }
}

PowerPoint point(int tasks, int trials, double power) {
  return {{tasks, trials}, power, 0.01};
}

TEST(WhereTrialsFail, RestsOnTheMostOfGridAndLimit) {
  GoalPower goal;
  goal.grid = {point(10, 1, 0.3), point(10, 8, 0.5), point(20, 1, 0.6), point(20, 8, 0.7),
               point(40, 1, 0.7), point(40, 8, 0.9), point(80, 1, 0.5), point(80, 8, 0.6)};
  goal.limit = {point(10, kEndlessTrials, 0.1), point(20, kEndlessTrials, 0),
                point(40, kEndlessTrials, 0.2), point(80, kEndlessTrials, 0.2)};
  find_where_trials_fail(0.8, goal);
  EXPECT_EQ(goal.trials_fail_up_to, 20);  // 40 do at 8 trials, so 80 or fewer are not too few
  ASSERT_TRUE(goal.most_of_trials);
  EXPECT_EQ(goal.most_of_trials->design, (Design{20, 8}));
  EXPECT_TRUE(goal.falls_with_trials(20));
  goal.grid[1].power = 0.79;  // within two standard errors of 0.8
  find_where_trials_fail(0.8, goal);
  EXPECT_EQ(goal.trials_fail_up_to, std::nullopt);
  EXPECT_EQ(goal.most_of_trials, std::nullopt);
  goal.limit[0].power = 0.8;
  EXPECT_FALSE(goal.falls_with_trials(10));
}

// Of eight tasks whose truths are known amplification is found less often than at 8 trials.
TEST(PowerOfDesigns, DoesNotCallTrialsHopelessThatDoInTheGrid) {
  PowerModel model = clustered(0.9);
  model.calls = stated_calls(7.3, 0.4, 0.55);
  model.failure.candidate.mean = 0.2;
  PowerOptions options = quick(300);
  options.goals = {PowerGoal::Amplification};
  options.tasks = {8};
  options.trials = {8, 400};
  options.wanted = 0.75;
  const GoalPower goal = power_of_designs(model, options)->front();
  ASSERT_TRUE(goal.smallest);
  EXPECT_EQ(goal.smallest->design, (Design{8, 8}));
  EXPECT_EQ(goal.trials_fail_up_to, std::nullopt);
}

// 0.05 / 600 is below 1 / 10000: fewer permutations than that find nothing, whatever there is.
TEST(SimulatedPower, DrawsPermutationsEnoughForManyComparisons) {
  PowerModel model = clustered(0.9);
  model.failure.candidate.mean = 0.25;
  PowerOptions options = quick(40);
  options.comparisons = 600;
  EXPECT_GT(power(model, PowerGoal::Amplification, {60, 4}, options), 0.9);
  model.failure.candidate.mean = 0.07;
  EXPECT_LT(power(model, PowerGoal::Amplification, {60, 4}, options), 0.3);
  options.comparisons = kMostComparisons + 1;
  options.goals = {PowerGoal::Amplification};
  EXPECT_EQ(power_of_designs(model, options).error().message,
            "the comparisons must be from 1 to 1000");
}

TEST(PowerOfDesigns, SaysWhyTrialsWithoutEndDoNotDo) {
  PowerOptions options = quick(100);
  options.goals = {PowerGoal::Equivalence};
  options.tasks = {50, 100};
  EXPECT_EQ(power_of_designs(clustered(0), options)->front().trials_limit,
            TrialsLimit::TasksDiffer);
  // 2 of 2^4 swaps of four tasks are as extreme as what was seen, whatever that is.
  options.goals = {PowerGoal::Amplification};
  options.tasks = {4, 50};
  EXPECT_EQ(power_of_designs(clustered(1), options)->front().trials_limit, TrialsLimit::FewTasks);
  options.tasks = {50, 100};
  EXPECT_EQ(power_of_designs(clustered(1), options)->front().trials_limit, std::nullopt);
}

}  // namespace
}  // namespace unmask
