#include "verdict/gate_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/units.h"
#include "verdict/criteria.h"

namespace unmask {
namespace {

// A sentence as the end of another.
std::string lower_first(std::string sentence) {
  if (sentence.ends_with('.')) sentence.pop_back();
  if (!sentence.empty() && sentence[0] >= 'A' && sentence[0] <= 'Z')
    sentence[0] = static_cast<char>(sentence[0] - 'A' + 'a');
  return sentence;
}

std::string verdict_meaning(const CellComparison& cell, const Judgement& judgement,
                            const GateCriteria& criteria, GateStatus status) {
  const std::string_view verdict = to_string(judgement.verdict);
  if (criteria.fail.contains(judgement.verdict))
    return fmt::format("the verdict '{}' is one that fails", verdict);
  if (!cell.ran)
    return "there is no evidence, which never passes: " + lower_first(nothing_ran_sentence(cell));
  if (cell.same_episodes)
    return "the candidate holds episodes of the baseline, which is no evidence and never passes";
  if (judgement.verdict == Verdict::Inconclusive && !cell.graded)
    return "the verdict is inconclusive for want of grades, about which `ungraded` decides";
  if (judgement.verdict != Verdict::Inconclusive)
    return fmt::format("the verdict '{}' is not one that fails", verdict);
  std::string text = fmt::format("the verdict is inconclusive, which means: {}", to_string(status));
  if (judgement.needed && judgement.needed->tasks)
    text += fmt::format("; {} would settle it ({})", counted(*judgement.needed->tasks, "task"),
                        judgement.needed->condition);
  return text;
}

GateFinding verdict_finding(const CellComparison& cell, const Judgement& judgement,
                            const GateCriteria& criteria) {
  GateFinding finding;
  finding.criterion = "fail";
  if (criteria.fail.contains(judgement.verdict))
    finding.status = GateStatus::Fail;
  else if (!cell.ran)  // not even where the verdict `inconclusive` passes
    finding.status = std::max(GateStatus::Inconclusive, criteria.inconclusive);
  else if (cell.same_episodes)
    finding.status = GateStatus::Inconclusive;
  else if (cell.graded && judgement.verdict == Verdict::Inconclusive)
    finding.status = criteria.inconclusive;
  finding.sentence = verdict_meaning(cell, judgement, criteria, finding.status);
  return finding;
}

bool fails_for_masking(const GateCriteria& criteria) {
  return criteria.fail.contains(Verdict::Masked) ||
         criteria.fail.contains(Verdict::DegradedAndMasked);
}

// Without an unmasked gap no verdict speaks of masking, so none that fails could have been met. Of
// logs that did not run, are copies or are ungraded, other findings speak.
std::optional<GateFinding> masking_finding(const CellComparison& cell,
                                           const GateCriteria& criteria) {
  const bool speaks = cell.ran && cell.graded && !cell.same_episodes;
  if (!speaks || cell.budget.unmasked.test || !fails_for_masking(criteria)) return std::nullopt;
  GateFinding finding;
  finding.criterion = "fail";
  finding.subject = GateSubject::UnmaskedGap;
  finding.status = GateStatus::Inconclusive;
  finding.sentence = "masking cannot be judged, and a verdict with masking is one that fails: " +
                     lower_first(unmasked_sentence(cell));
  return finding;
}

GateFinding fragile_finding(const Judgement& judgement, const GateCriteria& criteria) {
  GateFinding finding;
  finding.criterion = "fragile";
  const bool fragile = judgement.fragile_by.contains(Unknown::Excluded);
  if (fragile) finding.status = criteria.fragile;
  finding.sentence =
      fragile
          ? fmt::format("the verdict changes with the episodes that were excluded, which means: {}",
                        to_string(criteria.fragile))
          : std::string("the verdict stands whatever the excluded episodes would have been");
  return finding;
}

GateFinding ungraded_finding(const CellComparison& cell, const Judgement& judgement,
                             const GateCriteria& criteria) {
  const long ungraded = unknown_episodes(cell, Unknown::Ungraded);
  const std::string which = unknown_episodes_in_words(cell, Unknown::Ungraded);
  GateFinding finding;
  finding.criterion = "ungraded";
  finding.value = static_cast<double>(ungraded);
  if (!cell.ran) {
    finding.sentence = "no episode ran that could lack a grade";
  } else if (!cell.graded) {
    finding.status = criteria.ungraded;
    finding.sentence = fmt::format("the logs have no grades (verdict '{}'), which means: {}",
                                   to_string(judgement.verdict), to_string(criteria.ungraded));
  } else if (judgement.fragile_by.contains(Unknown::Ungraded)) {
    finding.status = criteria.ungraded;
    finding.sentence =
        fmt::format("the verdict changes with whether {} passed or failed, which means: {}", which,
                    to_string(criteria.ungraded));
  } else if (ungraded > 0) {
    finding.sentence = fmt::format("the verdict stands whether {} passed or failed", which);
  } else {
    finding.sentence = "every episode that ran has a grade";
  }
  return finding;
}

// "the candidate's log is cut short, 2 records of the candidate's log could not be read"; empty:
// neither.
std::string damage_in_words(const LogGaps& gaps, std::string_view role) {
  const std::string unread = gaps.unread == 0 ? ""
                                              : fmt::format("{} of the {}'s log could not be read",
                                                            counted(gaps.unread, "record"), role);
  const std::string cut = gaps.cut_short ? fmt::format("the {}'s log is cut short", role) : "";
  return cut.empty() || unread.empty() ? cut + unread : cut + ", " + unread;
}

// What the candidate has more of than this share of its calls beyond the baseline's share may hide
// its failures.
constexpr double kMostOddCalls = 0.01;

// "1,728 of the candidate's 4,298 calls got no reply in the log"; empty where the candidate has
// hardly more of them than the baseline.
std::string odd_calls_in_words(const CellComparison& cell, long LogGaps::*which,
                               std::string_view what) {
  const auto share = [&](const LogGaps& gaps) {
    return gaps.calls == 0 ? 0.0
                           : static_cast<double>(gaps.*which) / static_cast<double>(gaps.calls);
  };
  if (share(cell.candidate_gaps) - share(cell.baseline_gaps) <= kMostOddCalls) return "";
  return fmt::format("{} of the candidate's {} calls {}", count_text(cell.candidate_gaps.*which),
                     count_text(cell.candidate_gaps.calls), what);
}

// "30 tasks of the baseline are not in the candidate's log"; empty: none.
std::string absent_tasks_in_words(const CellComparison& cell, std::string_view has,
                                  std::string_view lacks) {
  const std::string begin = fmt::format("only in {}: ", has);
  const long tasks =
      std::count_if(cell.unpaired_tasks.begin(), cell.unpaired_tasks.end(),
                    [&](const std::string& task) { return task.starts_with(begin); });
  if (tasks == 0) return "";
  return fmt::format("{} of the {} {} not in the {}'s log", counted(tasks, "task"), has,
                     tasks == 1 ? "is" : "are", lacks);
}

// Everything about two logs that leaves open what a whole one would show.
std::string gaps_in_words(const CellComparison& cell) {
  std::string text;
  for (const std::string& gap :
       {damage_in_words(cell.baseline_gaps, "baseline"),
        damage_in_words(cell.candidate_gaps, "candidate"),
        absent_tasks_in_words(cell, "baseline", "candidate"),
        absent_tasks_in_words(cell, "candidate", "baseline"),
        odd_calls_in_words(cell, &LogGaps::unanswered, "got no reply in the log"),
        odd_calls_in_words(cell, &LogGaps::accepted,
                           "are of names that are not offered, and are not marked as failed")})
    if (!gap.empty()) text += (text.empty() ? "" : "; ") + gap;
  return text;
}

// A log that breaks off lacks nobody knows what, so no reading settles it.
GateFinding incomplete_finding(const CellComparison& cell, const Judgement& judgement,
                               const GateCriteria& criteria) {
  const long missing = unknown_episodes(cell, Unknown::Missing);
  const std::string which = unknown_episodes_in_words(cell, Unknown::Missing);
  std::string why = gaps_in_words(cell);
  if (missing > 0 && !why.empty())
    why += fmt::format(" ({} missing in all)", counted(missing, "episode"));
  const bool changes = judgement.fragile_by.contains(Unknown::Missing);
  if (changes)
    why += fmt::format("{}the verdict changes with whether {} passed or failed",
                       why.empty() ? "" : "; ", which);
  GateFinding finding;
  finding.criterion = "incomplete";
  finding.value = static_cast<double>(missing);
  if (!why.empty()) {
    finding.status = criteria.incomplete;
    finding.sentence = fmt::format("{}, which means: {}", why, to_string(criteria.incomplete));
  } else if (missing > 0) {
    finding.sentence = fmt::format("the verdict stands whether {} passed or failed", which);
  } else {
    finding.sentence = "both logs hold the same tasks, and every episode they announce";
  }
  return finding;
}

// Too little evidence is inconclusive, never a no.
GateFinding count_finding(std::string criterion, const std::string& noun, std::string_view which,
                          long count, long least) {
  GateFinding finding;
  finding.criterion = std::move(criterion);
  finding.value = static_cast<double>(count);
  finding.limit = static_cast<double>(least);
  finding.excess = static_cast<double>(least - count);
  if (count < least) finding.status = GateStatus::Inconclusive;
  finding.sentence =
      fmt::format("{} {}, at least {} asked{}", counted(count, noun), which, count_text(least),
                  count < least ? fmt::format(": {} too few", count_text(least - count)) : "");
  return finding;
}

void add_counts(const CellComparison& cell, const GateCriteria& criteria,
                std::vector<GateFinding>& findings) {
  if (criteria.min_tasks)
    findings.push_back(count_finding("min_tasks", "task", "evaluated in both arms",
                                     cell.evaluated_tasks, *criteria.min_tasks));
  if (criteria.min_trials)
    findings.push_back(count_finding("min_trials", "trial", "of every task",
                                     std::min(cell.baseline.trials_min, cell.candidate.trials_min),
                                     *criteria.min_trials));
  if (criteria.min_episodes)
    findings.push_back(count_finding("min_episodes", "evaluated episode", "of the smaller arm",
                                     std::min(cell.episodes_baseline, cell.episodes_candidate),
                                     *criteria.min_episodes));
}

}  // namespace

std::vector<GateFinding> evidence_findings(const CellComparison& cell, const Judgement& judgement,
                                           const GateCriteria& criteria) {
  std::vector<GateFinding> findings = {verdict_finding(cell, judgement, criteria)};
  if (const std::optional<GateFinding> masking = masking_finding(cell, criteria))
    findings.push_back(*masking);
  findings.push_back(fragile_finding(judgement, criteria));
  findings.push_back(ungraded_finding(cell, judgement, criteria));
  findings.push_back(incomplete_finding(cell, judgement, criteria));
  add_counts(cell, criteria, findings);
  return findings;
}

}  // namespace unmask
