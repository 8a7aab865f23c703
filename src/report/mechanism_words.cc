#include "report/mechanism_words.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "base/check.h"
#include "ingest/replay.h"
#include "report/margins_report.h"
#include "report/numbers.h"

namespace unmask {
namespace {

constexpr long kFewestDrawn = 20;

std::string parameter_in_words(const char* name, const std::optional<FittedParameter>& parameter) {
  if (!parameter) return "";
  return fmt::format(", {} {} [{}, {}]", name, decimal(parameter->value, 2),
                     decimal(parameter->ci95.lo, 2), decimal(parameter->ci95.hi, 2));
}

const FlipAnalysis& flips_of(const CandidateMechanism& candidate, DecisionKind kind) {
  for (const FlipAnalysis& flips : candidate.flips)
    if (flips.kind == kind) return flips;
  UNMASK_CHECK(false);
  return candidate.flips.front();
}

}  // namespace

const CandidateMechanism& compared(const Mechanism& mechanism) {
  UNMASK_CHECK(mechanism.candidates.size() == 1 && mechanism.arms.size() == 2);
  return mechanism.candidates.front();
}

const MarginDistribution* own_margins(const ReplayedArm& arm, DecisionKind kind) {
  for (const MarginDistribution& margins : arm.margins)
    if (margins.kind == kind && margins.channel.empty()) return &margins;
  return nullptr;
}

std::string pairs_in_words(const Mechanism& mechanism) {
  const CandidateMechanism& candidate = compared(mechanism);
  const std::string of = fmt::format("{} in the baseline's, {} in the candidate's",
                                     counted(mechanism.arms[0].replies, "decision"),
                                     count_text(mechanism.arms[1].replies));
  if (candidate.contexts == 0) return "no decision had the same context in both logs (" + of + ")";
  return fmt::format("{} of {} had the same context in both logs ({})",
                     counted(candidate.contexts, "decision"), counted(candidate.tasks, "task"), of);
}

std::string contexts_in_words(const Mechanism& mechanism) {
  const std::string distinct =
      mechanism.distinct && *mechanism.distinct != mechanism.contexts
          ? fmt::format(" ({})", counted(*mechanism.distinct, "distinct prompt"))
          : "";
  return fmt::format("{}{} of {}", counted(mechanism.contexts, "decision"), distinct,
                     counted(mechanism.tasks, "task"));
}

std::string asked_in_words(const ReplayHead& head) {
  std::set<double> temperatures;
  for (const ReplayArm& arm : head.arms)
    if (const std::optional<double> known = temperature_of(arm)) temperatures.insert(*known);
  std::string text = head.greedy ? "greedy" : "drawn";
  if (!temperatures.empty()) text += fmt::format(" (temperature {:g}", *temperatures.begin());
  if (temperatures.size() > 1) text += fmt::format(" to {:g}", *temperatures.rbegin());
  if (!temperatures.empty()) text += ")";
  if (head.greedy)
    return text +
           ": the likeliest token always, so rates and what is observed are of likeliest "
           "replies";
  if (head.samples > 1) text += fmt::format(", {} to a context", count_text(head.samples));
  return text +
         ": rates by channel are of drawn replies, flips and what is observed beside what "
         "is foretold of preferred names";
}

std::string outside_models_in_words(const FlipAnalysis& flips) {
  const long near = flips.pairs - flips.censored - flips.fitted;
  if (!flips.models || flips.pairs == flips.fitted) return "";
  std::string text = fmt::format("the models fit {} of {} with {}", count_text(flips.fitted),
                                 counted(flips.pairs, "pair"), counted(flips.fitted_flips, "flip"));
  if (flips.censored > 0)
    text += fmt::format("; outside: {} whose margin is a bound, with {}",
                        count_text(flips.censored), counted(flips.censored_flips, "flip"));
  if (near > 0)
    text += fmt::format(
        "{}{} not measured exactly in both askings of the baseline, or less than 3 standard "
        "deviations of the replay noise within reach of the alternatives, with {}",
        flips.censored > 0 ? ", and " : "; outside: ", count_text(near),
        counted(flips.flips - flips.censored_flips - flips.fitted_flips, "flip"));
  return text;
}

std::string flips_in_words(const FlipAnalysis& flips) {
  if (flips.pairs == 0) return "no pair with both margins";
  return fmt::format("{} of {} {}, {}", count_text(flips.flips), count_text(flips.pairs),
                     flips.flips == 1 ? "flips" : "flip", percent_estimate(flips.flip_share));
}

std::string left_out_in_words(const FlipAnalysis& flips) {
  std::string text;
  const auto add = [&](long count, const char* why) {
    if (count == 0) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                        text.empty() ? counted(count, "pair") : count_text(count), why);
  };
  add(flips.other_text, "wrote different text before the call");
  add(flips.off_top, "whose baseline did not take its likeliest");
  add(flips.undetermined, "whose bound does not tell");
  return text;
}

std::string noise_model_in_words(const FlipAnalysis& flips) {
  if (flips.pairs == 0 || (!flips.models && flips.flips == 0)) return "";
  if (!flips.models) return "no noise model: " + flips.no_models;
  const NoiseModels& models = *flips.models;
  const bool multiplicative = is_multiplicative(models);
  const NoiseModel& best = multiplicative ? models.multiplicative : models.additive;
  return fmt::format(
      "{} noise{}{}{} nats; lambda = 1: p {}, from {}",
      multiplicative ? "multiplicative" : "additive", parameter_in_words("alpha", best.alpha),
      parameter_in_words("lambda", best.lambda), parameter_in_words("sigma", best.sigma),
      p_value(models.p_lambda), counted(models.rows, "margin"));
}

std::string slope_in_words(const FlipAnalysis& flips) {
  if (flips.pairs == 0) return "";
  if (!flips.logistic) return "no logistic line: " + flips.no_logistic;
  const FittedParameter& slope = flips.logistic->slope;
  return fmt::format("each nat multiplies the odds of a flip by {} {}, p {}",
                     ratio(std::exp(slope.value)),
                     ratio_interval(Interval{std::exp(slope.ci95.lo), std::exp(slope.ci95.hi)}),
                     p_value(flips.logistic->p_slope));
}

std::string calibration_in_words(const FlipAnalysis& flips) {
  std::string text;
  if (const HeldOut* const held_out = chosen_held_out(flips))
    text = fmt::format(
        "on tasks held out {} {} foretold, {} observed (which allow {} to {}); calibration error "
        "{}, "
        "of chance alone {}",
        decimal(held_out->flips_predicted, 1), held_out->flips_predicted == 1 ? "flip" : "flips",
        count_text(held_out->flips_observed), decimal(held_out->flips_ci95.lo, 1),
        decimal(held_out->flips_ci95.hi, 1),
        decimal(held_out->reliability.expected_calibration_error, 3),
        decimal(held_out->reliability.error_of_chance, 3));
  if (margins_foretell(flips) == false)
    text += std::string(text.empty() ? "" : "; ") + "the margins do not foretell these flips";
  return text;
}

std::string judged_in_words(const FlipAnalysis& flips) {
  std::string text;
  for (const std::string& part :
       {noise_model_in_words(flips), flips.flips > 0 ? slope_in_words(flips) : std::string(),
        calibration_in_words(flips)})
    if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
  return text;
}

std::string not_foretold_in_words(const CandidateMechanism& candidate) {
  if (candidate.contexts == 0 || candidate.additive || candidate.multiplicative) return "";
  const FlipAnalysis& flips = flips_of(candidate, DecisionKind::WhichTool);
  return flips.no_held_out.empty() ? "" : "nothing is foretold: " + flips.no_held_out;
}

std::string foretold_in_words(const Mechanism& mechanism) {
  const CandidateMechanism& candidate = compared(mechanism);
  if (candidate.contexts == 0) return "";
  const FlipAnalysis& flips = flips_of(candidate, DecisionKind::WhichTool);
  const bool multiplicative = flips.models && is_multiplicative(*flips.models);
  const std::optional<FailurePrediction>& foretold =
      multiplicative ? candidate.multiplicative : candidate.additive;
  if (!foretold) return not_foretold_in_words(candidate);
  std::string text = fmt::format(
      "hallucinated names {} in the baseline, {} foretold from its "
      "margins, {} observed",
      fine_percent(foretold->baseline), fine_percent(foretold->predicted),
      fine_percent(foretold->observed));
  if (foretold->predicted_amplification && foretold->observed_amplification)
    text += fmt::format(
        "; ×{} {} foretold, ×{} {} observed", ratio(foretold->predicted_amplification),
        ratio_interval(foretold->predicted_ci95), ratio(foretold->observed_amplification),
        ratio_interval(foretold->observed_ci95));
  if (!mechanism.head.greedy) text += " (of likeliest names, whatever was drawn)";
  return text;
}

std::string bin_in_words(const FlipBin& bin) {
  return bin.hi ? fmt::format("{:g} to {:g}", bin.lo, *bin.hi)
                : fmt::format("{:g} and more", bin.lo);
}

bool worth_a_chart(const FlipAnalysis& flips) {
  long decisions = 0;
  int bins = 0;
  for (const FlipBin& bin : flips.bins) {
    decisions += bin.decisions;
    bins += bin.decisions > 0 ? 1 : 0;
  }
  return decisions >= kFewestDrawn && bins >= 2;
}

const FlipAnalysis* flips_to_draw(const CandidateMechanism& candidate) {
  for (const DecisionKind kind : {DecisionKind::WhichTool, DecisionKind::WhetherToCall}) {
    const FlipAnalysis& flips = flips_of(candidate, kind);
    if (worth_a_chart(flips)) return &flips;
  }
  return nullptr;
}

}  // namespace unmask
