#include "verdict/unknown.h"

#include <fmt/format.h>

#include "base/units.h"

namespace unmask {
namespace {

long of_arm(const ArmSummary& arm, const LogGaps& gaps, Unknown unknown) {
  switch (unknown) {
    case Unknown::Excluded:
      return arm.episodes_excluded;
    case Unknown::Ungraded:
      return arm.episodes_ungraded;
    case Unknown::Missing:
      return gaps.missing;
  }
  return 0;
}

// What follows "the 2 episodes that".
std::string_view predicate_of(Unknown unknown, bool one) {
  switch (unknown) {
    case Unknown::Excluded:
      return "ended in infrastructure errors";
    case Unknown::Ungraded:
      return one ? "has no grade" : "have no grade";
    case Unknown::Missing:
      return one ? "is missing" : "are missing";
  }
  return "";
}

}  // namespace

std::string_view to_string(Unknown unknown) {
  switch (unknown) {
    case Unknown::Excluded:
      return "excluded";
    case Unknown::Ungraded:
      return "ungraded";
    case Unknown::Missing:
      return "missing";
  }
  return "missing";
}

long unknown_episodes(const CellComparison& cell, Unknown unknown) {
  return of_arm(cell.baseline, cell.baseline_gaps, unknown) +
         of_arm(cell.candidate, cell.candidate_gaps, unknown);
}

std::string unknown_episodes_in_words(const CellComparison& cell, Unknown unknown) {
  const long baseline = of_arm(cell.baseline, cell.baseline_gaps, unknown);
  const long candidate = of_arm(cell.candidate, cell.candidate_gaps, unknown);
  const std::string_view predicate = predicate_of(unknown, baseline + candidate == 1);
  if (baseline + candidate == 0)
    return fmt::format("episodes of other comparisons that {}", predicate);
  if (baseline > 0 && candidate > 0)
    return fmt::format("the {} ({} of the baseline, {} of the candidate) that {}",
                       counted(baseline + candidate, "episode"), count_text(baseline),
                       count_text(candidate), predicate);
  return fmt::format("the {} of the {} that {}", counted(baseline + candidate, "episode"),
                     baseline > 0 ? "baseline" : "candidate", predicate);
}

}  // namespace unmask
