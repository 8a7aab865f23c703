// verdict: criteria fixed beforehand -> a verdict with its reasons (METHOD 10).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "verdict/unknown.h"

namespace unmask {

enum class Verdict { DegradedAndMasked, Degraded, Masked, Amplified, Clean, Inconclusive };
std::string_view to_string(Verdict verdict);  // "degraded+masked", "masked" ...

enum class Flatness { Equivalent, Undetected };
std::string_view to_string(Flatness flatness);

// What would settle `inconclusive`: tasks, at the present number of trials, for the condition that
// needs the most of them to be shown met, or shown broken where the estimate lies beyond its limit.
// With 80 % power, if the present estimates are the truth, and before Holm's correction. A
// condition that no number of tasks would settle (an ungraded log, no budget) comes first, with
// nullopt.
struct NeededEvidence {
  std::optional<int> tasks;
  std::optional<int> trials;
  std::string condition;  // the condition that blocks `clean`
  // Trials a task that would settle every blocking condition on the present tasks, taking from the
  // trials what lies between tasks; nullopt: up to 100 would not, or the trials do not show it.
  std::optional<int> trials_same_tasks = std::nullopt;
};

struct Judgement {
  bool degraded = false;
  bool unmasked_damage = false;
  Verdict verdict = Verdict::Inconclusive;
  std::optional<Flatness> flatness;      // with Masked
  std::set<Unknown> fragile_by;          // what the verdict changes with, read one way or another
  std::vector<std::string> reasons;      // sentences, the decisive first
  std::optional<NeededEvidence> needed;  // with Inconclusive

  bool fragile() const { return !fragile_by.empty(); }
};

// Judges one comparison whose multiplicity has been applied (a test without a Holm p is no
// evidence). `fragile_by` is left empty: audit fills it.
//
//   degraded          Delta < 0, Holm p < 0.05
//   unmasked damage   U > 0, Holm p < 0.05; lower end of the 95 % interval of G(k_tight) > 0; and
//   an
//                     amplified channel that spends budget. With another k_tight than the primary
//                     one the same, said so: exploratory
//   clean             all of: graded; lower end of the 90 % interval of Delta > -margin; one-sided
//                     upper limit of U < 5 points (U absent: not shown); nothing amplified; in each
//                     of the five channels upper limit of A < 1.5 or of the difference < 2 points
// Ungraded logs have neither flag and are never clean.
Judgement judge(const CellComparison& cell);

// Why there is no evidence where `cell.ran` is false, with the episodes of each arm.
std::string nothing_ran_sentence(const CellComparison& cell);

}  // namespace unmask
