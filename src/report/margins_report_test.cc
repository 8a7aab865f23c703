#include "report/margins_report.h"

#include <gtest/gtest.h>

#include <array>

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

TEST(MarginsReport, SaysInEveryFormWhyNothingIsForetold) {
  MarginsReport report = sample();
  const std::string reason = "nothing is foretold: both arms have the same margins";
  const auto said = [&] {
    return std::array<bool, 3>{shows(report, reason),
                               to_markdown(report).find(reason) != std::string::npos,
                               to_html(report, {}).find(reason) != std::string::npos};
  };
  EXPECT_EQ(said(), (std::array<bool, 3>{false, false, false}));
  CandidateMechanism& candidate = report.replays[0].mechanism.candidates[0];
  candidate.additive.reset();
  candidate.multiplicative.reset();
  candidate.flips[0].no_held_out = "both arms have the same margins";
  EXPECT_EQ(said(), (std::array<bool, 3>{true, true, true}));
}

TEST(MarginsReport, SaysHowManyPromptsAreDistinct) {
  MarginsReport report = sample();
  report.replays[0].mechanism.contexts = 1200;
  report.replays[0].mechanism.distinct = 1003;
  report.replays[0].mechanism.tasks = 114;
  const std::string words = "1,200 decisions (1,003 distinct prompts) of 114 tasks";
  EXPECT_TRUE(shows(report, words)) << to_terminal(report, {false, 80});
  EXPECT_NE(to_markdown(report).find(words), std::string::npos);
  EXPECT_NE(to_html(report, {}).find("distinct prompts"), std::string::npos);
  EXPECT_NE(to_json(report).find("\"distinct_contexts\": 1003"), std::string::npos);
  report.replays[0].mechanism.distinct.reset();
  EXPECT_NE(to_json(report).find("\"distinct_contexts\": null"), std::string::npos);
}

std::array<bool, 3> every_form(const MarginsReport& report, std::string_view words) {
  // Without breaks of lines.
  std::string screen = to_terminal(report, {false, 400});
  return {screen.find(words) != std::string::npos,
          to_markdown(report).find(words) != std::string::npos,
          to_html(report, {}).find(words) != std::string::npos};
}

constexpr std::array<bool, 3> kEverywhere = {true, true, true};

TEST(MarginsReport, SaysWhetherRepliesAreGreedyOrDrawn) {
  MarginsReport report = sample();
  ReplayHead& head = report.replays[0].mechanism.head;
  EXPECT_EQ(every_form(report, "greedy: the likeliest"), kEverywhere);
  head.arms = {{"a", "", "", "{\"temperature\": 0}", true, ""}};
  EXPECT_EQ(every_form(report, "greedy (temperature 0): the likeliest"), kEverywhere);
  head.greedy = false;
  head.samples = 4;
  head.arms[0].settings = "{\"temperature\": 0.7}";
  head.arms.push_back({"b", "", "", "{\"temperature\": 0.7}", false, ""});
  EXPECT_EQ(every_form(report, "drawn (temperature 0.7), 4 to a context: rates"), kEverywhere);
  head.arms[1].settings = "{\"temperature\": 1}";
  EXPECT_EQ(every_form(report, "drawn (temperature 0.7 to 1), 4"), kEverywhere);
}

TEST(MarginsReport, SaysWhatIsOutsideTheModels) {
  MarginsReport report = sample();
  FlipAnalysis& flips = report.replays[0].mechanism.candidates[0].flips[0];
  flips.models = NoiseModels{};
  flips.pairs = 764;
  flips.flips = 160;
  flips.censored = 101;
  flips.censored_flips = 3;
  flips.fitted = 554;
  flips.fitted_flips = 150;
  EXPECT_EQ(every_form(report,
                       "the models fit 554 of 764 pairs with 150 flips; outside: 101 whose "
                       "margin is a bound, with 3 flips, and 109 not measured exactly"),
            kEverywhere)
      << to_terminal(report, {false, 400});
  EXPECT_EQ(every_form(report, "the alternatives, with 7 flips"), kEverywhere);
  EXPECT_NE(to_json(report).find("\"fitted_flips\": 150"), std::string::npos);
  flips.fitted = 764;
  flips.censored = 0;
  EXPECT_FALSE(shows(report, "outside"));
}

TEST(MarginsOnAScreen, ExplainOnlyTheColumnsThatAreThere) {
  MarginsReport report = sample();
  FlipAnalysis& flips = report.replays[0].mechanism.candidates[0].flips[0];
  flips.models = NoiseModels{};
  for (NoiseModel* model : {&flips.models->additive, &flips.models->multiplicative}) {
    model->sigma = FittedParameter{12345.67, 1, 1, {12345.67, 23456.78}};
    model->lambda = FittedParameter{12345.67, 1, 1, {12345.67, 23456.78}};
    model->alpha = FittedParameter{12345.67, 1, 1, {12345.67, 23456.78}};
  }
  flips.held_out_additive = flips.held_out_multiplicative = HeldOut{};
  const std::string wide = to_terminal(report, {false, 160});
  EXPECT_NE(wide.find("held-out error: of predicted"), std::string::npos) << wide;
  const std::string narrow = to_terminal(report, {false, 80});
  EXPECT_EQ(narrow.find("held-out error"), std::string::npos) << narrow;
}

TEST(MarginsOnAScreen, ShowTheIntervalOfAmplificationIn80Columns) {
  MarginsReport report = sample();
  ReplayChannel channel;
  channel.channel = "tool_name";
  channel.baseline = 0.139;
  channel.candidate = 0.166;
  channel.difference = 0.027;
  channel.difference_ci95 = Interval{0.013, 0.042};
  channel.amplification = 1.21;
  channel.amplification_ci95 = Interval{1.10, 1.35};
  channel.mcnemar = McNemar{};
  channel.p_holm = 0.012;
  report.replays[0].mechanism.candidates[0].channels = {channel};
  EXPECT_TRUE(shows(report, "[1.10, 1.35]")) << to_terminal(report, {false, 80});
  EXPECT_TRUE(shows(report, "Holm p: whole tasks swapped"));
  EXPECT_NE(to_markdown(report).find("1.21 [1.10, 1.35]"), std::string::npos);
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
