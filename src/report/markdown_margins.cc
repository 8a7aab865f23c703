// Margins of decisions as Markdown.
#include <fmt/format.h>

#include "report/margins_report.h"
#include "report/markdown_parts.h"
#include "report/mechanism_words.h"
#include "report/numbers.h"
#include "report/sentences.h"

namespace unmask {
namespace {

std::string share_of(long n, long all) {
  return all == 0 ? kAbsent : percent(static_cast<double>(n) / static_cast<double>(all));
}

std::string distribution_table(const Mechanism& m, double narrow) {
  std::string out = markdown_row({"arm", "decision", "replies", "n", "10 %", "median", "90 %",
                                  fmt::format("&lt; {:g} nat", narrow)}) +
                    "|---|---|---|--:|--:|--:|--:|--:|\n";
  for (const ReplayedArm& arm : m.arms)
    for (const MarginDistribution& d : arm.margins)
      out += markdown_row({plain(arm.arm.label), std::string(decision_in_words(d.kind)),
                           d.channel.empty() ? "all" : plain(d.channel), count_text(d.decisions),
                           decimal(d.quantiles[0], 2), decimal(d.quantiles[2], 2),
                           decimal(d.quantiles[4], 2), percent_estimate(d.narrow_share)});
  return out + "\n";
}

std::string replay_channel_table(const CandidateMechanism& c) {
  std::string out = markdown_row({"channel", "baseline", "candidate", "times as often [95%]",
                                  "points [95%]", "McNemar mid-p", "Holm p, tasks swapped"}) +
                    "|---|--:|--:|--:|--:|--:|--:|\n";
  for (const ReplayChannel& channel : c.channels)
    out += markdown_row(
        {"`" + channel.channel + "`", percent(channel.baseline), percent(channel.candidate),
         ratio(channel.amplification) + " " + ratio_interval(channel.amplification_ci95),
         in_points(channel.difference) + " " + points_interval(channel.difference_ci95),
         p_value(channel.mcnemar ? std::optional<double>(channel.mcnemar->p_mid) : std::nullopt),
         p_value(channel.p_holm)});
  return out + "\n";
}

std::string with_interval(const std::optional<FittedParameter>& parameter) {
  if (!parameter) return kAbsent;
  return fmt::format("{} [{}, {}]", decimal(parameter->value, 2), decimal(parameter->ci95.lo, 2),
                     decimal(parameter->ci95.hi, 2));
}

std::string model_line(const FlipAnalysis& flips, const char* name, const NoiseModel& model,
                       const std::optional<HeldOut>& held_out) {
  return markdown_row(
      {std::string(decision_in_words(flips.kind)), name, with_interval(model.alpha),
       model.lambda ? with_interval(model.lambda) : "1", with_interval(model.sigma),
       decimal(model.aic, 1),
       held_out ? decimal(held_out->reliability.expected_calibration_error, 3) : kAbsent});
}

std::string models_table(const CandidateMechanism& c) {
  std::string out =
      markdown_row({"decision", "noise", "alpha", "lambda", "sigma", "AIC", "held-out error"}) +
      "|---|---|--:|--:|--:|--:|--:|\n";
  bool any = false;
  for (const FlipAnalysis& flips : c.flips) {
    if (!flips.models) continue;
    any = true;
    out += model_line(flips, "additive", flips.models->additive, flips.held_out_additive);
    out += model_line(flips, "multiplicative", flips.models->multiplicative,
                      flips.held_out_multiplicative);
  }
  return any ? out + "\n" : "";
}

std::string bins_table(const FlipAnalysis& flips) {
  std::string out =
      markdown_row({"margin, nats", "decisions", "flips", "share"}) + "|---|--:|--:|--:|\n";
  for (const FlipBin& bin : flips.bins) {
    if (bin.decisions == 0) continue;
    out += markdown_row(
        {bin.hi ? fmt::format("{:g}–{:g}", bin.lo, *bin.hi) : fmt::format("{:g} and more", bin.lo),
         count_text(bin.decisions), count_text(bin.flips), percent(bin.flip_share())});
  }
  return out + "\n";
}

std::string predictions_text(const CandidateMechanism& c) {
  std::string out;
  const auto add = [&](const char* name, const std::optional<FailurePrediction>& p) {
    if (!p) return;
    out += fmt::format(
        "- {} noise, fitted on other tasks: hallucinated names {} → {} foretold, {} observed "
        "({} {} and {} {} times as often)\n",
        name, percent(p->baseline), percent(p->predicted), percent(p->observed),
        ratio(p->predicted_amplification), ratio_interval(p->predicted_ci95),
        ratio(p->observed_amplification), ratio_interval(p->observed_ci95));
  };
  add("additive", c.additive);
  add("multiplicative", c.multiplicative);
  return out.empty() ? out : out + "\n";
}

std::string candidate_section(const CandidateMechanism& c) {
  const ReplayOutcomes& o = c.outcomes;
  std::string out = fmt::format(
      "#### {}\n\n{} of {}: same action {}, another tool {}, text instead of a call {}, a call "
      "instead of text {}.\n\n",
      plain(c.label), counted(c.contexts, "decision"), counted(c.tasks, "task"),
      share_of(o.same, o.replies), share_of(o.other_tool, o.replies),
      share_of(o.text_instead, o.replies), share_of(o.call_instead, o.replies));
  out += replay_channel_table(c) + models_table(c) + predictions_text(c);
  for (const FlipAnalysis& flips : c.flips)
    if (flips.pairs == 0 && !left_out_in_words(flips).empty())
      out += fmt::format("- {}: no flips to compare, left out: {}\n", decision_in_words(flips.kind),
                         left_out_in_words(flips));
  if (!not_foretold_in_words(c).empty()) out += "- " + not_foretold_in_words(c) + "\n";
  for (const FlipAnalysis& flips : c.flips)
    for (const std::string& said : {outside_models_in_words(flips), calibration_in_words(flips)})
      if (!said.empty()) out += fmt::format("- {}: {}\n", decision_in_words(flips.kind), said);
  out += "\n";
  for (const FlipAnalysis& flips : c.flips)
    if (flips.pairs > 0)
      out += folded(fmt::format("Flips by margin, {}: {} of {}", decision_in_words(flips.kind),
                                count_text(flips.flips), count_text(flips.pairs)),
                    bins_table(flips));
  return out;
}

}  // namespace

std::string to_markdown(const MarginsReport& report) {
  std::string out;
  std::string evidence;
  for (const AnalysedReplay& replay : report.replays) {
    const Mechanism& m = replay.mechanism;
    out += fmt::format("### Margins of decisions: {}\n\n", plain(replay.source));
    out += contexts_in_words(m) + ". Replies " + asked_in_words(m.head) + ".\n\n";
    out += distribution_table(m, report.options.narrow);
    for (const CandidateMechanism& candidate : m.candidates) out += candidate_section(candidate);
    out += fmt::format("Hallucinated names at full precision: {}",
                       percent_estimate(m.screen.baseline));
    if (m.screen.predicted && m.screen.noise)
      out += fmt::format("; foretold at sigma {:g}: {}", m.screen.noise->sigma,
                         percent_estimate(*m.screen.predicted));
    if (!m.screen.nothing_foretold.empty())
      out += "; nothing is foretold: " + m.screen.nothing_foretold;
    if (m.screen.risk) out += fmt::format("; screen **{}**", to_string(*m.screen.risk));
    out += ".\n\n";
    for (const Warning& warning : m.warnings)
      evidence += "- " + plain(warning_in_words(warning)) + "\n";
  }
  for (const Warning& warning : report.warnings)
    evidence += "- " + plain(warning_in_words(warning)) + "\n";
  for (const Dropped& dropped : by_reason(report.dropped))
    evidence += "- " + plain(dropped_in_words(dropped)) + "\n";
  if (!evidence.empty()) out += folded("Evidence", evidence);
  return out + fmt::format("<sub>unmask {}, seed {}, {} resamples: {}</sub>\n",
                           plain(report.provenance.version), report.provenance.seed,
                           count_text(report.provenance.bootstrap),
                           plain(report.provenance.command));
}

}  // namespace unmask
