// Where decisions flip: the mechanism of a cell as a section of the page.
#include <fmt/format.h>

#include "report/html_cell.h"
#include "report/html_fields.h"
#include "report/html_mechanism.h"
#include "report/html_spec.h"
#include "report/margins_report.h"
#include "report/mechanism_words.h"
#include "report/numbers.h"

namespace unmask::html {
namespace {

std::string flips_json(const CellSpot& spot, DecisionKind kind) {
  return spot.json(fmt::format("/mechanism/candidates/0/flips/{}", to_string(kind)));
}

Field narrow_field(const Mechanism& mechanism, std::size_t arm, DecisionKind kind,
                   const CellSpot& spot) {
  const std::vector<MarginDistribution>& all = mechanism.arms[arm].margins;
  const MarginDistribution* const margins = own_margins(mechanism.arms[arm], kind);
  if (margins == nullptr) return words(kAbsent);
  const std::string json = spot.json(
      fmt::format("/mechanism/arms/{}/margins/{}/narrow_share", arm, margins - all.data()));
  return joined(percent_field(margins->narrow_share.value, json + "/value"), " ",
                percent_interval_field(margins->narrow_share.ci95, json + "/ci95"));
}

std::string decisions_table(const Mechanism& mechanism, const CellSpot& spot) {
  Rows rows{"Decisions in the same context in both logs",
            {{"decision", false},
             {"pairs"},
             {"other text before the call"},
             {"not its likeliest"},
             {"flips"},
             {"share [95%]"},
             {"narrow, baseline"},
             {"narrow, candidate"}},
            {}};
  for (const FlipAnalysis& flips : compared(mechanism).flips) {
    const std::string json = flips_json(spot, flips.kind);
    rows.rows.push_back(
        {words(decision_in_words(flips.kind)), count_field(flips.pairs, json + "/pairs"),
         count_field(flips.other_text, json + "/other_text"),
         count_field(flips.off_top, json + "/off_top"), count_field(flips.flips, json + "/flips"),
         joined(percent_field(flips.flip_share.value, json + "/flip_share/value"), " ",
                percent_interval_field(flips.flip_share.ci95, json + "/flip_share/ci95")),
         narrow_field(mechanism, 0, flips.kind, spot),
         narrow_field(mechanism, 1, flips.kind, spot)});
  }
  return table(rows);
}

std::string bin_values(const FlipAnalysis& flips) {
  JsonWriter json;
  json.begin_array();
  for (const FlipBin& bin : flips.bins) {
    if (bin.decisions == 0) continue;
    json.begin_object()
        .field("margin", bin_in_words(bin))
        .field("decisions", bin.decisions)
        .field("flips", bin.flips)
        .field("share", bin.flip_share());
    write_ends(json, bin.ci95);
    json.end_object();
  }
  return json.end_array().take();
}

constexpr std::string_view kFlipsSpec =
    R"json({"data":{"name":"flips","values":@values@},"width":520,"height":200,"layer":[
{"mark":{"type":"rule","strokeWidth":2,"color":"var(--candidate)"},"encoding":{"y":{"field":"lo","type":"quantitative"},"y2":{"field":"hi"}}},
{"mark":{"type":"point","filled":true,"size":90,"shape":"diamond","color":"var(--candidate)","opacity":1},"encoding":{"y":{"field":"share","type":"quantitative","title":"share that flips","axis":{"format":"~%"}},
"tooltip":[{"field":"margin","title":"margin, nats"},{"field":"decisions","title":"decisions","format":",d"},{"field":"flips","title":"flips","format":",d"},{"field":"share","title":"share","format":".1%"},{"field":"lo","title":"95% from","format":".1%"},{"field":"hi","title":"to","format":".1%"}]}}],
"encoding":{"x":{"field":"margin","type":"ordinal","sort":null,"title":"baseline's margin, nats","axis":{"labelAngle":0}}}})json";

}  // namespace

std::string flip_bins_table(const FlipAnalysis& flips, std::string_view json) {
  const std::string caption =
      fmt::format("Flips by the baseline's margin, {}", decision_in_words(flips.kind));
  Rows rows{caption, {{"margin, nats", false}, {"decisions"}, {"flips"}, {"share [95%]"}}, {}};
  for (std::size_t i = 0; i < flips.bins.size(); ++i) {
    const FlipBin& bin = flips.bins[i];
    if (bin.decisions == 0) continue;
    const std::string bin_json = fmt::format("{}/bins/{}", json, i);
    rows.rows.push_back({words(bin_in_words(bin)),
                         count_field(bin.decisions, bin_json + "/decisions"),
                         count_field(bin.flips, bin_json + "/flips"),
                         joined(percent_field(bin.flip_share(), bin_json + "/share"), " ",
                                percent_interval_field(bin.ci95, bin_json + "/ci95"))});
  }
  return table(rows);
}

Chart flips_chart(const FlipAnalysis& flips, std::string_view place, std::string_view of) {
  Chart chart{id_of(place, "flips-chart"), "", "", ""};
  const std::string what(decision_in_words(flips.kind));
  chart.description = escaped(fmt::format(
      "Share of decisions that flip, by how narrow the baseline's choice was, with 95% intervals; "
      "{}: {}.",
      what, flips_in_words(flips)));
  chart.caption = escaped(fmt::format(
      "{}, {}: the share in which the candidate prefers another choice, by the baseline's margin. "
      "Where noise on the margins is the cause, the narrow ones flip.",
      of, what));
  chart.spec = filled(kFlipsSpec, {{"@values@", bin_values(flips)}});
  return chart;
}

std::string mechanism_part(const std::optional<Mechanism>& mechanism, const CellSpot& spot,
                           bool charts) {
  if (!mechanism) return "";
  const CandidateMechanism& candidate = compared(*mechanism);
  std::string out = paragraph(escaped("Of both logs: " + pairs_in_words(*mechanism) + "."));
  out += decisions_table(*mechanism, spot);
  for (const FlipAnalysis& flips : candidate.flips)
    if (!judged_in_words(flips).empty())
      out += paragraph(escaped(fmt::format("Noise, {}: {}.", decision_in_words(flips.kind),
                                           judged_in_words(flips))),
                       "dim small");
  const std::string foretold = foretold_in_words(*mechanism);
  if (!foretold.empty())
    out += paragraph(escaped("Foretold, which tool: " + foretold + "."), "dim small");
  const FlipAnalysis* const drawn = flips_to_draw(candidate);
  if (drawn != nullptr)
    out += figure(flips_chart(*drawn, spot.id(), "Decisions in the same context in both logs"),
                  flip_bins_table(*drawn, flips_json(spot, drawn->kind)), charts);
  return out;
}

}  // namespace unmask::html
