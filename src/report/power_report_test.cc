#include "report/power_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/display.h"

namespace unmask {
namespace {

// Two numbers of tasks, one of trials; the smaller number of tasks cannot reach the power.
PowerReport power_sample() {
  PowerReport report;
  report.from = {{"BF16 \x1b[31mred"}, 30, 4, 120};
  report.model.failure = {{0.1, 0.2}, {0.2, 0.2}, 0.9};
  report.options.simulations = 500;
  report.options.goals = {PowerGoal::Amplification};
  GoalPower goal;
  goal.effect = 2;
  goal.grid = {{{30, 4}, 0.5, 0.02}, {{120, 4}, 0.95, 0.01}};
  goal.limit = {{{30, kEndlessTrials}, 0.6, 0.02}, {{120, kEndlessTrials}, 1, 0.004}};
  goal.needed = {{4, 70, false}, {kEndlessTrials, 52, false}};
  goal.smallest = PowerPoint{{70, 4}, 0.81, 0.018};
  find_where_trials_fail(0.8, goal);
  report.goals = {goal};
  GoalPower none;
  none.goal = PowerGoal::UnmaskedGap;
  none.undefined = "there is no increase to find: the effect must be above 0";
  report.goals.push_back(none);
  return report;
}

TEST(PowerOnAScreen, SaysWhatReachesThePowerAndWhatMoreTrialsCannotDo) {
  const std::string screen = to_terminal(power_sample(), {false, 90});
  EXPECT_NE(screen.find("Smallest: 70 tasks × 4 trials = 280 episodes an arm"), std::string::npos)
      << screen;
  EXPECT_NE(screen.find("More trials on the same tasks cannot do it with 30 tasks or fewer"),
            std::string::npos);
  EXPECT_NE(screen.find("at least 52"), std::string::npos);
  EXPECT_NE(screen.find("Cannot be planned: there is no increase to find"), std::string::npos);
}

TEST(PowerOnAScreen, SaysWhyMoreTrialsCannotDo) {
  PowerReport report = power_sample();
  const auto shows = [&](TrialsLimit limit, const char* reason) {
    report.goals[0].trials_limit = limit;
    return to_terminal(report, {false, 300}).find(reason) != std::string::npos;
  };
  EXPECT_TRUE(shows(TrialsLimit::TasksDiffer, "because the tasks themselves differ."));
  EXPECT_TRUE(shows(TrialsLimit::UnseenTasks,
                    "because so few tasks, though all alike, leave room for others that were not "
                    "seen."));
  EXPECT_TRUE(shows(TrialsLimit::FewTasks, "so few tasks cannot pass the test"));
}

// Where trials without end find less than some, these are no upper bound.
TEST(PowerOnAScreen, NamesTheMostOfGridAndLimit) {
  PowerReport report = power_sample();
  GoalPower& goal = report.goals[0];
  EXPECT_NE(to_terminal(report, {false, 300}).find("fewer: 60% is the most they reach there"),
            std::string::npos);
  goal.grid[0].power = 0.7;
  goal.limit[0].power = 0;
  find_where_trials_fail(0.8, goal);
  const std::string falls = to_terminal(report, {false, 300});
  EXPECT_NE(falls.find("fewer: 70%, at 4 trials, is the most they reach there"), std::string::npos)
      << falls;
  EXPECT_NE(falls.find("More trials are not always better here: with 30 tasks fewer of them"),
            std::string::npos)
      << falls;
  goal.grid[0].power = 0.9;
  find_where_trials_fail(0.8, goal);
  EXPECT_EQ(to_terminal(report, {false, 300}).find("cannot do it"), std::string::npos);
}

TEST(PowerOnAScreen, SaysWhatADecisionsPlanIsTakenFrom) {
  PowerReport report;
  report.replay = ReplayPlannedFrom{"BF16", "INT4", 30, 410, 4, 10};
  report.model.decisions = {0.0341, 0.02, 0.15};
  report.decisions_from = {TakenFrom::Replay, TakenFrom::Stated, TakenFrom::Assumed};
  GoalPower goal;
  goal.goal = PowerGoal::Decisions;
  goal.undefined = "no number matters here";
  report.goals = {goal};
  const std::string screen = to_terminal(report, {false, 300});
  EXPECT_NE(screen.find("Planned from a replay."), std::string::npos) << screen;
  EXPECT_NE(screen.find("tool_name has 4 failures that are BF16's alone, and 10 that are INT4's."),
            std::string::npos)
      << screen;
  EXPECT_NE(screen.find("discordance 3.4% (the replay's), difference +2.0 (stated); correlation "
                        "within tasks 0.15 (assumed)"),
            std::string::npos)
      << screen;
  const nlohmann::json power = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(power["replay"]["only_candidate"], 10);
  EXPECT_EQ(power["model"]["decisions"]["taken_from"]["difference"], "stated");
}

TEST(PowerOnAScreen, GivesErrorsAsTwoStandardErrors) {
  const std::string screen = to_terminal(power_sample(), {false, 200});
  EXPECT_NE(screen.find("(power 81% ± 3.6 points, two standard errors)"), std::string::npos)
      << screen;
  EXPECT_NE(screen.find("within at most 4.5 points"), std::string::npos) << screen;
}

TEST(PowerOnAScreen, ExplainsNoNumbersWhereThereAreNone) {
  PowerReport report = power_sample();
  report.goals.erase(report.goals.begin());
  report.goals[0].goal = PowerGoal::Decisions;
  report.goals[0].effect = -0.02;
  const std::string screen = to_terminal(report, {false, 90});
  EXPECT_EQ(screen.find("Each number"), std::string::npos) << screen;
  EXPECT_EQ(screen.find("−2.0 points more"), std::string::npos) << screen;
}

TEST(PowerOnAScreen, FitsAnyWidthAndIsSafe) {
  for (const int width : {30, 60, 100}) {
    const std::string screen = to_terminal(power_sample(), {false, width});
    EXPECT_EQ(screen.find('\x1b'), std::string::npos);
    std::size_t begin = 0;
    while (begin < screen.size()) {
      const std::size_t end = screen.find('\n', begin);
      EXPECT_LE(display_width(screen.substr(begin, end - begin)), static_cast<std::size_t>(width));
      begin = end + 1;
    }
  }
}

TEST(PowerAsJson, WritesEndlessTrialsAndWhatIsUndefinedAsNull) {
  const nlohmann::json power = nlohmann::json::parse(to_json(power_sample()));
  EXPECT_EQ(power["schema"], "unmask.power/1");
  const nlohmann::json& goal = power["goals"][0];
  EXPECT_EQ(goal["grid"][1]["power"], 0.95);
  EXPECT_TRUE(goal["endless_trials"][0]["trials"].is_null());
  EXPECT_TRUE(goal["needed"][1]["trials"].is_null());
  EXPECT_EQ(goal["needed"][1]["tasks"], 52);
  EXPECT_EQ(goal["trials_fail_up_to_tasks"], 30);
  EXPECT_EQ(goal["most_of_trials"]["power"], 0.6);
  EXPECT_TRUE(power["goals"][1]["smallest"].is_null());
  EXPECT_TRUE(power["goals"][1]["grid"].empty());
  EXPECT_TRUE(nlohmann::json::parse(to_json(PowerReport{}))["pilot"].is_null());
}

}  // namespace
}  // namespace unmask
