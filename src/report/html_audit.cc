// The audit as a page: the verdict first, then why, then the evidence and how it was computed.
#include <fmt/format.h>

#include <map>

#include "report/html.h"
#include "report/html_cell.h"
#include "report/html_gate.h"
#include "report/html_page.h"
#include "report/numbers.h"
#include "report/sentences.h"

namespace unmask::html {
namespace {

std::string tally(const AuditReport& report) {
  std::map<Verdict, long> counts;
  for (const AuditedCell& cell : report.cells) ++counts[cell.judgement.verdict];
  std::string text;
  for (const auto& [verdict, n] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, to_string(verdict));
  return text;
}

std::string arms_line(const CellComparison& cell) {
  return cell.baseline.label + " → " + cell.candidate.label;
}

std::string contents(const AuditReport& report) {
  constexpr std::pair<std::string_view, std::string_view> kParts[] = {
      {"c0-outcome", "Outcome"},   {"c0-budget", "Error budget"}, {"c0-channels", "Channels"},
      {"c0-names", "Names"},       {"c0-where", "Where"},         {"c0-decisions", "Decisions"},
      {"c0-recovery", "Recovery"}, {"c0-calls", "Failed calls"}};
  std::string out = "<nav aria-label=\"Contents\"><ul>";
  if (report.gate) out += fmt::format("<li><a href=\"#{}\">Gate</a></li>", kGateId);
  if (report.cells.size() == 1) {
    const AuditedCell& cell = report.cells.front();
    for (const auto& [id, title] : kParts) {
      if (id == "c0-budget" && cell.comparison.budget.gap.empty()) continue;
      if (id == "c0-names" && cell.comparison.names.counts.empty()) continue;
      if (id == "c0-decisions" && !cell.mechanism) continue;
      if (id == "c0-calls" && cell.baseline_excerpts.empty() && cell.candidate_excerpts.empty())
        continue;
      out += fmt::format("<li><a href=\"#{}\">{}</a></li>", id, title);
    }
  }
  if (report.cells.size() > 1) out += "<li><a href=\"#cells\">Each comparison</a></li>";
  return out + "<li><a href=\"#method\">Method</a></li></ul></nav>\n";
}

// A cell of a grid, folded; its line says what an open one would begin with.
std::string folded_cell(const AuditedCell& cell, const CellSpot& spot,
                        const CompareOptions& options, bool charts) {
  const Verdict verdict = cell.judgement.verdict;
  return fmt::format(
      "<details class=\"cell {}\"><summary><span class=\"symbol\" aria-hidden=\"true\">{}"
      "</span><span class=\"word\">{}</span> {}<span class=\"line\">{}</span></summary>\n"
      // Inside, so that a link to it unfolds the cell.
      "<div id=\"{}\">{}{}</div></details>\n",
      verdict_class(verdict), verdict_symbol(verdict), verdict_title(verdict),
      escaped(cell.comparison.cell), escaped(headline(cell)), spot.id(),
      verdict_banner(cell) + arms_table(cell.comparison, spot),
      cell_sections(cell, spot, options, charts, 3));
}

std::string grid_body(const AuditReport& report, bool charts) {
  std::string out = verdict_matrix(report) + gate_section(report);
  std::string cells;
  for (std::size_t i = 0; i < report.cells.size(); ++i)
    cells += folded_cell(report.cells[i], {i, true}, report.options, charts);
  return out + section("cells", 2, "Each comparison", cells);
}

std::string single_body(const AuditReport& report, bool charts) {
  const AuditedCell& cell = report.cells.front();
  const CellSpot spot{0, false};
  return verdict_banner(cell) + arms_table(cell.comparison, spot) + gate_section(report) +
         cell_sections(cell, spot, report.options, charts, 2);
}

}  // namespace
}  // namespace unmask::html

namespace unmask {

std::string to_html(const AuditReport& report, const ChartLibrary& charts) {
  const bool drawn = !charts.script.empty();
  html::Page page;
  if (report.cells.size() == 1) {
    const CellComparison& cell = report.cells.front().comparison;
    page.title = fmt::format("{}: {}, unmask",
                             verdict_title(report.cells.front().judgement.verdict), cell.cell);
    page.headings = html::paragraph("unmask audit", "kicker") + "<h1>" + html::escaped(cell.cell) +
                    ": " + html::escaped(html::arms_line(cell)) + "</h1>\n";
    page.body = html::single_body(report, drawn);
  } else if (report.cells.empty()) {
    page.title = "unmask";
    page.headings = "<h1>Nothing was compared.</h1>\n";
  } else {
    page.title = html::tally(report) + ", unmask";
    page.headings = html::paragraph("unmask audit", "kicker") + "<h1>" +
                    html::escaped(counted(static_cast<long>(report.cells.size()), "comparison") +
                                  ": " + html::tally(report)) +
                    "</h1>\n";
    page.body = html::grid_body(report, drawn);
  }
  if (!report.cells.empty()) page.headings += html::contents(report);
  page.body += html::section("audit-evidence", 2, "Evidence quality",
                             html::evidence_list(report.warnings, report.dropped));
  page.body += html::section("method", 2, "Method", html::method_notes(report.options, true));
  page.footer = html::provenance(report.provenance);
  return html::document(page, charts);
}

}  // namespace unmask
