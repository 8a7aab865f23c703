// The decisions of two logs in plain words, shared by every rendering of an audit.
#pragma once

#include <string>

#include "compare/mechanism.h"

namespace unmask {

// The comparison of an audit's mechanism: there is exactly one.
const CandidateMechanism& compared(const Mechanism& mechanism);

// The arm's margins of all its own choices of a kind; null: it has none.
const MarginDistribution* own_margins(const ReplayedArm& arm, DecisionKind kind);

// "1,203 decisions of 114 tasks had the same context in both logs (5,028 decisions in the
// baseline's, 5,104 in the candidate's)".
std::string pairs_in_words(const Mechanism& mechanism);

// "1,200 decisions (1,003 distinct prompts) of 114 tasks".
std::string contexts_in_words(const Mechanism& mechanism);

// "drawn (temperature 0.7), 4 to a context: ...": whether a replay's replies are greedy or drawn,
// and what its rates and observations are of.
std::string asked_in_words(const ReplayHead& head);

// "the models fit 554 of 764 pairs with 150 flips; outside: 101 whose margin is a bound, with 3
// flips, and ...": empty where there is no model or nothing is outside.
std::string outside_models_in_words(const FlipAnalysis& flips);

// What the p values of a channel are of.
inline constexpr const char* kHolmInWords =
    "Holm p: whole tasks swapped between the arms, corrected over candidates and channels";
inline constexpr const char* kMcNemarInWords = "McNemar: contexts taken as independent";

// "41 of 1,203 flip, 3.4% [2.1%, 5.0%]".
std::string flips_in_words(const FlipAnalysis& flips);

// "3 pairs wrote different text before the call, 12 whose baseline did not take its likeliest":
// what takes no part in the margins of a kind; empty where all do.
std::string left_out_in_words(const FlipAnalysis& flips);

// The noise model and its parameters, or why there is none: multiplicative where lambda differs
// from 1 (p < 0.05, clustered by task), else additive. Empty where nothing flips that noise could
// explain.
std::string noise_model_in_words(const FlipAnalysis& flips);

// "each nat multiplies the odds of a flip by 0.51 [0.40, 0.66], p <0.001", or why there is no line.
std::string slope_in_words(const FlipAnalysis& flips);

// Flips foretold beside those observed, the calibration error beside that of chance, and whether
// margins foretell at all (margins_foretell); empty where there is nothing to tell from.
std::string calibration_in_words(const FlipAnalysis& flips);

// The noise model, the slope where anything flips, and the calibration that judges them.
std::string judged_in_words(const FlipAnalysis& flips);

// Hallucinated names foretold by that model beside the observed ones, or why nothing is foretold;
// empty where there is no pair.
std::string foretold_in_words(const Mechanism& mechanism);

// Why no failure is foretold of a candidate; empty where one is, or nothing was compared.
std::string not_foretold_in_words(const CandidateMechanism& candidate);

// "0.25 to 0.5", "16 and more".
std::string bin_in_words(const FlipBin& bin);

// 20 decisions with known margins, in 2 bins or more.
bool worth_a_chart(const FlipAnalysis& flips);

// Whether the flips by margin are worth a chart: 20 decisions with known margins, in 2 bins or
// more. The choice of a tool comes first; nullptr: neither kind has so many.
const FlipAnalysis* flips_to_draw(const CandidateMechanism& candidate);

}  // namespace unmask
