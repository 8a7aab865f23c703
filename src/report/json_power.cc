// unmask.power/1: shares, rates and differences are proportions; trials without end are null.
#include "base/json_writer.h"
#include "report/json_parts.h"
#include "report/power_report.h"

namespace unmask {
namespace {

std::optional<int> trials_or_null(int trials) {
  return trials == kEndlessTrials ? std::nullopt : std::optional<int>(trials);
}

void write_point(JsonWriter& json, const PowerPoint& point) {
  json.begin_object()
      .field("tasks", point.design.tasks)
      .field("trials", trials_or_null(point.design.trials))
      .field("power", point.power)
      .field("simulation_error", point.error)
      .end_object();
}

void write_points(JsonWriter& json, std::string_view name, const std::vector<PowerPoint>& points) {
  json.key(name).begin_array();
  for (const PowerPoint& point : points) write_point(json, point);
  json.end_array();
}

void write_goal(JsonWriter& json, const GoalPower& goal) {
  json.begin_object()
      .field("goal", to_string(goal.goal))
      .field("effect", goal.undefined && goal.effect == 0 && goal.goal == PowerGoal::Amplification
                           ? std::nullopt
                           : std::optional<double>(goal.effect))
      .field("undefined", goal.undefined);
  write_points(json, "grid", goal.grid);
  write_points(json, "endless_trials", goal.limit);
  json.key("needed").begin_array();
  for (const TasksNeeded& needed : goal.needed)
    json.begin_object()
        .field("trials", trials_or_null(needed.trials))
        .field("tasks", needed.tasks)
        .field("at_most", needed.at_most)
        .end_object();
  json.end_array().key("smallest");
  if (goal.smallest)
    write_point(json, *goal.smallest);
  else
    json.null();
  json.field("trials_fail_up_to_tasks", goal.trials_fail_up_to).key("most_of_trials");
  if (goal.most_of_trials)
    write_point(json, *goal.most_of_trials);
  else
    json.null();
  json.key("trials_limit");
  if (goal.trials_limit)
    json.value(to_string(*goal.trials_limit));
  else
    json.null();
  json.end_object();
}

void write_propensity(JsonWriter& json, std::string_view name, const PairedPropensity& pair) {
  json.key(name)
      .begin_object()
      .field("baseline", pair.baseline.mean)
      .field("candidate", pair.candidate.mean)
      .field("correlation_baseline", pair.baseline.correlation)
      .field("correlation_candidate", pair.candidate.correlation)
      .field("pairing", pair.pairing)
      .end_object();
}

void write_model(JsonWriter& json, const PowerModel& model, const DecisionsFrom& from) {
  json.key("model").begin_object();
  write_propensity(json, "failure", model.failure);
  write_propensity(json, "success", model.success);
  write_propensity(json, "masked", model.masked);
  json.key("calls")
      .begin_object()
      .field("baseline", model.calls.baseline)
      .field("candidate", model.calls.candidate)
      .field("task_spread", model.calls.task_spread)
      .field("episode_spread", model.calls.episode_spread)
      .field("leave", model.calls.leave)
      .end_object();
  json.key("decisions")
      .begin_object()
      .field("discordance", model.decisions.discordance)
      .field("difference", model.decisions.difference)
      .field("correlation", model.decisions.correlation)
      .key("taken_from")
      .begin_object()
      .field("discordance", to_string(from.discordance))
      .field("difference", to_string(from.difference))
      .field("correlation", to_string(from.correlation))
      .end_object()
      .end_object()
      .end_object();
}

void write_from(JsonWriter& json, const PlannedFrom& from) {
  json.key("pilot");
  if (from.labels.empty()) {
    json.null();
    return;
  }
  json.begin_object().key("arms").begin_array();
  for (const std::string& label : from.labels) json.value(label);
  json.end_array()
      .field("tasks", from.tasks)
      .field("trials", from.trials)
      .field("failures", from.failures)
      .end_object();
}

void write_replay(JsonWriter& json, const std::optional<ReplayPlannedFrom>& replay) {
  json.key("replay");
  if (!replay) {
    json.null();
    return;
  }
  json.begin_object()
      .key("arms")
      .begin_array()
      .value(replay->baseline)
      .value(replay->candidate)
      .end_array()
      .field("tasks", replay->tasks)
      .field("decisions", replay->decisions)
      .field("only_baseline", replay->only_baseline)
      .field("only_candidate", replay->only_candidate)
      .end_object();
}

void write_options(JsonWriter& json, const PowerReport& report) {
  const PowerOptions& options = report.options;
  json.key("options")
      .begin_object()
      .field("power", options.wanted)
      .field("alpha", options.alpha)
      .field("comparisons", options.comparisons)
      .field("margin", options.margin)
      .field("k_tight", report.k_tight)
      .field("simulations", options.simulations)
      .end_object();
}

}  // namespace

std::string_view to_string(TakenFrom from) {
  switch (from) {
    case TakenFrom::Assumed:
      return "assumed";
    case TakenFrom::Stated:
      return "stated";
    case TakenFrom::Pilot:
      return "pilot";
    case TakenFrom::Replay:
      return "replay";
  }
  return "assumed";
}

std::string to_json(const PowerReport& report) {
  JsonWriter json(2);
  json.begin_object().field("schema", "unmask.power/1").field("channel", to_string(report.channel));
  write_from(json, report.from);
  write_replay(json, report.replay);
  write_model(json, report.model, report.decisions_from);
  json.key("goals").begin_array();
  for (const GoalPower& goal : report.goals) write_goal(json, goal);
  json.end_array();
  write_options(json, report);
  json.key("notes").begin_array();
  for (const std::string& note : report.notes) json.value(note);
  json.end_array();
  write_warnings(json, report.warnings);
  json.key("dropped").begin_array();
  for (const Dropped& record : report.dropped)
    json.begin_object()
        .field("code", record.code)
        .field("reason", record.reason)
        .field("where", record.where)
        .end_object();
  json.end_array()
      .key("provenance")
      .begin_object()
      .field("version", report.provenance.version)
      .field("command", report.provenance.command)
      .key("seed")
      .raw(std::to_string(report.options.seed))  // 64 bits, unsigned
      .end_object()
      .end_object();
  return escape_invisible(json.text()) + "\n";
}

}  // namespace unmask
