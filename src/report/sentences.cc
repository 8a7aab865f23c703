#include "report/sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "report/numbers.h"
#include "verdict/criteria.h"

namespace unmask {
namespace {

double difference_of(const ChannelComparison& channel) {
  return channel.difference.value_or(0);
}

// "hallucinated tool names 1.96 times as often (19.5% → 38.3% of calls)".
std::string channel_change(Channel channel, const ChannelComparison& c) {
  const std::string rates =
      fmt::format("{} → {} of calls", percent(c.baseline), percent(c.candidate));
  if (c.amplification)
    return fmt::format("{} are {} times as frequent ({})", channel_in_words(channel),
                       ratio(c.amplification), rates);
  return fmt::format("{} went from {}", channel_in_words(channel), rates);
}

std::string amplified_in_words(const CellComparison& cell) {
  const std::optional<Channel> channel = leading_channel(cell);
  if (!channel) return "";
  return channel_change(*channel, cell.channels.at(*channel));
}

std::string points_text(std::optional<double> value) {
  return in_points(value) + " points";
}

std::string flat_score(const AuditedCell& cell) {
  const Outcome& outcome = cell.comparison.outcome;
  if (!outcome.delta) return "The score cannot be compared";
  if (cell.judgement.flatness == Flatness::Equivalent && outcome.tost)
    return fmt::format("The score is flat ({}, equivalent within ±{})",
                       points_text(outcome.delta->mean), in_points(outcome.tost->margin, false));
  if (outcome.p_holm && *outcome.p_holm < kVerdictAlpha && outcome.delta->mean > 0)
    return fmt::format("The score is higher ({}, Holm p {})", points_text(outcome.delta->mean),
                       p_value(outcome.p_holm));
  return fmt::format("The score shows no detectable change ({}, not proven flat)",
                     points_text(outcome.delta->mean));
}

std::string tight_budget(const CellComparison& cell) {
  const BudgetComparison& budget = cell.budget;
  if (!budget.gap_tight) return "";
  const double gap = *budget.gap_tight;
  return fmt::format("allowed {}, the candidate succeeds {} points {} often", allowed_calls(cell),
                     in_points(std::abs(gap), false), gap >= 0 ? "less" : "more");
}

std::string masked_headline(const AuditedCell& cell) {
  const CellComparison& c = cell.comparison;
  return fmt::format("{}, but the error budget hides damage: {}. {}.", flat_score(cell),
                     tight_budget(c), [&] {
                       std::string text = amplified_in_words(c);
                       if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
                         text[0] = static_cast<char>(text[0] - 'a' + 'A');
                       return text;
                     }());
}

std::string amplified_headline(const AuditedCell& audited) {
  const CellComparison& cell = audited.comparison;
  const Outcome& outcome = cell.outcome;
  const bool rises =
      outcome.delta && outcome.delta->mean > 0 && outcome.p_holm && *outcome.p_holm < kVerdictAlpha;
  const bool told = cell.budget.unmasked.test.has_value();
  std::string text =
      !told   ? flat_score(audited) + ", what the error budget hides cannot be judged"
      : rises ? "The score is higher and what the error budget hides is not shown to have changed"
              : "Neither the score nor what the error budget hides is shown to have changed";
  if (cell.outcome.delta && cell.budget.unmasked.test)
    text += fmt::format(" ({}; unmasked gap {})", points_text(cell.outcome.delta->mean),
                        points_text(cell.budget.unmasked.test->mean));
  return text + (told ? ", but failed calls have: " : ", and failed calls became more frequent: ") +
         amplified_in_words(cell) + ".";
}

std::string degraded_headline(const AuditedCell& cell, bool masked) {
  const CellComparison& c = cell.comparison;
  std::string text = "The score is lower";
  if (c.outcome.delta)
    text += fmt::format(": {} {}", points_text(c.outcome.delta->mean),
                        points_interval(c.outcome.delta->ci95));
  if (masked) text += "; the error budget hides more: " + tight_budget(c);
  const std::string amplified = amplified_in_words(c);
  const std::optional<Channel> channel = leading_channel(c);
  if (channel && c.channels.at(*channel).amplified) text += "; " + amplified;
  return text + ".";
}

std::string clean_headline(const AuditedCell& cell) {
  const CellComparison& c = cell.comparison;
  std::string text = "No damage found: the score is equivalent or better";
  if (c.outcome.delta) text += fmt::format(" ({})", points_text(c.outcome.delta->mean));
  if (c.budget.unmasked.test)
    text += fmt::format(", the error budget can hide at most {} points",
                        in_points(std::max(0.0, c.budget.unmasked.test->upper95), false));
  return text + ", and no kind of failed call became markedly more frequent.";
}

// What stands between the evidence and `clean`, by the name verdict gives the condition.
std::string obstacle_in_words(const std::string& condition, const CellComparison& cell) {
  constexpr std::string_view kChannel = "channel ";
  if (condition == "outcome") return "the score is not shown to be as good as the baseline's";
  if (condition == "unmasked gap")
    return cell.budget.unmasked.test ? "what the error budget may hide is not shown to be small"
                                     : "what the error budget may hide cannot be judged";
  if (condition.rfind(kChannel, 0) == 0)
    return fmt::format("failures of channel {} are not shown to be no more frequent",
                       condition.substr(kChannel.size()));
  return typeset(condition);
}

std::string inconclusive_headline(const AuditedCell& cell) {
  if (!cell.comparison.ran) return nothing_ran_sentence(cell.comparison);
  if (!cell.comparison.graded)
    return "The logs carry no grades, so no verdict on success is possible; the failed calls below "
           "are what can be compared.";
  std::string text = "This evidence neither shows damage nor rules it out.";
  if (cell.judgement.needed && !cell.judgement.needed->condition.empty())
    text += fmt::format(" What keeps it from being clean: {}.",
                        obstacle_in_words(cell.judgement.needed->condition, cell.comparison));
  return text;
}

}  // namespace

std::string allowed_calls(const CellComparison& cell) {
  const bool live = cell.baseline.budget.rule == BudgetRule::Live;
  return (live ? "fewer than " : "at most ") + counted(cell.budget.k_tight, "failed call");
}

std::string exploratory_in_words(const CellComparison& cell) {
  if (cell.budget.k_tight_is_primary) return "";
  if (cell.baseline.budget.rule == BudgetRule::Live)
    return fmt::format(" (exploratory: {} is not the budget fixed beforehand, at most 2)",
                       allowed_calls(cell));
  return " (exploratory: K is not 2)";
}

std::string no_failure_in_words(const CellComparison& cell) {
  if (cell.baseline.episodes_total + cell.candidate.episodes_total > 0 && !cell.ran)
    return "No episode that ran, so no call.";
  if (cell.baseline.agent_calls + cell.candidate.agent_calls == 0)
    return "No call was made in either arm.";
  return "No failed call in either arm.";
}

std::string verdict_title(Verdict verdict) {
  switch (verdict) {
    case Verdict::DegradedAndMasked:
      return "DEGRADED + MASKED";
    case Verdict::Degraded:
      return "DEGRADED";
    case Verdict::Masked:
      return "MASKED";
    case Verdict::Amplified:
      return "AMPLIFIED";
    case Verdict::Clean:
      return "CLEAN";
    case Verdict::Inconclusive:
      return "INCONCLUSIVE";
  }
  return "";
}

std::string_view channel_in_words(Channel channel) {
  switch (channel) {
    case Channel::Malformed:
      return "unreadable calls";
    case Channel::ToolName:
      return "hallucinated tool names";
    case Channel::Schema:
      return "calls with wrong arguments";
    case Channel::Entity:
      return "calls naming things that do not exist";
    case Channel::Rejected:
      return "calls refused by the rules";
    case Channel::System:
      return "harness faults";
    case Channel::Unanswered:
      return "unanswered calls";
    case Channel::Ok:
      return "successful calls";
  }
  return "";
}

std::optional<Channel> leading_channel(const CellComparison& cell) {
  std::optional<Channel> best;
  for (const auto& [channel, c] : cell.channels) {
    if (c.baseline_count + c.candidate_count == 0) continue;
    if (!best) {
      best = channel;
      continue;
    }
    const ChannelComparison& leader = cell.channels.at(*best);
    if (c.amplified != leader.amplified ? c.amplified : difference_of(c) > difference_of(leader))
      best = channel;
  }
  return best;
}

std::string headline(const AuditedCell& cell) {
  switch (cell.judgement.verdict) {
    case Verdict::Masked:
      return masked_headline(cell);
    case Verdict::Degraded:
      return degraded_headline(cell, false);
    case Verdict::DegradedAndMasked:
      return degraded_headline(cell, true);
    case Verdict::Amplified:
      return amplified_headline(cell);
    case Verdict::Clean:
      return clean_headline(cell);
    case Verdict::Inconclusive:
      return inconclusive_headline(cell);
  }
  return "";
}

std::string fragility(const AuditedCell& cell) {
  const std::set<Unknown>& by = cell.judgement.fragile_by;
  if (by.empty()) return "";
  std::vector<std::string> which;
  for (const Unknown unknown : by)
    which.push_back(unknown_episodes_in_words(cell.comparison, unknown));
  const bool one = by.size() == 1 && unknown_episodes(cell.comparison, *by.begin()) == 1;
  return fmt::format("Fragile: the verdict changes with how {} {} counted.",
                     fmt::join(which, ", and "), one ? "is" : "are");
}

std::string tasks_by_trials(const ArmSummary& arm) {
  const std::string trials = arm.trials_min == arm.trials_max
                                 ? counted(arm.trials_max, "trial")
                                 : fmt::format("{}-{} trials", arm.trials_min, arm.trials_max);
  return counted(arm.tasks, "task") + " × " + trials;
}

std::string outcome_in_words(const Outcome& outcome, bool with_holm) {
  if (!outcome.delta) return "no difference can be computed";
  std::string text = fmt::format("{} {}, p {}", points_text(outcome.delta->mean),
                                 points_interval(outcome.delta->ci95), p_value(outcome.delta->p));
  if (with_holm && outcome.p_holm) text += fmt::format(" (Holm {})", p_value(outcome.p_holm));
  return text;
}

std::string equivalence_in_words(const Outcome& outcome) {
  if (!outcome.tost) return "equivalence cannot be tested";
  return fmt::format("{} within ±{} points (90% interval {}, TOST p {})",
                     outcome.tost->equivalent ? "equivalent" : "not shown to be equivalent",
                     in_points(outcome.tost->margin, false), points_interval(outcome.tost->ci90),
                     p_value(outcome.tost->p));
}

std::string repair_in_words(const ArmSummary& arm) {
  const RepairCounts& repair = arm.repair;
  if (repair.refused == 0) return "";
  return fmt::format("{} handed back before running: {} repaired, {} still broken, {} withdrawn",
                     counted(repair.refused, "call"), count_text(repair.repaired),
                     count_text(repair.unrepaired), count_text(repair.withdrawn));
}

std::string repair_in_words(const CellComparison& cell) {
  const std::string baseline = repair_in_words(cell.baseline);
  const std::string candidate = repair_in_words(cell.candidate);
  if (baseline.empty() && candidate.empty()) return "";
  return (baseline.empty() ? "none" : baseline) + " (baseline); " +
         (candidate.empty() ? "none" : candidate) + " (candidate).";
}

std::string recovery_in_words(const CellComparison& cell) {
  const RecoveryComparison& r = cell.recovery;
  if (!r.baseline && !r.candidate) return "";
  std::string text = fmt::format("{} → {} of failed calls are followed by one that works",
                                 percent(r.baseline), percent(r.candidate));
  if (r.difference) text += "; " + points_text(r.difference);
  if (r.difference_ci95) text += " " + points_interval(r.difference_ci95);
  if (r.equivalent)
    text += *r.equivalent ? ", equivalent within ±10" : ", not shown to be equivalent within ±10";
  return text + ".";
}

std::string names_in_words(const NamesComparison& names) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (names.spearman)
    add(fmt::format("rank correlation {}{}", decimal(names.spearman, 2),
                    names.spearman_ceiling ? fmt::format(" (two halves of the baseline reach {})",
                                                         decimal(names.spearman_ceiling, 2))
                                           : ""));
  if (names.candidate_calls > 0)
    add(fmt::format("{} of {} calls of the candidate use a name the baseline never did ({})",
                    count_text(names.novel_calls), count_text(names.candidate_calls),
                    fine_percent(names.novel_share)));
  if (names.novel_beyond_chance) {
    const NamesComparison::NovelBeyondChance& novel = *names.novel_beyond_chance;
    add(fmt::format("{} points of that beyond chance {}, p {}", in_points(novel.difference),
                    points_interval(novel.ci95), p_value(novel.p)));
  }
  return text;
}

std::string noise_in_words(const NoiseFloor& noise, const CellComparison& cell) {
  std::string text =
      fmt::format("two runs of the {} differ by {}", noise.arm, points_text(noise.delta));
  if (noise.flip_share)
    text +=
        fmt::format(" and flip {} of {}", percent(noise.flip_share), counted(noise.tasks, "task"));
  if (cell.outcome.delta)
    text +=
        fmt::format("; baseline and candidate differ by {}", points_text(cell.outcome.delta->mean));
  if (cell.flip_share) text += fmt::format(" and flip {}", percent(cell.flip_share));
  return text + ".";
}

std::string unmasked_gap_in_words(const CellComparison& cell, bool with_holm) {
  const BudgetComparison& budget = cell.budget;
  if (!budget.unmasked.test) return "";
  const MeanTest& test = *budget.unmasked.test;
  std::string text = fmt::format("{} {}, p {}", points_text(test.mean), points_interval(test.ci95),
                                 p_value(test.p));
  if (with_holm && budget.unmasked.p_holm)
    text += fmt::format(" (Holm {})", p_value(budget.unmasked.p_holm));
  return text;
}

std::string warning_in_words(const Warning& warning) {
  std::string text = warning.message;
  if (!text.empty() && text.back() == '.') text.pop_back();
  // Many sentences name their count themselves.
  const std::string count = count_text(warning.count);
  std::string place = warning.where;
  if (warning.count > 1 && text.find(count) == std::string::npos)
    place += fmt::format("{}{} in all", place.empty() ? "" : "; ", count);
  return typeset(place.empty() ? text : fmt::format("{} ({})", text, place));
}

std::string dropped_in_words(const Dropped& dropped) {
  return "not read: " + dropped.reason + (dropped.where.empty() ? "" : " (" + dropped.where + ")");
}

std::vector<Dropped> by_reason(const std::vector<Dropped>& dropped) {
  std::vector<Dropped> firsts;
  std::map<std::pair<std::string_view, std::string_view>, std::pair<std::size_t, long>> seen;
  for (const Dropped& record : dropped) {
    const auto [at, fresh] = seen.try_emplace({record.code, record.reason}, firsts.size(), 0);
    if (fresh) firsts.push_back(record);
    ++at->second.second;
  }
  for (const auto& [key, place] : seen)
    if (place.second > 1)
      firsts[place.first].reason +=
          fmt::format("; the first of {} such lines", count_text(place.second));
  return firsts;
}

}  // namespace unmask
