#include "report/csv.h"

#include "report/csv_rows.h"

namespace unmask {
namespace {

// An arm as it stands in a cell, or by itself.
struct Placed {
  std::string_view cell;
  std::string_view role;  // "baseline", "candidate"; empty by itself
  const ArmSummary* arm;
};

std::vector<Placed> placed(const AuditReport& report) {
  std::vector<Placed> arms;
  for (const AuditedCell& cell : report.cells) {
    const CellComparison& c = cell.comparison;
    arms.push_back({c.cell, "baseline", &c.baseline});
    arms.push_back({c.cell, "candidate", &c.candidate});
  }
  return arms;
}

std::vector<const Arm*> read_arms(const AuditReport& report) {
  std::vector<const Arm*> arms;
  for (const Arm& arm : report.arms) arms.push_back(&arm);
  return arms;
}

CsvRows& begin_row(CsvRows& rows, const Placed& place) {
  return rows.text(place.cell).text(place.role).text(place.arm->label);
}

std::string arms_table(const std::vector<const Arm*>& arms) {
  CsvRows rows({"arm", "label", "model", "domain", "format", "max_errors", "user_model",
                "agent_settings", "git_commit", "seed", "episodes", "sources"});
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const Arm& arm = *arms[i];
    std::string sources;
    for (const std::string& source : arm.sources) sources += (sources.empty() ? "" : "; ") + source;
    rows.number(i + 1)
        .text(arm.label)
        .text(arm.info.model)
        .text(arm.info.domain)
        .text(arm.info.format)
        .number(arm.info.max_errors)
        .text(arm.info.user_model)
        .text(arm.info.agent_settings)
        .text(arm.info.git_commit)
        .number(arm.info.seed)
        .number(arm.episodes.size())
        .text(sources);
    rows.end();
  }
  return rows.take();
}

void add_channel(CsvRows& rows, const Placed& place, std::string_view name,
                 const ChannelSummary& channel) {
  begin_row(rows, place)
      .text(name)
      .number(channel.count)
      .number(place.arm->agent_calls)
      .number(channel.per_call.value)
      .interval(channel.per_call.ci95)
      .number(channel.per_episode)
      .number(channel.episodes_with)
      .number(channel.share_with)
      .text(channel.screen ? to_string(*channel.screen) : std::string_view());
  rows.end();
}

std::string channels_table(const std::vector<Placed>& arms) {
  CsvRows rows({"cell", "role", "label", "channel", "count", "agent_calls", "per_call",
                "per_call_lo", "per_call_hi", "per_episode", "episodes_with", "share_with",
                "screen"});
  for (const Placed& place : arms) {
    for (const auto& [channel, summary] : place.arm->channels)
      add_channel(rows, place, to_string(channel), summary);
    add_channel(rows, place, "argument", place.arm->argument);
  }
  return rows.take();
}

void add_curve(CsvRows& rows, const Placed& place, std::string_view rule,
               const std::vector<CurvePoint>& curve) {
  for (const CurvePoint& point : curve) {
    begin_row(rows, place).text(rule).number(point.k).number(point.success).interval(point.ci95);
    rows.end();
  }
}

std::string curves_table(const std::vector<Placed>& arms) {
  CsvRows rows({"cell", "role", "label", "rule", "k", "success", "success_lo", "success_hi"});
  for (const Placed& place : arms) {
    add_curve(rows, place, "at_most", place.arm->budget.curve);
    add_curve(rows, place, "live", place.arm->budget.curve_live);
  }
  return rows.take();
}

std::string names_table(const std::vector<Placed>& arms) {
  CsvRows rows({"cell", "role", "label", "name", "kind", "count"});
  for (const Placed& place : arms)
    for (const NameCount& name : place.arm->names) {
      begin_row(rows, place).text(name.name).text(to_string(name.kind)).number(name.count);
      rows.end();
    }
  return rows.take();
}

void add_comparison(CsvRows& rows, const CellComparison& cell, std::string_view name,
                    const ChannelComparison& c) {
  rows.text(cell.cell)
      .text(name)
      .number(c.baseline)
      .number(c.candidate)
      .number(c.baseline_count)
      .number(c.candidate_count)
      .number(c.amplification)
      .interval(c.amplification_ci95)
      .number(c.amplification_upper95)
      .number(c.volume)
      .number(c.per_other_call)
      .number(c.difference)
      .interval(c.difference_ci95)
      .number(c.difference_upper95)
      .number(c.p)
      .number(c.p_holm)
      .flag(c.amplified)
      .flag(c.is_new)
      .number(c.weighed_amplification)
      .number(c.weighed_difference);
  rows.end();
}

std::string comparisons_table(const AuditReport& report) {
  CsvRows rows({"cell",
                "channel",
                "baseline",
                "candidate",
                "baseline_count",
                "candidate_count",
                "amplification",
                "amplification_lo",
                "amplification_hi",
                "amplification_upper95",
                "volume",
                "per_other_call",
                "difference",
                "difference_lo",
                "difference_hi",
                "difference_upper95",
                "p",
                "p_holm",
                "amplified",
                "new",
                "weighed_amplification",
                "weighed_difference"});
  for (const AuditedCell& cell : report.cells) {
    for (const auto& [channel, comparison] : cell.comparison.channels)
      add_comparison(rows, cell.comparison, to_string(channel), comparison);
    add_comparison(rows, cell.comparison, "argument", cell.comparison.argument);
  }
  return rows.take();
}

std::string gaps_table(const AuditReport& report) {
  CsvRows rows({"cell", "rule", "k", "gap", "gap_lo", "gap_hi", "band_lo", "band_hi"});
  for (const AuditedCell& cell : report.cells)
    for (const GapPoint& point : cell.comparison.budget.gap) {
      rows.text(cell.comparison.cell)
          .text(to_string(cell.comparison.baseline.budget.rule))
          .number(point.k)
          .number(point.gap)
          .interval(point.ci95)
          .interval(point.band95);
      rows.end();
    }
  return rows.take();
}

CsvRows& add_test(CsvRows& rows, const std::optional<MeanTest>& test) {
  if (!test) return rows.empty().empty().empty().empty();
  return rows.number(test->mean).interval(test->ci95).number(test->p);
}

void add_cell(CsvRows& rows, const AuditedCell& cell, const CellGate* gate) {
  const CellComparison& c = cell.comparison;
  rows.text(c.cell)
      .number(cell.baseline_arm + 1)
      .number(cell.candidate_arm + 1)
      .text(c.baseline.label)
      .text(c.candidate.label)
      .number(c.paired_tasks)
      .number(c.evaluated_tasks)
      .number(c.episodes_baseline)
      .number(c.episodes_candidate)
      .number(c.baseline.success.value)
      .number(c.candidate.success.value);
  add_test(rows, c.outcome.delta).number(c.outcome.p_holm);
  rows.flag(c.outcome.tost ? std::optional<bool>(c.outcome.tost->equivalent) : std::nullopt);
  rows.text(to_string(c.baseline.budget.rule))
      .number(c.budget.k0)
      .number(c.budget.k_tight)
      .number(c.budget.gap_tight);
  add_test(rows, c.budget.unmasked.test).number(c.budget.unmasked.p_holm);
  rows.text(to_string(cell.judgement.verdict))
      .flag(cell.judgement.fragile())
      .text(gate == nullptr ? std::string_view() : to_string(gate->status));
  rows.end();
}

std::string cells_table(const AuditReport& report) {
  CsvRows rows({"cell",
                "baseline_arm",
                "candidate_arm",
                "baseline",
                "candidate",
                "paired_tasks",
                "evaluated_tasks",
                "episodes_baseline",
                "episodes_candidate",
                "success_baseline",
                "success_candidate",
                "delta",
                "delta_lo",
                "delta_hi",
                "delta_p",
                "delta_p_holm",
                "equivalent",
                "rule",
                "k0",
                "k_tight",
                "gap_tight",
                "unmasked_gap",
                "unmasked_gap_lo",
                "unmasked_gap_hi",
                "unmasked_gap_p",
                "unmasked_gap_p_holm",
                "verdict",
                "fragile",
                "gate"});
  for (std::size_t i = 0; i < report.cells.size(); ++i)
    add_cell(rows, report.cells[i], report.gate ? &report.gate->cells.at(i) : nullptr);
  return rows.take();
}

}  // namespace

std::vector<CsvTable> to_csv(const AuditReport& report) {
  return {{"arms.csv", [&] { return arms_table(read_arms(report)); }},
          {"cells.csv", [&] { return cells_table(report); }},
          {"channels.csv", [&] { return channels_table(placed(report)); }},
          {"comparisons.csv", [&] { return comparisons_table(report); }},
          {"curves.csv", [&] { return curves_table(placed(report)); }},
          {"gaps.csv", [&] { return gaps_table(report); }},
          {"names.csv", [&] { return names_table(placed(report)); }},
          {"episodes.csv", [&] { return episodes_table(read_arms(report)); }},
          {"calls.csv", [&] { return calls_table(read_arms(report)); }}};
}

std::vector<CsvTable> to_csv(const InspectReport& report) {
  const std::vector<Placed> arm = {{"", "", &report.arm}};
  return {{"arms.csv", [&] { return arms_table({&report.read}); }},
          {"channels.csv", [arm] { return channels_table(arm); }},
          {"curves.csv", [arm] { return curves_table(arm); }},
          {"names.csv", [arm] { return names_table(arm); }},
          {"episodes.csv", [&] { return episodes_table({&report.read}); }},
          {"calls.csv", [&] { return calls_table({&report.read}); }}};
}

}  // namespace unmask
