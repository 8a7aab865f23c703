// unmask.margins/1.
#include "report/json_parts.h"
#include "report/margins_report.h"

namespace unmask {
namespace {

void write_estimate_of(JsonWriter& json, std::string_view name, const Estimate& estimate) {
  json.key(name).begin_object().field("value", estimate.value).key("ci95");
  write_interval(json, estimate.ci95);
  json.end_object();
}

void write_distribution(JsonWriter& json, const MarginDistribution& d) {
  json.begin_object()
      .field("decision", unmask::to_string(d.kind))
      .field("channel", d.channel.empty() ? "all" : d.channel)
      .field("decisions", d.decisions)
      .field("bounds", d.bounds)
      .key("quantiles")
      .begin_object();
  constexpr std::array<const char*, 5> kNames = {"p10", "p25", "p50", "p75", "p90"};
  for (std::size_t i = 0; i < kNames.size(); ++i) json.field(kNames[i], d.quantiles[i]);
  json.end_object().field("narrow", d.narrow);
  write_estimate_of(json, "narrow_share", d.narrow_share);
  json.end_object();
}

void write_missing_margins(JsonWriter& json, DecisionKind kind, const MarginsMissing& missing) {
  json.key(unmask::to_string(kind))
      .begin_object()
      .field("no_token", missing.no_token)
      .field("no_alternatives", missing.no_alternatives)
      .field("no_competitor", missing.no_competitor)
      .field("not_seen", missing.not_seen)
      .end_object();
}

void write_arm(JsonWriter& json, const ReplayedArm& arm) {
  json.begin_object()
      .field("label", arm.arm.label)
      .field("precision", arm.arm.precision)
      .field("model", arm.arm.model)
      .field("baseline", arm.arm.baseline)
      .field("repeats", arm.arm.repeats)
      .field("replies", arm.replies)
      .field("errors", arm.errors)
      .field("missing", arm.missing)
      .field("without_logprobs", arm.without)
      .field("name_unseen", arm.name_unseen())
      .field("undecided", arm.undecided)
      .field("closer_strangers", arm.strangers)
      .key("margins")
      .begin_array();
  for (const MarginDistribution& d : arm.margins) write_distribution(json, d);
  json.end_array().key("no_margin").begin_object();
  for (std::size_t i = 0; i < kDecisionKinds.size(); ++i)
    write_missing_margins(json, kDecisionKinds[i], arm.no_margin[i]);
  json.end_object().end_object();
}

void write_replay_outcomes(JsonWriter& json, const ReplayOutcomes& o) {
  json.key("outcomes")
      .begin_object()
      .field("replies", o.replies)
      .field("same", o.same)
      .field("other_arguments", o.other_arguments)
      .field("other_tool", o.other_tool)
      .field("text_instead", o.text_instead)
      .field("call_instead", o.call_instead)
      .end_object();
}

void write_replay_channel(JsonWriter& json, const ReplayChannel& c) {
  json.key(c.channel)
      .begin_object()
      .field("replies", c.replies)
      .field("both", c.both)
      .field("only_baseline", c.only_baseline)
      .field("only_candidate", c.only_candidate)
      .field("baseline", c.baseline)
      .field("candidate", c.candidate)
      .field("difference", c.difference)
      .key("difference_ci95");
  write_interval(json, c.difference_ci95);
  json.field("amplification", c.amplification).key("amplification_ci95");
  write_interval(json, c.amplification_ci95);
  json.key("mcnemar");
  if (c.mcnemar)
    json.begin_object()
        .field("p_exact", c.mcnemar->p_exact)
        .field("p_mid", c.mcnemar->p_mid)
        .end_object();
  else
    json.null();
  json.field("p", c.p).field("p_holm", c.p_holm).end_object();
}

void write_parameter(JsonWriter& json, std::string_view name,
                     const std::optional<FittedParameter>& parameter) {
  json.key(name);
  if (!parameter) {
    json.null();
    return;
  }
  json.begin_object()
      .field("value", parameter->value)
      .field("se_information", parameter->se_information)
      .field("se_clustered", parameter->se_clustered)
      .key("ci95");
  write_interval(json, parameter->ci95);
  json.end_object();
}

void write_held_out(JsonWriter& json, const std::optional<HeldOut>& held_out) {
  json.key("held_out");
  if (!held_out) {
    json.null();
    return;
  }
  const Reliability& r = held_out->reliability;
  json.begin_object()
      .field("rows", held_out->rows)
      .field("expected_calibration_error", r.expected_calibration_error)
      .field("error_of_chance", r.error_of_chance)
      .field("brier", r.brier)
      .field("flips_predicted", held_out->flips_predicted)
      .field("flips_observed", held_out->flips_observed)
      .key("flips_ci95");
  write_interval(json, held_out->flips_ci95);
  json.key("bins").begin_array();
  for (const ReliabilityBin& bin : r.bins)
    json.begin_object()
        .field("lo", bin.lo)
        .field("hi", bin.hi)
        .field("rows", bin.rows)
        .field("predicted", bin.predicted)
        .field("observed", bin.observed)
        .end_object();
  json.end_array().end_object();
}

void write_model(JsonWriter& json, std::string_view name, const NoiseModel& model,
                 const std::optional<HeldOut>& held_out) {
  json.key(name).begin_object();
  write_parameter(json, "alpha", model.alpha);
  write_parameter(json, "lambda", model.lambda);
  write_parameter(json, "sigma", model.sigma);
  json.field("omega", model.omega)
      .field("log_likelihood", model.log_likelihood)
      .field("parameters", model.parameters)
      .field("aic", model.aic);
  write_held_out(json, held_out);
  json.end_object();
}

void write_models(JsonWriter& json, const FlipAnalysis& flips) {
  json.key("models");
  if (!flips.models) {
    json.null().field("no_models", flips.no_models);
    return;
  }
  json.begin_object();
  write_model(json, "additive", flips.models->additive, flips.held_out_additive);
  write_model(json, "multiplicative", flips.models->multiplicative, flips.held_out_multiplicative);
  json.field("rows", flips.models->rows)
      .field("bounds", flips.models->bounds)
      .field("tasks", flips.models->clusters)
      .field("p_lambda", flips.models->p_lambda)
      .field("vuong_z", flips.models->vuong_z)
      .end_object();
  if (!flips.no_held_out.empty()) json.field("no_held_out", flips.no_held_out);
}

void write_flips(JsonWriter& json, const FlipAnalysis& flips) {
  json.key(unmask::to_string(flips.kind))
      .begin_object()
      .field("pairs", flips.pairs)
      .field("other_text", flips.other_text)
      .field("off_top", flips.off_top)
      .field("undetermined", flips.undetermined)
      .field("censored", flips.censored)
      .field("fitted", flips.fitted)
      .field("flips", flips.flips)
      .field("censored_flips", flips.censored_flips)
      .field("fitted_flips", flips.fitted_flips);
  write_estimate_of(json, "flip_share", flips.flip_share);
  json.key("bins").begin_array();
  for (const FlipBin& bin : flips.bins) {
    json.begin_object()
        .field("lo", bin.lo)
        .field("hi", bin.hi)
        .field("decisions", bin.decisions)
        .field("flips", bin.flips)
        .field("share", bin.decisions > 0 ? std::optional<double>(bin.flip_share()) : std::nullopt)
        .key("ci95");
    write_interval(json, bin.ci95);
    json.end_object();
  }
  json.end_array().key("logistic");
  if (flips.logistic) {
    json.begin_object();
    write_parameter(json, "intercept", flips.logistic->intercept);
    write_parameter(json, "slope", flips.logistic->slope);
    json.field("p_slope", flips.logistic->p_slope).end_object();
  } else {
    json.null().field("no_logistic", flips.no_logistic);
  }
  json.key("replay_noise");
  if (flips.replay_noise)
    json.begin_object()
        .field("variance", flips.replay_noise->variance)
        .field("pairs", flips.replay_noise->pairs)
        .end_object();
  else
    json.null();
  write_models(json, flips);
  json.field("margins_foretell", margins_foretell(flips));
  json.end_object();
}

void write_prediction(JsonWriter& json, std::string_view name,
                      const std::optional<FailurePrediction>& p) {
  json.key(name);
  if (!p) {
    json.null();
    return;
  }
  json.begin_object()
      .field("decisions", p->decisions)
      .field("baseline", p->baseline)
      .field("observed", p->observed)
      .field("predicted", p->predicted)
      .field("predicted_amplification", p->predicted_amplification)
      .key("predicted_amplification_ci95");
  write_interval(json, p->predicted_ci95);
  json.field("observed_amplification", p->observed_amplification)
      .key("observed_amplification_ci95");
  write_interval(json, p->observed_ci95);
  json.end_object();
}

void write_candidate(JsonWriter& json, const CandidateMechanism& c) {
  json.begin_object().field("label", c.label).field("contexts", c.contexts).field("tasks", c.tasks);
  write_replay_outcomes(json, c.outcomes);
  json.key("channels").begin_object();
  for (const ReplayChannel& channel : c.channels) write_replay_channel(json, channel);
  json.end_object();
  json.key("directions")
      .begin_object()
      .field("changed", c.directions.changed)
      .field("to_offered", c.directions.to_offered)
      .field("healed", c.directions.healed)
      .field("to_known_failure", c.directions.to_known_failure)
      .field("to_new_failure", c.directions.to_new_failure)
      .end_object();
  json.key("flips").begin_object();
  for (const FlipAnalysis& flips : c.flips) write_flips(json, flips);
  json.end_object().key("predictions").begin_object();
  write_prediction(json, "additive", c.additive);
  write_prediction(json, "multiplicative", c.multiplicative);
  json.end_object().end_object();
}

void write_margin_screen(JsonWriter& json, const MarginScreen& screen) {
  json.key("screen")
      .begin_object()
      .field("decisions", screen.decisions)
      .field("with_wrong_name", screen.with_wrong_name);
  write_estimate_of(json, "baseline", screen.baseline);
  json.key("noise");
  if (screen.noise)
    json.begin_object()
        .field("sigma", screen.noise->sigma)
        .field("lambda", screen.noise->lambda)
        .field("alpha", screen.noise->alpha)
        .end_object();
  else
    json.null();
  if (screen.predicted)
    write_estimate_of(json, "predicted", *screen.predicted);
  else
    json.key("predicted").null();
  if (!screen.nothing_foretold.empty()) json.field("nothing_foretold", screen.nothing_foretold);
  json.key("risk");
  if (screen.risk)
    json.value(unmask::to_string(*screen.risk));
  else
    json.null();
  json.end_object();
}

void write_replay_of(JsonWriter& json, const AnalysedReplay& replay) {
  const ReplayHead& head = replay.mechanism.head;
  json.begin_object()
      .field("source", replay.source)
      .field("log", head.log)
      .field("format", head.format)
      .field("domain", head.domain)
      .field("greedy", head.greedy)
      .field("samples", head.samples)
      .field("eligible", head.eligible)
      .field("selected", head.selected);
  write_mechanism_members(json, replay.mechanism);
  json.end_object();
}

}  // namespace

void write_mechanism_members(JsonWriter& json, const Mechanism& m) {
  json.field("contexts", m.contexts)
      .field("distinct_contexts", m.distinct)
      .field("tasks", m.tasks)
      .key("arms")
      .begin_array();
  for (const ReplayedArm& arm : m.arms) write_arm(json, arm);
  json.end_array().key("candidates").begin_array();
  for (const CandidateMechanism& candidate : m.candidates) write_candidate(json, candidate);
  json.end_array();
  write_margin_screen(json, m.screen);
  write_warnings(json, m.warnings);
}

std::string to_json(const MarginsReport& report) {
  JsonWriter json(2);
  json.begin_object().field("schema", "unmask.margins/1").key("replays").begin_array();
  for (const AnalysedReplay& replay : report.replays) write_replay_of(json, replay);
  json.end_array();
  write_warnings(json, report.warnings);
  write_dropped(json, report.dropped);
  json.key("options")
      .begin_object()
      .field("narrow", report.options.narrow)
      .field("screen_low", report.options.screen_low)
      .field("screen_high", report.options.screen_high)
      .end_object();
  write_provenance(json, report.provenance);
  json.end_object();
  return escape_invisible(json.text()) + "\n";
}

}  // namespace unmask
