#include "report/json_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "report/render.h"

namespace unmask {
namespace {

void write_estimate(JsonWriter& json, std::string_view value, const Estimate& estimate) {
  json.field(value, estimate.value).key("ci95");
  write_interval(json, estimate.ci95);
}

template <typename Map>
void write_counts(JsonWriter& json, std::string_view name, const Map& counts) {
  json.key(name).begin_object();
  for (const auto& [key, n] : counts) {
    if constexpr (std::is_convertible_v<decltype(key), std::string>)
      json.field(key, n);
    else
      json.field(to_string(key), n);
  }
  json.end_object();
}

void write_channel(JsonWriter& json, const ChannelSummary& channel) {
  json.begin_object().field("count", channel.count);
  write_estimate(json, "per_call", channel.per_call);
  json.field("episodes_with", channel.episodes_with)
      .field("per_episode", channel.per_episode)
      .field("share_with", channel.share_with);
  write_counts(json, "kinds", channel.kinds);
  json.end_object();
}

void write_curve(JsonWriter& json, std::string_view name, const std::vector<CurvePoint>& curve) {
  json.key(name).begin_array();
  for (const CurvePoint& point : curve) {
    json.begin_object().field("k", point.k).field("success", point.success).key("ci95");
    write_interval(json, point.ci95);
    json.end_object();
  }
  json.end_array();
}

void write_arm_identity(JsonWriter& json, const ArmSummary& arm) {
  const RunInfo& info = arm.info;
  json.key("arm").begin_object();
  json.field("label", arm.label).field("model", info.model).field("domain", info.domain);
  json.key("source").begin_array();
  for (const std::string& source : arm.sources) json.value(source);
  json.end_array();
  json.field("format", info.format)
      .field("max_errors", info.max_errors)
      .field("max_steps", info.max_steps)
      .field("user_model", info.user_model)
      .field("agent_implementation", info.agent_implementation)
      .field("user_implementation", info.user_implementation)
      .field("agent_settings", info.agent_settings)
      .field("user_settings", info.user_settings)
      .field("git_commit", info.git_commit)
      .field("timestamp", info.timestamp)
      .field("seed", info.seed)
      .field("failure_rule", info.failure_rule);
  write_counts(json, "tool_evidence", arm.tool_evidence);
  json.end_object();
}

void write_episodes(JsonWriter& json, const ArmSummary& arm) {
  json.key("episodes").begin_object();
  json.field("total", arm.episodes_total)
      .field("evaluated", arm.episodes_evaluated)
      .field("excluded_infrastructure", arm.episodes_excluded)
      .field("tasks", arm.tasks)
      .field("trials", arm.trials_max)
      .field("trials_min", arm.trials_min)
      .field("ungraded", arm.episodes_ungraded)
      .field("distinct_trajectories_per_task", arm.distinct_trajectories_per_task)
      .field("trials_are_copies", arm.trials_are_copies)
      .field("in_log", arm.episodes_in_log);
  write_counts(json, "terminations", arm.terminations);
  json.end_object();
}

void write_success(JsonWriter& json, const ArmSummary& arm) {
  json.key("success").begin_object();
  write_estimate(json, "rate", arm.success);
  json.key("pass_hat_k").begin_object();
  for (const auto& [k, value] : arm.pass_hat_k) json.field(std::to_string(k), value);
  json.end_object().end_object();
}

void write_calls(JsonWriter& json, const ArmSummary& arm) {
  json.key("calls").begin_object();
  json.field("agent", arm.agent_calls)
      .field("user", arm.user_calls)
      .field("failed_agent", arm.failed_agent)
      .field("failed_user", arm.failed_user)
      .field("unanswered", arm.unanswered)
      .field("system", arm.system);
  write_counts(json, "failing_tools", arm.failing_tools);
  json.end_object();
}

void write_budget(JsonWriter& json, const BudgetSummary& budget, bool any_episode) {
  json.key("budget").begin_object();
  json.field("k0", budget.k0)
      .field("rule", to_string(budget.rule))
      .field("count", to_string(budget.count));
  write_curve(json, "curve", budget.curve);
  write_curve(json, "curve_live", budget.curve_live);
  json.field("mean_errors", budget.mean_errors)
      .field("share_near_exhaustion", budget.share_near_exhaustion)
      .key("error_quantiles")
      .begin_object();
  constexpr const char* kQuantiles[] = {"0", "25", "50", "75", "100"};
  for (std::size_t i = 0; i < budget.error_quantiles.size(); ++i)
    json.field(kQuantiles[i],
               any_episode ? std::optional<double>(budget.error_quantiles[i]) : std::nullopt);
  json.end_object().end_object();
}

void write_recovery(JsonWriter& json, const ArmSummary& arm) {
  const RecoverySummary& recovery = arm.recovery;
  json.key("recovery").begin_object();
  json.field("failures", recovery.failures).field("recovered", recovery.recovered);
  write_estimate(json, "rate", recovery.rate);
  json.field("censored", recovery.censored);
  json.key("success_given_failure").begin_object();
  write_estimate(json, "value", recovery.success_given_failure);
  json.end_object().end_object();
}

// Only where a call was handed back, so that logs without repair keep their bytes.
void write_repair(JsonWriter& json, const RepairCounts& repair) {
  if (repair.refused == 0) return;
  json.key("repair")
      .begin_object()
      .field("refused", repair.refused)
      .field("repaired", repair.repaired)
      .field("unrepaired", repair.unrepaired)
      .field("withdrawn", repair.withdrawn)
      .end_object();
}

void write_names(JsonWriter& json, const ArmSummary& arm) {
  json.key("names").begin_array();
  for (const NameCount& name : arm.names)
    json.begin_object()
        .field("name", name.name)
        .field("count", name.count)
        .field("kind", to_string(name.kind))
        .end_object();
  json.end_array();
}

void write_length(JsonWriter& json, const LengthMeans& length) {
  json.key("length")
      .begin_object()
      .field("steps_mean", length.steps)
      .field("agent_turns_mean", length.agent_turns)
      .field("agent_calls_mean", length.agent_calls)
      .field("user_calls_mean", length.user_calls)
      .field("prompt_tokens_mean", length.prompt_tokens)
      .field("completion_tokens_mean", length.completion_tokens)
      .field("seconds_mean", length.seconds)
      .field("agent_cost_usd_mean", length.agent_cost_usd)
      .end_object();
}

void write_screen(JsonWriter& json, const ArmSummary& arm) {
  json.key("screen").begin_object();
  for (const auto& [channel, summary] : arm.channels) {
    json.key(to_string(channel));
    if (summary.screen)
      json.value(to_string(*summary.screen));
    else
      json.null();
  }
  json.end_object();
}

void write_positions(JsonWriter& json, const ArmSummary& arm) {
  json.key("positions").begin_array();
  for (const PositionSummary& position : arm.positions) {
    json.begin_object()
        .field("calls_of_episode", position_bin_label(position.bin))
        .field("calls", position.calls);
    write_counts(json, "failures", position.failures);
    json.end_object();
  }
  json.end_array();
}

void write_bursts(JsonWriter& json, const Bursts& bursts) {
  json.key("bursts").begin_object();
  json.key("lengths").begin_object();
  for (const auto& [length, n] : bursts.lengths) json.field(std::to_string(length), n);
  json.end_object()
      .field("mean_length", bursts.mean_length)
      .field("repeated_after_failure", bursts.repeated_after_failure)
      .end_object();
}

void write_tasks(JsonWriter& json, const ArmSummary& arm) {
  json.key("by_task").begin_array();
  for (const TaskRow& row : arm.by_task)
    json.begin_object()
        .field("domain", row.domain)
        .field("task", row.task)
        .field("episodes", row.episodes)
        .field("success", row.success)
        .field("calls", row.calls)
        .field("failures", row.failures)
        .field("tool_name", row.tool_name)
        .end_object();
  json.end_array();
}

}  // namespace

void write_interval(JsonWriter& json, const std::optional<Interval>& interval) {
  if (!interval) {
    json.null();
    return;
  }
  json.begin_array().value(interval->lo).value(interval->hi).end_array();
}

void write_arm_members(JsonWriter& json, const ArmSummary& arm) {
  write_arm_identity(json, arm);
  write_episodes(json, arm);
  write_success(json, arm);
  write_calls(json, arm);
  json.key("channels").begin_object();
  for (const auto& [channel, summary] : arm.channels) {
    json.key(to_string(channel));
    write_channel(json, summary);
  }
  json.end_object();
  json.key("argument");
  write_channel(json, arm.argument);
  write_budget(json, arm.budget, arm.episodes_total > arm.episodes_excluded);
  write_recovery(json, arm);
  write_repair(json, arm.repair);
  write_names(json, arm);
  write_length(json, arm.length);
  write_screen(json, arm);
  write_positions(json, arm);
  write_bursts(json, arm.bursts);
  write_tasks(json, arm);
}

void write_warnings(JsonWriter& json, const std::vector<Warning>& warnings) {
  json.key("warnings").begin_array();
  for (const Warning& warning : warnings)
    json.begin_object()
        .field("code", warning.code)
        .field("message", warning.message)
        .field("where", warning.where)
        .field("count", warning.count)
        .end_object();
  json.end_array();
}

void write_dropped(JsonWriter& json, const std::vector<Dropped>& dropped) {
  json.key("dropped").begin_array();
  for (const Dropped& record : dropped)
    json.begin_object()
        .field("code", record.code)
        .field("reason", record.reason)
        .field("where", record.where)
        .end_object();
  json.end_array();
}

void write_provenance(JsonWriter& json, const Provenance& provenance) {
  json.key("provenance")
      .begin_object()
      .field("version", provenance.version)
      .field("command", provenance.command)
      .key("seed")
      .raw(std::to_string(provenance.seed))  // 64 bits, unsigned
      .field("bootstrap", provenance.bootstrap)
      .end_object();
}

void write_closing_members(JsonWriter& json, const std::vector<Warning>& warnings,
                           const std::vector<Dropped>& dropped, const CompareOptions& options,
                           const Provenance& provenance) {
  write_warnings(json, warnings);
  write_dropped(json, dropped);
  json.key("options")
      .begin_object()
      .field("k_tight", options.k_tight)
      .field("equivalence_margin", options.equivalence_margin)
      .field("count", to_string(options.count))
      .field("budget_rule", to_string(options.rule))
      .field("screen_low", options.screen_low)
      .field("screen_high", options.screen_high)
      .field("assumed_max_errors", options.assumed_max_errors > 0
                                       ? std::optional<int>(options.assumed_max_errors)
                                       : std::nullopt)
      .end_object();
  write_provenance(json, provenance);
}

std::string escape_invisible(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size();) {
    const Utf8Step step = decode_utf8(json, i);
    const std::string_view bytes = json.substr(i, step.length);
    i += step.length;
    // Beyond ASCII a JSON text has characters inside strings only, where an escape is the same
    // value.
    if (step.code_point < 0x80 || safe_for_terminal(bytes) == bytes)
      out += bytes;
    else if (step.code_point >= 0x10000)
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((step.code_point - 0x10000) >> 10),
                         0xDC00 + ((step.code_point - 0x10000) & 0x3FF));
    else
      out += fmt::format("\\u{:04x}", step.code_point);
  }
  return out;
}

}  // namespace unmask
