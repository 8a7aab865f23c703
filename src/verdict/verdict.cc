// Flags first, then the table of METHOD 10 from the top: the first row that fits is the verdict.

#include "verdict/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "verdict/criteria.h"

namespace unmask {
namespace {

bool significant(const std::optional<double>& p_holm) {
  return p_holm && *p_holm < kVerdictAlpha;
}

bool is_degraded(const CellComparison& cell) {
  return cell.graded && cell.outcome.delta && cell.outcome.delta->mean < 0 &&
         significant(cell.outcome.p_holm);
}

std::vector<Channel> amplified_channels(const CellComparison& cell) {
  std::vector<Channel> channels;
  for (const auto& [channel, comparison] : cell.channels) {
    if (comparison.amplified) channels.push_back(channel);
  }
  // The largest increase first.
  std::stable_sort(channels.begin(), channels.end(), [&](Channel a, Channel b) {
    return cell.channels.at(a).difference.value_or(0) > cell.channels.at(b).difference.value_or(0);
  });
  return channels;
}

bool has_unmasked_damage(const CellComparison& cell) {
  const BudgetComparison& budget = cell.budget;
  const bool hidden = cell.graded && budget.unmasked.test && budget.unmasked.test->mean > 0 &&
                      significant(budget.unmasked.p_holm);
  const bool visible_when_tight = budget.gap_tight_ci95 && budget.gap_tight_ci95->lo > 0;
  const bool cause = std::any_of(cell.channels.begin(), cell.channels.end(), [](const auto& entry) {
    return entry.second.amplified && entry.second.counts_in_budget;
  });
  return hidden && visible_when_tight && cause;
}

std::vector<Condition> conditions_of_clean(const CellComparison& cell) {
  std::vector<Condition> conditions = {outcome_not_worse(cell), unmasked_gap_small(cell)};
  for (Condition& channel : channels_not_amplified(cell)) conditions.push_back(std::move(channel));
  return conditions;
}

void add_amplified(const CellComparison& cell, const std::vector<Channel>& amplified,
                   Judgement& out) {
  for (const Channel channel : amplified) {
    out.reasons.push_back(amplified_sentence(channel, cell));
  }
}

std::string flatness_sentence(const CellComparison& cell, Flatness flatness) {
  const std::string margin = cell.outcome.tost
                                 ? fmt::format("{:.1f} points", points(cell.outcome.tost->margin))
                                 : "the margin";
  if (flatness == Flatness::Equivalent)
    return fmt::format("The final score is flat: equivalent within {}.", margin);
  if (cell.outcome.delta && cell.outcome.delta->mean > 0 && significant(cell.outcome.p_holm))
    return "The final score even rises, so it shows nothing of this.";
  return fmt::format(
      "The final score shows nothing: no significant change, and equivalence within {} is not "
      "shown "
      "either.",
      margin);
}

// Why unmasked damage is not the verdict of an amplified cell: its missing links.
void explain_no_unmasked_damage(const CellComparison& cell, const MeanTest& unmasked,
                                Judgement& out) {
  const BudgetComparison& budget = cell.budget;
  out.reasons.push_back(unmasked_sentence(cell));
  if (!cell.graded) return;
  const bool hidden = unmasked.mean > 0 && significant(budget.unmasked.p_holm);
  const bool tight = budget.gap_tight_ci95 && budget.gap_tight_ci95->lo > 0;
  if (hidden && !tight) {
    out.reasons.push_back("That gap under the tight budget is not shown to be above 0.");
  } else if (hidden && tight) {
    out.reasons.push_back("No amplified channel spends budget, so the gap has another cause.");
  }
}

// The blocking condition that needs the most: first one that nothing settles, else the most tasks.
const Condition& hardest(const std::vector<const Condition*>& blocking) {
  return **std::max_element(blocking.begin(), blocking.end(),
                            [](const Condition* a, const Condition* b) {
                              if (!a->tasks_needed || !b->tasks_needed)
                                return a->tasks_needed.has_value() && !b->tasks_needed.has_value();
                              return *a->tasks_needed < *b->tasks_needed;
                            });
}

// Trials that would settle every blocking condition on the present tasks.
std::optional<int> trials_on_present_tasks(const std::vector<const Condition*>& blocking) {
  int most = 0;
  for (const Condition* condition : blocking) {
    if (!condition->trials_needed) return std::nullopt;
    most = std::max(most, *condition->trials_needed);
  }
  return most;
}

std::string needed_sentence(const NeededEvidence& needed, const CellComparison& cell) {
  if (!cell.ran) return "Episodes that run are what is missing.";
  if (!needed.tasks) return "No number of further tasks of this kind would settle it.";
  std::string text =
      fmt::format("About {} of {} would settle it, if the present estimates hold (now {})",
                  counted(*needed.tasks, "task"), counted(*needed.trials, "trial"),
                  counted(cell.paired_tasks, "task"));
  if (needed.trials_same_tasks)
    text += fmt::format("; so would about {} of the present tasks",
                        counted(*needed.trials_same_tasks, "trial"));
  return text + ".";
}

void judge_inconclusive(const CellComparison& cell, const std::vector<Condition>& conditions,
                        Judgement& out) {
  std::vector<const Condition*> blocking;
  for (const Condition& condition : conditions) {
    if (!condition.met) blocking.push_back(&condition);
  }
  const Condition& decisive = hardest(blocking);
  out.reasons.push_back(decisive.sentence);
  NeededEvidence needed;
  needed.condition = decisive.name;
  needed.tasks = decisive.tasks_needed;
  if (needed.tasks) {
    needed.trials = present_trials(cell);
    needed.trials_same_tasks = trials_on_present_tasks(blocking);
  }
  out.needed = needed;
  out.reasons.push_back(needed_sentence(needed, cell));
  for (const Condition* condition : blocking) {
    if (condition != &decisive) out.reasons.push_back(condition->sentence);
  }
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::DegradedAndMasked:
      return "degraded+masked";
    case Verdict::Degraded:
      return "degraded";
    case Verdict::Masked:
      return "masked";
    case Verdict::Amplified:
      return "amplified";
    case Verdict::Clean:
      return "clean";
    case Verdict::Inconclusive:
      return "inconclusive";
  }
  return "inconclusive";
}

std::string_view to_string(Flatness flatness) {
  return flatness == Flatness::Equivalent ? "equivalent" : "undetected";
}

Judgement judge(const CellComparison& cell) {
  Judgement out;
  out.degraded = is_degraded(cell);
  out.unmasked_damage = has_unmasked_damage(cell);
  const std::vector<Channel> amplified = amplified_channels(cell);

  if (out.degraded) {
    out.verdict = out.unmasked_damage ? Verdict::DegradedAndMasked : Verdict::Degraded;
    out.reasons.push_back(outcome_sentence(cell));
    out.reasons.push_back(unmasked_sentence(cell));
    add_amplified(cell, amplified, out);
    return out;
  }
  if (out.unmasked_damage) {
    out.verdict = Verdict::Masked;
    const bool equivalent = cell.outcome.tost && cell.outcome.tost->equivalent;
    out.flatness = equivalent ? Flatness::Equivalent : Flatness::Undetected;
    out.reasons.push_back(unmasked_sentence(cell));
    add_amplified(cell, amplified, out);
    out.reasons.push_back(outcome_sentence(cell));
    out.reasons.push_back(flatness_sentence(cell, *out.flatness));
    return out;
  }
  if (!amplified.empty()) {
    out.verdict = Verdict::Amplified;
    add_amplified(cell, amplified, out);
    const std::optional<MeanTest>& unmasked = cell.budget.unmasked.test;
    // Without U this may be a masked cell, which a reader of the first reasons must know.
    if (!unmasked) out.reasons.insert(out.reasons.begin() + 1, unmasked_sentence(cell));
    out.reasons.push_back(outcome_sentence(cell));
    if (unmasked) explain_no_unmasked_damage(cell, *unmasked, out);
    return out;
  }
  const std::vector<Condition> conditions = conditions_of_clean(cell);
  const bool clean = std::all_of(conditions.begin(), conditions.end(),
                                 [](const Condition& condition) { return condition.met; });
  if (!clean) {
    judge_inconclusive(cell, conditions, out);
    return out;
  }
  out.verdict = Verdict::Clean;
  for (const Condition& condition : conditions) out.reasons.push_back(condition.sentence);
  return out;
}

}  // namespace unmask
