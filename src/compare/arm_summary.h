// One arm with uncertainty: the `arm summary` of the JSON contract.
//
// Means over episodes (success, E, failures per episode, shares of episodes, length) are means over
// tasks of task means (METHOD 1).
// Rates per call, and recovery, are ratios of pooled counts whose intervals are clustered by task.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compare/options.h"
#include "metrics/arm.h"
#include "metrics/task_numbers.h"
#include "stats/interval.h"

namespace unmask {

// A number and its 95 % interval; each absent where it is undefined.
struct Estimate {
  std::optional<double> value;
  std::optional<Interval> ci95;
};

enum class Risk { Low, Watch, High };
std::string_view to_string(Risk risk);  // "low", "watch", "high"

struct ChannelSummary {
  long count = 0;
  Estimate per_call;                  // count / agent calls; interval clustered by task (METHOD 8)
  std::optional<double> per_episode;  // over episodes that ran, a mean over tasks of task means
  long episodes_with = 0;
  std::optional<double> share_with;  // of the episodes that ran those with one; likewise by task
  std::map<SubKind, long> kinds;
  std::optional<Risk> screen;  // nullopt: no calls
};

struct CurvePoint {
  int k = 0;
  std::optional<double> success;
  std::optional<Interval> ci95;
};

struct BudgetSummary {
  std::optional<int> k0;  // nullopt: the format has no budget; the curve then runs to 10
  // Successful episodes with more failed calls than k0 lets any keep: k0 was not in force, and the
  // final score is not success within it.
  long beyond_k0 = 0;
  BudgetRule rule = BudgetRule::AtMost;
  BudgetCount count = BudgetCount::All;
  // k = 0 ... k0 (at_most); the k0 point is the final score, undefined where beyond_k0 > 0.
  std::vector<CurvePoint> curve;
  std::vector<CurvePoint> curve_live;       // k = 1 ... k0
  std::optional<double> mean_errors;        // E by `count`, over episodes that ran
  std::array<double, 5> error_quantiles{};  // 0, 25, 50, 75, 100 %; meaningless without episodes
  // Episodes with E >= k0 - 2, E of both sides as the budget in force counts them; nullopt without
  // k0, where k0 was not in force, and where it is 2 or less: then every episode would be near.
  std::optional<double> share_near_exhaustion;
};

struct RecoverySummary {
  long failures = 0;  // of the agent, not censored
  long recovered = 0;
  long censored = 0;  // a last failure cut off by the budget
  Estimate rate;
  Estimate success_given_failure;  // P(Y = 1 | E >= 1), pooled over evaluated episodes; descriptive
};

struct PositionSummary {
  int bin = 0;
  long calls = 0;
  std::map<Channel, long> failures;
  std::optional<double> failed_per_call = {};     // all failure channels; nullopt: no calls
  std::optional<double> tool_name_per_call = {};  // likewise
};

struct TaskRow {  // by task, for scatter plots and tables
  std::string domain;
  std::string task;
  int episodes = 0;  // evaluated
  std::optional<double> success;
  long calls = 0;
  long failures = 0;  // all failure channels
  long tool_name = 0;
  std::optional<double> failed_per_call = {};  // nullopt: no calls
  std::optional<double> tool_name_per_call = {};
};

struct ArmSummary {
  std::string label;
  RunInfo info;
  std::vector<std::string> sources;
  long episodes_in_log = 0;  // as read, also of tasks that a comparison leaves out
  long episodes_total = 0;   // of the tasks this speaks of; excluded ones of tasks left out as well
  long episodes_evaluated = 0;
  long episodes_excluded = 0;  // infrastructure
  long episodes_ungraded = 0;
  long tasks = 0;      // with an evaluated episode
  int trials_min = 0;  // evaluated episodes per task
  int trials_max = 0;
  std::optional<double> distinct_trajectories_per_task;  // mean; 1 means trials are copies
  bool trials_are_copies = false;  // every task with 2+ trials has a single distinct trajectory
  std::map<std::string, long> terminations;
  Estimate success;  // mean over tasks of task means; t interval
  std::map<int, double> pass_hat_k;
  long agent_calls = 0;  // the denominator
  long user_calls = 0;
  long failed_agent = 0;  // failure channels
  long failed_user = 0;
  long unanswered = 0;
  long system = 0;
  std::map<Channel, ChannelSummary> channels;  // the five failure channels
  ChannelSummary argument;                     // schema + entity
  BudgetSummary budget;
  RecoverySummary recovery;
  RepairCounts repair;  // all 0: no call was handed back
  std::vector<NameCount> names;
  std::vector<PositionSummary> positions;
  std::vector<TaskRow> by_task;
  Bursts bursts;
  LengthMeans length;
  std::map<ToolEvidence, long> tool_evidence;  // episodes by the evidence used
  std::map<std::string, long> failing_tools;   // tool -> failed agent calls
};

// Shape    any arm, also one without episodes: what is undefined then is absent.
// Budget   the one in force, else options.assumed_max_errors, else none.
// Threads  pure.
ArmSummary summarize_arm(const Arm& arm, const CompareOptions& options);

// The same with the budget given: what compare_arms uses where two arms differ in theirs.
ArmSummary summarize_arm_at(const Arm& arm, std::optional<int> k0, const CompareOptions& options);

// Whether success with the budget k under budget.rule is known: below k0; at k0 by the live rule,
// where it is the final score, unless k0 was not in force; anywhere without k0.
bool is_identified(const BudgetSummary& budget, int k);

// The budget in force, else the one options assume, else nullopt.
std::optional<int> effective_budget(const Arm& arm, const CompareOptions& options);

}  // namespace unmask
