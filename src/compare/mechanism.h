// The mechanism of METHOD 7: one replay of decisions, every candidate paired with the baseline by
// context. Where did the candidate choose otherwise, how narrow was the baseline's choice there,
// and does noise on the margins explain both the flips and the failures?
//
// The call-or-talk decision and the choice of a tool are kept apart throughout. docs/mechanism.md
// has the formulas.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compare/arm_summary.h"
#include "stats/logistic.h"
#include "stats/mcnemar.h"
#include "stats/noise_model.h"
#include "stats/reliability.h"
#include "trace/decision.h"
#include "trace/replay.h"

namespace unmask {

enum class DecisionKind { WhetherToCall, WhichTool };
inline constexpr std::array<DecisionKind, 2> kDecisionKinds = {DecisionKind::WhetherToCall,
                                                               DecisionKind::WhichTool};
std::string_view to_string(DecisionKind kind);  // "whether_to_call", "which_tool"

// Noise on margins, m' = alpha + lambda m + e, e ~ N(0, sigma^2), in nats.
struct NoiseLevel {
  double sigma = 0;   // above 0
  double lambda = 1;  // not below 0
  double alpha = 0;
};

struct MechanismOptions {
  double narrow = 1;                // nats: a margin below is narrow
  std::optional<NoiseLevel> noise;  // predict the baseline's failures under it
  int resamples = 10000;
  std::uint64_t seed = 20260731;
  int threads = 0;
  double screen_low = 0.01;
  double screen_high = 0.05;
  // Every arm was asked at every context, so a reply that is not there is missing. Of two logs each
  // has contexts of its own.
  bool every_arm_asked = true;
};

// Decisions of a kind whose log-probabilities are there, and that have no margin all the same.
struct MarginsMissing {
  long no_token = 0;         // of the token, or of the name, where this is decided
  long no_alternatives = 0;  // only the token taken is there, nothing that it was preferred to
  long no_competitor = 0;    // nothing else could be chosen: one name, or no reply of the other act
  long not_seen = 0;         // every competitor parts from the choice behind what was recorded
};

// Margins of an arm's own choices.
struct MarginDistribution {
  DecisionKind kind = DecisionKind::WhichTool;
  std::string channel;  // of the replies: "ok", "tool_name", ...; empty: all
  long decisions = 0;
  long bounds = 0;  // of these, known to be at least a value
  // At 10, 25, 50, 75 and 90 % (Kaplan-Meier); absent where only bounds lie that far out.
  std::array<std::optional<double>, 5> quantiles;
  long narrow = 0;
  Estimate narrow_share;  // of the decisions of which it is known; clustered by task
};
inline constexpr std::array<double, 5> kMarginQuantiles = {0.10, 0.25, 0.50, 0.75, 0.90};

struct ReplayedArm {
  ReplayArm arm;
  long replies = 0;
  long errors = 0;      // contexts without a reply, said why
  long missing = 0;     // contexts and samples of which there is neither (every_arm_asked)
  long without = 0;     // replies without log-probabilities that can be used
  long unreadable = 0;  // of these, with some that cannot be read
  long undecided = 0;   // first tokens that begin calls and talk alike
  long strangers = 0;   // names with a likelier alternative that leads to no competitor
  std::vector<MarginDistribution> margins;
  std::array<MarginsMissing, 2> no_margin;  // in the order of kDecisionKinds

  // Names that have a margin: what `strangers` are counted of.
  long names_with_margin() const;
  // Replies that call, of which no name's tokens were found.
  long name_unseen() const { return no_margin[1].no_token; }
};

// What the candidate did with the contexts to which both arms replied.
struct ReplayOutcomes {
  long replies = 0;
  long same = 0;             // both talk, or both call the same tool first
  long other_arguments = 0;  // of these, with other arguments, or other calls behind the first
  long other_tool = 0;
  long text_instead = 0;  // of a call
  long call_instead = 0;  // of talk
};

// Failures in one channel, over the contexts to which both arms replied.
struct ReplayChannel {
  std::string channel;  // "malformed", "tool_name", "schema", "any"
  long replies = 0;
  long both = 0;
  long only_baseline = 0;
  long only_candidate = 0;
  std::optional<double> baseline;  // failures / replies
  std::optional<double> candidate;
  std::optional<double> difference;
  std::optional<Interval> difference_ci95;
  std::optional<double> amplification;         // absent under 5 failures of the baseline (METHOD 4)
  std::optional<Interval> amplification_ci95;  // absent where no reply differs as well
  std::optional<McNemar> mcnemar;  // contexts taken as independent, of those alike the first
  std::optional<double> p;         // task blocks swapped between the arms (METHOD 4)
  std::optional<double> p_holm;    // over candidates and channels, without "any"
};

// Where names went that are not the baseline's.
struct FlipDirections {
  long changed = 0;
  long to_offered = 0;
  long to_known_failure = 0;  // a name the baseline hallucinates somewhere in the replay
  long to_new_failure = 0;
  long healed = 0;  // of to_offered: the baseline's own name was hallucinated
};

struct FlipBin {
  double lo = 0;  // margins in [lo, hi); the last bin has no upper end
  std::optional<double> hi;
  long decisions = 0;
  long flips = 0;
  std::optional<Interval> ci95 = {};  // of the share, clustered by task
  double flip_share() const { return static_cast<double>(flips) / static_cast<double>(decisions); }
};

// One noise model judged on tasks it was not fitted to: fitted on one half of the tasks, used on
// the other, and the other way round.
struct HeldOut {
  Reliability reliability;
  long rows = 0;
  double flips_predicted = 0;
  long flips_observed = 0;
  // Numbers of flips that those observed allow: the wider ends of Clopper and Pearson (rows taken
  // as independent) and of the interval clustered by task.
  Interval flips_ci95;

  bool is_contradicted() const {
    return flips_predicted < flips_ci95.lo || flips_predicted > flips_ci95.hi;
  }
};

struct FlipAnalysis {
  DecisionKind kind = DecisionKind::WhichTool;
  long pairs = 0;         // both arms' margins could be taken
  long other_text = 0;    // left out: the replies wrote different text before the call
  long off_top = 0;       // left out: the baseline's reply was not its own likeliest
  long censored = 0;      // left out of bins and models: the baseline's margin is a bound
  long undetermined = 0;  // left out: a bound that does not tell a flip
  // What the models are fitted to. Pairs neither censored nor fitted are left out of the models by
  // the replay noise: not measured twice, or too near the reach of the alternatives.
  long fitted = 0;
  long flips = 0;
  long censored_flips = 0;  // of these
  long fitted_flips = 0;
  Estimate flip_share;  // of the pairs
  std::vector<FlipBin> bins;
  std::optional<Logistic> logistic;              // flips, and what does not flip, in 8 tasks each
  std::string no_logistic;                       // why there is none
  std::optional<MeasurementNoise> replay_noise;  // of the baseline asked again
  std::optional<NoiseModels> models;
  std::string no_models;
  std::optional<HeldOut> held_out_additive;
  std::optional<HeldOut> held_out_multiplicative;
  std::string no_held_out;
};

// The held-out calibration of the model that the test of lambda = 1 chooses (p < 0.05:
// multiplicative). nullptr: none.
const HeldOut* chosen_held_out(const FlipAnalysis& flips);
// Whether margins say which decisions flip, and how many: false where the slope of flips on the
// margin is not below 0 (p < 0.05), or where that calibration is contradicted. nullopt: there is
// nothing to tell from, no slope or no calibration and no contradiction.
std::optional<bool> margins_foretell(const FlipAnalysis& flips);

// Failures of the candidate foretold from the baseline's margins: docs/mechanism.md.
struct FailurePrediction {
  long decisions = 0;
  double baseline = 0;                            // share of hallucinated names
  double observed = 0;                            // of the candidate's likeliest, in the same ones
  double predicted = 0;                           // by parameters of the other half of the tasks
  std::optional<double> predicted_amplification;  // absent under 5 failures of the baseline
  // Absent as well where less than half a decision is foretold, or none was observed, to differ.
  std::optional<Interval> predicted_ci95;
  std::optional<double> observed_amplification;
  std::optional<Interval> observed_ci95;
};

struct CandidateMechanism {
  std::string label;
  long contexts = 0;  // to which both arms replied
  long tasks = 0;
  ReplayOutcomes outcomes;
  std::vector<ReplayChannel> channels;
  FlipDirections directions;
  std::vector<FlipAnalysis> flips;  // one of each kind
  std::optional<FailurePrediction> additive;
  std::optional<FailurePrediction> multiplicative;
};

// The risk at full precision: METHOD 8.
struct MarginScreen {
  long decisions = 0;
  // Of these: at least one of the names seen beside the choice is not offered. Where the choice is
  // offered and none is, no noise foretells a failure.
  long with_wrong_name = 0;
  Estimate baseline;                // rate of hallucinated names over the baseline's calls
  std::optional<NoiseLevel> noise;  // as asked for
  std::optional<Estimate> predicted;
  std::string nothing_foretold;  // why there is no predicted rate, where there are margins
  // Of the predicted rate, else of the baseline's; where there is nothing to foretell a rate from,
  // it is not low.
  std::optional<Risk> risk;
};

struct Mechanism {
  ReplayHead head;
  long contexts = 0;
  // Of these, with messages and tools that no earlier one has; nullopt: the replay does not say. A
  // copy counts in the task of the first of its kind.
  std::optional<long> distinct;
  long copies_in_other_tasks = 0;
  long tasks = 0;
  std::vector<ReplayedArm> arms;  // in the replay's order
  std::vector<CandidateMechanism> candidates;
  MarginScreen screen;
  std::vector<Warning> warnings;
};

// Shape    decisions[i] belongs to replay.replies[i]; null: it has none. Exactly one arm is the
// baseline; arms that
//          repeat another give replay noise and are no candidates.
// Errors   InvalidArgument: a noise level that is none. Undefined: no reply at all, or none of the
//          baseline.
// Threads  uses options.threads; the same result at any number.
Result<Mechanism> analyse_mechanism(const Replay& replay,
                                    std::span<const Decision* const> decisions,
                                    const MechanismOptions& options);
Result<Mechanism> analyse_mechanism(const Replay& replay,
                                    std::span<const std::optional<Decision>> decisions,
                                    const MechanismOptions& options);

}  // namespace unmask
