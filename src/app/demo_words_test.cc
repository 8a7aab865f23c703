#include "app/demo_words.h"

#include <gtest/gtest.h>

namespace unmask {
namespace {

constexpr const char* kAudit = R"json({"cells": [
  {"candidate": {"arm": {"label": "INT4 (pocket_telecom)", "domain": "pocket_telecom"}}, "verdict": "masked",
   "outcome": {"delta": -0.0131, "tost": {"equivalent": true}},
   "budget": {"k_tight": 2, "gap": [{"k": 1, "gap": 0.3}, {"k": 2, "gap": 0.167}]},
   "channels": {"tool_name": {"baseline": 0.195, "candidate": 0.383, "amplification": 1.96},
                "entity": {"baseline": 0.0, "candidate": 0.01, "amplification": null}}},
  {"candidate": {"arm": {"label": "FP8", "domain": "pocket_telecom"}}, "verdict": "inconclusive",
   "outcome": {"delta": null}, "budget": {}, "channels": {}}]})json";

TEST(DemoWords, SayWhatTheAuditFound) {
  const Result<std::vector<DemoCell>> cells = demo_cells(kAudit);
  ASSERT_TRUE(cells);
  ASSERT_EQ(cells->size(), 2u);
  EXPECT_EQ(
      (*cells)[0].words,
      "      score                                 −1.3 points, flat\n"
      "      forgiven at most 2 failed calls       −16.7 points\n"
      "      calls to tools that do not exist      19.5 % to 38.3 % of its calls, 1.96 times\n"
      "      calls that name nothing that exists   0.0 % to 1.0 % of its calls\n");
  EXPECT_DOUBLE_EQ((*cells)[0].hallucinated.value(), 0.383);
  const std::string text = demo_conclusion(*cells, "The agent is a test.");
  EXPECT_NE(text.find("INT4: masked, the benchmark's score hides the damage"), std::string::npos);
}

TEST(DemoWords, LeaveUndefinedNumbersOut) {
  const Result<std::vector<DemoCell>> cells = demo_cells(kAudit);
  ASSERT_TRUE(cells);
  EXPECT_EQ((*cells)[1].hallucinated, std::nullopt);
  EXPECT_EQ((*cells)[1].words, "      score                                 none\n");
}

TEST(DemoWords, RefuseWhatIsNoAudit) {
  EXPECT_FALSE(demo_cells("[]"));
  EXPECT_FALSE(demo_cells("{\"cells\": 3}"));
  EXPECT_FALSE(demo_cells("{"));
}

}  // namespace
}  // namespace unmask
