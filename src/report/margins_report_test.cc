#include "report/margins_report.h"

#include <gtest/gtest.h>

#include "report/sentences.h"

namespace unmask {
namespace {

MarginsReport sample() {
  CandidateMechanism candidate;
  candidate.label = "int4";
  candidate.contexts = candidate.outcomes.replies = 133;
  FlipAnalysis flips;
  flips.pairs = 133;
  flips.flips = 1;
  flips.censored = 1;
  flips.bins = {{0, 1, 12, 1}, {1, std::nullopt, 120, 0}};
  candidate.flips = {flips};
  candidate.additive = {
      133, 0.12, 0.15, 0.14, 1.17, Interval{1.01, 1.33}, 1.25, Interval{1.02, 1.48}};
  candidate.multiplicative = candidate.additive;
  AnalysedReplay replay;
  replay.source = "replay.jsonl";
  replay.mechanism.candidates = {candidate};
  MarginsReport report;
  report.replays = {replay};
  return report;
}

bool shows(const MarginsReport& report, std::string_view text) {
  return to_terminal(report, {false, 80}).find(text) != std::string::npos;
}

TEST(MarginsOnAScreen, ShowTheIntervalsOfWhatIsForetoldIn80Columns) {
  const MarginsReport report = sample();
  EXPECT_TRUE(shows(report, "[1.01, 1.33]")) << to_terminal(report, {false, 80});
  EXPECT_TRUE(shows(report, "[1.02, 1.48]"));
}

TEST(MarginsOnAScreen, MentionDecisionsThatAreInNoBin) {
  MarginsReport report = sample();
  EXPECT_TRUE(shows(report, "1 decision more is in no bin")) << to_terminal(report, {false, 80});
  report.replays[0].mechanism.candidates[0].flips[0].pairs = 132;
  EXPECT_FALSE(shows(report, "in no bin"));
}

TEST(MarginsOnAScreen, SayThatACandidateWithoutRepliesCannotBeCompared) {
  MarginsReport report = sample();
  EXPECT_FALSE(shows(report, "nothing to compare"));
  report.replays[0].mechanism.candidates[0].outcomes.replies = 0;
  EXPECT_TRUE(shows(report, "nothing to compare"));
}

TEST(LinesThatWereNotRead, AreOneForOneReason) {
  const std::vector<Dropped> dropped = {{"replay_line", "the line is a second reply", "a:4"},
                                        {"replay_line", "the line is a song", "a:5"},
                                        {"replay_line", "the line is a second reply", "a:6"}};
  const std::vector<Dropped> firsts = by_reason(dropped);
  ASSERT_EQ(firsts.size(), 2u);
  EXPECT_EQ(firsts[0].where, "a:4");
  EXPECT_EQ(firsts[0].reason, "the line is a second reply; the first of 2 such lines");
  EXPECT_EQ(firsts[1], dropped[1]);
}

}  // namespace
}  // namespace unmask
