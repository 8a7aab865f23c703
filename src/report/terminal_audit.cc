// The audit on a screen: the verdict first, then why, then what to do.
#include <fmt/format.h>

#include <algorithm>

#include "report/chart.h"
#include "report/display.h"
#include "report/gate_words.h"
#include "report/next_step.h"
#include "report/numbers.h"
#include "report/render.h"
#include "report/sample_words.h"
#include "report/screen.h"
#include "report/sections.h"
#include "report/sentences.h"

namespace unmask {
namespace {

constexpr std::size_t kNamesShown = 8;
constexpr std::size_t kWarningsShown = 8;
constexpr int kNotMarked = -1;  // no budget of a curve

std::string_view kind_in_words(SubKind kind) {
  return to_string(kind);
}

void show_verdict(Screen& screen, const AuditedCell& cell) {
  const Verdict verdict = cell.judgement.verdict;
  screen.line({{verdict_title(verdict), paint_of(verdict)},
               {"  "},
               {safe_for_terminal(cell.comparison.cell), Paint::Strong}});
  screen.blank();
  screen.paragraph("", safe_for_terminal(headline(cell)), Paint::Strong);
  const std::string fragile = fragility(cell);
  if (!fragile.empty()) screen.paragraph("", fragile, Paint::Warn);
}

void show_arm(Screen& screen, std::string_view role, const ArmSummary& arm, long episodes,
              Paint paint) {
  std::string text =
      episodes == arm.episodes_in_log
          ? counted(episodes, "episode")
          : fmt::format("{} of {}", count_text(episodes), counted(arm.episodes_in_log, "episode"));
  text += ", " + tasks_by_trials(arm);
  if (arm.episodes_excluded > 0)
    text += fmt::format(", {} excluded", count_text(arm.episodes_excluded));
  // A long label is cut so that the counts stay readable.
  const std::size_t counts = std::max<std::size_t>(48, 13 + display_width(text));
  const std::size_t room = screen.width() > counts + 12 ? screen.width() - counts : 12;
  screen.line({{fmt::format("{:<11}", role), paint},
               {fit(safe_for_terminal(arm.label), room)},
               {"  " + text, Paint::Dim}});
  // A line of its own: beside the other counts it would not fit 80 columns.
  if (arm.episodes_ungraded > 0)
    screen.paragraph("           ", fmt::format("{} ungraded", count_text(arm.episodes_ungraded)),
                     Paint::Dim);
}

void show_arms(Screen& screen, const CellComparison& cell) {
  screen.blank();
  show_arm(screen, "baseline", cell.baseline, cell.episodes_baseline, Paint::Baseline);
  show_arm(screen, "candidate", cell.candidate, cell.episodes_candidate, Paint::Candidate);
  const std::string left_out = left_out_in_words(cell);
  if (!left_out.empty()) screen.paragraph("", safe_for_terminal(left_out), Paint::Dim);
}

void show_reasons(Screen& screen, const Judgement& judgement, std::size_t most) {
  if (judgement.reasons.empty()) return;
  screen.heading("Why");
  for (std::size_t i = 0; i < judgement.reasons.size() && i < most; ++i)
    screen.paragraph("  - ", safe_for_terminal(typeset(judgement.reasons[i])));
}

void show_outcome(Screen& screen, const CellComparison& cell, bool with_holm) {
  screen.heading("Outcome");
  screen.paragraph("  success      ",
                   fmt::format("{} → {}: {}", percent(cell.baseline.success.value),
                               percent(cell.candidate.success.value),
                               outcome_in_words(cell.outcome, with_holm)));
  if (cell.outcome.delta) screen.paragraph("  equivalence  ", equivalence_in_words(cell.outcome));
  for (const NoiseFloor& noise : cell.noise)
    screen.paragraph("  noise floor  ", noise_in_words(noise, cell));
}

std::vector<Span> channel_row(const std::string& name, const ChannelComparison& c, Paint paint) {
  const std::string mark = c.amplified ? (c.is_new ? "△ " : "▲ ") : "  ";
  const std::string interval = ratio_interval(c.amplification_ci95);
  return {{mark + name + std::string(weighed_mark(c)), paint},
          {percent(c.baseline)},
          {percent(c.candidate)},
          {ratio(c.amplification) + (interval.empty() ? "" : " " + interval), paint},
          {ratio(c.volume)},
          {in_points(c.difference)},
          {points_interval(c.difference_ci95)},
          {p_value(c.p_holm)},
          {count_text(c.baseline_count) + " → " + count_text(c.candidate_count)}};
}

void show_channels(Screen& screen, const CellComparison& cell) {
  screen.heading("Failed calls of the agent, by channel, per call");
  Table table;
  constexpr std::size_t kVolume = 4;
  table.columns = {{"  channel", false},     {"baseline"},        {"candidate"},
                   {"times as often [95%]"}, {"volume", true, 1}, {"points"},
                   {"[95%]", true, 3},       {"Holm p"},          {"failures", true, 4}};
  std::string none;
  bool fresh = false;
  bool amplified = false;
  for (const auto& [channel, c] : cell.channels) {
    if (c.baseline_count + c.candidate_count == 0) {
      none += (none.empty() ? "" : ", ") + std::string(to_string(channel));
      continue;
    }
    fresh |= c.is_new;
    amplified |= c.amplified && !c.is_new;
    table.rows.push_back(
        channel_row(std::string(to_string(channel)), c, c.amplified ? Paint::Bad : Paint::Plain));
  }
  if (cell.argument.baseline_count + cell.argument.candidate_count > 0)
    table.rows.push_back(channel_row("argument", cell.argument, Paint::Dim));
  if (table.rows.empty()) {
    screen.paragraph("  ", no_failure_in_words(cell));
    return;
  }
  const std::vector<bool> shown = screen.table(table);
  std::string note;
  if (amplified) note += "▲ amplified. ";
  if (fresh) note += "△ amplified, new in the candidate. ";
  if (cell.argument.baseline_count + cell.argument.candidate_count > 0)
    note += "argument = schema + entity. ";
  if (shown[kVolume]) note += "volume: failures per episode, candidate over baseline. ";
  if (!none.empty()) note += "No failure in either arm: " + none + ".";
  screen.paragraph("  ", note, Paint::Dim);
  const std::string weighed = weighed_in_words(cell);
  if (!weighed.empty()) screen.paragraph("  ", weighed, Paint::Dim);
  screen.paragraph(
      "  ",
      fmt::format("Calls of the agent: {} → {}.", count_text(cell.baseline.agent_calls),
                  count_text(cell.candidate.agent_calls)),
      Paint::Dim);
}

std::vector<ChartPoint> chart_points(const CellComparison& cell, BudgetRule rule) {
  const auto find = [&](const ArmSummary& arm, int k) -> std::optional<double> {
    const std::vector<CurvePoint>& curve =
        rule == BudgetRule::Live ? arm.budget.curve_live : arm.budget.curve;
    for (const CurvePoint& point : curve)
      if (point.k == k) return point.success;
    return std::nullopt;
  };
  std::vector<ChartPoint> points;
  for (const GapPoint& gap : cell.budget.gap)
    points.push_back({gap.k, find(cell.baseline, gap.k), find(cell.candidate, gap.k), gap.gap});
  return points;
}

void show_budget(Screen& screen, const CellComparison& cell, const CompareOptions& options,
                 bool with_holm) {
  const BudgetComparison& budget = cell.budget;
  const std::vector<ChartPoint> points = chart_points(cell, options.rule);
  if (points.empty()) return;
  screen.heading(options.rule == BudgetRule::Live ? "Success with fewer than K failed calls"
                                                  : "Success with at most K failed calls");
  screen.line({{"  ━━ baseline", Paint::Baseline},
               {"   ── candidate", Paint::Candidate},
               {"   ══ both", Paint::Strong},
               {"   ░░ gap", Paint::Bad},
               {knows_tight(cell) ? "   ▲ the tight budget" : "", Paint::Dim}});
  draw_curves(screen, points, knows_tight(cell) ? budget.k_tight : kNotMarked);
  const std::string unmasked = unmasked_gap_in_words(cell, with_holm);
  if (!unmasked.empty()) {
    screen.blank();
    screen.paragraph("  unmasked gap  ", unmasked + exploratory_in_words(cell), Paint::Strong);
  }
  const bool other = options.count == BudgetCount::All;
  const UnmaskedGap& alternative = other ? budget.agent_only : budget.all_sides;
  if (alternative.test)
    screen.paragraph(other ? "  agent's only  " : "  both sides    ",
                     fmt::format("{} points {}", in_points(alternative.test->mean),
                                 points_interval(alternative.test->ci95)));
  if (budget.gap_tight)
    screen.paragraph("  gap at K = " + std::to_string(budget.k_tight) + "  ",
                     fmt::format("{} points {}{}", in_points(budget.gap_tight),
                                 points_interval(budget.gap_tight_ci95),
                                 budget.masking_factor ? fmt::format("; {} times the final gap",
                                                                     ratio(budget.masking_factor))
                                                       : ""));
}

void show_names(Screen& screen, const NamesComparison& names) {
  if (names.counts.empty()) return;
  screen.heading("Hallucinated tool names");
  Table table;
  table.columns = {{"name", false, 0, true}, {"kind", false}, {"baseline"}, {"candidate"}};
  for (std::size_t i = 0; i < names.counts.size() && i < kNamesShown; ++i) {
    const NamesComparison::Pair& pair = names.counts[i];
    table.rows.push_back({{safe_for_terminal(shown_name(pair.name))},
                          {std::string(kind_in_words(pair.kind)), Paint::Dim},
                          {count_text(pair.baseline)},
                          {count_text(pair.candidate)}});
  }
  screen.table(table);
  if (names.counts.size() > kNamesShown)
    screen.line({{fmt::format("  and {} more", names.counts.size() - kNamesShown), Paint::Dim}});
  const std::string words = names_in_words(names);
  if (!words.empty()) screen.paragraph("  ", words, Paint::Dim);
}

// A by quarter of the episode's agent messages, and whether it changes along them.
void show_trend(Screen& screen, const CellComparison& cell, Channel channel) {
  const auto found = cell.position_trends.find(channel);
  if (found == cell.position_trends.end()) return;
  const PositionTrend& trend = found->second;
  std::string quarters;
  for (const QuarterComparison& quarter : cell.quarters) {
    const ChannelComparison& c = quarter.channels.at(channel);
    if (c.baseline && c.candidate && *c.baseline > 0)
      quarters += (quarters.empty() ? "×" : ", ×") + ratio(*c.candidate / *c.baseline);
  }
  screen.paragraph(
      "  ",
      fmt::format("By quarter of the agent's messages: {}; last over first, fitted: {} {}, p {}{}.",
                  quarters, ratio(trend.last_over_first),
                  ratio_interval(trend.last_over_first_ci95), p_value(trend.p),
                  trend.p < 0.05 ? "" : " (no change along the episode is shown)"),
      Paint::Dim);
}

void show_positions(Screen& screen, const CellComparison& cell) {
  const std::optional<Channel> channel = leading_channel(cell);
  if (!channel || cell.positions.empty()) return;
  Table table;
  table.columns = {
      {"call", false}, {"baseline"}, {"candidate"}, {"times as often [95%]"}, {"points"}};
  for (const PositionComparison& position : cell.positions) {
    const auto found = position.channels.find(*channel);
    if (found == position.channels.end() || (!found->second.baseline && !found->second.candidate))
      continue;
    const ChannelComparison& c = found->second;
    const std::string interval = ratio_interval(c.amplification_ci95);
    table.rows.push_back({{std::string(position_bin_label(position.bin))},
                          {percent(c.baseline)},
                          {percent(c.candidate)},
                          {ratio(c.amplification) + (interval.empty() ? "" : " " + interval)},
                          {in_points(c.difference)}});
  }
  if (table.rows.empty()) return;
  screen.heading(fmt::format("{} along the episode", to_string(*channel)));
  screen.table(table);
  show_trend(screen, cell, *channel);
  if (cell.task_slope.slope)
    screen.paragraph(
        "  ",
        fmt::format("By task, the increase per unit of baseline rate is {} {}{}.",
                    decimal(cell.task_slope.slope, 2), ratio_interval(cell.task_slope.ci95),
                    cell.task_slope.p ? ", p " + p_value(cell.task_slope.p) : ""),
        Paint::Dim);
}

std::string length_text(std::optional<double> value, int digits) {
  return digits == 0 ? rounded(value) : decimal(value, digits);
}

void add_length(Table& table, const std::string& name, std::optional<double> baseline,
                std::optional<double> candidate, int digits) {
  if (!baseline && !candidate) return;
  std::string change = kAbsent;
  if (baseline && candidate && *baseline > 0) change = ratio(*candidate / *baseline);
  table.rows.push_back(
      {{name}, {length_text(baseline, digits)}, {length_text(candidate, digits)}, {change}});
}

void show_recovery_and_length(Screen& screen, const CellComparison& cell) {
  const std::string recovery = recovery_in_words(cell);
  if (!recovery.empty()) {
    screen.heading("Recovery");
    screen.paragraph("  ", recovery);
  }
  const std::string repair = repair_in_words(cell);
  if (!repair.empty()) {
    screen.heading("Repair");
    screen.paragraph("  ", repair);
  }
  const LengthMeans& b = cell.baseline.length;
  const LengthMeans& c = cell.candidate.length;
  Table table;
  table.columns = {{"per episode", false}, {"baseline"}, {"candidate"}, {"ratio"}};
  add_length(table, std::string(counted_failures(cell.baseline.budget.count)),
             cell.baseline.budget.mean_errors, cell.candidate.budget.mean_errors, 2);
  add_length(table, "steps", b.steps, c.steps, 1);
  add_length(table, "agent turns", b.agent_turns, c.agent_turns, 1);
  add_length(table, "agent calls", b.agent_calls, c.agent_calls, 1);
  add_length(table, "prompt tokens", b.prompt_tokens, c.prompt_tokens, 0);
  add_length(table, "completion tokens", b.completion_tokens, c.completion_tokens, 0);
  add_length(table, "seconds", b.seconds, c.seconds, 1);
  add_length(table, "agent cost, USD", b.agent_cost_usd, c.agent_cost_usd, 4);
  if (table.rows.empty()) return;
  screen.heading("Length");
  screen.table(table);
}

void show_next(Screen& screen, const AuditedCell& cell) {
  screen.heading("Next");
  const NextStep next = next_step(cell);
  screen.paragraph("  ", next.sentence);
  if (!next.command.empty()) screen.command(next.command);
}

std::vector<std::string> evidence_of(const AuditedCell& cell) {
  std::vector<std::string> lines;
  for (const Warning& warning : cell.comparison.warnings)
    lines.push_back(warning_in_words(warning));
  return lines;
}

std::vector<std::string> evidence_of(const AuditReport& report) {
  std::vector<std::string> lines;
  for (const Warning& warning : report.warnings) lines.push_back(warning_in_words(warning));
  for (const Dropped& dropped : report.dropped) lines.push_back(dropped_in_words(dropped));
  return lines;
}

void show_tool_evidence(Screen& screen, const CellComparison& cell) {
  const std::string baseline = tool_evidence_in_words(cell.baseline);
  const std::string candidate = tool_evidence_in_words(cell.candidate);
  if (baseline.empty() && candidate.empty()) return;
  const std::string text = baseline == candidate
                               ? baseline
                               : fmt::format("{} (baseline), {} (candidate)", baseline, candidate);
  screen.paragraph("  ", "Offered tools known from: " + text + ".", Paint::Dim);
}

void show_single(Screen& screen, const AuditReport& report) {
  const AuditedCell& cell = report.cells.front();
  show_verdict(screen, cell);
  show_arms(screen, cell.comparison);
  show_gate(screen, report);
  show_reasons(screen, cell.judgement, 8);
  show_outcome(screen, cell.comparison, false);
  show_channels(screen, cell.comparison);
  show_tool_evidence(screen, cell.comparison);
  show_budget(screen, cell.comparison, report.options, false);
  show_names(screen, cell.comparison.names);
  show_positions(screen, cell.comparison);
  show_mechanism(screen, cell.mechanism);
  show_recovery_and_length(screen, cell.comparison);
  std::vector<std::string> evidence = evidence_of(cell);
  for (std::string& line : evidence_of(report)) evidence.push_back(std::move(line));
  show_evidence(screen, evidence, kWarningsShown);
  show_next(screen, cell);
}

void show_matrix(Screen& screen, const AuditReport& report) {
  std::map<Verdict, long> tally;
  for (const AuditedCell& cell : report.cells) ++tally[cell.judgement.verdict];
  std::string text;
  for (const auto& [verdict, n] : tally)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, to_string(verdict));
  screen.line(
      {{counted(static_cast<long>(report.cells.size()), "comparison") + ": ", Paint::Strong},
       {text, Paint::Strong}});
  screen.blank();
  Table table;
  table.columns = {{"cell", false, 0, true},   {"verdict", false}, {"score"},
                   {"equiv.", false, 2},       {"unmasked"},       {"Holm p", true, 1},
                   {"worst channel", false, 3}};
  for (const AuditedCell& cell : report.cells) {
    const CellComparison& c = cell.comparison;
    const std::optional<Channel> channel = leading_channel(c);
    std::string worst;
    if (channel && c.channels.at(*channel).difference.value_or(0) > 0) {
      const ChannelComparison& lead = c.channels.at(*channel);
      worst = lead.amplification
                  ? fmt::format("{} ×{}", to_string(*channel), ratio(lead.amplification))
                  : fmt::format("{} {}", to_string(*channel), in_points(lead.difference));
    }
    table.rows.push_back(
        {{safe_for_terminal(c.cell)},
         {std::string(to_string(cell.judgement.verdict)) +
              (cell.judgement.fragile() ? " (fragile)" : ""),
          paint_of(cell.judgement.verdict)},
         {c.outcome.delta ? in_points(c.outcome.delta->mean) : kAbsent},
         {!c.outcome.tost              ? kAbsent
          : c.outcome.tost->equivalent ? "yes"
                                       : "no"},
         {c.budget.unmasked.test ? in_points(c.budget.unmasked.test->mean) : kAbsent},
         {p_value(c.budget.unmasked.p_holm)},
         {worst}});
  }
  screen.table(table);
  screen.paragraph("  ",
                   "score: change in points. unmasked: points that appear when at most " +
                       counted(report.options.k_tight, "failed call") +
                       (report.options.k_tight == 1 ? " is" : " are") +
                       " allowed. p corrected over all comparisons (Holm).",
                   Paint::Dim);
}

void show_grid(Screen& screen, const AuditReport& report) {
  show_matrix(screen, report);
  show_gate(screen, report);
  for (const AuditedCell& cell : report.cells) {
    screen.blank();
    screen.rule();
    show_verdict(screen, cell);
    show_arms(screen, cell.comparison);
    show_reasons(screen, cell.judgement, 3);
    show_outcome(screen, cell.comparison, true);
    show_channels(screen, cell.comparison);
    show_mechanism(screen, cell.mechanism);
    show_evidence(screen, evidence_of(cell), 3);
    show_next(screen, cell);
  }
  show_evidence(screen, evidence_of(report), kWarningsShown);
}

}  // namespace

std::string to_terminal(const AuditReport& report, const TerminalStyle& style) {
  Screen screen(style);
  if (report.cells.empty())
    screen.line({{"Nothing was compared."}});
  else if (report.cells.size() == 1)
    show_single(screen, report);
  else
    show_grid(screen, report);
  show_provenance(screen, report.provenance, true);
  return screen.take();
}

}  // namespace unmask
