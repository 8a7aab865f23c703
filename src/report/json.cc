// The JSON contract, unmask.audit/1 and unmask.inspect/1 (docs/schema). Fields are only ever added.
#include <algorithm>

#include "report/gate_words.h"
#include "report/json_parts.h"
#include "report/render.h"

namespace unmask {
namespace {

void write_mean_test(JsonWriter& json, const std::optional<MeanTest>& test,
                     std::string_view value) {
  const auto get = [&](auto member) {
    return test ? std::optional<double>((*test).*member) : std::nullopt;
  };
  json.field(value, get(&MeanTest::mean)).field("se", get(&MeanTest::se)).key("ci95");
  write_interval(json, test ? std::optional<Interval>(test->ci95) : std::nullopt);
  json.field("p", get(&MeanTest::p));
}

void write_outcome(JsonWriter& json, const CellComparison& cell) {
  const Outcome& outcome = cell.outcome;
  json.key("outcome").begin_object();
  write_mean_test(json, outcome.delta, "delta");
  json.field("p_holm", outcome.p_holm).key("tost");
  if (outcome.tost) {
    json.begin_object()
        .field("margin", outcome.tost->margin)
        .field("p", outcome.tost->p)
        .field("equivalent", outcome.tost->equivalent)
        .key("ci90");
    write_interval(json, outcome.tost->ci90);
    json.end_object();
  } else {
    json.null();
  }
  json.field("df", outcome.delta ? std::optional<double>(outcome.delta->df) : std::nullopt)
      .field("upper95",
             outcome.delta ? std::optional<double>(outcome.delta->upper95) : std::nullopt)
      .field("sd", cell.sd_delta)
      .field("flip_share", cell.flip_share)
      .field("graded", cell.graded)
      .end_object();
}

void write_channel(JsonWriter& json, const ChannelComparison& c) {
  json.begin_object()
      .field("baseline", c.baseline)
      .field("candidate", c.candidate)
      .field("amplification", c.amplification)
      .key("amplification_ci95");
  write_interval(json, c.amplification_ci95);
  json.field("volume", c.volume)
      .field("per_other_call", c.per_other_call)
      .field("difference", c.difference)
      .key("difference_ci95");
  write_interval(json, c.difference_ci95);
  json.field("p", c.p)
      .field("p_holm", c.p_holm)
      .field("amplified", c.amplified)
      .field("new", c.is_new)
      .field("baseline_count", c.baseline_count)
      .field("candidate_count", c.candidate_count)
      .field("amplification_upper95", c.amplification_upper95)
      .field("difference_upper95", c.difference_upper95)
      .field("no_propensity", c.no_propensity)
      .field("weighed_amplification", c.weighed_amplification)
      .field("weighed_difference", c.weighed_difference)
      .field("counts_in_budget", c.counts_in_budget)
      .end_object();
}

void write_channels(JsonWriter& json, const std::map<Channel, ChannelComparison>& channels) {
  json.key("channels").begin_object();
  for (const auto& [channel, comparison] : channels) {
    json.key(to_string(channel));
    write_channel(json, comparison);
  }
  json.end_object();
}

void write_unmasked(JsonWriter& json, std::string_view name, const UnmaskedGap& gap) {
  json.key(name).begin_object();
  write_mean_test(json, gap.test, "value");
  json.field("p_holm", gap.p_holm)
      .field("upper95", gap.test ? std::optional<double>(gap.test->upper95) : std::nullopt)
      .end_object();
}

void write_budget(JsonWriter& json, const CellComparison& cell) {
  const BudgetComparison& budget = cell.budget;
  json.key("budget").begin_object().field("k0", budget.k0).field("k_tight", budget.k_tight);
  json.key("gap").begin_array();
  for (const GapPoint& point : budget.gap) {
    json.begin_object().field("k", point.k).field("gap", point.gap).key("band95");
    write_interval(json, point.band95);
    json.key("ci95");
    write_interval(json, point.ci95);
    json.end_object();
  }
  json.end_array();
  json.key("unmasked_gap").begin_object();
  const std::optional<MeanTest>& test = budget.unmasked.test;
  json.field("value", test ? std::optional<double>(test->mean) : std::nullopt).key("ci95");
  write_interval(json, test ? std::optional<Interval>(test->ci95) : std::nullopt);
  json.field("p", test ? std::optional<double>(test->p) : std::nullopt)
      .field("p_holm", budget.unmasked.p_holm);
  write_unmasked(json, "agent_only", budget.agent_only);
  write_unmasked(json, "all_sides", budget.all_sides);
  json.field("se", test ? std::optional<double>(test->se) : std::nullopt)
      .field("upper95", test ? std::optional<double>(test->upper95) : std::nullopt)
      .field("sd", cell.sd_unmasked)
      .end_object();
  json.field("masking_factor", budget.masking_factor)
      .field("gap_tight", budget.gap_tight)
      .key("gap_tight_ci95");
  write_interval(json, budget.gap_tight_ci95);
  json.field("k_tight_is_primary", budget.k_tight_is_primary).end_object();
}

void write_recovery(JsonWriter& json, const RecoveryComparison& recovery) {
  json.key("recovery")
      .begin_object()
      .field("baseline", recovery.baseline)
      .field("candidate", recovery.candidate)
      .field("difference", recovery.difference)
      .key("ci95");
  write_interval(json, recovery.difference_ci95);
  json.field("equivalent", recovery.equivalent).end_object();
}

void write_names(JsonWriter& json, std::string_view key, const NamesComparison& names) {
  json.key(key)
      .begin_object()
      .field("spearman", names.spearman)
      .field("spearman_ceiling", names.spearman_ceiling)
      .field("kendall_tau_b", names.kendall_tau_b)
      .field("jaccard", names.jaccard)
      .field("novel_share", names.novel_share)
      .field("novel_calls", names.novel_calls)
      .key("novel_beyond_chance");
  if (names.novel_beyond_chance) {
    json.begin_object().field("difference", names.novel_beyond_chance->difference).key("ci95");
    write_interval(json, names.novel_beyond_chance->ci95);
    json.field("p", names.novel_beyond_chance->p).end_object();
  } else {
    json.null();
  }
  json.field("candidate_calls", names.candidate_calls).key("counts").begin_array();
  for (const NamesComparison::Pair& pair : names.counts)
    json.begin_object()
        .field("name", pair.name)
        .field("baseline", pair.baseline)
        .field("candidate", pair.candidate)
        .field("kind", to_string(pair.kind))
        .end_object();
  json.end_array().end_object();
}

void write_judgement(JsonWriter& json, const Judgement& judgement) {
  json.key("flags")
      .begin_object()
      .field("degraded", judgement.degraded)
      .field("unmasked_damage", judgement.unmasked_damage)
      .end_object();
  json.field("verdict", to_string(judgement.verdict)).key("flatness");
  if (judgement.flatness)
    json.value(to_string(*judgement.flatness));
  else
    json.null();
  json.field("fragile", judgement.fragile()).key("fragile_by").begin_array();
  for (const Unknown unknown : judgement.fragile_by) json.value(to_string(unknown));
  json.end_array().key("reasons").begin_array();
  for (const std::string& reason : judgement.reasons) json.value(reason);
  json.end_array().key("needed");
  if (judgement.needed)
    json.begin_object()
        .field("tasks", judgement.needed->tasks)
        .field("trials", judgement.needed->trials)
        .field("condition", judgement.needed->condition)
        .field("trials_same_tasks", judgement.needed->trials_same_tasks)
        .end_object();
  else
    json.null();
}

void write_trends(JsonWriter& json, const CellComparison& cell) {
  json.key("position_trends").begin_object();
  for (const auto& [channel, trend] : cell.position_trends) {
    json.key(to_string(channel))
        .begin_object()
        .field("log_ratio_per_quarter", trend.log_ratio_per_quarter)
        .field("se", trend.se)
        .field("df", trend.df)
        .field("p", trend.p)
        .field("last_over_first", trend.last_over_first)
        .key("last_over_first_ci95");
    write_interval(json, trend.last_over_first_ci95);
    json.end_object();
  }
  json.end_object();
}

void write_positions(JsonWriter& json, const CellComparison& cell) {
  json.key("positions").begin_array();
  for (const PositionComparison& position : cell.positions) {
    json.begin_object().field("calls_of_episode", position_bin_label(position.bin));
    write_channels(json, position.channels);
    json.end_object();
  }
  json.end_array();
  json.key("quarters").begin_array();
  for (const QuarterComparison& quarter : cell.quarters) {
    json.begin_object().field("quarter", quarter.quarter + 1);
    write_channels(json, quarter.channels);
    json.end_object();
  }
  json.end_array();
  write_trends(json, cell);
  json.key("task_slope").begin_object().field("slope", cell.task_slope.slope).key("ci95");
  write_interval(json, cell.task_slope.ci95);
  json.field("p", cell.task_slope.p).end_object();
}

void write_noise(JsonWriter& json, const CellComparison& cell) {
  json.key("noise_floor").begin_array();
  for (const NoiseFloor& noise : cell.noise)
    json.begin_object()
        .field("arm", noise.arm)
        .field("delta", noise.delta)
        .field("flip_share", noise.flip_share)
        .field("tasks", noise.tasks)
        .end_object();
  json.end_array();
}

void write_mechanism(JsonWriter& json, const std::optional<Mechanism>& mechanism) {
  json.key("mechanism");
  if (!mechanism) {
    json.null();
    return;
  }
  json.begin_object().field("greedy", mechanism->head.greedy);
  write_mechanism_members(json, *mechanism);
  json.end_object();
}

void write_cell(JsonWriter& json, const AuditedCell& audited) {
  const CellComparison& cell = audited.comparison;
  json.begin_object().field("cell", cell.cell);
  json.key("baseline").begin_object();
  write_arm_members(json, cell.baseline);
  json.end_object().key("candidate").begin_object();
  write_arm_members(json, cell.candidate);
  json.end_object();
  json.key("paired")
      .begin_object()
      .field("tasks", cell.paired_tasks)
      .field("episodes_baseline", cell.episodes_baseline)
      .field("episodes_candidate", cell.episodes_candidate)
      .key("unpaired_tasks")
      .begin_array();
  for (const std::string& task : cell.unpaired_tasks) json.value(task);
  json.end_array().end_object();
  write_outcome(json, cell);
  write_channels(json, cell.channels);
  json.key("argument");
  write_channel(json, cell.argument);
  write_budget(json, cell);
  write_recovery(json, cell.recovery);
  write_names(json, "names", cell.names);
  write_judgement(json, audited.judgement);
  write_names(json, "tool_channel_pairs", cell.pairs);
  write_positions(json, cell);
  write_noise(json, cell);
  write_warnings(json, cell.warnings);
  write_mechanism(json, audited.mechanism);
  json.end_object();
}

std::string_view to_string(FailedCall::Recovery recovery) {
  switch (recovery) {
    case FailedCall::Recovery::Recovered:
      return "recovered";
    case FailedCall::Recovery::NotRecovered:
      return "not_recovered";
    case FailedCall::Recovery::Censored:
      return "censored";
  }
  return "";
}

void write_failure(JsonWriter& json, const FailureRow& row) {
  const FailedCall& call = row.call;
  json.begin_object()
      .field("task", row.task)
      .field("trial", row.trial)
      .field("where", row.where)
      .field("side", unmask::to_string(call.side))
      .field("channel", unmask::to_string(call.channel))
      .field("kind", unmask::to_string(call.kind))
      .field("cause", unmask::to_string(call.cause))
      .field("name", call.name)
      .field("evidence", call.evidence)
      .field("message", call.message)
      .field("position", call.position)
      .field("in_budget", call.in_budget)
      .field("recovery", to_string(call.recovery));
  if (call.repair != Repair::None) json.field("repair", unmask::to_string(call.repair));
  json.end_object();
}

std::string finished(JsonWriter& json) {
  return escape_invisible(json.text()) + "\n";
}

}  // namespace

std::string to_json(const AuditReport& report) {
  JsonWriter json(2);
  json.begin_object().field("schema", "unmask.audit/1").key("cells").begin_array();
  for (const AuditedCell& cell : report.cells) write_cell(json, cell);
  json.end_array();
  write_gate(json, report);
  write_closing_members(json, report.warnings, report.dropped, report.options, report.provenance);
  json.end_object();
  return finished(json);
}

std::string to_json(const InspectReport& report) {
  JsonWriter json(2);
  json.begin_object().field("schema", "unmask.inspect/1");
  write_arm_members(json, report.arm);
  json.key("failures").begin_array();
  for (const FailureRow& row : report.failures) write_failure(json, row);
  json.end_array();
  write_closing_members(json, report.warnings, report.dropped, report.options, report.provenance);
  json.end_object();
  return finished(json);
}

}  // namespace unmask
