// The gate: what a cell must meet to be let through, fixed beforehand like the verdict's own
// criteria, and what of it a comparison meets.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "verdict/verdict.h"

namespace unmask {

// The worse is the greater.
enum class GateStatus { Pass, Inconclusive, Fail };
std::string_view to_string(GateStatus status);  // "pass", "inconclusive", "fail"

// How a number is held against its limit.
//   Estimate    by itself
//   Confidence  passes when its 95 % limit on the bad side is within the criterion, fails when the
//               limit on the good side is beyond it too, and is inconclusive in between
enum class GateBasis { Estimate, Confidence };
std::string_view to_string(GateBasis basis);  // "estimate", "confidence"

struct GateCriteria {
  std::string name = "the default criteria";  // or the file they are from
  std::set<Verdict> fail = {Verdict::DegradedAndMasked, Verdict::Degraded, Verdict::Masked,
                            Verdict::Amplified};
  GateStatus inconclusive = GateStatus::Inconclusive;  // what that verdict means, of graded logs
  // Of logs without grades, and of a verdict that changes with episodes that ran without one.
  GateStatus ungraded = GateStatus::Inconclusive;
  GateStatus fragile =
      GateStatus::Inconclusive;  // of a verdict that changes with excluded episodes
  // Of a log that breaks off or has unreadable records, and of a verdict that changes with episodes
  // missing from it.
  GateStatus incomplete = GateStatus::Inconclusive;
  GateBasis basis = GateBasis::Estimate;
  std::map<Channel, double> max_amplification;  // A per call; a ratio
  std::map<Channel, double> max_increase;       // of the rate per call; a proportion
  std::optional<double> min_success_tight;      // S(K_tight) of the candidate; a proportion
  bool require_equivalence = false;
  std::optional<long> min_tasks;     // paired
  std::optional<long> min_trials;    // evaluated, of the task and arm that have fewest
  std::optional<long> min_episodes;  // evaluated, in paired tasks, of the arm that has fewer
};

// What a finding is about: where a report that goes by parts shows it.
enum class GateSubject { Verdict, Outcome, UnmaskedGap, Channel };

struct GateFinding {
  GateStatus status = GateStatus::Pass;
  std::string criterion;  // the key of the criteria file: "fail", "max_amplification" ...
  GateSubject subject = GateSubject::Verdict;
  std::optional<Channel> channel;  // with Channel
  // What was measured and what it was held against: ratios, proportions or counts. `excess` is how
  // far beyond the limit, on the bad side, what was compared lies; negative: within. Absent where
  // there is no number, or it is undefined.
  std::optional<double> value;
  std::optional<double> limit;
  std::optional<double> excess;
  std::string sentence;  // with the numbers
};

struct CellGate {
  GateStatus status = GateStatus::Pass;  // the worst of the findings
  // One a criterion, in a fixed order, those met too; the verdict's first. "fail" has a second one
  // where masking cannot be judged.
  std::vector<GateFinding> findings;
};

struct GateResult {
  GateStatus status = GateStatus::Pass;  // the worst of the cells; no cell: Inconclusive
  GateCriteria criteria;
  std::vector<CellGate> cells;  // in the audit's order
};

// Holds one judged comparison against the criteria. An undefined number is inconclusive, and a
// comparison where nothing ran (CellComparison::ran) never passes.
//
// Threads  pure.
CellGate gate_of_cell(const CellComparison& cell, const Judgement& judgement,
                      const GateCriteria& criteria);

GateResult gate_of_cells(const GateCriteria& criteria, std::vector<CellGate> cells);

// A cell by parts: the verdict with its evidence, the outcome, the unmasked gap, each channel. A
// finding stands in the part it is about, and where the verdict is the one that fails, the parts
// that made it fail (a degraded outcome, damage unmasked, an amplified channel) fail too; so some
// part fails if and only if the cell does.
struct GatePart {
  std::string name;  // "verdict", "outcome", "unmasked gap", "channel tool_name"
  GateStatus status = GateStatus::Pass;
  std::vector<std::string> sentences;  // why it does not pass, then what was measured
};
std::vector<GatePart> gate_parts(const CellComparison& cell, const Judgement& judgement,
                                 const CellGate& gate);

}  // namespace unmask
