// Short reports for a pull-request comment: the verdict, one table, the rest folded away.
#include <fmt/format.h>

#include <algorithm>

#include "report/gate_words.h"
#include "report/margins_report.h"
#include "report/markdown_parts.h"
#include "report/mechanism_words.h"
#include "report/next_step.h"
#include "report/numbers.h"
#include "report/render.h"
#include "report/sample_words.h"
#include "report/sections.h"
#include "report/sentences.h"

namespace unmask {
namespace {

constexpr std::size_t kNamesInMarkdown = 10;
constexpr std::size_t kWarningsInMarkdown = 10;

std::string channel_table(const CellComparison& cell) {
  std::string out = markdown_row({"channel", "baseline", "candidate", "times as often [95%]",
                                  "points", "Holm p", ""}) +
                    "|---|--:|--:|--:|--:|--:|---|\n";
  bool any = false;
  for (const auto& [channel, c] : cell.channels) {
    if (c.baseline_count + c.candidate_count == 0) continue;
    any = true;
    out += markdown_row({fmt::format("`{}`{}", to_string(channel), weighed_mark(c)),
                         percent(c.baseline), percent(c.candidate),
                         ratio(c.amplification) + " " + ratio_interval(c.amplification_ci95),
                         in_points(c.difference), p_value(c.p_holm),
                         c.amplified ? (c.is_new ? "**new**" : "**amplified**") : ""});
  }
  if (!any) return no_failure_in_words(cell) + "\n";
  const std::string weighed = weighed_in_words(cell);
  return weighed.empty() ? out : out + "\n" + plain(weighed) + "\n";
}

std::string gap_table(const CellComparison& cell) {
  const BudgetComparison& budget = cell.budget;
  const bool known = knows_tight(cell);
  std::string out = "| K |";
  std::string rule = "|---|";
  std::string gaps = "| gap, points |";
  for (const GapPoint& point : budget.gap) {
    const bool tight = known && point.k == budget.k_tight;
    out += tight ? fmt::format(" **{}** |", point.k) : fmt::format(" {} |", point.k);
    rule += "--:|";
    gaps += " " + in_points(point.gap) + " |";
  }
  return out + "\n" + rule + "\n" + gaps + "\n";
}

std::string names_table(const NamesComparison& names) {
  std::string out =
      markdown_row({"hallucinated name", "kind", "baseline", "candidate"}) + "|---|---|--:|--:|\n";
  for (std::size_t i = 0; i < names.counts.size() && i < kNamesInMarkdown; ++i) {
    const NamesComparison::Pair& pair = names.counts[i];
    out += markdown_row({plain(shown_name(pair.name)), fmt::format("`{}`", to_string(pair.kind)),
                         count_text(pair.baseline), count_text(pair.candidate)});
  }
  return out;
}

std::string decisions_line(const Mechanism& mechanism) {
  std::string out = plain(pairs_in_words(mechanism));
  for (const FlipAnalysis& flips : compared(mechanism).flips) {
    if (flips.flips == 0) continue;
    out += fmt::format("; {}: {} ({})", decision_in_words(flips.kind), plain(flips_in_words(flips)),
                       plain(judged_in_words(flips)));
  }
  const std::string foretold = foretold_in_words(mechanism);
  return foretold.empty() ? out : out + "; " + plain(foretold);
}

std::string evidence(const std::vector<Warning>& warnings, const std::vector<Dropped>& dropped) {
  std::string out;
  std::size_t shown = 0;
  for (const Warning& warning : warnings)
    if (shown++ < kWarningsInMarkdown) out += "- " + plain(warning_in_words(warning)) + "\n";
  for (const Dropped& record : dropped)
    if (shown++ < kWarningsInMarkdown) out += "- " + plain(dropped_in_words(record)) + "\n";
  if (shown > kWarningsInMarkdown)
    out += fmt::format("- and {} more\n", shown - kWarningsInMarkdown);
  return out;
}

// "80 of 120"; "120" where all are evaluated.
std::string of_log(long episodes, const ArmSummary& arm) {
  if (episodes == arm.episodes_in_log) return count_text(episodes);
  std::string text = fmt::format("{} of {}", count_text(episodes), count_text(arm.episodes_in_log));
  if (arm.episodes_ungraded > 0)
    text += fmt::format(" ({} ungraded)", count_text(arm.episodes_ungraded));
  return text;
}

std::string cell_section(const AuditedCell& cell, const AuditReport& report) {
  const CellComparison& c = cell.comparison;
  std::string out = fmt::format("### {}: {}\n\n{}\n\n", verdict_title(cell.judgement.verdict),
                                plain(c.cell), plain(headline(cell)));
  const std::string fragile = fragility(cell);
  if (!fragile.empty()) out += fragile + "\n\n";
  out += markdown_row({"", "baseline", "candidate", "change"}) + "|---|--:|--:|--:|\n";
  out += markdown_row(
      {"success", percent(c.baseline.success.value), percent(c.candidate.success.value),
       c.outcome.delta
           ? in_points(c.outcome.delta->mean) + " " + points_interval(c.outcome.delta->ci95)
           : kAbsent});
  if (c.budget.gap_tight) {
    const auto tight = [&](const ArmSummary& arm) -> std::optional<double> {
      const bool live = arm.budget.rule == BudgetRule::Live;
      for (const CurvePoint& point : live ? arm.budget.curve_live : arm.budget.curve)
        if (point.k == c.budget.k_tight) return point.success;
      return std::nullopt;
    };
    out += markdown_row({"success, " + allowed_calls(c), percent(tight(c.baseline)),
                         percent(tight(c.candidate)), in_points(-*c.budget.gap_tight)});
  }
  out += markdown_row({fmt::format("{} per episode", counted_failures(c.baseline.budget.count)),
                       decimal(c.baseline.budget.mean_errors, 2),
                       decimal(c.candidate.budget.mean_errors, 2), ""});
  out += markdown_row({"episodes", of_log(c.episodes_baseline, c.baseline),
                       of_log(c.episodes_candidate, c.candidate), ""});
  out += "\n";
  const std::string left_out = left_out_in_words(c);
  if (!left_out.empty()) out += plain(left_out, 1200) + ".\n\n";
  std::string body;
  for (const std::string& reason : cell.judgement.reasons)
    body += "- " + plain(typeset(reason)) + "\n";
  const std::string unmasked = unmasked_gap_in_words(c, report.cells.size() > 1);
  if (!unmasked.empty()) body += "- unmasked gap: " + unmasked + "\n";
  if (c.outcome.delta) body += "- the score is " + equivalence_in_words(c.outcome) + "\n";
  for (const NoiseFloor& noise : c.noise)
    body += "- noise floor: " + noise_in_words(noise, c) + "\n";
  body += "\n" + channel_table(c) + "\n";
  if (!c.budget.gap.empty()) body += gap_table(c) + "\n";
  if (!c.names.counts.empty()) body += names_table(c.names) + "\n";
  const std::string recovery = recovery_in_words(c);
  if (!recovery.empty()) body += "Recovery: " + recovery + "\n";
  const std::string repair = repair_in_words(c);
  if (!repair.empty()) body += "\nRepair: " + repair + "\n";
  if (cell.mechanism) body += "\nDecisions: " + decisions_line(*cell.mechanism) + ".\n";
  out += folded("Why, channel by channel", body);
  const std::string warnings = evidence(c.warnings, {});
  if (!warnings.empty()) out += folded("Evidence", warnings);
  return out + "**Next:** " + with_code(next_step_line(cell)) + "\n\n";
}

std::string matrix_row(const AuditReport& report, std::size_t i) {
  const AuditedCell& cell = report.cells[i];
  const CellComparison& c = cell.comparison;
  std::vector<std::string> row = {
      plain(c.cell), fmt::format("**{}**", to_string(cell.judgement.verdict)),
      c.outcome.delta ? in_points(c.outcome.delta->mean) : kAbsent,
      c.budget.unmasked.test ? in_points(c.budget.unmasked.test->mean) : kAbsent,
      p_value(c.budget.unmasked.p_holm)};
  if (report.gate) row.emplace_back(to_string(report.gate->cells.at(i).status));
  return markdown_row(row);
}

// As many rows as fit into `most` bytes.
std::string matrix(const AuditReport& report, std::size_t most) {
  std::vector<std::string> titles = {"cell", "verdict", "score, points", "unmasked gap", "Holm p"};
  if (report.gate) titles.emplace_back("gate");
  std::string out = "## unmask: " + counted(static_cast<long>(report.cells.size()), "comparison") +
                    "\n\n" + markdown_row(titles) + "|---|---|--:|--:|--:|" +
                    (report.gate ? "---|" : "") + "\n";
  std::size_t i = 0;
  for (; i < report.cells.size(); ++i) {
    const std::string row = matrix_row(report, i);
    if (out.size() + row.size() > most) break;
    out += row;
  }
  if (i < report.cells.size())
    out += fmt::format("\n{} more do not fit here.\n",
                       count_text(static_cast<long>(report.cells.size() - i)));
  return out + "\n";
}

// "telecom INT4, retail INT4 and 3 more".
std::string cells_in_words(const AuditReport& report, const std::vector<std::size_t>& cells) {
  constexpr std::size_t kCellsNamed = 3;
  std::string out;
  for (std::size_t i = 0; i < cells.size() && i < kCellsNamed; ++i)
    out += (out.empty() ? "" : ", ") + plain(report.cells[cells[i]].comparison.cell, 80);
  if (cells.size() <= kCellsNamed) return out;
  return out +
         fmt::format(" and {} more", count_text(static_cast<long>(cells.size() - kCellsNamed)));
}

// Every criterion of a single comparison; of several what does not pass, each sentence once.
std::vector<std::string> gate_lines(const AuditReport& report) {
  std::vector<std::string> lines;
  const GateResult& gate = *report.gate;
  if (report.cells.size() == 1) {
    for (const GateFinding* finding : findings_to_show(gate.cells.front(), true))
      lines.push_back("- " + plain(finding_in_words(*finding)) + "\n");
    return lines;
  }
  for (const SharedFinding& shared : shared_findings(gate))
    lines.push_back(fmt::format("- {} ({})\n", plain(finding_in_words(*shared.finding)),
                                cells_in_words(report, shared.cells)));
  return lines;
}

// The gate's result and what it rests on, in at most about `most` bytes.
std::string gate_section(const AuditReport& report, std::size_t most) {
  if (!report.gate) return "";
  const GateResult& gate = *report.gate;
  std::string out =
      fmt::format("**{}**, by {}.\n\n", gate_in_words(gate.status), plain(gate.criteria.name));
  long left_out = 0;
  for (const std::string& line : gate_lines(report)) {
    if (out.size() + line.size() > most)
      ++left_out;
    else
      out += line;
  }
  if (left_out > 0) out += fmt::format("- and {} more\n", count_text(left_out));
  return out + "\n";
}

}  // namespace

// The gate and the table of comparisons come first and may take a third each; sections follow while
// there is room.
std::string to_markdown(const AuditReport& report) {
  constexpr std::size_t kRoomForCutNotice = 200;
  std::string out = gate_section(report, kMarkdownBytes / 3);
  if (report.cells.empty()) out += "Nothing was compared.\n\n";
  if (report.cells.size() > 1) out += matrix(report, kMarkdownBytes / 3);
  std::string closing;
  const std::string warnings = evidence(report.warnings, report.dropped);
  if (!warnings.empty()) closing += folded("Evidence of the whole audit", warnings);
  closing += markdown_footer(report.provenance);
  if (out.size() + closing.size() + kRoomForCutNotice > kMarkdownBytes)
    closing = markdown_footer(report.provenance);
  const std::size_t room = kMarkdownBytes - closing.size() - kRoomForCutNotice;
  std::size_t shown = 0;
  for (; shown < report.cells.size(); ++shown) {
    const std::string section = cell_section(report.cells[shown], report);
    if (out.size() + section.size() > room) break;
    out += section;
  }
  if (shown < report.cells.size())
    out += fmt::format("Cut to fit a comment: the details of {} are in the full report only.\n\n",
                       counted(static_cast<long>(report.cells.size() - shown), "comparison"));
  return out + closing;
}

std::string to_markdown(const InspectReport& report) {
  const ArmSummary& arm = report.arm;
  std::string out = fmt::format("### {}{}\n\n", plain(arm.label),
                                arm.info.domain.empty() ? "" : ", " + plain(arm.info.domain));
  out += fmt::format("{}; success {}; {} of {} failed.\n\n",
                     episodes_in_words(arm, arm.episodes_evaluated), percent_estimate(arm.success),
                     count_text(arm.failed_agent), counted(arm.agent_calls, "agent call"));
  out += markdown_row({"channel", "failed", "per call", "[95%]", "screen"}) +
         "|---|--:|--:|--:|---|\n";
  for (const auto& [channel, c] : arm.channels)
    out += markdown_row({fmt::format("`{}`", to_string(channel)), count_text(c.count),
                         percent(c.per_call.value), percent_interval(c.per_call.ci95),
                         c.screen ? std::string(to_string(*c.screen)) : kAbsent});
  out += "\n";
  const std::string repair = repair_in_words(arm);
  if (!repair.empty()) out += "Repair: " + repair + ".\n\n";
  std::string names;
  for (std::size_t i = 0; i < arm.names.size() && i < kNamesInMarkdown; ++i)
    names += fmt::format("- {}: {}\n", plain(shown_name(arm.names[i].name)),
                         count_text(arm.names[i].count));
  if (!names.empty()) out += folded("Hallucinated tool names", names);
  std::string curve;
  for (const CurvePoint& point : arm.budget.curve)
    curve += markdown_row(
        {std::to_string(point.k), percent(point.success), percent_interval(point.ci95)});
  if (!curve.empty())
    out += folded("Success with at most K failed calls",
                  markdown_row({"K", "success", "[95%]"}) + "|--:|--:|--:|\n" + curve);
  const std::string warnings = evidence(report.warnings, report.dropped);
  if (!warnings.empty()) out += folded("Evidence", warnings);
  return out + markdown_footer(report.provenance);
}

}  // namespace unmask
