// Contexts that are alike, arms that are alike, and replies that are never alike.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compare/replay_for_tests.h"

namespace unmask {
namespace {

const Warning* warning_of(const Mechanism& m, std::string_view code) {
  const auto found = std::find_if(m.warnings.begin(), m.warnings.end(),
                                  [&](const Warning& warning) { return warning.code == code; });
  return found == m.warnings.end() ? nullptr : &*found;
}

// 12 tasks of 4 contexts, in every fourth of which the candidate alone hallucinates. Prompts are
// numbered; `prompt` may give two contexts one.
template <typename Prompt>
Hand damaged(Prompt prompt) {
  Hand h;
  for (int task = 0; task < 12; ++task) {
    for (int i = 0; i < 4; ++i) {
      const std::string id = std::to_string(task) + "." + std::to_string(i);
      h.context(id, "t" + std::to_string(task));
      h.replay.contexts.back().sha256 = prompt(task, i);
      h.call(id, "bf16", "open", {{"open", -0.5}, {"shut", -1.0 - 0.1 * task}});
      if (i == 0)
        h.call(id, "int4", "shut", {{"shut", -0.5}, {"open", -0.9}});
      else
        h.call(id, "int4", "open", {{"open", -0.5}, {"shut", -1.2}});
    }
  }
  return h;
}

TEST(AlikeContexts, AreCountedAndTakenOnceByMcNemar) {
  const Mechanism apart =
      damaged([](int t, int i) { return std::to_string(t) + "/" + std::to_string(i); }).analysed();
  EXPECT_EQ(apart.contexts, 48);
  EXPECT_EQ(apart.distinct.value_or(0), 48);
  EXPECT_FALSE(warning_of(apart, "identical_contexts"));
  EXPECT_NEAR(apart.candidates[0].channels[1].mcnemar->p_exact, 2 * std::pow(0.5, 12), 1e-12);

  // Of task 0 and 1 the damaged contexts are one prompt; of task 0 two others are, too.
  const Mechanism alike = damaged([](int t, int i) {
                            if (t <= 1 && i == 0) return std::string("opening");
                            if (t == 0 && i == 3) return std::string("0/2");
                            return std::to_string(t) + "/" + std::to_string(i);
                          }).analysed();
  EXPECT_EQ(alike.contexts, 48);
  EXPECT_EQ(alike.distinct.value_or(0), 46);
  EXPECT_EQ(alike.copies_in_other_tasks, 1);
  const ReplayChannel& names = alike.candidates[0].channels[1];
  EXPECT_EQ(names.only_candidate, 12);
  EXPECT_NEAR(names.mcnemar->p_exact, 2 * std::pow(0.5, 11), 1e-12);
  const Warning* const warning = warning_of(alike, "identical_contexts");
  ASSERT_TRUE(warning);
  EXPECT_EQ(warning->count, 2);
  EXPECT_NE(warning->message.find("2 of 48 contexts"), std::string::npos) << warning->message;
  EXPECT_NE(warning->message.find("46 are distinct"), std::string::npos);
  EXPECT_NE(warning->message.find("1 of them with the first's task"), std::string::npos);
}

TEST(AlikeContexts, OfDifferentTasksAreOneCluster) {
  // Every damaged context is one prompt: however many tasks met it, it is one task's evidence.
  const Mechanism m =
      damaged([](int t, int i) {
        return i == 0 ? std::string("opening") : std::to_string(t) + "/" + std::to_string(i);
      }).analysed();
  const Mechanism apart = damaged([](int, int) { return std::string(); }).analysed();
  EXPECT_FALSE(apart.distinct);
  EXPECT_FALSE(warning_of(apart, "identical_contexts"));
  const Interval one = *m.candidates[0].channels[1].difference_ci95;
  const Interval twelve = *apart.candidates[0].channels[1].difference_ci95;
  EXPECT_GT(one.hi - one.lo, 2 * (twelve.hi - twelve.lo));
  EXPECT_LE(one.lo, 0);
}

TEST(AlikeArms, HaveNoNoiseToFitAndThatIsSaid) {
  Hand h;
  for (int i = 0; i < 48; ++i) {
    const std::string id = std::to_string(i);
    h.context(id, "t" + std::to_string(i % 12));
    for (const char* arm : {"bf16", "int4"})
      h.call(id, arm, "open", {{"open", -0.5}, {"close", -1.0 - 0.1 * i}});
  }
  const Mechanism m = h.analysed();
  const FlipAnalysis& tools = m.candidates[0].flips[1];
  EXPECT_EQ(tools.pairs, 48);
  EXPECT_FALSE(m.candidates[0].additive);
  EXPECT_NE(tools.no_models.find("both arms have the same margins"), std::string::npos)
      << tools.no_models;
  EXPECT_EQ(tools.no_held_out, tools.no_models);
}

TEST(OtherText, OfEveryPairIsTheReasonAndAWarning) {
  Hand h = damaged([](int, int) { return std::string(); });
  for (ReplayReply& reply : h.replay.replies)
    if (reply.arm == "int4") reply.text = "I look.";
  const Mechanism m = h.analysed();
  const FlipAnalysis& tools = m.candidates[0].flips[1];
  EXPECT_EQ(tools.pairs, 0);
  EXPECT_EQ(tools.other_text, 48);
  const std::string reason = "no pair is left: 48 wrote different text before the call";
  EXPECT_EQ(tools.no_logistic, reason);
  EXPECT_EQ(tools.no_models, reason);
  EXPECT_EQ(tools.no_held_out, reason);
  const Warning* const warning = warning_of(m, "other_text");
  ASSERT_TRUE(warning);
  EXPECT_EQ(warning->count, 48);
  EXPECT_NE(warning->message.find("48 of 48 pairs"), std::string::npos) << warning->message;

  for (std::size_t i = 0; i < 60; ++i) h.replay.replies[i].text.clear();  // 30 of 48 pairs
  EXPECT_FALSE(warning_of(h.analysed(), "other_text"));
}

TEST(Strangers, AreCountedOfTheNamesThatHaveAMargin) {
  Hand h;
  for (const char* id : {"1", "2", "3"}) h.context(id, "a");
  h.call("1", "bf16", "open", {{"open", -0.5}, {"zzz", -1.0}, {"close", -3.0}});
  h.call("2", "bf16", "open", {{"open", -0.5}, {"close", -3.0}});
  h.talk("3", "bf16");
  const Mechanism m = h.analysed();
  const Warning* const warning = warning_of(m, "closer_stranger");
  ASSERT_TRUE(warning);
  EXPECT_EQ(warning->count, 1);
  EXPECT_NE(warning->message.find("1 of 2 called names with a margin has"), std::string::npos)
      << warning->message;
}

}  // namespace
}  // namespace unmask
