#include "report/sample_words.h"

#include <gtest/gtest.h>

#include "report/csv.h"
#include "report/html.h"
#include "report/model_card.h"
#include "report/render.h"
#include "report/report_samples.h"

namespace unmask {
namespace {

TEST(LeftOut, NamesThreeTasksAndCountsTheRest) {
  CellComparison cell = sample_cell();
  EXPECT_EQ(left_out_in_words(cell), "114 tasks compared; 1 task in one arm only is left out: 17");
  cell.unpaired_tasks = {"only in baseline: 3",
                         "only in candidate: a: b",
                         "only in baseline: 12",
                         "only in baseline: 13",
                         "only in baseline: 14",
                         "no episode that ran in candidate: 20",
                         "no graded episode in baseline: 21"};
  cell.evaluated_tasks = 113;
  EXPECT_EQ(
      left_out_in_words(cell),
      "114 tasks compared by their calls, 113 of them in the outcome; 5 tasks in one arm only "
      "are left out: 3, a: b, 12 and 2 more; 1 task of which an arm has only excluded "
      "episodes is left out: 20; 1 task without a graded episode in an arm is left out of "
      "the outcome: 21");
  cell.unpaired_tasks.clear();
  EXPECT_EQ(left_out_in_words(cell), "");
}

TEST(LeftOut, IsInTheCommentAndTheCard) {
  const AuditReport report = sample_audit();
  const std::string sentence = "114 tasks compared; 1 task in one arm only is left out: 17.";
  EXPECT_NE(to_markdown(report).find(sentence), std::string::npos) << to_markdown(report);
  EXPECT_NE(to_model_card(report).find(sentence), std::string::npos) << to_model_card(report);
}

TEST(Episodes, AddUpToTheLog) {
  ArmSummary arm = sample_arm("bf16", 0.2);
  arm.tasks = 20;
  arm.trials_min = arm.trials_max = 4;
  arm.episodes_in_log = 120;
  arm.episodes_total = 84;
  arm.episodes_evaluated = 80;
  EXPECT_EQ(episodes_in_words(arm, 80),
            "80 of 120 episodes evaluated, 20 tasks × 4 trials; 36 of tasks left out; 4 excluded "
            "(infrastructure errors)");
  arm.episodes_total = 120;
  arm.episodes_ungraded = 24;
  EXPECT_EQ(
      episodes_in_words(arm, 80),
      "80 of 120 episodes evaluated, 20 tasks × 4 trials; 12 of tasks left out of the outcome; "
      "4 excluded (infrastructure errors); 24 ungraded");
  arm.episodes_ungraded = arm.episodes_excluded = 0;
  arm.episodes_in_log = arm.episodes_total = 80;
  EXPECT_EQ(episodes_in_words(arm, 80), "80 episodes, 20 tasks × 4 trials");
}

TEST(Episodes, SayHowManyAreUngradedWhereverTheyAreCounted) {
  AuditReport report = sample_audit();
  CellComparison& cell = report.cells[0].comparison;
  EXPECT_EQ(to_terminal(report, {}).find("ungraded"), std::string::npos);
  cell.candidate.episodes_ungraded = 128;
  cell.candidate.episodes_evaluated = cell.episodes_candidate = 328;
  EXPECT_NE(to_terminal(report, {}).find("128 ungraded"), std::string::npos);
  EXPECT_NE(to_markdown(report).find("328 of 460 (128 ungraded)"), std::string::npos);
  EXPECT_NE(to_html(report, {}).find("<th scope=\"col\" class=\"n\">ungraded</th>"),
            std::string::npos);
  EXPECT_NE(to_model_card(report).find("128 ungraded; 3,328 calls of the agent in the 456 episodes "
                                       "that ran"),
            std::string::npos)
      << to_model_card(report);
}

AuditReport unequal() {
  AuditReport report = sample_audit();
  std::map<Channel, ChannelComparison>& channels = report.cells[0].comparison.channels;
  channels[Channel::ToolName].weighed_amplification = 1.5;
  channels[Channel::ToolName].weighed_difference = 0.09;
  // Undefined as pooled: a ratio beside the weighed difference would have no counterpart.
  channels[Channel::Entity].amplification = std::nullopt;
  channels[Channel::Entity].weighed_amplification = 3;
  channels[Channel::Entity].weighed_difference = 0.011;
  channels[Channel::Schema].weighed_difference = 0.0;  // as pooled
  return report;
}

TEST(Weighed, IsOneFootnoteOfEveryTableWhereItApplies) {
  const std::string numbers = "which has tool_name ×1.50, +9.0 points; entity +1.1 points.";
  EXPECT_NE(weighed_in_words(unequal().cells[0].comparison).find(numbers), std::string::npos)
      << weighed_in_words(unequal().cells[0].comparison);
  const auto count = [](const std::string& text) {
    std::size_t n = 0;
    for (std::size_t at = text.find("†"); at != std::string::npos; at = text.find("†", at + 1)) ++n;
    return n;
  };
  const auto texts = [](const AuditReport& report) {
    return std::vector<std::string>{to_terminal(report, {}), to_markdown(report),
                                    to_model_card(report), to_html(report, {})};
  };
  for (const std::string& text : texts(unequal())) EXPECT_EQ(count(text), 3u) << text;
  for (const std::string& text : texts(sample_audit())) EXPECT_EQ(count(text), 0u) << text;
}

TEST(Weighed, HasColumnsInTheTableOfComparisons) {
  const AuditReport report = unequal();  // the tables are made of it
  for (const CsvTable& table : to_csv(report)) {
    if (table.file != "comparisons.csv") continue;
    const std::string text = table.text();
    EXPECT_NE(text.find(",new,weighed_amplification,weighed_difference\n"), std::string::npos);
    EXPECT_NE(text.find(",1.5,0.09\n"), std::string::npos) << text;
    EXPECT_NE(text.find(",,\n"), std::string::npos) << text;  // argument has none
    return;
  }
  FAIL() << "no comparisons.csv";
}

TEST(FailedCallsPerEpisode, SayWhoseTheyAre) {
  AuditReport report = sample_audit();
  for (const std::string& text :
       {to_terminal(report, {}), to_markdown(report), to_model_card(report), to_html(report, {})})
    EXPECT_NE(text.find("failed calls (both sides)"), std::string::npos) << text;
  for (ArmSummary* arm :
       {&report.cells[0].comparison.baseline, &report.cells[0].comparison.candidate})
    arm->budget.count = BudgetCount::Agent;
  for (const std::string& text :
       {to_terminal(report, {}), to_markdown(report), to_model_card(report), to_html(report, {})})
    EXPECT_NE(text.find("failed calls (agent)"), std::string::npos) << text;
}

TEST(ModelCard, WarnsWhatItsNumbersCannotShow) {
  AuditReport report = sample_audit();
  report.warnings.push_back({"k_tight_not_identified", "masking cannot be judged", "", 1});
  EXPECT_NE(to_model_card(report).find("**Warning:** masking cannot be judged"), std::string::npos);
  // Of a grid only those of the cell.
  report.cells.push_back(report.cells[0]);
  report.cells[1].comparison.cell = "other";
  report.warnings.back().where = "other";
  const std::string card = to_model_card(report);
  EXPECT_EQ(card.find("**Warning:**"), card.rfind("**Warning:**"));
  EXPECT_GT(card.find("**Warning:**"), card.find("bf16, other"));
}

}  // namespace
}  // namespace unmask
