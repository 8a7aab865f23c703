// The charts of one arm by itself.
#include <fmt/format.h>

#include <algorithm>

#include <set>

#include "report/html_charts.h"
#include "report/html_spec.h"
#include "report/html_text.h"
#include "report/numbers.h"
#include "report/render.h"

namespace unmask::html {
namespace {

std::string arm_curve_values(const std::vector<CurvePoint>& curve) {
  JsonWriter json;
  json.begin_array();
  for (const CurvePoint& point : curve) {
    if (!point.success) continue;
    json.begin_object().field("k", point.k).field("success", point.success);
    write_ends(json, point.ci95);
    json.end_object();
  }
  return json.end_array().take();
}

constexpr std::string_view kArmCurveBand =
    R"json({"mark":{"type":"area","color":"var(--baseline)","opacity":0.2},"encoding":{"y":{"field":"lo","type":"quantitative"},"y2":{"field":"hi"}}},
)json";

constexpr std::string_view kArmCurveSpec =
    R"json({"data":{"name":"curve","values":@values@},"width":660,"height":220,"layer":[
@band@{"mark":{"type":"line","color":"var(--baseline)","strokeWidth":2,"point":{"filled":true,"size":55,"color":"var(--baseline)"}},"encoding":{"y":{"field":"success","type":"quantitative"},
"tooltip":[{"field":"k","title":"K"},{"field":"success","title":"success","format":".1%"},{"field":"lo","title":"95% from","format":".1%"},{"field":"hi","title":"to","format":".1%"}]}}@tightrule@],
"encoding":{"x":{"field":"k","type":"quantitative","title":"K, failed calls allowed","axis":{"format":"d","tickMinStep":1},"scale":{"nice":false}},
"y":{"type":"quantitative","title":"success","axis":{"format":".0%"},"scale":{"zero":false}}}})json";

std::string arm_rate_values(const ArmSummary& arm) {
  JsonWriter json;
  json.begin_array();
  for (const auto& [channel, summary] : arm.channels) {
    if (!summary.per_call.value) continue;
    json.begin_object()
        .field("channel", to_string(channel))
        .field("rate", summary.per_call.value)
        .field("screen", summary.screen ? to_string(*summary.screen) : std::string_view("watch"));
    write_ends(json, summary.per_call.ci95);
    json.end_object();
  }
  return json.end_array().take();
}

constexpr std::string_view kArmRateIntervals =
    R"json({"mark":{"type":"rule","strokeWidth":2},"encoding":{"y":@y@,"x":{"field":"lo","type":"quantitative"},"x2":{"field":"hi"},"color":{"field":"screen","type":"nominal","scale":@scale@,"legend":{"title":"screen","orient":"top"}}}},
)json";

constexpr std::string_view kArmRatesSpec =
    R"json({"width":520,"height":{"step":34},"layer":[
{"data":{"values":[{"at":@low@,"label":"low below"},{"at":@high@,"label":"high above"}]},"mark":{"type":"rule","color":"var(--dim)","strokeDash":[4,3]},"encoding":{"x":{"field":"at","type":"quantitative"}}},
{"data":{"name":"rates","values":@values@},"layer":[
@intervals@{"mark":{"type":"point","filled":true,"size":90,"opacity":1},"encoding":{"y":@y@,"x":{"field":"rate","type":"quantitative","title":"failures per call","axis":{"format":"~%"}},
"color":{"field":"screen","type":"nominal","scale":@scale@,"legend":{"title":"screen","orient":"top"}},
"shape":{"field":"screen","type":"nominal","scale":{"domain":["low","watch","high"],"range":["circle","diamond","triangle-up"]},"legend":{"title":"screen","orient":"top"}},
"tooltip":[{"field":"channel"},{"field":"rate","title":"per call","format":".2%"},{"field":"lo","title":"95% from","format":".2%"},{"field":"hi","title":"to","format":".2%"},{"field":"screen"}]}}]}]})json";

std::string arm_name_values(const std::vector<NameCount>& names) {
  JsonWriter json;
  std::set<std::string> used;
  json.begin_array();
  for (std::size_t i = 0; i < names.size() && i < kNamesDrawn; ++i)
    json.begin_object()
        .field("label", axis_label(shown_name(names[i].name), names[i].kind, used))
        .field("name", names[i].name)
        .field("kind", to_string(names[i].kind))
        .field("count", names[i].count)
        .end_object();
  return json.end_array().take();
}

constexpr std::string_view kArmNamesSpec =
    R"json({"data":{"name":"names","values":@values@},"width":420,"height":{"step":22},
"mark":{"type":"bar","color":"var(--baseline)"},"encoding":{
"y":{"field":"label","type":"nominal","sort":null,"title":null,"axis":{"labelLimit":330,"ticks":false,"labelFont":"ui-monospace, 'DejaVu Sans Mono', monospace","labelFontSize":11}},
"x":{"field":"count","type":"quantitative","title":"calls","axis":{"tickMinStep":1,"format":",d"}},
"tooltip":[{"field":"label","title":"name"},{"field":"count","title":"calls","format":",d"}]}})json";

std::string arm_position_values(const ArmSummary& arm) {
  JsonWriter json;
  json.begin_array();
  for (const PositionSummary& position : arm.positions) {
    if (!position.failed_per_call) continue;
    const auto add = [&](std::string_view series, std::optional<double> rate) {
      json.begin_object()
          .field("position", position_bin_label(position.bin))
          .field("series", series)
          .field("rate", rate)
          .end_object();
    };
    add("all channels", position.failed_per_call);
    add("tool_name", position.tool_name_per_call);
  }
  return json.end_array().take();
}

constexpr std::string_view kArmPositionSpec =
    R"json({"data":{"name":"positions","values":@values@},"width":420,"height":180,"layer":[
{"mark":{"type":"line","strokeWidth":2},"encoding":{"strokeDash":{"field":"series","type":"nominal","scale":{"domain":["all channels","tool_name"],"range":[[1,0],[6,3]]},"legend":{"title":null,"orient":"top"}}}},
{"mark":{"type":"point","filled":true,"size":70,"opacity":1},"encoding":{"shape":{"field":"series","type":"nominal","scale":{"domain":["all channels","tool_name"],"range":["circle","diamond"]},"legend":{"title":null,"orient":"top"}},
"tooltip":[{"field":"position","title":"call of the episode"},{"field":"series","title":"failures"},{"field":"rate","title":"rate","format":".1%"}]}}],
"encoding":{"x":{"field":"position","type":"ordinal","sort":null,"title":"call of the episode","axis":{"labelAngle":0}},
"y":{"field":"rate","type":"quantitative","title":"failures per call","axis":{"format":"~%"}},
"color":{"field":"series","type":"nominal","scale":{"domain":["all channels","tool_name"],"range":["var(--ink)","var(--candidate)"]},"legend":{"title":null,"orient":"top"}}}})json";

constexpr std::string_view kArm = "arm";

}  // namespace

Chart arm_curve_chart(const ArmSummary& arm, int k_tight) {
  Chart chart{id_of(kArm, "curve-chart"), "", "", ""};
  chart.description =
      escaped("Success with at most K failed calls, for each K, with 95% intervals.");
  chart.caption =
      escaped("Share of episodes that succeed with at most K failed calls; 95% interval shaded.");
  const std::string values = arm_curve_values(arm.budget.curve);
  const bool band = std::any_of(arm.budget.curve.begin(), arm.budget.curve.end(),
                                [](const CurvePoint& point) { return point.ci95.has_value(); });
  if (values != "[]")
    chart.spec =
        filled(kArmCurveSpec, {{"@band@", band ? std::string(kArmCurveBand) : ""},
                               {"@tightrule@", tight_rule(is_identified(arm.budget, k_tight))},
                               {"@tight@", std::to_string(k_tight)},
                               {"@values@", values}});
  return chart;
}

Chart arm_rates_chart(const ArmSummary& arm, const CompareOptions& options) {
  Chart chart{id_of(kArm, "rates-chart"), "", "", ""};
  chart.description = escaped("Failures per call of each channel with 95% intervals.");
  chart.caption =
      escaped(fmt::format("Failures per call with 95% intervals. The dashed lines are the screen's "
                          "thresholds: low where "
                          "the interval ends under {}, high where it begins over {}.",
                          percent(options.screen_low), percent(options.screen_high)));
  const std::string values = arm_rate_values(arm);
  const bool intervals =
      std::any_of(arm.channels.begin(), arm.channels.end(),
                  [](const auto& channel) { return channel.second.per_call.ci95.has_value(); });
  if (values != "[]")
    chart.spec = filled(
        kArmRatesSpec,
        {{"@intervals@", intervals ? std::string(kArmRateIntervals) : ""},
         {"@y@", R"json({"field":"channel","type":"nominal","title":null,"sort":null})json"},
         {"@scale@",
          R"json({"domain":["low","watch","high"],"range":["var(--good)","var(--warn)","var(--bad)"]})json"},
         {"@low@", json_number(options.screen_low)},
         {"@high@", json_number(options.screen_high)},
         {"@values@", values}});
  return chart;
}

Chart arm_names_chart(const ArmSummary& arm) {
  Chart chart{id_of(kArm, "names-chart"), "", "", ""};
  chart.description =
      escaped(fmt::format("How often each hallucinated tool name was called; {} in all.",
                          counted(static_cast<long>(arm.names.size()), "name")));
  chart.caption = arm.names.size() > kNamesDrawn
                      ? escaped(fmt::format("The {} most frequent of {} names, with their kind.",
                                            kNamesDrawn, arm.names.size()))
                      : escaped("Calls of each name, with its kind.");
  if (!arm.names.empty())
    chart.spec = filled(kArmNamesSpec, {{"@values@", arm_name_values(arm.names)}});
  return chart;
}

Chart arm_position_chart(const ArmSummary& arm) {
  Chart chart{id_of(kArm, "position-chart"), "", "", ""};
  chart.description = escaped("Rate of failed calls along the episode.");
  chart.caption = escaped("Failures per call by the index of the call in its episode.");
  const std::string values = arm_position_values(arm);
  if (arm.failed_agent > 0 && values != "[]")
    chart.spec = filled(kArmPositionSpec, {{"@values@", values}});
  return chart;
}

}  // namespace unmask::html
