#include "report/html_margins_charts.h"

#include <fmt/format.h>

#include "report/html_spec.h"
#include "report/html_text.h"
#include "report/margins_report.h"
#include "report/mechanism_words.h"
#include "report/numbers.h"

namespace unmask::html {
namespace {

// An arm's margins of all its replies; arms that repeat another are in the table only.
const MarginDistribution* drawn_margins(const ReplayedArm& arm, DecisionKind kind) {
  const MarginDistribution* const margins = own_margins(arm, kind);
  const bool seen = margins != nullptr && arm.arm.repeats.empty() && margins->quantiles[2];
  return seen ? margins : nullptr;
}

std::string margin_values(const Mechanism& mechanism) {
  JsonWriter json;
  json.begin_array();
  std::set<std::string> used;
  for (const ReplayedArm& arm : mechanism.arms) {
    const std::string label = arm_axis_label(arm.arm.label, used);
    for (const DecisionKind kind : kDecisionKinds) {
      const MarginDistribution* const d = drawn_margins(arm, kind);
      if (d == nullptr) continue;
      json.begin_object()
          .field("row", fmt::format("{}: {}", label, decision_in_words(kind)))
          .field("decisions", d->decisions)
          .field("p10", d->quantiles[0])
          .field("p25", d->quantiles[1])
          .field("p50", d->quantiles[2])
          .field("p75", d->quantiles[3])
          .field("p90", d->quantiles[4])
          .end_object();
    }
  }
  return json.end_array().take();
}

constexpr std::string_view kMarginsSpec =
    R"json({"data":{"name":"margins","values":@values@},"width":460,"height":{"step":26},
"encoding":{"y":{"field":"row","type":"nominal","title":null,"sort":null,"axis":{"labelLimit":320}}},"layer":[
{"mark":{"type":"rule","color":"var(--candidate)"},"encoding":{"x":{"field":"p10","type":"quantitative","title":"margin, nats"},"x2":{"field":"p90"}}},
{"mark":{"type":"rule","strokeWidth":5,"color":"var(--candidate)"},"encoding":{"x":{"field":"p25","type":"quantitative"},"x2":{"field":"p75"}}},
{"mark":{"type":"point","filled":true,"size":90,"color":"var(--baseline)","opacity":1},"encoding":{"x":{"field":"p50","type":"quantitative"},
"tooltip":[{"field":"row","title":"arm"},{"field":"decisions","title":"decisions","format":",d"},{"field":"p10","title":"10%","format":".2f"},{"field":"p50","title":"median","format":".2f"},{"field":"p90","title":"90%","format":".2f"}]}}]})json";

}  // namespace

Chart margins_chart(const Mechanism& mechanism, std::string_view place) {
  Chart chart{id_of(place, "margins-chart"), "", "", ""};
  std::string medians;
  for (const ReplayedArm& arm : mechanism.arms)
    for (const DecisionKind kind : kDecisionKinds)
      if (const MarginDistribution* const d = drawn_margins(arm, kind))
        medians += fmt::format("{}{}, {}: {}", medians.empty() ? "" : "; ", arm.arm.label,
                               decision_in_words(kind), decimal(d->quantiles[2], 2));
  if (medians.empty()) return chart;
  chart.description =
      escaped("Margins of each arm's own choices in nats, medians: " + medians + ".");
  chart.caption = escaped(
      "How much likelier each arm's choice was than its closest competitor: the middle half of the "
      "decisions thick, 10 to 90% thin, the median as a point. Ends that lie beyond the "
      "alternatives recorded are not drawn.");
  chart.spec = filled(kMarginsSpec, {{"@values@", margin_values(mechanism)}});
  return chart;
}

}  // namespace unmask::html
