// Replays of decisions as a page: what each arm did, where it flips, and what noise makes of it.
#include <fmt/format.h>

#include <cmath>

#include "report/html_fields.h"
#include "report/html_margins_charts.h"
#include "report/html_mechanism.h"
#include "report/html_page.h"
#include "report/html_spec.h"
#include "report/margins_report.h"
#include "report/mechanism_words.h"
#include "report/numbers.h"
#include "report/sentences.h"

namespace unmask::html {
namespace {

// Where a replay stands: "r0", its elements' prefix, and "/replays/0", its place in the JSON
// report.
struct ReplaySpot {
  std::size_t index = 0;

  std::string id() const { return fmt::format("r{}", index); }
  std::string json(std::string_view rest) const {
    return fmt::format("/replays/{}{}", index, rest);
  }
};

// A candidate of it: "r0c1", "/replays/0/candidates/1".
struct CandidateSpot {
  ReplaySpot replay;
  std::size_t index = 0;

  std::string id() const { return fmt::format("{}c{}", replay.id(), index); }
  std::string json(std::string_view rest) const {
    return replay.json(fmt::format("/candidates/{}{}", index, rest));
  }
};

Field estimate_field(const Estimate& estimate, const std::string& json) {
  return joined(percent_field(estimate.value, json + "/value"), " ",
                percent_interval_field(estimate.ci95, json + "/ci95"));
}

std::string entry(std::string_view term, const std::string& meaning) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(term), meaning);
}

std::string role_of(const ReplayArm& arm) {
  if (arm.baseline) return "baseline";
  return arm.repeats.empty() ? "candidate" : "'" + arm.repeats + "' asked again";
}

std::string replay_arms_table(const Mechanism& mechanism, const ReplaySpot& spot) {
  Rows rows{"Arms",
            {{"arm", false},
             {"role", false},
             {"precision", false},
             {"model", false},
             {"replies"},
             {"errors"},
             {"missing"},
             {"without log-probabilities"}},
            {}};
  for (std::size_t i = 0; i < mechanism.arms.size(); ++i) {
    const ReplayedArm& arm = mechanism.arms[i];
    const std::string json = spot.json(fmt::format("/arms/{}", i));
    rows.rows.push_back({words(arm.arm.label), words(role_of(arm.arm)), words(arm.arm.precision),
                         words(arm.arm.model), count_field(arm.replies, json + "/replies"),
                         count_field(arm.errors, json + "/errors"),
                         count_field(arm.missing, json + "/missing"),
                         count_field(arm.without, json + "/without_logprobs")});
  }
  return table(rows);
}

std::vector<Field> distribution_row(const ReplayedArm& arm, const MarginDistribution& d,
                                    const std::string& json) {
  std::vector<Field> row = {words(arm.arm.label), words(decision_in_words(d.kind)),
                            words(d.channel.empty() ? "all" : d.channel),
                            count_field(d.decisions, json + "/decisions"),
                            count_field(d.bounds, json + "/bounds")};
  constexpr std::array<const char*, 5> kNames = {"p10", "p25", "p50", "p75", "p90"};
  for (std::size_t i = 0; i < kNames.size(); ++i)
    row.push_back(
        decimal_field(d.quantiles[i], 2, fmt::format("{}/quantiles/{}", json, kNames[i])));
  row.push_back(estimate_field(d.narrow_share, json + "/narrow_share"));
  return row;
}

std::string distributions_table(const Mechanism& mechanism, double narrow, const ReplaySpot& spot) {
  const std::string below = fmt::format("below {:g} [95%]", narrow);
  Rows rows{"Margins of each arm's own choices, nats",
            {{"arm", false},
             {"decision", false},
             {"replies", false},
             {"n"},
             {"bounds"},
             {"10%"},
             {"25%"},
             {"median"},
             {"75%"},
             {"90%"},
             {below}},
            {}};
  for (std::size_t i = 0; i < mechanism.arms.size(); ++i)
    for (std::size_t j = 0; j < mechanism.arms[i].margins.size(); ++j)
      rows.rows.push_back(distribution_row(mechanism.arms[i], mechanism.arms[i].margins[j],
                                           spot.json(fmt::format("/arms/{}/margins/{}", i, j))));
  return table(rows);
}

std::string outcomes(const CandidateMechanism& candidate, const CandidateSpot& spot) {
  const ReplayOutcomes& o = candidate.outcomes;
  const auto part = [&](long n, std::string_view json, long of) {
    return inline_field(count_field(n, spot.json(json))) + " of " + count_text(of) +
           (of == 0 ? "" : ", " + percent(static_cast<double>(n) / static_cast<double>(of)));
  };
  std::string out = "<dl>\n";
  out += entry("Decisions", inline_field(count_field(candidate.contexts, spot.json("/contexts"))) +
                                " of " +
                                inline_field(count_field(candidate.tasks, spot.json("/tasks"))) +
                                " tasks, to which both arms replied");
  out += entry("Same action", part(o.same, "/outcomes/same", o.replies));
  out += entry("Of these, other arguments",
               part(o.other_arguments, "/outcomes/other_arguments", o.same));
  out += entry("Another tool", part(o.other_tool, "/outcomes/other_tool", o.replies));
  out += entry("Text instead of a call", part(o.text_instead, "/outcomes/text_instead", o.replies));
  out += entry("A call instead of text", part(o.call_instead, "/outcomes/call_instead", o.replies));
  const FlipDirections& d = candidate.directions;
  if (d.changed > 0) {
    const auto count = [&](long n, std::string_view json) {
      return inline_field(count_field(n, spot.json(json)));
    };
    out += entry("Other names went",
                 count(d.to_offered, "/directions/to_offered") + " to offered tools (" +
                     count(d.healed, "/directions/healed") + " heal a hallucination), " +
                     count(d.to_known_failure, "/directions/to_known_failure") +
                     " to names the baseline hallucinates too, " +
                     count(d.to_new_failure, "/directions/to_new_failure") + " to new ones");
  }
  return out + "</dl>\n";
}

std::string replay_channels_table(const CandidateMechanism& candidate, const CandidateSpot& spot) {
  Rows rows{"Failures in the same contexts",
            {{"channel", false},
             {"baseline"},
             {"candidate"},
             {"times as often [95%]"},
             {"points [95%]"},
             {"only baseline"},
             {"only candidate"},
             {"McNemar mid-p"},
             {"Holm p, tasks swapped"}},
            {}};
  for (const ReplayChannel& c : candidate.channels) {
    const std::string json = spot.json("/channels/" + c.channel);
    rows.rows.push_back(
        {words(c.channel), percent_field(c.baseline, json + "/baseline"),
         percent_field(c.candidate, json + "/candidate"),
         joined(ratio_field(c.amplification, json + "/amplification"), " ",
                ratio_interval_field(c.amplification_ci95, json + "/amplification_ci95")),
         joined(points_field(c.difference, json + "/difference"), " ",
                points_interval_field(c.difference_ci95, json + "/difference_ci95")),
         count_field(c.only_baseline, json + "/only_baseline"),
         count_field(c.only_candidate, json + "/only_candidate"),
         c.mcnemar ? p_field(c.mcnemar->p_mid, json + "/mcnemar/p_mid") : words(kAbsent),
         p_field(c.p_holm, json + "/p_holm")});
  }
  return table(rows);
}

Field parameter_field(const std::optional<FittedParameter>& parameter, const std::string& json,
                      std::string_view without) {
  if (!parameter) return words(without);
  return joined(decimal_field(parameter->value, 2, json + "/value"), " ",
                decimal_interval_field(parameter->ci95, 2, json + "/ci95"));
}

std::vector<Field> model_row(std::string_view name, const NoiseModel& model,
                             const std::optional<HeldOut>& held_out, const std::string& json) {
  std::vector<Field> row = {words(name), parameter_field(model.alpha, json + "/alpha", kAbsent),
                            parameter_field(model.lambda, json + "/lambda", "1"),
                            parameter_field(model.sigma, json + "/sigma", kAbsent),
                            decimal_field(model.aic, 1, json + "/aic")};
  if (!held_out) {
    row.insert(row.end(), 2, words(kAbsent));
    return row;
  }
  const Reliability& r = held_out->reliability;
  row.push_back(decimal_field(r.expected_calibration_error, 3,
                              json + "/held_out/expected_calibration_error"));
  row.push_back(decimal_field(r.error_of_chance, 3, json + "/held_out/error_of_chance"));
  return row;
}

std::string models_part(const FlipAnalysis& flips, const std::string& json) {
  if (!flips.models)
    return paragraph(escaped("No noise model: " + flips.no_models + "."), "dim small");
  const NoiseModels& models = *flips.models;
  const std::string caption =
      fmt::format("Noise on the margins, {}", decision_in_words(flips.kind));
  Rows rows{caption,
            {{"noise", false},
             {"alpha [95%]"},
             {"lambda [95%]"},
             {"sigma [95%]"},
             {"AIC"},
             {"held-out error"},
             {"of chance alone"}},
            {}};
  rows.rows.push_back(
      model_row("additive", models.additive, flips.held_out_additive, json + "/models/additive"));
  rows.rows.push_back(model_row("multiplicative", models.multiplicative,
                                flips.held_out_multiplicative, json + "/models/multiplicative"));
  std::string note =
      "λ = 1: p " + inline_field(p_field(models.p_lambda, json + "/models/p_lambda")) + ", " +
      inline_field(count_field(models.rows, json + "/models/rows")) + " margins of " +
      inline_field(count_field(models.clusters, json + "/models/tasks")) + " tasks";
  if (flips.replay_noise)
    note += fmt::format(", replay noise of {} nats taken off",
                        decimal(std::sqrt(flips.replay_noise->variance), 3));
  if (!flips.no_held_out.empty()) note += "; nothing is held out: " + escaped(flips.no_held_out);
  return table(rows) + paragraph(note + ".", "dim small");
}

std::string flips_part(const FlipAnalysis& flips, const CandidateSpot& spot, bool charts) {
  const std::string kind(to_string(flips.kind));
  const std::string json = spot.json("/flips/" + kind);
  std::string out =
      paragraph(inline_field(count_field(flips.flips, json + "/flips")) + " of " +
                inline_field(count_field(flips.pairs, json + "/pairs")) + " decisions flip, " +
                estimate_field(flips.flip_share, json + "/flip_share").html +
                "; left out: " + inline_field(count_field(flips.other_text, json + "/other_text")) +
                " pairs wrote different text before the call, " +
                inline_field(count_field(flips.off_top, json + "/off_top")) +
                " whose baseline did not take its likeliest, " +
                inline_field(count_field(flips.undetermined, json + "/undetermined")) +
                " whose bound does not tell; of " +
                inline_field(count_field(flips.censored, json + "/censored")) +
                " the baseline's margin is a bound.");
  const bool drawn = charts && worth_a_chart(flips);
  const std::string bins = flip_bins_table(flips, json);
  out += drawn ? figure(flips_chart(flips, spot.id() + "-" + kind, "Decisions given to both arms"),
                        bins, true)
               : bins;
  if (flips.logistic) {
    const std::string slope = json + "/logistic/slope";
    out += paragraph(
        "Each nat moves the log odds of a flip by " +
            inline_field(decimal_field(flips.logistic->slope.value, 2, slope + "/value")) + " " +
            inline_field(decimal_interval_field(flips.logistic->slope.ci95, 2, slope + "/ci95")) +
            ", p " + inline_field(p_field(flips.logistic->p_slope, json + "/logistic/p_slope")) +
            ".",
        "dim small");
  } else if (flips.pairs > 0) {
    out += paragraph(escaped("No logistic line: " + flips.no_logistic + "."), "dim small");
  }
  out += models_part(flips, json);
  if (!outside_models_in_words(flips).empty())
    out += paragraph(escaped("Of these, " + outside_models_in_words(flips) + "."), "dim small");
  if (!calibration_in_words(flips).empty())
    out += paragraph(escaped("Held out: " + calibration_in_words(flips) + "."));
  return out;
}

std::string foretold_table(const CandidateMechanism& candidate, const CandidateSpot& spot) {
  const std::string nothing = not_foretold_in_words(candidate);
  if (!nothing.empty()) return paragraph(escaped(nothing + "."));
  Rows rows{"Hallucinated names, foretold from the baseline's margins on other tasks",
            {{"noise", false},
             {"decisions"},
             {"baseline"},
             {"foretold"},
             {"observed"},
             {"times as often, foretold [95%]"},
             {"observed [95%]"}},
            {}};
  const auto add = [&](const char* name, const std::optional<FailurePrediction>& p) {
    if (!p) return;
    const std::string json = spot.json(fmt::format("/predictions/{}", name));
    rows.rows.push_back(
        {words(name), count_field(p->decisions, json + "/decisions"),
         percent_field(p->baseline, json + "/baseline"),
         percent_field(p->predicted, json + "/predicted"),
         percent_field(p->observed, json + "/observed"),
         joined(ratio_field(p->predicted_amplification, json + "/predicted_amplification"), " ",
                ratio_interval_field(p->predicted_ci95, json + "/predicted_amplification_ci95")),
         joined(ratio_field(p->observed_amplification, json + "/observed_amplification"), " ",
                ratio_interval_field(p->observed_ci95, json + "/observed_amplification_ci95"))});
  };
  add("additive", candidate.additive);
  add("multiplicative", candidate.multiplicative);
  return table(rows);
}

std::string candidate_sections(const CandidateMechanism& candidate, const CandidateSpot& spot,
                               int level, bool charts) {
  std::string inner = outcomes(candidate, spot) + replay_channels_table(candidate, spot);
  for (const FlipAnalysis& flips : candidate.flips)
    if (flips.pairs > 0)
      inner += section(id_of(spot.id(), to_string(flips.kind)), level + 1,
                       fmt::format("Flips, {}", decision_in_words(flips.kind)),
                       flips_part(flips, spot, charts));
    else if (!left_out_in_words(flips).empty())
      inner += section(
          id_of(spot.id(), to_string(flips.kind)), level + 1,
          fmt::format("Flips, {}", decision_in_words(flips.kind)),
          paragraph("None to compare; left out: " + escaped(left_out_in_words(flips)) + ".", ""));
  inner += section(id_of(spot.id(), "foretold"), level + 1, "Failures foretold",
                   foretold_table(candidate, spot));
  return section(spot.id(), level, candidate.label + " beside the baseline", inner);
}

std::string screen_part(const MarginScreen& screen, const ReplaySpot& spot) {
  std::string out = "<dl>\n";
  out += entry("Baseline", estimate_field(screen.baseline, spot.json("/screen/baseline")).html +
                               " of its calls hallucinate a name");
  if (screen.noise && screen.predicted)
    out += entry(
        "Foretold",
        estimate_field(*screen.predicted, spot.json("/screen/predicted")).html +
            escaped(fmt::format(" at sigma {:g}, lambda {:g}, alpha {:g}, of ", screen.noise->sigma,
                                screen.noise->lambda, screen.noise->alpha)) +
            inline_field(count_field(screen.decisions, spot.json("/screen/decisions"))) +
            " decisions");
  if (screen.decisions > 0)
    out += entry(
        "Wrong names seen",
        inline_field(count_field(screen.with_wrong_name, spot.json("/screen/with_wrong_name"))) +
            " decisions show a name that is not offered among their alternatives");
  if (!screen.nothing_foretold.empty())
    out += entry("Foretold", escaped("nothing: " + screen.nothing_foretold));
  if (screen.risk)
    out += entry("Screen",
                 inline_field(word_field(to_string(*screen.risk), spot.json("/screen/risk"))));
  return out + "</dl>\n";
}

std::string replay_sections(const AnalysedReplay& replay, const ReplaySpot& spot, double narrow,
                            int level, bool charts) {
  const Mechanism& m = replay.mechanism;
  const std::string contexts = inline_field(count_field(m.contexts, spot.json("/contexts")));
  std::string distinct;
  if (m.distinct && *m.distinct != m.contexts)
    distinct = " (" + inline_field(count_field(*m.distinct, spot.json("/distinct_contexts"))) +
               " distinct prompts)";
  std::string head = paragraph(contexts + " decisions" + distinct + " of " +
                               inline_field(count_field(m.tasks, spot.json("/tasks"))) + " tasks" +
                               escaped(m.head.domain.empty() ? "" : ", " + m.head.domain) +
                               escaped(m.head.log.empty() ? "" : ", from " + m.head.log) + ".") +
                     paragraph(escaped("Replies " + asked_in_words(m.head) + "."));
  head += replay_arms_table(m, spot);
  std::string out = section(id_of(spot.id(), "arms"), level, "What was asked", head);
  out += section(id_of(spot.id(), "margins"), level, "Margins",
                 figure(margins_chart(m, spot.id()), distributions_table(m, narrow, spot), charts));
  for (std::size_t i = 0; i < m.candidates.size(); ++i)
    out += candidate_sections(m.candidates[i], {spot, i}, level, charts);
  out += section(id_of(spot.id(), "screen"), level, "Risk at full precision",
                 screen_part(m.screen, spot));
  return out + section(id_of(spot.id(), "evidence"), level, "Evidence quality",
                       evidence_list(m.warnings, {}));
}

std::string margins_method(const MarginsReport& report) {
  const auto note = [](std::string_view term, const std::string& meaning) {
    return entry(term, escaped(meaning));
  };
  std::string out = "<dl>\n";
  out +=
      note("Margin m",
           "log p of the baseline's choice minus log p of its closest competitor, in nats, where "
           "the two part. Competitors are the names offered and all names any arm hallucinates. "
           "One outside the alternatives gives a bound.");
  out += note("Flip", "The candidate's margin of the same choice is below 0: it prefers another.");
  out += note("Narrow", fmt::format("A margin below {:g} nats.", report.options.narrow));
  out += note("Whether to call, which tool",
              "Two decisions, kept apart: the first token of the reply, and the name of its first "
              "call.");
  out += note("Noise",
              "m' = α + λ m + e, e normal with standard deviation σ; λ = 1 is additive, λ < 1 "
              "shrinks margins. Maximum likelihood with bounds as bounds (Tobit), standard errors "
              "clustered by task. Without a second asking of the baseline its replay noise counts "
              "as 0.");
  out +=
      note("Held-out error",
           "Models of one half of the tasks foretell the flips of the other: the mean distance of "
           "foretold and observed shares, beside what chance alone would give.");
  out += note("Foretold",
              "From the baseline's margins alone, with parameters of the other half of the tasks.");
  out += note("Unit",
              "The task. Contexts of one task are not independent, so intervals and tests resample "
              "or aggregate by task; McNemar's takes contexts as independent, of those with one "
              "prompt the first. " +
                  std::string(kHolmInWords) + ".");
  out += note("Screen",
              fmt::format("From the rate's 95% interval: low under {}, high over {}, else watch.",
                          percent(report.options.screen_low), percent(report.options.screen_high)));
  return out + "</dl>\n";
}

std::string margins_contents(const MarginsReport& report) {
  std::string out = "<nav aria-label=\"Contents\"><ul>";
  for (std::size_t i = 0; i < report.replays.size(); ++i) {
    const ReplaySpot spot{i};
    const std::vector<CandidateMechanism>& candidates = report.replays[i].mechanism.candidates;
    out += fmt::format(
        "<li><a href=\"#{}-margins\">{}</a></li>", spot.id(),
        report.replays.size() > 1 ? "Margins, " + escaped(report.replays[i].source) : "Margins");
    for (std::size_t c = 0; c < candidates.size(); ++c)
      out += fmt::format("<li><a href=\"#{}\">{}</a></li>", CandidateSpot{spot, c}.id(),
                         escaped(candidates[c].label));
  }
  return out + "<li><a href=\"#method\">Method</a></li></ul></nav>\n";
}

}  // namespace
}  // namespace unmask::html

namespace unmask {

std::string to_html(const MarginsReport& report, const ChartLibrary& charts) {
  const bool drawn = !charts.script.empty();
  const bool many = report.replays.size() > 1;
  const std::string title = many ? counted(static_cast<long>(report.replays.size()), "replay")
                            : report.replays.empty() ? "no replay"
                                                     : report.replays.front().source;
  html::Page page;
  page.title = "Margins of decisions: " + title + ", unmask";
  page.headings = html::paragraph("unmask margins", "kicker") +
                  "<h1>Margins of decisions: " + html::escaped(title) + "</h1>\n" +
                  html::margins_contents(report);
  for (std::size_t i = 0; i < report.replays.size(); ++i) {
    const std::string body =
        html::replay_sections(report.replays[i], {i}, report.options.narrow, many ? 3 : 2, drawn);
    page.body += many ? html::section(html::ReplaySpot{i}.id(), 2,
                                      "Replay " + report.replays[i].source, body)
                      : body;
  }
  page.body += html::section("reading", 2, "What was read",
                             html::evidence_list(report.warnings, by_reason(report.dropped)));
  page.body += html::section("method", 2, "Method", html::margins_method(report));
  page.footer = html::provenance(report.provenance);
  return html::document(page, charts);
}

}  // namespace unmask
