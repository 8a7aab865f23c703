#include "report/html_gate.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "report/gate_words.h"
#include "report/html_cell.h"
#include "report/html_fields.h"
#include "report/html_page.h"
#include "report/numbers.h"
#include "report/sentences.h"

namespace unmask::html {
namespace {

// How a criterion's numbers are written; `excess` of a percentage is in points.
enum class Unit { None, Ratio, Points, Percent, Count, Margin };

Unit unit_of(const GateFinding& finding) {
  if (finding.criterion == "ungraded" || finding.criterion == "incomplete") return Unit::Count;
  if (finding.criterion == "max_amplification") return Unit::Ratio;
  if (finding.criterion == "max_increase") return Unit::Points;
  if (finding.criterion == "min_success_tight") return Unit::Percent;
  if (finding.criterion == "require_equivalence") return Unit::Margin;
  return finding.limit ? Unit::Count : Unit::None;
}

Field number_field(Unit unit, std::optional<double> value, std::string pointer) {
  switch (unit) {
    case Unit::Ratio:
      return ratio_field(value, std::move(pointer));
    case Unit::Points:
    case Unit::Margin:
      return points_field(value, std::move(pointer));
    case Unit::Percent:
      return percent_field(value, std::move(pointer));
    case Unit::Count:
      return count_field(std::lround(value.value_or(0)), std::move(pointer));
    case Unit::None:
      break;
  }
  return words(kAbsent);
}

// One finding of the gate: what it is about, and where it stands in the JSON report.
struct Row {
  const AuditReport& report;
  std::size_t cell;
  const GateFinding& finding;

  std::string json(std::string_view key) const {
    const auto index = &finding - report.gate->cells[cell].findings.data();
    return fmt::format("/gate/cells/{}/findings/{}/{}", cell, index, key);
  }
};

std::string verdicts_in_words(const std::set<Verdict>& verdicts) {
  std::string text;
  for (const Verdict verdict : verdicts)
    text += (text.empty() ? "" : ", ") + std::string(to_string(verdict));
  return text.empty() ? "any verdict" : "none of " + text;
}

Field asked_field(const Row& row) {
  const GateFinding& finding = row.finding;
  if (finding.criterion == "fail" && finding.subject == GateSubject::UnmaskedGap)
    return words("an unmasked gap");
  if (finding.criterion == "fail") return words(verdicts_in_words(row.report.gate->criteria.fail));
  if (finding.criterion == "fragile") return words("not fragile");
  if (finding.criterion == "ungraded")
    return words("a verdict that ungraded episodes do not change");
  if (finding.criterion == "incomplete")
    return words("logs complete, or lacking nothing that changes the verdict");
  const Unit unit = unit_of(finding);
  if (unit == Unit::Margin)
    return words(finding.limit ? "within ±" + in_points(*finding.limit, false) : "equivalence");
  if (!finding.limit) return words(kAbsent);
  const bool most = finding.criterion.starts_with("max");
  return {(most ? "at most " : "at least ") +
              inline_field(number_field(unit, finding.limit, row.json("limit"))),
          "", ""};
}

Field got_field(const Row& row) {
  const GateFinding& finding = row.finding;
  const AuditedCell& cell = row.report.cells[row.cell];
  if (finding.criterion == "fail" && finding.subject == GateSubject::UnmaskedGap)
    return words("undefined");
  if (finding.criterion == "fail")
    return word_field(to_string(cell.judgement.verdict),
                      CellSpot{row.cell, false}.json("/verdict"));
  if (finding.criterion == "fragile")
    return words(cell.judgement.fragile_by.contains(Unknown::Excluded) ? "fragile" : "not fragile");
  if (!finding.value) return words("undefined");
  return number_field(unit_of(finding), finding.value, row.json("value"));
}

Field excess_field(const Row& row) {
  const Unit unit = unit_of(row.finding);
  if (row.finding.excess.value_or(0) <= 0) return words(kAbsent);
  return number_field(unit == Unit::Percent ? Unit::Points : unit, row.finding.excess,
                      row.json("excess"));
}

Field result_field(GateStatus status) {
  const auto [css, symbol, word] = status == GateStatus::Pass ? std::tuple("v-clean", "✓", "held")
                                   : status == GateStatus::Fail
                                       ? std::tuple("v-masked", "✗", "failed")
                                       : std::tuple("v-inconclusive", "?", "not settled");
  return {
      fmt::format("<span class=\"keep {}\"><span class=\"symbol\" aria-hidden=\"true\">{}</span>{}"
                  "</span>",
                  css, symbol, word),
      "", ""};
}

std::vector<Field> fields_of(const Row& row) {
  const GateFinding& finding = row.finding;
  std::vector<Field> fields;
  if (row.report.cells.size() > 1)
    fields.push_back({fmt::format("<a href=\"#{}\">{}</a>", CellSpot{row.cell, true}.id(),
                                  escaped(row.report.cells[row.cell].comparison.cell)),
                      "", ""});
  fields.push_back({fmt::format("<span class=\"keep\">{}</span>", escaped(finding.criterion)) +
                        (finding.channel ? " " + std::string(to_string(*finding.channel)) : ""),
                    "", ""});
  fields.push_back(result_field(finding.status));
  fields.push_back(asked_field(row));
  fields.push_back(got_field(row));
  fields.push_back(excess_field(row));
  fields.push_back(words(typeset(finding.sentence)));
  return fields;
}

// The findings of a status, of every cell in the audit's order.
void add_rows(const AuditReport& report, GateStatus status, Rows& rows) {
  for (std::size_t i = 0; i < report.gate->cells.size(); ++i)
    for (const GateFinding& finding : report.gate->cells[i].findings)
      if (finding.status == status) rows.rows.push_back(fields_of({report, i, finding}));
}

Rows empty_rows(const AuditReport& report, std::string_view caption) {
  Rows rows{caption, {}, {}};
  if (report.cells.size() > 1) rows.columns.push_back({"comparison", false});
  for (const std::string_view title : {"criterion", "result", "asked"})
    rows.columns.push_back({title, false});
  for (const std::string_view title : {"got", "beyond by"}) rows.columns.push_back({title, true});
  rows.columns.push_back({"in words", false});
  return rows;
}

}  // namespace

std::string gate_section(const AuditReport& report) {
  if (!report.gate) return "";
  const GateResult& gate = *report.gate;
  std::string out =
      paragraph(fmt::format("<strong>{}</strong> ({}), by {}.", gate_in_words(gate.status),
                            inline_field(word_field(to_string(gate.status), "/gate/status")),
                            escaped(gate.criteria.name)));
  const bool single = report.cells.size() == 1;
  Rows rows = empty_rows(report, single ? "Every criterion" : "Criteria that do not hold");
  add_rows(report, GateStatus::Fail, rows);
  add_rows(report, GateStatus::Inconclusive, rows);
  if (single) add_rows(report, GateStatus::Pass, rows);
  out += table(rows);
  if (!single) {
    Rows held = empty_rows(report, "Criteria that hold");
    add_rows(report, GateStatus::Pass, held);
    out += folded("Criteria that hold", table(held));
  }
  return section(kGateId, 2, "Gate", out);
}

}  // namespace unmask::html
