#include <fmt/format.h>

#include <algorithm>

#include "report/html_cell.h"
#include "report/html_fields.h"
#include "report/numbers.h"
#include "report/render.h"
#include "report/sample_words.h"
#include "report/sections.h"
#include "report/sentences.h"

namespace unmask::html {
namespace {

// More rows than these are left to the JSON report, and the table says so.
constexpr std::size_t kNamesInTable = 200;
constexpr std::size_t kTasksInTable = 1000;

std::vector<Field> arm_row(const std::string& role, const ArmSummary& arm, long episodes,
                           const CellSpot& spot) {
  const std::string json = spot.json("/" + role);
  return {words(role),
          words(arm.label),
          joined(count_field(episodes, spot.json("/paired/episodes_" + role)), " of ",
                 count_field(arm.episodes_in_log, json + "/episodes/in_log")),
          words(tasks_by_trials(arm)),
          count_field(arm.episodes_excluded, json + "/episodes/excluded_infrastructure"),
          count_field(arm.episodes_ungraded, json + "/episodes/ungraded"),
          percent_field(arm.success.value, json + "/success/rate"),
          percent_interval_field(arm.success.ci95, json + "/success/ci95"),
          count_field(arm.agent_calls, json + "/calls/agent"),
          count_field(arm.failed_agent, json + "/calls/failed_agent")};
}

std::string mark_of(const ChannelComparison& c) {
  if (!c.amplified) return "";
  return c.is_new ? "<span class=\"mark\">△ new</span>" : "<span class=\"mark\">▲ amplified</span>";
}

std::vector<Field> channel_row(const std::string& name, const ChannelComparison& c,
                               const std::string& json) {
  return {{"<code>" + name + "</code>" + std::string(weighed_mark(c)), "", ""},
          percent_field(c.baseline, json + "/baseline"),
          percent_field(c.candidate, json + "/candidate"),
          joined(ratio_field(c.amplification, json + "/amplification"), " ",
                 ratio_interval_field(c.amplification_ci95, json + "/amplification_ci95")),
          ratio_field(c.volume, json + "/volume"),
          joined(points_field(c.difference, json + "/difference"), " ",
                 points_interval_field(c.difference_ci95, json + "/difference_ci95")),
          p_field(c.p_holm, json + "/p_holm"),
          joined(count_field(c.baseline_count, json + "/baseline_count"), " → ",
                 count_field(c.candidate_count, json + "/candidate_count")),
          {mark_of(c), "", ""}};
}

// The curve's point of a K, with its place in the JSON report.
struct CurvePlace {
  std::optional<double> success;
  std::optional<Interval> ci95;
  std::string json;
};

CurvePlace find_point(const std::vector<CurvePoint>& curve, int k, const std::string& json) {
  for (std::size_t i = 0; i < curve.size(); ++i)
    if (curve[i].k == k) return {curve[i].success, curve[i].ci95, fmt::format("{}/{}", json, i)};
  return {};
}

void add_length(Rows& table, std::string_view name, std::optional<double> baseline,
                std::optional<double> candidate, int digits, std::string_view json,
                const CellSpot& spot) {
  if (!baseline && !candidate) return;
  table.rows.push_back(
      {words(name), decimal_field(baseline, digits, spot.json("/baseline") + std::string(json)),
       decimal_field(candidate, digits, spot.json("/candidate") + std::string(json))});
}

}  // namespace

std::string arms_table(const CellComparison& cell, const CellSpot& spot) {
  return table({"The two arms, over the tasks both ran",
                {{"", false},
                 {"arm", false},
                 {"episodes"},
                 {"tasks", false},
                 {"excluded"},
                 {"ungraded"},
                 {"success"},
                 {"95%"},
                 {"agent calls"},
                 {"failed"}},
                {arm_row("baseline", cell.baseline, cell.episodes_baseline, spot),
                 arm_row("candidate", cell.candidate, cell.episodes_candidate, spot)}});
}

std::string outcome_table(const CellComparison& cell, const CellSpot& spot) {
  const Outcome& outcome = cell.outcome;
  if (!outcome.delta) return "";
  Rows rows{"Outcome", {{"", false}, {"points"}, {"interval"}, {"p"}}, {}};
  const bool holm = outcome.p_holm && spot.of_many;
  rows.rows.push_back({words(holm ? "change Δ, 95%, Holm p" : "change Δ, 95%"),
                       points_field(outcome.delta->mean, spot.json("/outcome/delta")),
                       points_interval_field(outcome.delta->ci95, spot.json("/outcome/ci95")),
                       p_field(holm ? outcome.p_holm : outcome.delta->p,
                               spot.json(holm ? "/outcome/p_holm" : "/outcome/p"))});
  if (outcome.tost)
    rows.rows.push_back(
        {words(fmt::format("equivalence within ±{}, 90%", in_points(outcome.tost->margin, false))),
         words(outcome.tost->equivalent ? "equivalent" : "not shown"),
         points_interval_field(outcome.tost->ci90, spot.json("/outcome/tost/ci90")),
         p_field(outcome.tost->p, spot.json("/outcome/tost/p"))});
  return table(rows);
}

std::string channels_table(const CellComparison& cell, const CellSpot& spot) {
  Rows rows{"Failed calls of the agent, by channel",
            {{"channel", false},
             {"baseline"},
             {"candidate"},
             {"A [95%]"},
             {"volume"},
             {"points [95%]"},
             {"Holm p"},
             {"failures"},
             {"", false}},
            {}};
  for (const auto& [channel, c] : cell.channels) {
    const std::string name(to_string(channel));
    rows.rows.push_back(channel_row(name, c, spot.json("/channels/" + name)));
  }
  if (cell.argument.baseline_count + cell.argument.candidate_count > 0)
    rows.rows.push_back(channel_row("schema + entity", cell.argument, spot.json("/argument")));
  return table(rows) + paragraph(escaped(weighed_in_words(cell)), "dim small");
}

std::string budget_table(const CellComparison& cell, const CompareOptions& options,
                         const CellSpot& spot) {
  const bool live = options.rule == BudgetRule::Live;
  const std::string curve = live ? "/budget/curve_live" : "/budget/curve";
  const auto curve_of = [&](const ArmSummary& arm) -> const std::vector<CurvePoint>& {
    return live ? arm.budget.curve_live : arm.budget.curve;
  };
  Rows rows{live ? "Success with fewer than K failed calls, and the gap"
                 : "Success with at most K failed calls, and the gap",
            {{"K"},
             {"baseline [95%]"},
             {"candidate [95%]"},
             {"gap, points"},
             {"95%, all K at once"},
             {"95%, this K"}},
            {}};
  const BudgetComparison& budget = cell.budget;
  for (std::size_t i = 0; i < budget.gap.size(); ++i) {
    const GapPoint& gap = budget.gap[i];
    const CurvePlace b = find_point(curve_of(cell.baseline), gap.k, spot.json("/baseline" + curve));
    const CurvePlace c =
        find_point(curve_of(cell.candidate), gap.k, spot.json("/candidate" + curve));
    const std::string json = spot.json(fmt::format("/budget/gap/{}", i));
    rows.rows.push_back(
        {{fmt::format("{}{}", gap.k,
                      gap.k == budget.k_tight && knows_tight(cell) ? " (tight)" : ""),
          "", ""},
         joined(percent_field(b.success, b.json + "/success"), " ",
                percent_interval_field(b.ci95, b.json + "/ci95")),
         joined(percent_field(c.success, c.json + "/success"), " ",
                percent_interval_field(c.ci95, c.json + "/ci95")),
         points_field(gap.gap, json + "/gap"),
         points_interval_field(gap.band95, json + "/band95"),
         points_interval_field(gap.ci95, json + "/ci95")});
  }
  return table(rows);
}

std::string names_table(const NamesComparison& names, const CellSpot& spot) {
  Rows rows{"Hallucinated tool names",
            {{"name", false}, {"kind", false}, {"baseline"}, {"candidate"}},
            {}};
  for (std::size_t i = 0; i < names.counts.size() && i < kNamesInTable; ++i) {
    const NamesComparison::Pair& pair = names.counts[i];
    const std::string json = spot.json(fmt::format("/names/counts/{}", i));
    rows.rows.push_back({{"<code>" + escaped(shown_name(pair.name)) + "</code>", "", ""},
                         words(to_string(pair.kind)),
                         count_field(pair.baseline, json + "/baseline"),
                         count_field(pair.candidate, json + "/candidate")});
  }
  const std::size_t left = names.counts.size() - rows.rows.size();
  return table(rows) +
         (left > 0 ? paragraph(fmt::format("And {} more: --json lists them all.", left), "dim")
                   : "");
}

std::string positions_table(const CellComparison& cell, Channel channel, const CellSpot& spot) {
  const std::string name(to_string(channel));
  const std::string caption = name + " along the episode";
  Rows rows{caption,
            {{"call of the episode", false}, {"baseline"}, {"candidate"}, {"A [95%]"}, {"points"}},
            {}};
  for (std::size_t i = 0; i < cell.positions.size(); ++i) {
    const PositionComparison& position = cell.positions[i];
    const auto found = position.channels.find(channel);
    if (found == position.channels.end() || (!found->second.baseline && !found->second.candidate))
      continue;
    const ChannelComparison& c = found->second;
    const std::string json = spot.json(fmt::format("/positions/{}/channels/{}", i, name));
    rows.rows.push_back(
        {words(position_bin_label(position.bin)), percent_field(c.baseline, json + "/baseline"),
         percent_field(c.candidate, json + "/candidate"),
         joined(ratio_field(c.amplification, json + "/amplification"), " ",
                ratio_interval_field(c.amplification_ci95, json + "/amplification_ci95")),
         points_field(c.difference, json + "/difference")});
  }
  return table(rows);
}

std::string tasks_table(const CellComparison& cell, const CellSpot& spot) {
  Rows rows{"By task: success, agent calls and hallucinated names of both arms",
            {{"task", false},
             {"success, baseline"},
             {"candidate"},
             {"calls, baseline"},
             {"candidate"},
             {"names, baseline"},
             {"candidate"}},
            {}};
  const std::vector<TaskRow>& b = cell.baseline.by_task;
  const std::vector<TaskRow>& c = cell.candidate.by_task;
  const std::size_t all = std::min(b.size(), c.size());
  for (std::size_t t = 0; t < all && t < kTasksInTable; ++t) {
    const std::string jb = spot.json(fmt::format("/baseline/by_task/{}", t));
    const std::string jc = spot.json(fmt::format("/candidate/by_task/{}", t));
    rows.rows.push_back(
        {words(b[t].task), percent_field(b[t].success, jb + "/success"),
         percent_field(c[t].success, jc + "/success"), count_field(b[t].calls, jb + "/calls"),
         count_field(c[t].calls, jc + "/calls"), count_field(b[t].tool_name, jb + "/tool_name"),
         count_field(c[t].tool_name, jc + "/tool_name")});
  }
  return table(rows) +
         (all > kTasksInTable
              ? paragraph("More tasks than a page can hold: --json lists them all.", "dim")
              : "");
}

std::string recovery_table(const CellComparison& cell, const CellSpot& spot) {
  const RecoveryComparison& r = cell.recovery;
  if (!r.baseline && !r.candidate) return "";
  return table({"Failed calls followed by one that works",
                {{"", false}, {"baseline"}, {"candidate"}, {"points [95%]"}},
                {{words("recovery"), percent_field(r.baseline, spot.json("/recovery/baseline")),
                  percent_field(r.candidate, spot.json("/recovery/candidate")),
                  joined(points_field(r.difference, spot.json("/recovery/difference")), " ",
                         points_interval_field(r.difference_ci95, spot.json("/recovery/ci95")))}}});
}

std::string length_table(const CellComparison& cell, const CellSpot& spot) {
  const LengthMeans& b = cell.baseline.length;
  const LengthMeans& c = cell.candidate.length;
  Rows rows{"Mean per episode", {{"", false}, {"baseline"}, {"candidate"}}, {}};
  add_length(rows, counted_failures(cell.baseline.budget.count), cell.baseline.budget.mean_errors,
             cell.candidate.budget.mean_errors, 2, "/budget/mean_errors", spot);
  add_length(rows, "steps", b.steps, c.steps, 1, "/length/steps_mean", spot);
  add_length(rows, "agent turns", b.agent_turns, c.agent_turns, 1, "/length/agent_turns_mean",
             spot);
  add_length(rows, "agent calls", b.agent_calls, c.agent_calls, 1, "/length/agent_calls_mean",
             spot);
  add_length(rows, "prompt tokens", b.prompt_tokens, c.prompt_tokens, 0,
             "/length/prompt_tokens_mean", spot);
  add_length(rows, "completion tokens", b.completion_tokens, c.completion_tokens, 0,
             "/length/completion_tokens_mean", spot);
  add_length(rows, "seconds", b.seconds, c.seconds, 1, "/length/seconds_mean", spot);
  add_length(rows, "agent cost, USD", b.agent_cost_usd, c.agent_cost_usd, 4,
             "/length/agent_cost_usd_mean", spot);
  return table(rows);
}

}  // namespace unmask::html
