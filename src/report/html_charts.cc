// Every chart is a template of Vega-Lite with its data put in. Both arms differ in colour, in line
// and in mark, so that no chart depends on colour alone; colours are the page's own variables,
// which follow light, dark and print.
#include "report/html_charts.h"
#include "report/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "report/html_spec.h"
#include "report/html_text.h"
#include "report/numbers.h"
#include "report/sections.h"
#include "report/sentences.h"

namespace unmask::html {
namespace {

std::string curve_values(const std::vector<CurvePoint>& baseline,
                         const std::vector<CurvePoint>& candidate) {
  JsonWriter json;
  json.begin_array();
  const auto add = [&](std::string_view arm, const std::vector<CurvePoint>& curve) {
    for (const CurvePoint& point : curve) {
      if (!point.success) continue;
      json.begin_object().field("arm", arm).field("k", point.k).field("success", point.success);
      write_ends(json, point.ci95);
      json.end_object();
    }
  };
  add("baseline", baseline);
  add("candidate", candidate);
  return json.end_array().take();
}

std::string gap_values(const std::vector<GapPoint>& gap) {
  JsonWriter json;
  json.begin_array();
  for (const GapPoint& point : gap) {
    json.begin_object().field("k", point.k).field("gap", point.gap);
    write_ends(json, point.band95);
    json.end_object();
  }
  return json.end_array().take();
}

constexpr std::string_view kSuccess =
    R"json({"field":"success","type":"quantitative","title":"success","axis":{"format":".0%"},"scale":{"zero":false}})json";

// A proportion on an axis as points with their sign.
constexpr std::string_view kPointsLabel =
    R"json("labelExpr":"datum.value == 0 ? '0' : format(100 * datum.value, '+~r')")json";

constexpr std::string_view kBudgetSpec = R"json({"data":{"name":"curves","values":@curves@},
"spacing":18,"vconcat":[
{"width":660,"height":230,"layer":[
{"mark":{"type":"line","strokeWidth":2},"encoding":{"strokeDash":@dash@,"y":@success@,"color":@color@}},
{"mark":{"type":"point","filled":true,"size":55,"opacity":1},"encoding":{"shape":@shape@,"y":@success@,"color":@color@,
"tooltip":[{"field":"arm","title":"arm"},{"field":"k","title":"K"},{"field":"success","title":"success","format":".1%"},{"field":"lo","title":"95% from","format":".1%"},{"field":"hi","title":"to","format":".1%"}]}}@tightrule@],
"encoding":{"x":{"field":"k","type":"quantitative","title":null,"axis":{"format":"d","tickMinStep":1},"scale":{"nice":false}}}},
{"data":{"name":"gap","values":@gap@},"width":660,"height":110,"layer":[
{"mark":{"type":"area","color":"var(--gap)","opacity":0.28},"encoding":{"y":{"field":"lo","type":"quantitative"},"y2":{"field":"hi"}}},
{"mark":{"type":"rule","color":"var(--dim)"},"encoding":{"y":{"datum":0},"x":null}},
{"mark":{"type":"line","color":"var(--gap)","strokeWidth":2,"point":{"filled":true,"size":40,"color":"var(--gap)"}},"encoding":{"y":{"field":"gap","type":"quantitative"},
"tooltip":[{"field":"k","title":"K"},{"field":"gap","title":"gap","format":"+.1%"},{"field":"lo","title":"band from","format":"+.1%"},{"field":"hi","title":"to","format":"+.1%"}]}},
{"data":{"values":[{"k":@tight@}]},"mark":{"type":"rule","color":"var(--dim)","strokeDash":[3,3]},"encoding":{"x":{"field":"k","type":"quantitative"}}}],
"encoding":{"x":{"field":"k","type":"quantitative","title":"K, failed calls allowed","axis":{"format":"d","tickMinStep":1},"scale":{"nice":false}},
"y":{"type":"quantitative","title":"gap, points","axis":{@points@,"tickCount":5}}}}]})json";

std::string budget_spec(const CellComparison& cell, BudgetRule rule) {
  const bool live = rule == BudgetRule::Live;
  const BudgetSummary& b = cell.baseline.budget;
  const BudgetSummary& c = cell.candidate.budget;
  return filled(kBudgetSpec, {{"@tightrule@", tight_rule(knows_tight(cell))},
                              {"@dash@", std::string(kArmDash)},
                              {"@shape@", std::string(kArmShape)},
                              {"@color@", std::string(kArmColor)},
                              {"@success@", std::string(kSuccess)},
                              {"@points@", std::string(kPointsLabel)},
                              {"@tight@", std::to_string(cell.budget.k_tight)},
                              {"@gap@", gap_values(cell.budget.gap)},
                              {"@curves@", live ? curve_values(b.curve_live, c.curve_live)
                                                : curve_values(b.curve, c.curve)}});
}

constexpr std::string_view kOutcomeSpec = R"json({"width":660,"height":64,"layer":[
{"data":{"values":[{"margin":@margin@,"other":-@margin@}]},"mark":{"type":"rect","color":"var(--good)","opacity":0.16},"encoding":{"x":{"field":"other"},"x2":{"field":"margin"}}},
{"data":{"values":[{"at":-@margin@},{"at":@margin@}]},"mark":{"type":"rule","color":"var(--good)","strokeDash":[4,3]},"encoding":{"x":{"field":"at"}}},
{"data":{"values":[{"at":0}]},"mark":{"type":"rule","color":"var(--dim)"},"encoding":{"x":{"field":"at"}}},
{"data":{"name":"outcome","values":@outcome@},"layer":[
{"mark":{"type":"rule","strokeWidth":1.5,"color":"var(--ink)"},"encoding":{"x":{"field":"lo"},"x2":{"field":"hi"},"y":{"value":32}}},
{"mark":{"type":"rule","strokeWidth":6,"color":"var(--candidate)"},"encoding":{"x":{"field":"lo90"},"x2":{"field":"hi90"},"y":{"value":32}}},
{"mark":{"type":"point","filled":true,"size":110,"color":"var(--ink)","shape":"diamond","opacity":1},"encoding":{"x":{"field":"delta"},"y":{"value":32},
"tooltip":[{"field":"delta","title":"change","format":"+.1%"},{"field":"lo","title":"95% from","format":"+.1%"},{"field":"hi","title":"to","format":"+.1%"},{"field":"lo90","title":"90% from","format":"+.1%"},{"field":"hi90","title":"to","format":"+.1%"}]}}]}],
"encoding":{"x":{"type":"quantitative","title":"change in success, points (candidate minus baseline)","axis":{@points@},"scale":{"padding":14,"nice":false}}}})json";

std::string outcome_values(const Outcome& outcome) {
  JsonWriter json;
  json.begin_array().begin_object().field("delta", outcome.delta->mean);
  write_ends(json, outcome.delta->ci95);
  json.field("lo90", outcome.tost->ci90.lo).field("hi90", outcome.tost->ci90.hi);
  return json.end_object().end_array().take();
}

// What a logarithmic axis can show of a ratio; the rest is drawn to its edge.
constexpr double kLeastRatio = 1.0 / 64;
constexpr double kMostRatio = 64;

struct RatioAxis {
  double low = 0.5;
  double high = 2;

  void hold(double ratio) {
    if (!std::isfinite(ratio) || ratio <= 0) return;
    low = std::max(kLeastRatio, std::min(low, ratio * 0.95));
    high = std::min(kMostRatio, std::max(high, ratio * 1.05));
  }

  // Few enough to stand beside each other: every doubling, and halves of one where the axis is
  // short.
  std::string ticks() const {
    JsonWriter json;
    json.begin_array();
    const bool is_short = high / low < 12;
    for (const double tick : {1.0 / 64, 1.0 / 32, 1.0 / 16, 0.125, 0.25, 0.5, 0.7, 1.0, 1.5, 2.0,
                              3.0, 4.0, 6.0, 8.0, 16.0, 32.0, 64.0}) {
      const bool doubling = std::log2(tick) == std::floor(std::log2(tick));
      if (tick >= low && tick <= high && (doubling || is_short)) json.value(tick);
    }
    return json.end_array().take();
  }
};

struct Forest {
  std::string values;
  RatioAxis axis;
  bool any = false;
  bool any_ratio = false;
};

Forest forest_of(const std::map<Channel, ChannelComparison>& channels) {
  Forest forest;
  JsonWriter json;
  json.begin_array();
  for (const auto& [channel, c] : channels) {
    if (!c.difference || c.baseline_count + c.candidate_count == 0) continue;
    forest.any = true;
    json.begin_object()
        .field("channel", to_string(channel))
        .field("finding", c.amplified ? "amplified" : "not amplified")
        .field("difference", c.difference)
        .field("ratio", c.amplification);
    write_ends(json, c.difference_ci95);
    const std::optional<Interval>& ratio = c.amplification_ci95;
    json.field("ratio_lo", ratio ? std::optional<double>(ratio->lo) : std::nullopt)
        .field("ratio_hi", ratio ? std::optional<double>(ratio->hi) : std::nullopt);
    if (c.amplification) {
      forest.any_ratio = true;
      forest.axis.hold(*c.amplification);
      json.field("lo_drawn", ratio ? std::max(ratio->lo, kLeastRatio / 2) : *c.amplification);
      json.field("hi_drawn", ratio && std::isfinite(ratio->hi) ? ratio->hi : kMostRatio * 2);
      if (ratio) forest.axis.hold(ratio->lo);
      if (ratio) forest.axis.hold(ratio->hi);
    }
    json.end_object();
  }
  forest.values = json.end_array().take();
  return forest;
}

constexpr std::string_view kFindingColor =
    R"json({"field":"finding","type":"nominal","scale":{"domain":["amplified","not amplified"],"range":["var(--bad)","var(--dim)"]},"legend":{"title":null,"orient":"top"}})json";
constexpr std::string_view kFindingShape =
    R"json({"field":"finding","type":"nominal","scale":{"domain":["amplified","not amplified"],"range":["triangle-up","circle"]},"legend":{"title":null,"orient":"top"}})json";

constexpr std::string_view kRatioPanel = R"json({"width":280,"height":{"step":34},"layer":[
{"mark":{"type":"rule","color":"var(--dim)"},"encoding":{"x":{"datum":1}}},
{"transform":[{"filter":"isValid(datum.ratio)"}],"mark":{"type":"rule","strokeWidth":2,"clip":true},"encoding":{"y":@y@,"x":{"field":"lo_drawn","type":"quantitative"},"x2":{"field":"hi_drawn"},"color":@fcolor@}},
{"transform":[{"filter":"isValid(datum.ratio)"}],"mark":{"type":"point","filled":true,"size":90,"opacity":1},"encoding":{"y":@y@,"x":{"field":"ratio","type":"quantitative","title":"times as often (log)","scale":{"type":"log","domain":[@low@,@high@],"clamp":true,"nice":false},"axis":{"values":@ticks@,"labelExpr":"datum.value + '×'"}},"color":@fcolor@,"shape":@fshape@,
"tooltip":[{"field":"channel"},{"field":"ratio","title":"times as often","format":".2f"},{"field":"ratio_lo","title":"95% from","format":".2f"},{"field":"ratio_hi","title":"to","format":".2f"}]}}]},)json";

constexpr std::string_view kForestSpec =
    R"json({"data":{"name":"forest","values":@values@},"spacing":26,"hconcat":[@ratios@
{"width":280,"height":{"step":34},"layer":[
{"mark":{"type":"rule","color":"var(--dim)"},"encoding":{"x":{"datum":0}}},
{"mark":{"type":"rule","strokeWidth":2},"encoding":{"y":@y2@,"x":{"field":"lo","type":"quantitative"},"x2":{"field":"hi"},"color":@fcolor@}},
{"mark":{"type":"point","filled":true,"size":90,"opacity":1},"encoding":{"y":@y2@,"x":{"field":"difference","type":"quantitative","title":"difference, points of all calls","axis":{@points@,"tickCount":6}},"color":@fcolor@,"shape":@fshape@,
"tooltip":[{"field":"channel"},{"field":"difference","title":"difference","format":"+.1%"},{"field":"lo","title":"95% from","format":"+.1%"},{"field":"hi","title":"to","format":"+.1%"}]}}]}]})json";

std::string forest_spec(const Forest& forest) {
  const std::string y =
      R"json({"field":"channel","type":"nominal","title":null,"sort":null,"axis":{"labelFontSize":12}})json";
  const std::string no_labels =
      R"json({"field":"channel","type":"nominal","title":null,"sort":null,"axis":{"labels":false}})json";
  return filled(kForestSpec, {{"@ratios@", forest.any_ratio ? std::string(kRatioPanel) : ""},
                              {"@y2@", forest.any_ratio ? no_labels : y},
                              {"@y@", y},
                              {"@fcolor@", std::string(kFindingColor)},
                              {"@fshape@", std::string(kFindingShape)},
                              {"@points@", std::string(kPointsLabel)},
                              {"@ticks@", forest.axis.ticks()},
                              {"@low@", json_number(forest.axis.low)},
                              {"@high@", json_number(forest.axis.high)},
                              {"@values@", forest.values}});
}

std::string name_values(const std::vector<NamesComparison::Pair>& counts) {
  JsonWriter json;
  std::set<std::string> used;
  json.begin_array();
  for (std::size_t i = 0; i < counts.size() && i < kNamesDrawn; ++i) {
    const std::string label = axis_label(shown_name(counts[i].name), counts[i].kind, used);
    for (const bool baseline : {true, false})
      json.begin_object()
          .field("label", label)
          .field("name", counts[i].name)
          .field("kind", to_string(counts[i].kind))
          .field("arm", baseline ? "baseline" : "candidate")
          .field("count", baseline ? counts[i].baseline : counts[i].candidate)
          .end_object();
  }
  return json.end_array().take();
}

constexpr std::string_view kNamesSpec =
    R"json({"data":{"name":"names","values":@values@},"width":420,"height":{"step":14},
"mark":{"type":"bar","height":{"band":0.86}},"encoding":{
"y":{"field":"label","type":"nominal","sort":null,"title":null,"axis":{"labelLimit":330,"ticks":false,"labelFont":"ui-monospace, 'DejaVu Sans Mono', monospace","labelFontSize":11},"scale":{"paddingInner":0.25}},
"yOffset":{"field":"arm","type":"nominal","scale":{"domain":["baseline","candidate"]}},
"x":{"field":"count","type":"quantitative","title":"calls","axis":{"tickMinStep":1,"format":",d"}},
"color":@color@,
"tooltip":[{"field":"label","title":"name"},{"field":"arm","title":"arm"},{"field":"count","title":"calls","format":",d"}]}})json";

std::string position_values(const CellComparison& cell, Channel channel) {
  JsonWriter json;
  json.begin_array();
  for (const PositionComparison& position : cell.positions) {
    const auto found = position.channels.find(channel);
    if (found == position.channels.end()) continue;
    const auto add = [&](std::string_view arm, std::optional<double> rate) {
      if (!rate) return;
      json.begin_object()
          .field("position", position_bin_label(position.bin))
          .field("arm", arm)
          .field("rate", rate)
          .end_object();
    };
    add("baseline", found->second.baseline);
    add("candidate", found->second.candidate);
  }
  return json.end_array().take();
}

constexpr std::string_view kPositionSpec =
    R"json({"data":{"name":"positions","values":@values@},"width":420,"height":180,"layer":[
{"mark":{"type":"line","strokeWidth":2},"encoding":{"strokeDash":@dash@}},
{"mark":{"type":"point","filled":true,"size":70,"opacity":1},"encoding":{"shape":@shape@,
"tooltip":[{"field":"position","title":"call of the episode"},{"field":"arm","title":"arm"},{"field":"rate","title":"rate","format":".1%"}]}}],
"encoding":{"x":{"field":"position","type":"ordinal","sort":null,"title":"call of the episode","axis":{"labelAngle":0}},
"y":{"field":"rate","type":"quantitative","title":"@title@","axis":{"format":"~%"}},
"color":@color@}})json";

std::string task_values(const CellComparison& cell) {
  JsonWriter json;
  json.begin_array();
  const std::vector<TaskRow>& b = cell.baseline.by_task;
  const std::vector<TaskRow>& c = cell.candidate.by_task;
  for (std::size_t t = 0; t < b.size() && t < c.size(); ++t) {
    if (!b[t].tool_name_per_call || !c[t].tool_name_per_call) continue;
    json.begin_object()
        .field("task", b[t].task)
        .field("baseline", b[t].tool_name_per_call)
        .field("candidate", c[t].tool_name_per_call)
        .end_object();
  }
  return json.end_array().take();
}

constexpr std::string_view kTaskSpec =
    R"json({"width":340,"height":300,"layer":[
{"data":{"values":[{"x":0,"y":0},{"x":@most@,"y":@most@}]},"mark":{"type":"line","color":"var(--dim)","strokeDash":[4,3],"strokeWidth":1},"encoding":{"x":{"field":"x","type":"quantitative"},"y":{"field":"y","type":"quantitative"}}},
{"data":{"name":"tasks","values":@values@},"mark":{"type":"point","filled":true,"size":45,"opacity":0.55,"color":"var(--candidate)"},"encoding":{
"x":{"field":"baseline","type":"quantitative","title":"baseline, rate per call","axis":{"format":".0%"}},
"y":{"field":"candidate","type":"quantitative","title":"candidate, rate per call","axis":{"format":".0%"}},
"tooltip":[{"field":"task","title":"task"},{"field":"baseline","title":"baseline","format":".1%"},{"field":"candidate","title":"candidate","format":".1%"}]}}]})json";

double greatest_task_rate(const CellComparison& cell) {
  double most = 0.05;
  for (const ArmSummary* arm : {&cell.baseline, &cell.candidate})
    for (const TaskRow& row : arm->by_task)
      most = std::max(most, row.tool_name_per_call.value_or(0));
  return most;
}

}  // namespace

Chart outcome_chart(const CellComparison& cell, std::string_view place) {
  Chart chart{id_of(place, "outcome-chart"), "", "", ""};
  const Outcome& outcome = cell.outcome;
  chart.description =
      escaped("Change in success with its intervals against the margin: " +
              outcome_in_words(outcome, false) + "; " + equivalence_in_words(outcome) + ".");
  chart.caption = escaped(
      "Diamond: the change in success. Thick bar: its 90% interval, which must lie inside the "
      "shaded "
      "margin for the scores to count as equivalent. Thin line: the 95% interval.");
  if (outcome.delta && outcome.tost)
    chart.spec = filled(kOutcomeSpec, {{"@points@", std::string(kPointsLabel)},
                                       {"@margin@", json_number(outcome.tost->margin)},
                                       {"@outcome@", outcome_values(outcome)}});
  return chart;
}

Chart budget_chart(const CellComparison& cell, BudgetRule rule, std::string_view place) {
  Chart chart{id_of(place, "budget-chart"), "", "", ""};
  const BudgetComparison& budget = cell.budget;
  const std::string_view allowed = rule == BudgetRule::Live ? "fewer than" : "at most";
  chart.description =
      escaped(fmt::format("Success of both arms with {} K failed calls, for each K, and the gap "
                          "beneath. At K = {} the gap is {} points.",
                          allowed, budget.k_tight, in_points(budget.gap_tight)));
  chart.caption = escaped(fmt::format(
      "Above: share of episodes that succeed with {} K failed calls. Below: baseline minus "
      "candidate, with the band that holds for all K at once (95%). The last K is the final "
      "score.",
      allowed));
  if (!budget.gap.empty()) chart.spec = budget_spec(cell, rule);
  return chart;
}

Chart forest_chart(const CellComparison& cell, std::string_view place) {
  Chart chart{id_of(place, "forest-chart"), "", "", ""};
  const Forest forest = forest_of(cell.channels);
  std::string lead = "No channel of failed calls changed.";
  if (const std::optional<Channel> channel = leading_channel(cell)) {
    const ChannelComparison& c = cell.channels.at(*channel);
    lead = fmt::format("{}: {} of calls in the baseline, {} in the candidate.", to_string(*channel),
                       percent(c.baseline), percent(c.candidate));
  }
  chart.description =
      escaped("Amplification of each channel of failed calls with 95% intervals. " + lead);
  chart.caption = escaped(
      "Each channel's rate per call, candidate over baseline (left) and their difference (right), "
      "with 95% intervals. No ratio is given where the baseline has fewer than 5 failures or fewer "
      "than 8 tasks fail.");
  if (forest.any) chart.spec = forest_spec(forest);
  return chart;
}

Chart names_chart(const NamesComparison& names, std::string_view place) {
  Chart chart{id_of(place, "names-chart"), "", "", ""};
  chart.description = escaped(
      fmt::format("How often each hallucinated tool name was called in each arm; {} in all.",
                  counted(static_cast<long>(names.counts.size()), "name")));
  chart.caption = names.counts.size() > kNamesDrawn
                      ? escaped(fmt::format("The {} most frequent of {} names, with their kind.",
                                            kNamesDrawn, names.counts.size()))
                      : escaped("Calls of each name, with its kind.");
  if (!names.counts.empty())
    chart.spec = filled(
        kNamesSpec, {{"@color@", std::string(kArmColor)}, {"@values@", name_values(names.counts)}});
  return chart;
}

Chart position_chart(const CellComparison& cell, Channel channel, std::string_view place) {
  Chart chart{id_of(place, "position-chart"), "", "", ""};
  const std::string name(to_string(channel));
  chart.description =
      escaped(fmt::format("Rate of {} per call along the episode, both arms.", name));
  chart.caption = escaped(fmt::format("Rate of {} by the index of the call in its episode.", name));
  const std::string values = position_values(cell, channel);
  if (values != "[]")
    chart.spec = filled(kPositionSpec, {{"@dash@", std::string(kArmDash)},
                                        {"@shape@", std::string(kArmShape)},
                                        {"@color@", std::string(kArmColor)},
                                        {"@title@", name + " per call"},
                                        {"@values@", values}});
  return chart;
}

Chart task_chart(const CellComparison& cell, std::string_view place) {
  Chart chart{id_of(place, "task-chart"), "", "", ""};
  chart.description =
      escaped("Rate of hallucinated tool names per call of each task, candidate against baseline.");
  chart.caption = escaped(
      "One point a task; above the dashed line the candidate errs more. Extreme baseline rates "
      "fall "
      "back by chance alone, so judge by the slope below, which takes rate and increase from "
      "different trials.");
  const std::string values = task_values(cell);
  const ChannelComparison& names = cell.channels.at(Channel::ToolName);
  if (values != "[]" && names.baseline_count + names.candidate_count > 0)
    chart.spec = filled(kTaskSpec,
                        {{"@most@", json_number(greatest_task_rate(cell))}, {"@values@", values}});
  return chart;
}

std::string figure(const Chart& chart, const std::string& table, bool drawn) {
  if (chart.spec.empty() && table.empty()) return "";
  if (chart.spec.empty() || !drawn) return table;
  std::string out = fmt::format(
      "<figure><div class=\"chart\" id=\"{0}\" data-chart=\"{0}-spec\" role=\"img\" "
      "aria-label=\"{1}\"></div>\n<script type=\"application/json\" id=\"{0}-spec\">{2}</script>\n"
      "<figcaption>{3}</figcaption>",
      chart.id, chart.description, script_json(chart.spec), chart.caption);
  return out + folded("The numbers as a table", table) + "</figure>\n";
}

}  // namespace unmask::html
