// Two arms of one cell -> every difference METHOD 3-6 names, with uncertainty, before any verdict.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compare/arm_summary.h"
#include "compare/options.h"
#include "stats/mean_test.h"

namespace unmask {

struct Outcome {  // METHOD 5; candidate - baseline
  std::optional<MeanTest> delta;
  std::optional<double> p_holm;  // filled by apply_multiplicity
  std::optional<Equivalence> tost;
};

struct ChannelComparison {         // METHOD 4
  std::optional<double> baseline;  // rate per call
  std::optional<double> candidate;
  // Over the paired tasks.
  long baseline_count = 0;
  long candidate_count = 0;
  std::optional<double> amplification;  // A per call; nullopt under 5 baseline failures or F < 8
  std::optional<Interval> amplification_ci95;
  std::optional<double> amplification_upper95;  // one-sided
  std::optional<double> volume;
  std::optional<double> per_other_call;
  std::optional<double> difference;
  std::optional<Interval> difference_ci95;
  std::optional<double> difference_upper95;  // one-sided
  // A is absent only because fewer than 8 tasks fail in the candidate: the baseline alone has
  // enough.
  bool sparse_in_candidate = false;
  bool no_propensity = false;  // fewer than 5 baseline failures: the difference is tested
  std::optional<double> p;
  std::optional<double> p_holm;
  bool amplified = false;  // filled by apply_multiplicity
  bool is_new = false;     // amplified with fewer than 5 baseline failures
  // With each task weighed to the same number of episodes in both arms, where they differ; absent
  // otherwise. `amplified` asks both comparisons, p is the larger, the upper limits the larger.
  std::optional<double> weighed_amplification, weighed_difference;
  // The one-sided limits of each by itself, of which the larger stands above; absent likewise.
  std::optional<double> pooled_amplification_upper95, pooled_difference_upper95;
  std::optional<double> weighed_amplification_upper95, weighed_difference_upper95;
  // Standard deviations between tasks of the true difference and of the true log ratio of rates,
  // chance within tasks taken off: what more trials do not take away. Absent without repeats.
  std::optional<double> between_difference, between_log_ratio;
  // False when every failure the candidate has in the channel is leaked markup or was repaired.
  bool counts_in_budget = true;
};

struct GapPoint {
  int k = 0;
  double gap = 0;
  Interval band95;
  Interval ci95;  // pointwise
};

struct UnmaskedGap {  // METHOD 3
  std::optional<MeanTest> test;
  std::optional<double> p_holm;
};

struct BudgetComparison {
  std::optional<int> k0;  // the smaller of the arms'; nullopt: none
  int k_tight = 2;
  bool k_tight_is_primary = true;  // false: not 2, exploratory
  // k = 0 ... k0 (or 10); the last of k0 is -Delta, and missing where k0 was not in force.
  std::vector<GapPoint> gap;
  UnmaskedGap unmasked;                    // under options.count
  UnmaskedGap agent_only;                  // --count agent
  UnmaskedGap all_sides;                   // --count all
  std::optional<Interval> gap_tight_ci95;  // pointwise interval of G(K_tight)
  std::optional<double> gap_tight;
  std::optional<double> masking_factor;  // where |G(K0)| >= 1 point
};

struct RecoveryComparison {
  std::optional<double> baseline, candidate, difference;
  std::optional<Interval> difference_ci95;
  std::optional<bool> equivalent;  // 90 % interval inside +-10 points
};

struct NamesComparison {  // METHOD 6
  // Defined in names_comparison.h.
  std::optional<double> spearman, spearman_ceiling, kendall_tau_b, jaccard, novel_share;
  long novel_calls = 0;
  long candidate_calls = 0;  // hallucinated calls of the candidate
  struct NovelBeyondChance {
    double difference = 0;
    Interval ci95;
    double p = 1;
  };
  std::optional<NovelBeyondChance> novel_beyond_chance;
  struct Pair {
    std::string name;
    long baseline = 0;
    long candidate = 0;
    SubKind kind = SubKind::Invented;
  };
  std::vector<Pair> counts;  // union, by candidate count descending, then name
};

struct PositionComparison {
  int bin = 0;
  std::map<Channel, ChannelComparison> channels;  // rates, A and difference; no multiplicity
};

// The same by quarter of the episode's agent messages, of episodes the budget did not cut.
struct QuarterComparison {
  int quarter = 0;  // 0 ... 3
  std::map<Channel, ChannelComparison> channels;
};

// Is A the same along the episode? Fitted over the quarters; exploratory: no multiplicity.
struct PositionTrend {
  double log_ratio_per_quarter = 0;  // 0: A is the same everywhere
  double se = 0;                     // jackknife over tasks
  double df = 0;
  double p = 1;                // two-sided
  double last_over_first = 1;  // A in the last quarter over A in the first, as fitted
  Interval last_over_first_ci95;
};

// By task (METHOD 4): increase of the tool_name rate against the baseline rate, the rate from the
// even trials and the increase from the odd ones (and the reverse, averaged).
struct TaskSlope {
  std::optional<double> slope;
  std::optional<Interval> ci95;
  std::optional<double> p;  // two-sided, H0: slope 0, the increase is the same in all tasks
};

struct NoiseFloor {  // METHOD 5: two runs of the same arm
  std::string arm;   // "baseline" or "candidate"
  std::optional<double> delta;
  std::optional<double> flip_share;  // tasks whose majority outcome changes
  long tasks = 0;
};

// What an arm's log should hold, as far as it says, and does not. Filled where the logs are read.
struct LogGaps {
  long missing = 0;        // episodes that missing_beside the other arm
  long unread = 0;         // records that could not be read
  bool cut_short = false;  // the log ends before it says it does: how many more is unknown
  long calls = 0;          // of the agent, answered or not
  long unanswered = 0;     // of them
  long accepted = 0;       // of them, of a name that is not offered, and not failed
};

// How unpaired_tasks begins for a task of which an arm has only excluded episodes.
inline constexpr std::string_view kNeverRan = "no episode that ran in ";
// ... and of which an arm has no graded episode, though some ran.
inline constexpr std::string_view kNotGraded = "no graded episode in ";

struct CellComparison {
  std::string cell;  // name of the cell, "gemma dense telecom INT4"
  ArmSummary baseline;
  ArmSummary candidate;
  long paired_tasks = 0;
  long evaluated_tasks = 0;    // of these, with a graded episode that ran in both arms
  long episodes_baseline = 0;  // graded, in evaluated tasks: those the outcome rests on
  long episodes_candidate = 0;
  std::vector<std::string> unpaired_tasks;  // "only in baseline: 17"
  Outcome outcome;
  std::optional<double> flip_share;  // of the cell itself, beside the noise floor's
  std::map<Channel, ChannelComparison> channels;
  ChannelComparison argument;
  BudgetComparison budget;
  RecoveryComparison recovery;
  NamesComparison names;
  NamesComparison pairs;  // over (tool, channel)
  std::vector<PositionComparison> positions;
  std::vector<QuarterComparison> quarters;
  std::map<Channel, PositionTrend> position_trends;  // where defined
  TaskSlope task_slope;
  std::vector<NoiseFloor> noise;
  bool graded = true;  // false: an arm has no evaluated episode in the paired tasks
  bool ran = true;     // false: an arm has only excluded episodes there; then `graded` is false too
  LogGaps baseline_gaps, candidate_gaps;
  bool same_episodes = false;  // the candidate holds the baseline's: nothing is compared
  // Standard deviations per task, for sample sizes.
  std::optional<double> sd_delta, sd_unmasked;
  // The part of them that lies between tasks: of the true difference and the true U, chance within
  // tasks taken off. Absent where no task is repeated, or the trials are copies.
  std::optional<double> between_delta, between_unmasked;
  std::vector<Warning> warnings;
};

// Pairs tasks by (domain, task id), reduces both arms to the common ones, and compares. The two arm
// summaries are of the reduced arms too, so that the rates and the differences beside them agree.
//
// Budget   K0 is the smaller of the arms' (none is larger than any). Where they differ, both
//          are recounted at K0 by the `live` rule before anything else: success, Delta, S(K), each
//          from its own failed calls. An arm that kept to K0 stays as it is. The calls stay, so the
//          channel counts include what was done after that point; `warnings` says so.
// Warnings pairing_warnings(baseline, candidate), what concerns the budget, and "substitution",
//          failures that moved from one channel to another; evidence_warnings of
//          each arm are the caller's.
// Errors   InvalidArgument: no common task; different domains; options out of range. Undefined
// never
//          escapes: it is an absent field.
// Threads  pure; uses options.threads, with the same numbers at any.
Result<CellComparison> compare_arms(const Arm& baseline, const Arm& candidate,
                                    const CompareOptions& options);

// Noise floor of an arm with a second run of the same settings; delta is rerun - first. tasks == 0
// and absent numbers where nothing pairs.
NoiseFloor noise_floor(std::string which, const Arm& first, const Arm& rerun);

// Holm over the comparisons of one audit: Delta over comparisons, U over comparisons (each count of
// E its own), channel tests over comparisons x the five channels; then decides `amplified` (METHOD
// 4). `argument` is the union of two channels of the family: it keeps its unadjusted p and is never
// `amplified` itself. Where fewer than 8 tasks fail, A is not reported, and the rule's A >= 1.25 is
// asked of the ratio of the two rates.
void apply_multiplicity(std::vector<CellComparison>& cells);

// "resamples_too_few", where the channel tests of these cells are so many that none could pass: the
// least p of a permutation test, 1 / (resamples + 1), times their number is not below 5 %.
std::optional<Warning> resamples_warning(std::span<const CellComparison* const> cells,
                                         int resamples);

}  // namespace unmask
