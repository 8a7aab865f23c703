#include "report/html_cell.h"

#include <fmt/format.h>

#include "report/html_charts.h"
#include "report/html_fields.h"
#include "report/html_page.h"
#include "report/next_step.h"
#include "report/numbers.h"
#include "report/sections.h"
#include "report/sentences.h"

namespace unmask::html {
namespace {

std::string labelled(std::string_view label, const std::string& sentence) {
  if (sentence.empty()) return "";
  return fmt::format("<p><strong>{}</strong> {}</p>\n", label, sentence);
}

std::string why(const AuditedCell& cell) {
  std::vector<std::string> items;
  for (const std::string& reason : cell.judgement.reasons)
    items.push_back(escaped(typeset(reason)));
  return bullet_list(items);
}

std::string outcome_part(const CellComparison& c, const CellSpot& spot, bool charts) {
  std::string out = paragraph(escaped(
      fmt::format("Success {} → {}: {}.", percent(c.baseline.success.value),
                  percent(c.candidate.success.value), outcome_in_words(c.outcome, spot.of_many))));
  if (c.outcome.delta)
    out += paragraph(escaped("The score is " + equivalence_in_words(c.outcome) + "."));
  for (const NoiseFloor& noise : c.noise)
    out += labelled("Noise floor:", escaped(noise_in_words(noise, c)));
  return out + figure(outcome_chart(c, spot.id()), outcome_table(c, spot), charts);
}

std::string alternative_gap(const CellComparison& c, const CompareOptions& options) {
  const bool all = options.count == BudgetCount::All;
  const UnmaskedGap& other = all ? c.budget.agent_only : c.budget.all_sides;
  if (!other.test) return "";
  return escaped(
      fmt::format("{} points {}", in_points(other.test->mean), points_interval(other.test->ci95)));
}

std::string budget_part(const CellComparison& c, const CompareOptions& options,
                        const CellSpot& spot, bool charts) {
  const BudgetComparison& budget = c.budget;
  if (budget.gap.empty()) return "";
  std::string unmasked = escaped(unmasked_gap_in_words(c, spot.of_many));
  if (!unmasked.empty()) unmasked += escaped(exploratory_in_words(c));
  std::string out = labelled("Unmasked gap:", unmasked);
  out += labelled(options.count == BudgetCount::All ? "Counting the agent's failures only:"
                                                    : "Counting both sides' failures:",
                  alternative_gap(c, options));
  if (budget.gap_tight)
    out += labelled(fmt::format("Gap at K = {}:", budget.k_tight),
                    inline_field(points_field(budget.gap_tight, spot.json("/budget/gap_tight"))) +
                        " points " + escaped(points_interval(budget.gap_tight_ci95)) +
                        (budget.masking_factor
                             ? "; " +
                                   inline_field(ratio_field(budget.masking_factor,
                                                            spot.json("/budget/masking_factor"))) +
                                   " times the final gap"
                             : ""));
  return out +
         figure(budget_chart(c, options.rule, spot.id()), budget_table(c, options, spot), charts);
}

std::string channels_part(const CellComparison& c, const CellSpot& spot, bool charts) {
  std::string out;
  const Chart chart = forest_chart(c, spot.id());
  // The table is the finding itself: it is always in sight, under the chart.
  if (charts) out += figure(chart, "", true);
  out += channels_table(c, spot);
  out += paragraph(
      escaped(fmt::format("Calls of the agent: {} → {}.", count_text(c.baseline.agent_calls),
                          count_text(c.candidate.agent_calls))),
      "dim small");
  return out;
}

// A phrase of ours, which begins with a small letter or a digit, as a sentence.
std::string as_sentence(std::string phrase) {
  if (phrase.empty()) return phrase;
  if (phrase[0] >= 'a' && phrase[0] <= 'z') phrase[0] = static_cast<char>(phrase[0] - 'a' + 'A');
  return phrase + ".";
}

std::string names_part(const NamesComparison& names, const CellSpot& spot, bool charts) {
  if (names.counts.empty()) return "";
  return paragraph(escaped(as_sentence(names_in_words(names)))) +
         figure(names_chart(names, spot.id()), names_table(names, spot), charts);
}

std::string slope_in_words(const CellComparison& c) {
  if (!c.task_slope.slope) return "";
  return fmt::format("Increase per unit of baseline rate, from different trials: {} {}.",
                     decimal(c.task_slope.slope, 2), ratio_interval(c.task_slope.ci95));
}

std::string where_part(const CellComparison& c, const CellSpot& spot, bool charts) {
  const std::optional<Channel> channel = leading_channel(c);
  std::string positions;
  if (channel)
    positions =
        figure(position_chart(c, *channel, spot.id()), positions_table(c, *channel, spot), charts);
  const Chart tasks = task_chart(c, spot.id());
  const bool drawn = charts && !tasks.spec.empty();
  const std::string by_task =
      drawn ? figure(tasks, tasks_table(c, spot), true) : folded("By task", tasks_table(c, spot));
  std::string out = "<div class=\"side\"><div>\n" + positions + "</div><div>\n" + by_task;
  if (drawn) out += paragraph(escaped(slope_in_words(c)), "dim small");
  return out + "</div></div>\n";
}

std::string recovery_part(const CellComparison& c, const CellSpot& spot) {
  std::string words_of_it;
  if (c.recovery.equivalent)
    words_of_it = *c.recovery.equivalent ? "Equivalent within ±10 points."
                                         : "Not shown to be equivalent within ±10 points.";
  return "<div class=\"side\"><div>\n" + recovery_table(c, spot) +
         paragraph(escaped(words_of_it), "dim small") +
         labelled("Handed back for repair:", escaped(repair_in_words(c))) + "</div><div>\n" +
         length_table(c, spot) + "</div></div>\n";
}

std::string evidence_part(const AuditedCell& cell) {
  const CellComparison& c = cell.comparison;
  std::string out;
  const std::string baseline = tool_evidence_in_words(c.baseline);
  const std::string candidate = tool_evidence_in_words(c.candidate);
  if (!baseline.empty() || !candidate.empty())
    out += labelled("Offered tools known from:",
                    escaped(baseline == candidate ? baseline
                                                  : fmt::format("{} (baseline), {} (candidate)",
                                                                baseline, candidate)));
  if (!c.baseline.info.failure_rule.empty())
    out += labelled("A failure is:", escaped(c.baseline.info.failure_rule));
  std::string unpaired;
  for (const std::string& task : c.unpaired_tasks)
    unpaired += (unpaired.empty() ? "" : "; ") + task;
  out += labelled("Left out of the comparison:", escaped(unpaired));
  const std::string warnings = evidence_list(c.warnings, {});
  return out + warnings;
}

}  // namespace

std::string verdict_banner(const AuditedCell& cell) {
  const Verdict verdict = cell.judgement.verdict;
  std::string out = fmt::format(
      "<div class=\"verdict {}\"><span class=\"word\"><span class=\"symbol\" "
      "aria-hidden=\"true\">{}"
      "</span>{}</span>\n",
      verdict_class(verdict), verdict_symbol(verdict), verdict_title(verdict));
  out += paragraph(escaped(headline(cell)));
  const std::string fragile = fragility(cell);
  out += paragraph(escaped(fragile));
  out += paragraph("<strong>Next:</strong> " + with_code(next_step_line(cell)), "small");
  return out + "</div>\n";
}

std::string cell_sections(const AuditedCell& cell, const CellSpot& spot,
                          const CompareOptions& options, bool charts, int level) {
  const CellComparison& c = cell.comparison;
  const std::string id = spot.id();
  const auto part = [&](std::string_view name, std::string_view heading, const std::string& inner) {
    return section(fmt::format("{}-{}", id, name), level, heading, inner);
  };
  std::string out = part("why", "Why", why(cell));
  out += part("outcome", "Outcome", outcome_part(c, spot, charts));
  out += part("budget", "What the error budget hides", budget_part(c, options, spot, charts));
  out += part("channels", "Failed calls by channel", channels_part(c, spot, charts));
  out += part("names", "Hallucinated tool names", names_part(c.names, spot, charts));
  out += part("where", "Along the episode, and by task", where_part(c, spot, charts));
  out += part("decisions", "Where decisions flip", mechanism_part(cell.mechanism, spot, charts));
  out += part("recovery", "Recovery and length", recovery_part(c, spot));
  out += part("calls", "The failed calls themselves",
              excerpts(cell.baseline_excerpts, cell.candidate_excerpts, "baseline", "candidate",
                       level + 1));
  out += part("evidence", "Evidence", evidence_part(cell));
  return out;
}

}  // namespace unmask::html
