// Margins of decisions on a screen.
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "report/margins_report.h"
#include "report/mechanism_words.h"
#include "report/numbers.h"
#include "report/screen.h"
#include "report/sections.h"
#include "report/sentences.h"

namespace unmask {
namespace {

constexpr std::size_t kWarningsInMargins = 10;

std::string share_text(long n, long of) {
  if (of == 0) return kAbsent;
  return percent(static_cast<double>(n) / static_cast<double>(of));
}

void show_replay_head(Screen& screen, const AnalysedReplay& replay) {
  const Mechanism& m = replay.mechanism;
  screen.line({{"Replay " + safe_for_terminal(replay.source), Paint::Strong}});
  std::string what = contexts_in_words(m);
  if (!m.head.domain.empty()) what += ", " + safe_for_terminal(m.head.domain);
  if (!m.head.log.empty()) what += ", from " + safe_for_terminal(m.head.log);
  screen.paragraph("  decisions  ", what);
  screen.paragraph("  replies    ", asked_in_words(m.head));
  for (const ReplayedArm& arm : m.arms) {
    std::string text = safe_for_terminal(arm.arm.label);
    if (arm.arm.baseline) text += " (baseline)";
    if (!arm.arm.repeats.empty())
      text += fmt::format(" ('{}' asked again)", safe_for_terminal(arm.arm.repeats));
    text += ": " +
            fmt::format("{} {}", count_text(arm.replies), arm.replies == 1 ? "reply" : "replies");
    screen.paragraph("  arm        ", text);
  }
}

void show_margins(Screen& screen, const Mechanism& m, double narrow) {
  Table table;
  table.columns = {{"arm", false, 0, true},
                   {"decision", false},
                   {"replies", false, 2},
                   {"n"},
                   {"10%"},
                   {"median"},
                   {"90%", true, 3},
                   {fmt::format("< {:g}", narrow)},
                   {"[95%]", true, 4}};
  for (const ReplayedArm& arm : m.arms) {
    if (!arm.arm.repeats.empty()) continue;
    for (const MarginDistribution& d : arm.margins)
      table.rows.push_back({{safe_for_terminal(arm.arm.label)},
                            {std::string(decision_in_words(d.kind))},
                            {d.channel.empty() ? "all" : safe_for_terminal(d.channel)},
                            {count_text(d.decisions)},
                            {decimal(d.quantiles[0], 2)},
                            {decimal(d.quantiles[2], 2)},
                            {decimal(d.quantiles[4], 2)},
                            {percent(d.narrow_share.value)},
                            {percent_interval(d.narrow_share.ci95), Paint::Dim}});
  }
  if (table.rows.empty()) return;
  screen.heading("Margins of each arm's own choices, nats");
  screen.table(table);
}

void show_outcomes(Screen& screen, const CandidateMechanism& c) {
  const ReplayOutcomes& o = c.outcomes;
  screen.heading(safe_for_terminal(c.label) + " beside the baseline");
  if (o.replies == 0)
    return screen.paragraph("  ", "no context to which both replied: nothing to compare",
                            Paint::Warn);
  screen.paragraph(
      "  action   ",
      fmt::format("same {} (of these, other arguments {}), another tool {}, text instead of a call "
                  "{}, a call instead of text {}",
                  share_text(o.same, o.replies), share_text(o.other_arguments, o.same),
                  share_text(o.other_tool, o.replies), share_text(o.text_instead, o.replies),
                  share_text(o.call_instead, o.replies)));
  const FlipDirections& d = c.directions;
  if (d.changed > 0)
    screen.paragraph(
        "  names    ",
        fmt::format("{} other than the baseline's: {} offered ({} heal a hallucination), {} the "
                    "baseline hallucinates too, {} new hallucinations",
                    count_text(d.changed), count_text(d.to_offered), count_text(d.healed),
                    count_text(d.to_known_failure), count_text(d.to_new_failure)));
}

void show_replay_channels(Screen& screen, const CandidateMechanism& c) {
  if (c.outcomes.replies == 0) return;
  Table table;
  table.columns = {{"channel", false},
                   {"baseline"},
                   {"candidate"},
                   {"times as often"},
                   {"[95%]"},
                   {"points", true, 1},
                   {"[95%]", true, 3},
                   {"only b/c", true, 4},
                   {"McNemar mid-p", true, 2},
                   {"Holm p"}};
  constexpr std::size_t kMcNemar = 8;
  for (const ReplayChannel& channel : c.channels)
    table.rows.push_back(
        {{channel.channel},
         {percent(channel.baseline)},
         {percent(channel.candidate)},
         {ratio(channel.amplification)},
         {ratio_interval(channel.amplification_ci95), Paint::Dim},
         {in_points(channel.difference)},
         {points_interval(channel.difference_ci95), Paint::Dim},
         {fmt::format("{}/{}", channel.only_baseline, channel.only_candidate)},
         {p_value(channel.mcnemar ? std::optional<double>(channel.mcnemar->p_mid) : std::nullopt)},
         {p_value(channel.p_holm)}});
  const std::vector<bool> shown = screen.table(table);
  std::string note = std::string("[95%]: clustered by task. ") + kHolmInWords;
  if (shown[kMcNemar]) note += std::string("; ") + kMcNemarInWords;
  screen.paragraph("  ", note + ".", Paint::Dim);
}

void show_bins(Screen& screen, const FlipAnalysis& flips) {
  Table table;
  table.columns = {{"margin, nats", false}, {"decisions"}, {"flips"}, {"share"}};
  for (const FlipBin& bin : flips.bins) {
    if (bin.decisions == 0) continue;
    table.rows.push_back({{bin_in_words(bin)},
                          {count_text(bin.decisions)},
                          {count_text(bin.flips)},
                          {percent(bin.flip_share())}});
  }
  if (!table.rows.empty()) screen.table(table);
  long binned = 0;
  for (const FlipBin& bin : flips.bins) binned += bin.decisions;
  if (const long left = flips.pairs - binned; left > 0)
    screen.paragraph("  ",
                     fmt::format("{} more {} in no bin: the margin is known as a bound only",
                                 counted(left, "decision"), left == 1 ? "is" : "are"),
                     Paint::Dim);
  if (flips.pairs > 0) screen.paragraph("  ", slope_in_words(flips), Paint::Dim);
}

std::string parameter_text(const std::optional<FittedParameter>& parameter) {
  if (!parameter) return kAbsent;
  return fmt::format("{} [{}, {}]", decimal(parameter->value, 2), decimal(parameter->ci95.lo, 2),
                     decimal(parameter->ci95.hi, 2));
}

std::vector<Span> model_row(const char* name, const NoiseModel& model, bool best,
                            const std::optional<HeldOut>& held_out) {
  std::string error = kAbsent;
  if (held_out)
    error = fmt::format("{} ({})", decimal(held_out->reliability.expected_calibration_error, 3),
                        decimal(held_out->reliability.error_of_chance, 3));
  return {{name, best ? Paint::Strong : Paint::Plain},
          {parameter_text(model.alpha)},
          {model.lambda ? parameter_text(model.lambda) : "1"},
          {parameter_text(model.sigma)},
          {decimal(model.aic, 1)},
          {error}};
}

void show_models(Screen& screen, const FlipAnalysis& flips) {
  if (!flips.models) {
    screen.paragraph("  ", "no noise model: " + flips.no_models, Paint::Dim);
    return;
  }
  const NoiseModels& m = *flips.models;
  const bool multiplicative = m.multiplicative.aic < m.additive.aic;
  Table table;
  table.columns = {{"noise", false}, {"alpha", true, 3},         {"lambda"}, {"sigma"},
                   {"AIC"},          {"held-out error", true, 2}};
  constexpr std::size_t kHeldOutError = 5;
  table.rows.push_back(model_row("additive", m.additive, !multiplicative, flips.held_out_additive));
  table.rows.push_back(
      model_row("multiplicative", m.multiplicative, multiplicative, flips.held_out_multiplicative));
  const std::vector<bool> shown = screen.table(table);
  std::string note = fmt::format("lambda = 1: p {}, clustered by {}; {} with {} known as bounds",
                                 p_value(m.p_lambda), counted(m.clusters, "task"),
                                 counted(m.rows, "margin"), count_text(m.bounds));
  if (flips.replay_noise)
    note += fmt::format("; replay noise {} nats taken off",
                        decimal(std::sqrt(flips.replay_noise->variance), 3));
  if (flips.held_out_additive && shown[kHeldOutError])
    note += "; held-out error: of predicted flips, and what chance alone would give";
  screen.paragraph("  ", note + ".", Paint::Dim);
  if (!outside_models_in_words(flips).empty())
    screen.paragraph("  ", outside_models_in_words(flips) + ".", Paint::Dim);
}

void show_flips(Screen& screen, const CandidateMechanism& c) {
  for (const FlipAnalysis& flips : c.flips) {
    if (flips.pairs == 0) {
      if (left_out_in_words(flips).empty()) continue;
      screen.heading(fmt::format("Flips, {}: none to compare", decision_in_words(flips.kind)));
      screen.paragraph("  ", "left out: " + left_out_in_words(flips) + ".", Paint::Dim);
      continue;
    }
    screen.heading(fmt::format("Flips, {}: {} of {}, {}", decision_in_words(flips.kind),
                               count_text(flips.flips), count_text(flips.pairs),
                               percent_estimate(flips.flip_share)));
    if (!left_out_in_words(flips).empty())
      screen.paragraph("  ", "left out: " + left_out_in_words(flips) + ".", Paint::Dim);
    show_bins(screen, flips);
    show_models(screen, flips);
    if (!calibration_in_words(flips).empty())
      screen.paragraph("  ", calibration_in_words(flips) + ".");
  }
}

void show_predictions(Screen& screen, const CandidateMechanism& c) {
  const std::string nothing = not_foretold_in_words(c);
  if (!c.additive && !c.multiplicative && nothing.empty()) return;
  screen.heading("Hallucinated names, foretold from the baseline's margins on other tasks");
  if (!nothing.empty()) return screen.paragraph("  ", nothing + ".", Paint::Dim);
  Table table;
  table.columns = {{"names", false}, {"share"}, {"times as often"}, {"[95%]"}};
  const auto add = [&](const char* what, double share, const std::optional<double>& times,
                       const std::optional<Interval>& ci95) {
    table.rows.push_back(
        {{what}, {percent(share)}, {ratio(times)}, {ratio_interval(ci95), Paint::Dim}});
  };
  // The decisions are the same, whichever noise foretells them.
  const FailurePrediction& either = c.additive ? *c.additive : *c.multiplicative;
  table.rows.push_back({{"baseline"}, {percent(either.baseline)}, {}, {}});
  for (const auto& [what, p] : {std::pair("foretold, additive", &c.additive),
                                std::pair("foretold, multiplicative", &c.multiplicative)})
    if (*p) add(what, (*p)->predicted, (*p)->predicted_amplification, (*p)->predicted_ci95);
  add("observed", either.observed, either.observed_amplification, either.observed_ci95);
  screen.table(table);
}

void show_margin_screen(Screen& screen, const MarginScreen& s) {
  screen.heading("Risk at full precision");
  screen.paragraph("  baseline   ",
                   percent_estimate(s.baseline) + " of its calls hallucinate a name");
  if (s.noise && s.predicted)
    screen.paragraph("  foretold   ", fmt::format("{} at sigma {:g}, lambda {:g}, alpha {:g}",
                                                  percent_estimate(*s.predicted), s.noise->sigma,
                                                  s.noise->lambda, s.noise->alpha));
  if (!s.nothing_foretold.empty())
    screen.paragraph("  foretold   ", "nothing: " + s.nothing_foretold);
  else if (s.predicted)
    screen.paragraph("             ",
                     fmt::format("{} of {} show a name that is not offered",
                                 count_text(s.with_wrong_name), counted(s.decisions, "decision")),
                     Paint::Dim);
  if (s.risk) screen.paragraph("  screen     ", std::string(to_string(*s.risk)), Paint::Strong);
}

}  // namespace

std::string_view decision_in_words(DecisionKind kind) {
  return kind == DecisionKind::WhetherToCall ? "whether to call" : "which tool";
}

std::string to_terminal(const MarginsReport& report, const TerminalStyle& style) {
  Screen screen(style);
  std::vector<std::string> evidence;
  for (const AnalysedReplay& replay : report.replays) {
    if (&replay != &report.replays.front()) screen.rule();
    show_replay_head(screen, replay);
    show_margins(screen, replay.mechanism, report.options.narrow);
    for (const CandidateMechanism& candidate : replay.mechanism.candidates) {
      show_outcomes(screen, candidate);
      show_replay_channels(screen, candidate);
      show_flips(screen, candidate);
      show_predictions(screen, candidate);
    }
    show_margin_screen(screen, replay.mechanism.screen);
    for (const Warning& warning : replay.mechanism.warnings)
      evidence.push_back(warning_in_words(warning));
  }
  for (const Warning& warning : report.warnings) evidence.push_back(warning_in_words(warning));
  for (const Dropped& dropped : by_reason(report.dropped))
    evidence.push_back(dropped_in_words(dropped));
  show_evidence(screen, evidence, kWarningsInMargins);
  show_provenance(screen, report.provenance, true);
  return screen.take();
}

}  // namespace unmask
