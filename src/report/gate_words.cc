#include "report/gate_words.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "report/numbers.h"
#include "report/render.h"

namespace unmask {
namespace {

Paint paint_of(GateStatus status) {
  switch (status) {
    case GateStatus::Pass:
      return Paint::Good;
    case GateStatus::Inconclusive:
      return Paint::Warn;
    case GateStatus::Fail:
      return Paint::Bad;
  }
  return Paint::Plain;
}

std::string_view mark_of(GateStatus status) {
  switch (status) {
    case GateStatus::Pass:
      return "yes";
    case GateStatus::Inconclusive:
      return "cannot say";
    case GateStatus::Fail:
      return "no";
  }
  return "no";
}

template <typename Limits>
void write_limits(JsonWriter& json, std::string_view key, const Limits& limits) {
  json.key(key).begin_object();
  for (const auto& [channel, limit] : limits) json.field(to_string(channel), limit);
  json.end_object();
}

void write_criteria(JsonWriter& json, const GateCriteria& criteria) {
  json.key("criteria").begin_object().field("name", criteria.name).key("fail").begin_array();
  for (const Verdict verdict : criteria.fail) json.value(to_string(verdict));
  json.end_array()
      .field("inconclusive", to_string(criteria.inconclusive))
      .field("ungraded", to_string(criteria.ungraded))
      .field("fragile", to_string(criteria.fragile))
      .field("incomplete", to_string(criteria.incomplete))
      .field("basis", to_string(criteria.basis))
      .field("require_equivalence", criteria.require_equivalence)
      .field("min_success_tight", criteria.min_success_tight)
      .field("min_tasks", criteria.min_tasks)
      .field("min_trials", criteria.min_trials)
      .field("min_episodes", criteria.min_episodes);
  write_limits(json, "max_amplification", criteria.max_amplification);
  write_limits(json, "max_increase", criteria.max_increase);
  json.end_object();
}

void write_finding(JsonWriter& json, const GateFinding& finding) {
  json.begin_object().field("criterion", finding.criterion).key("channel");
  if (finding.channel)
    json.value(to_string(*finding.channel));
  else
    json.null();
  json.field("status", to_string(finding.status))
      .field("value", finding.value)
      .field("limit", finding.limit)
      .field("excess", finding.excess)
      .field("sentence", finding.sentence)
      .end_object();
}

}  // namespace

std::string gate_in_words(GateStatus status) {
  switch (status) {
    case GateStatus::Pass:
      return "The gate lets it pass";
    case GateStatus::Inconclusive:
      return "The gate cannot say";
    case GateStatus::Fail:
      return "The gate says no";
  }
  return "The gate says no";
}

std::vector<const GateFinding*> findings_to_show(const CellGate& gate, bool all) {
  std::vector<const GateFinding*> shown;
  for (const GateStatus status : {GateStatus::Fail, GateStatus::Inconclusive, GateStatus::Pass}) {
    if (status == GateStatus::Pass && !all) continue;
    for (const GateFinding& finding : gate.findings)
      if (finding.status == status) shown.push_back(&finding);
  }
  return shown;
}

std::vector<SharedFinding> shared_findings(const GateResult& gate) {
  std::vector<SharedFinding> shared;
  std::map<std::pair<GateStatus, std::string>, std::size_t> places;
  for (const GateStatus status : {GateStatus::Fail, GateStatus::Inconclusive})
    for (std::size_t i = 0; i < gate.cells.size(); ++i)
      for (const GateFinding& finding : gate.cells[i].findings) {
        if (finding.status != status) continue;
        const auto [at, fresh] = places.emplace(std::pair(status, finding.sentence), shared.size());
        if (fresh) shared.push_back({&finding, {}});
        shared[at->second].cells.push_back(i);
      }
  return shared;
}

std::string finding_in_words(const GateFinding& finding) {
  return fmt::format("{}: {}", mark_of(finding.status), typeset(finding.sentence));
}

void show_gate(Screen& screen, const AuditReport& report) {
  if (!report.gate) return;
  const GateResult& gate = *report.gate;
  screen.heading("Gate");
  screen.paragraph(
      "  ", gate_in_words(gate.status) + ", by " + safe_for_terminal(gate.criteria.name) + ".",
      paint_of(gate.status));
  const bool single = report.cells.size() == 1;
  for (std::size_t i = 0; i < gate.cells.size(); ++i) {
    const std::vector<const GateFinding*> findings = findings_to_show(gate.cells[i], single);
    if (!single && !findings.empty())
      screen.paragraph("  ", safe_for_terminal(report.cells[i].comparison.cell), Paint::Strong);
    for (const GateFinding* finding : findings)
      screen.paragraph("  - ", safe_for_terminal(finding_in_words(*finding)),
                       finding->status == GateStatus::Pass ? Paint::Dim : Paint::Plain);
  }
}

void write_gate(JsonWriter& json, const AuditReport& report) {
  json.key("gate");
  if (!report.gate) {
    json.null();
    return;
  }
  json.begin_object().field("status", to_string(report.gate->status));
  write_criteria(json, report.gate->criteria);
  json.key("cells").begin_array();
  for (std::size_t i = 0; i < report.gate->cells.size(); ++i) {
    const CellGate& cell = report.gate->cells[i];
    json.begin_object()
        .field("cell", report.cells.at(i).comparison.cell)
        .field("status", to_string(cell.status))
        .key("findings")
        .begin_array();
    for (const GateFinding& finding : cell.findings) write_finding(json, finding);
    json.end_array().end_object();
  }
  json.end_array().end_object();
}

}  // namespace unmask
