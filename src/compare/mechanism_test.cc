// Small replays by hand; planted ones are in tests/mechanism.
#include "compare/mechanism.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compare/replay_for_tests.h"

namespace unmask {
namespace {

Hand hand() {
  Hand h;
  for (const char* id : {"1", "2", "3", "4", "5", "6", "7"}) h.context(id, id[0] < '4' ? "a" : "b");
  h.call("1", "bf16", "open", {{"open", -0.1}, {"close", -2.1}});
  h.call("1", "int4", "open", {{"open", -0.3}, {"close", -1.3}});
  h.call("2", "bf16", "open", {{"open", -0.5}, {"shut", -0.9}});
  h.call("2", "int4", "shut", {{"shut", -0.4}, {"open", -1.1}});
  h.call("3", "bf16", "slam", {{"slam", -0.6}, {"close", -0.8}});
  h.call("3", "int4", "close", {{"close", -0.3}, {"slam", -1.5}});
  h.talk("4", "bf16");
  h.call("4", "int4", "lock", {{"lock", -0.1}});
  h.call("5", "bf16", "lock", {{"lock", -0.1}, {"open", -9.0}});
  h.talk("5", "int4");
  h.call("6", "bf16", "lock", {{"lock", -0.1}, {"open", -4.0}}, "{\"id\": 1}");
  h.call("6", "int4", "lock", {{"lock", -0.1}, {"open", -4.0}}, "{\"id\": 2}");
  h.call("7", "bf16", "lock", {{"lock", -0.1}});
  h.error("7", "int4");
  return h;
}

TEST(Mechanism, CountsWhatTheCandidateDid) {
  const Mechanism m = hand().analysed();
  ASSERT_EQ(m.candidates.size(), 1u);
  const CandidateMechanism& c = m.candidates[0];
  EXPECT_EQ(c.contexts, 6);  // one got no reply
  EXPECT_EQ(c.tasks, 2);
  EXPECT_EQ(c.outcomes.same, 2);
  EXPECT_EQ(c.outcomes.other_arguments, 1);
  EXPECT_EQ(c.outcomes.other_tool, 2);
  EXPECT_EQ(c.outcomes.text_instead, 1);
  EXPECT_EQ(c.outcomes.call_instead, 1);
  EXPECT_EQ(m.arms[1].errors, 1);
  EXPECT_EQ(c.directions.changed, 2);
  EXPECT_EQ(c.directions.to_offered, 1);
  EXPECT_EQ(c.directions.healed, 1);
  EXPECT_EQ(c.directions.to_new_failure, 1);  // the baseline never says shut
  EXPECT_EQ(c.directions.to_known_failure, 0);
}

TEST(Mechanism, PairsChannelsByContext) {
  const Mechanism m = hand().analysed();
  const ReplayChannel& names = m.candidates[0].channels[1];
  EXPECT_EQ(names.channel, "tool_name");
  EXPECT_EQ(names.replies, 6);
  EXPECT_EQ(names.both, 0);
  EXPECT_EQ(names.only_baseline, 1);
  EXPECT_EQ(names.only_candidate, 1);
  ASSERT_TRUE(names.mcnemar);
  EXPECT_EQ(names.mcnemar->p_exact, 1);
  EXPECT_FALSE(names.amplification);  // under 5 failures of the baseline
  EXPECT_NEAR(*names.difference, 0, 1e-12);
  const ReplayChannel& schema = m.candidates[0].channels[2];
  EXPECT_FALSE(schema.mcnemar);
  EXPECT_FALSE(schema.p);
  EXPECT_EQ(schema.baseline, 0.0);
}

TEST(Mechanism, TakesMarginsOfTheBaselinesChoice) {
  const Mechanism m = hand().analysed();
  const FlipAnalysis& tools = m.candidates[0].flips[1];
  // Contexts 1, 2, 3 and 6 have two names; 4 and 5 have one.
  EXPECT_EQ(tools.pairs, 4);
  EXPECT_EQ(tools.flips, 2);
  EXPECT_EQ(tools.bins[0].decisions, 1);  // slam, 0.2
  EXPECT_EQ(tools.bins[1].decisions, 1);  // open before shut, 0.4
  EXPECT_EQ(tools.bins[1].flips, 1);
  EXPECT_EQ(tools.bins[3].decisions + tools.bins[4].decisions, 2);  // 2.0 and 3.9
  for (const FlipBin& bin : tools.bins) {
    EXPECT_EQ(bin.ci95.has_value(), bin.decisions > 0) << bin.lo;
    if (!bin.ci95) continue;
    EXPECT_LE(bin.ci95->lo, bin.flip_share());
    EXPECT_GE(bin.ci95->hi, bin.flip_share());
    EXPECT_LT(bin.ci95->lo, bin.ci95->hi);
  }
}

TEST(Mechanism, BoundsAreNotBinned) {
  Hand h;
  h.context("1", "a");
  h.call("1", "bf16", "open", {{"open", -0.1}, {"zzz", -6.1}});
  h.call("1", "int4", "open", {{"open", -0.1}, {"close", -2.1}});
  const Mechanism m = h.analysed();
  const FlipAnalysis& tools = m.candidates[0].flips[1];
  EXPECT_EQ(tools.pairs, 1);
  EXPECT_EQ(tools.censored, 1);
  EXPECT_EQ(tools.fitted, 0);
  for (const FlipBin& bin : tools.bins) EXPECT_EQ(bin.decisions, 0);
  EXPECT_FALSE(tools.models);
  EXPECT_FALSE(tools.no_models.empty());
  for (const MarginDistribution& d : m.arms[0].margins) {
    if (d.kind != DecisionKind::WhichTool || !d.channel.empty()) continue;
    EXPECT_EQ(d.bounds, 1);
    EXPECT_EQ(d.narrow, 0);
    EXPECT_FALSE(d.quantiles[2]);
  }
}

TEST(Mechanism, AnArmThatRepeatsTheBaselineIsNoCandidateButItsNoise) {
  Hand h = hand();
  h.replay.head.arms.push_back({"again", "", "", "", false, "bf16"});
  h.call("1", "again", "open", {{"open", -0.1}, {"close", -2.3}});
  h.call("2", "again", "open", {{"open", -0.5}, {"shut", -1.2}});
  h.call("6", "again", "shut", {{"shut", -0.2}, {"lock", -1.9}});
  const Mechanism m = h.analysed();
  EXPECT_EQ(m.candidates.size(), 1u);
  const FlipAnalysis& tools = m.candidates[0].flips[1];
  ASSERT_TRUE(tools.replay_noise);
  EXPECT_EQ(tools.replay_noise->pairs, 3);
  // 2.0 and 2.2; 0.4 and 0.7; 3.9 and -1.7.
  EXPECT_NEAR(tools.replay_noise->variance, (0.04 + 0.09 + 5.6 * 5.6) / 6, 1e-9);
  // What the baseline hallucinates when asked again is its failure too.
  EXPECT_EQ(m.candidates[0].directions.to_known_failure, 1);
}

// 12 tasks of three calls with scattered margins: known, and one that is a bound. Asked again, the
// baseline says the same but for 0.1 nats.
Hand asked_twice() {
  Hand h;
  h.replay.head.arms.push_back({"again", "", "", "", false, "bf16"});
  for (int i = 0; i < 36; ++i) {
    const std::string id = std::to_string(i);
    h.context(id, std::to_string(i / 3));
    const double m = 0.3 + 0.1 * i;
    const double m_again = m + (i % 2 == 0 ? 0.1 : -0.1);
    const double noisy = m + (i % 5 - 2) * 0.6;
    if (i % 3 == 0) {
      h.call(id, "bf16", "open", {{"open", -0.1}, {"zz", -1.0}});
    } else {
      h.call(id, "bf16", "open", {{"open", -0.1}, {"close", -0.1 - m}, {"zz", -9}});
      h.call(id, "again", "open", {{"open", -0.1}, {"close", -0.1 - m_again}, {"zz", -9}});
    }
    if (noisy > 0)
      h.call(id, "int4", "open", {{"open", -0.1}, {"close", -0.1 - noisy}, {"zz", -9}});
    else
      h.call(id, "int4", "close", {{"close", -0.1}, {"open", -0.1 + noisy}, {"zz", -9}});
  }
  return h;
}

TEST(Mechanism, CountsTheFlipsOutsideTheModels) {
  const FlipAnalysis flips = asked_twice().analysed().candidates[0].flips[1];
  EXPECT_EQ(flips.pairs, 36);
  EXPECT_EQ(flips.censored, 12);
  EXPECT_EQ(flips.fitted, 24);
  EXPECT_GT(flips.censored_flips, 0);
  EXPECT_GT(flips.fitted_flips, 0);
  EXPECT_EQ(flips.flips, flips.censored_flips + flips.fitted_flips);
}

std::string said_of_replay_noise(const Mechanism& mechanism) {
  std::string said;
  for (const Warning& warning : mechanism.warnings)
    if (warning.code == "no_replay_noise" && said.empty()) said = warning.message;
  return said;
}

TEST(Mechanism, SaysWhoseReplayNoiseIsNotKnown) {
  Hand h = asked_twice();
  EXPECT_EQ(said_of_replay_noise(h.analysed()), "");
  // Of another arm that was asked twice the noise is no word on the baseline.
  h.replay.head.arms[0].baseline = false;
  h.replay.head.arms[1].baseline = true;
  const std::string said = said_of_replay_noise(h.analysed());
  EXPECT_TRUE(
      said.starts_with("The replay noise in the file is that of 'bf16', which was asked "
                       "twice; 'int4', the baseline here, was asked once"))
      << said;
}

TEST(Mechanism, ASampledReplyThatIsNotItsLikeliestIsLeftOut) {
  Hand h;
  h.replay.head.greedy = false;
  h.context("1", "a");
  h.call("1", "bf16", "open", {{"open", -2.0}, {"close", -0.3}});
  h.call("1", "int4", "close", {{"close", -0.3}, {"open", -2.0}});
  const Mechanism m = h.analysed();
  EXPECT_EQ(m.candidates[0].flips[1].off_top, 1);
  EXPECT_EQ(m.candidates[0].flips[1].pairs, 0);
  EXPECT_FALSE(m.candidates[0].flips[1].flip_share.value);
}

TEST(Mechanism, NamesBehindDifferentTextAreNoPairs) {
  Hand h;
  for (const char* id : {"1", "2", "3"}) h.context(id, "a");
  for (const char* id : {"1", "2", "3"}) {
    h.call(id, "bf16", "open", {{"open", -0.1}, {"close", -9.1}});
    h.call(id, "int4", "close", {{"close", -0.1}, {"open", -9.1}});
  }
  h.replay.replies[1].text = "Closing it.";
  h.replay.replies[2].text = h.replay.replies[3].text = "One moment.";
  h.decisions[5]->first->token = "<tool>";  // no text, another way into the call
  const Mechanism m = h.analysed();
  const FlipAnalysis& tools = m.candidates[0].flips[1];
  EXPECT_EQ(tools.other_text, 2);
  EXPECT_EQ(tools.pairs, 1);
  EXPECT_EQ(tools.flips, 1);
  EXPECT_EQ(m.candidates[0].flips[0].other_text, 0);  // whether to call is decided before any text
}

// `flips` of 20 tasks flip once, at margins among those that do not.
Hand flips_in(int flips) {
  Hand h;
  for (int i = 0; i < 20; ++i) {
    for (int part : {0, 1}) {
      const std::string id = std::to_string(i) + (part == 0 ? "a" : "b");
      h.context(id, std::to_string(i));
      const double margin = 0.5 + 0.1 * ((7 * i + 3 * part) % 20);
      h.call(id, "bf16", "open", {{"open", -0.1}, {"close", -0.1 - margin}});
      if (part == 0 && i < flips)
        h.call(id, "int4", "close", {{"close", -0.3}, {"open", -0.5}});
      else
        h.call(id, "int4", "open", {{"open", -0.1}, {"close", -0.2 - margin}});
    }
  }
  return h;
}

TEST(Mechanism, ARatioWithoutAnyDifferenceHasNoInterval) {
  Hand h;
  for (int i = 0; i < 20; ++i) {
    const std::string id = std::to_string(i);
    h.context(id, id);
    const std::string name = i < 10 ? "shut" : "open";
    const std::string other = i < 10 ? "open" : "shut";
    h.call(id, "bf16", name, {{name, -0.1}, {other, -6.1 - 0.1 * i}});
    h.call(id, "int4", name, {{name, -0.1}, {other, -6.15 - 0.1 * i - 0.02 * (i % 3)}});
  }
  const CandidateMechanism same = h.analysed().candidates[0];
  EXPECT_EQ(same.channels[1].amplification, 1.0);
  EXPECT_FALSE(same.channels[1].amplification_ci95);
  ASSERT_TRUE(same.additive) << same.flips[1].no_held_out;
  EXPECT_EQ(same.additive->observed_amplification, 1.0);
  EXPECT_FALSE(same.additive->observed_ci95);
  EXPECT_FALSE(same.additive->predicted_ci95);
  // One reply of 20 differs: a width again.
  h.replay.replies.back().calls[0].name = "shut";
  h.replay.replies.back().channel = "tool_name";
  EXPECT_TRUE(h.analysed().candidates[0].channels[1].amplification_ci95);
}

TEST(Mechanism, SaysWhereMarginsDoNotForetellTheFlips) {
  // Flips at random of the margin, in 12 of 20 tasks; wide ones flip as often as narrow ones.
  const FlipAnalysis blind = flips_in(12).analysed().candidates[0].flips[1];
  ASSERT_TRUE(blind.logistic);
  EXPECT_GT(blind.logistic->p_slope, 0.05);
  EXPECT_EQ(margins_foretell(blind), std::optional<bool>(false));
  // Too few flips for a slope, and nothing that contradicts: nothing to tell from.
  FlipAnalysis few = flips_in(2).analysed().candidates[0].flips[1];
  ASSERT_TRUE(few.models);
  few.held_out_additive.reset();
  few.held_out_multiplicative.reset();
  EXPECT_EQ(margins_foretell(few), std::nullopt);
  // A number of flips that those observed do not allow.
  HeldOut held_out;
  held_out.flips_predicted = 30;
  held_out.flips_ci95 = {10, 28};
  few.held_out_additive = few.held_out_multiplicative = held_out;
  EXPECT_EQ(margins_foretell(few), std::optional<bool>(false));
}

TEST(Mechanism, NoSlopeOfFlipsInFewerThanEightTasks) {
  const FlipAnalysis few = flips_in(7).analysed().candidates[0].flips[1];
  EXPECT_EQ(few.flips, 7);
  EXPECT_FALSE(few.logistic);
  EXPECT_EQ(few.no_logistic, "too few flips (7, in 7 of the 8 tasks it takes) for a slope");
  EXPECT_TRUE(flips_in(8).analysed().candidates[0].flips[1].logistic);
}

TEST(Mechanism, ForetellsFromMarginsAloneAsTheFormulaSays) {
  Hand h;
  h.replay.head.arms.pop_back();
  h.context("1", "a");
  h.context("2", "b");
  h.call("1", "bf16", "open", {{"open", -1.0}, {"shut", -1.5}, {"close", -2.5}});
  h.call("2", "bf16", "shut", {{"shut", -0.5}, {"open", -1.5}});
  MechanismOptions options;
  options.noise = NoiseLevel{1, 1, 0};
  const Mechanism m = h.analysed(options);
  ASSERT_TRUE(m.screen.predicted);
  const auto tail = [](double x) { return 0.5 * std::erfc(x / std::sqrt(2.0)); };
  const double first = tail(0.5) * tail(0.5) / (tail(0.5) + tail(1.5));
  const double second = 1 - tail(1.0);  // its competitor is offered
  EXPECT_NEAR(*m.screen.predicted->value, (first + second) / 2, 1e-9);
  EXPECT_EQ(m.screen.baseline.value, 0.5);
  EXPECT_EQ(m.screen.decisions, 2);
  EXPECT_TRUE(m.candidates.empty());
}

TEST(Mechanism, NothingIsForetoldWhereNoWrongNameIsSeen) {
  Hand h;
  h.replay.head.arms.pop_back();
  for (int i = 0; i < 400; ++i) {
    const std::string id = std::to_string(i);
    h.context(id, id);
    h.call(id, "bf16", "open", {{"open", -0.5}, {"close", -0.9}});
  }
  MechanismOptions options;
  EXPECT_EQ(h.analysed(options).screen.risk, Risk::Low);  // of the rate that was seen
  options.noise = NoiseLevel{3, 1, 0};
  const Mechanism m = h.analysed(options);
  EXPECT_EQ(m.screen.decisions, 400);
  EXPECT_EQ(m.screen.with_wrong_name, 0);
  EXPECT_FALSE(m.screen.predicted);
  EXPECT_FALSE(m.screen.risk);
  EXPECT_FALSE(m.screen.nothing_foretold.empty());
}

TEST(Mechanism, TheForetoldRateIsNoSurerForMoreNoise) {
  const auto screen = [](double margin, double sigma) {
    Hand h;
    for (int i = 0; i < 600; ++i) {
      const std::string id = std::to_string(i);
      h.context(id, std::to_string(i % 60));
      const bool wrong = sigma < 0.01 && i < 9;
      h.call(id, "bf16", wrong ? "shut" : "open",
             {{wrong ? "shut" : "open", -0.1}, {wrong ? "open" : "shut", -0.1 - margin}});
    }
    h.call("0", "int4", "shut", {{"shut", -0.1}, {"open", -3}});  // a name to be known
    MechanismOptions options;
    options.noise = NoiseLevel{sigma, 1, 0};
    return h.analysed(options).screen;
  };
  // 9 of 600 for certain, or a chance of 1.5 % in every one.
  const MarginScreen certain = screen(1, 1e-9);
  const MarginScreen spread = screen(2.170090, 1);
  ASSERT_TRUE(certain.predicted && certain.predicted->ci95);
  ASSERT_TRUE(spread.predicted && spread.predicted->ci95);
  EXPECT_NEAR(*certain.predicted->value, 0.015, 1e-9);
  EXPECT_NEAR(*spread.predicted->value, 0.015, 1e-6);
  EXPECT_NEAR(spread.predicted->ci95->lo, certain.predicted->ci95->lo, 0.001);
  EXPECT_NEAR(spread.predicted->ci95->hi, certain.predicted->ci95->hi, 0.002);
}

TEST(Mechanism, WithoutLogProbabilitiesOnlyActionsAreCompared) {
  Hand h = hand();
  for (std::optional<Decision>& decision : h.decisions) decision.reset();
  MechanismOptions options;
  options.noise = NoiseLevel{1, 1, 0};
  const Mechanism m = h.analysed(options);
  EXPECT_EQ(m.candidates[0].outcomes.same, 2);
  EXPECT_EQ(m.candidates[0].flips[1].pairs, 0);
  EXPECT_EQ(m.arms[0].without, 7);
  EXPECT_TRUE(m.arms[0].margins.empty());
  EXPECT_FALSE(m.screen.predicted);
  EXPECT_TRUE(m.screen.baseline.value);
}

const Warning* warning_of(const Mechanism& m, std::string_view code, std::string_view arm) {
  for (const Warning& warning : m.warnings)
    if (warning.code == code && warning.where == arm) return &warning;
  return nullptr;
}

TEST(Mechanism, SaysHowManyDecisionsHaveNoMarginAndWhy) {
  // The server gave nothing but the token taken.
  Hand h = hand();
  for (std::size_t i = 0; i < h.decisions.size(); ++i) {
    if (h.replay.replies[i].arm != "int4" || !h.decisions[i]) continue;
    if (h.decisions[i]->name)
      for (TokenDecision& token : h.decisions[i]->name->tokens) token.top = {*token.top.begin()};
    h.decisions[i]->first->top = {*h.decisions[i]->first->top.begin()};
  }
  Mechanism m = h.analysed();
  EXPECT_EQ(m.candidates[0].flips[1].pairs, 0);
  EXPECT_EQ(m.arms[1].no_margin[1].no_alternatives, 5);
  EXPECT_EQ(m.arms[1].no_margin[0].no_alternatives, 6);
  const Warning* warning = warning_of(m, "no_alternatives", "int4");
  ASSERT_TRUE(warning);
  EXPECT_EQ(warning->count, 6);
  EXPECT_NE(warning->message.find("6 of 6 replies have no margin of whether to call"),
            std::string::npos)
      << warning->message;
  // One of the baseline's has no alternative in the plain replay as well: 7, and context 4 talks.
  EXPECT_EQ(m.arms[0].no_margin[1].no_alternatives, 1);

  // The names' tokens end before any other name parts.
  h = Hand();
  h.replay.tools = {{"t", {"open", "opened"}}};
  h.context("1", "a");
  h.call("1", "bf16", "open", {{"open", -0.1}, {"zzz", -3.0}});
  m = h.analysed();
  EXPECT_EQ(m.arms[0].no_margin[1].not_seen, 1);
  EXPECT_TRUE(warning_of(m, "competitors_not_seen", "bf16"));

  // Nothing else is offered.
  h.replay.tools = {{"t", {"open"}}};
  m = h.analysed();
  EXPECT_EQ(m.arms[0].no_margin[1].no_competitor, 1);
  EXPECT_TRUE(warning_of(m, "no_competitor", "bf16"));
  // A replay in which every margin can be taken says none of it.
  EXPECT_FALSE(warning_of(m, "no_alternatives", "bf16"));
}

TEST(Mechanism, SaysWhereMostMarginsAreBounds) {
  Hand h;
  for (const char* id : {"1", "2", "3"}) h.context(id, id);
  h.call("1", "bf16", "open", {{"open", -0.1}, {"zzz", -6.1}});
  h.call("2", "bf16", "open", {{"open", -0.1}, {"close", -6.1}});
  Mechanism m = h.analysed();
  EXPECT_FALSE(warning_of(m, "margins_are_bounds", "bf16"));  // half of them
  h.call("3", "bf16", "open", {{"open", -0.1}, {"zzz", -6.1}});
  m = h.analysed();
  const Warning* const warning = warning_of(m, "margins_are_bounds", "bf16");
  ASSERT_TRUE(warning);
  EXPECT_NE(warning->message.find("2 of 3 margins of which tool"), std::string::npos);
}

TEST(Mechanism, CountsRepliesThatAreNotThere) {
  Hand h = hand();
  h.replay.head.selected = 9;
  Mechanism m = h.analysed();
  EXPECT_FALSE(warning_of(m, "missing_replies", "int4"));  // an error is an answer
  const Warning* const unfinished = warning_of(m, "unfinished_replay", "");
  ASSERT_TRUE(unfinished);
  EXPECT_EQ(unfinished->count, 2);

  h.replay.replies.resize(10);
  h.decisions.resize(10);
  m = h.analysed();
  EXPECT_EQ(m.arms[1].missing, 2);
  const Warning* const missing = warning_of(m, "missing_replies", "int4");
  ASSERT_TRUE(missing);
  EXPECT_NE(missing->message.find("2 of 7 replies"), std::string::npos) << missing->message;
  // Of two logs, each has contexts of its own.
  MechanismOptions logs;
  logs.every_arm_asked = false;
  m = h.analysed(logs);
  EXPECT_EQ(m.arms[1].missing, 0);
  EXPECT_FALSE(warning_of(m, "missing_replies", "int4"));
}

TEST(Mechanism, SaysThatLogProbabilitiesCannotBeReadWithoutBlamingTheServer) {
  Hand h = hand();
  for (std::size_t i = 0; i < h.decisions.size(); ++i) {
    if (h.replay.replies[i].arm != "int4" || !h.decisions[i]) continue;
    h.replay.replies[i].decision = "{}";  // what it was read from
    h.decisions[i].reset();
  }
  const Mechanism m = h.analysed();
  EXPECT_GT(m.arms[1].unreadable, 0);
  EXPECT_EQ(m.arms[1].unreadable, m.arms[1].without);
  EXPECT_FALSE(warning_of(m, "no_logprobs", "int4"));
}

TEST(Mechanism, SaysThatACandidateWithoutRepliesCannotBeCompared) {
  Hand h;
  h.context("1", "a");
  h.call("1", "bf16", "open", {{"open", -0.1}, {"close", -2.1}});
  h.error("1", "int4");
  Mechanism m = h.analysed();
  EXPECT_TRUE(warning_of(m, "nothing_to_compare", "int4"));
  const Warning* const error = warning_of(m, "no_reply", "int4");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message,
            "1 of 1 replies is an error instead; their contexts are left out of this arm's "
            "comparison.");
  // Two logs that part at once have no pairs, and that is no fault of theirs.
  MechanismOptions logs;
  logs.every_arm_asked = false;
  EXPECT_FALSE(warning_of(h.analysed(logs), "nothing_to_compare", "int4"));
}

TEST(Mechanism, RefusesABaselineWithoutReplies) {
  Hand h;
  h.context("1", "a");
  h.error("1", "bf16");
  h.call("1", "int4", "open", {{"open", -0.1}, {"close", -2.1}});
  const Result<Mechanism> mechanism = analyse_mechanism(h.replay, h.decisions, {});
  ASSERT_FALSE(mechanism);
  EXPECT_EQ(mechanism.error().kind, ErrorKind::Undefined);
  EXPECT_NE(mechanism.error().message.find("baseline 'bf16' has no reply (1 ended in an error)"),
            std::string::npos)
      << mechanism.error().message;
}

TEST(Mechanism, SaysWhatIsUnusable) {
  Hand h;
  EXPECT_EQ(analyse_mechanism(h.replay, h.decisions, {}).error().kind, ErrorKind::Undefined);
  h = hand();
  MechanismOptions options;
  const double nan = std::nan("");
  for (const NoiseLevel& level : {NoiseLevel{0, 1, 0}, NoiseLevel{-1, 1, 0}, NoiseLevel{nan, 1, 0},
                                  NoiseLevel{1, -0.5, 0}, NoiseLevel{1, nan, 0}}) {
    options.noise = level;
    EXPECT_EQ(analyse_mechanism(h.replay, h.decisions, options).error().kind,
              ErrorKind::InvalidArgument);
  }
}

}  // namespace
}  // namespace unmask
