#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/html_cell.h"
#include "report/html_fields.h"
#include "report/html_page.h"
#include "report/numbers.h"
#include "report/sentences.h"

namespace unmask::html {
namespace {

using Pair = std::pair<std::string, std::string>;

std::string matrix_field(const AuditedCell& cell, std::size_t index) {
  const Verdict verdict = cell.judgement.verdict;
  const CellComparison& c = cell.comparison;
  const CellSpot spot{index, true};
  const std::optional<double> gap =
      c.budget.unmasked.test ? std::optional<double>(c.budget.unmasked.test->mean) : std::nullopt;
  const std::optional<double> delta =
      c.outcome.delta ? std::optional<double>(c.outcome.delta->mean) : std::nullopt;
  return fmt::format(
      "<a class=\"{}\" href=\"#{}\"><span class=\"word\"><span class=\"symbol\" "
      "aria-hidden=\"true\">"
      "{}</span>{}</span><span class=\"gap small\">score {}, hidden {}</span></a>",
      verdict_class(verdict), spot.id(), verdict_symbol(verdict),
      escaped(std::string(to_string(verdict)) + (cell.judgement.fragile() ? ", fragile" : "")),
      inline_field(points_field(delta, spot.json("/outcome/delta"))),
      inline_field(points_field(gap, spot.json("/budget/unmasked_gap/value"))));
}

void add_once(std::vector<Pair>& list, const Pair& pair) {
  if (std::find(list.begin(), list.end(), pair) == list.end()) list.push_back(pair);
}

std::string field_at(const AuditReport& report, const Pair& row, const Pair& column) {
  std::string out;
  for (std::size_t i = 0; i < report.cells.size(); ++i) {
    const CellPlace& place = report.cells[i].place;
    if (Pair(place.family, place.architecture) == row &&
        Pair(place.domain, place.precision) == column)
      out += matrix_field(report.cells[i], i);
  }
  return "<td>" + (out.empty() ? std::string("<span class=\"dim\">not in the grid</span>") : out) +
         "</td>";
}

// The first number of a precision's name, which is its bits: fp8, INT4-AWQ, Q3_K_M. 0 where there
// is none. Columns go from many bits to few.
int bits_of(const std::string& precision) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto begin = std::find_if(precision.begin(), precision.end(), is_digit);
  int bits = 0;
  for (auto c = begin; c != precision.end() && is_digit(*c) && bits < 100; ++c)
    bits = 10 * bits + (*c - '0');
  return bits;
}

std::string by_place(const AuditReport& report) {
  std::vector<Pair> rows;
  std::vector<Pair> columns;
  for (const AuditedCell& cell : report.cells) {
    add_once(rows, {cell.place.family, cell.place.architecture});
    add_once(columns, {cell.place.domain, cell.place.precision});
  }
  std::stable_sort(columns.begin(), columns.end(), [](const Pair& a, const Pair& b) {
    return std::pair(a.first, -bits_of(a.second)) < std::pair(b.first, -bits_of(b.second));
  });
  std::string out = "<thead><tr><th scope=\"col\">model</th>";
  for (const auto& [domain, precision] : columns)
    out += fmt::format("<th scope=\"col\">{}<br>{}</th>", escaped(domain), escaped(precision));
  out += "</tr></thead><tbody>\n";
  for (const Pair& row : rows) {
    out += fmt::format(
        "<tr><th scope=\"row\">{}{}</th>", escaped(row.first),
        row.second.empty() ? "" : "<br><span class=\"dim\">" + escaped(row.second) + "</span>");
    for (const Pair& column : columns) out += field_at(report, row, column);
    out += "</tr>\n";
  }
  return out + "</tbody>";
}

std::string one_a_row(const AuditReport& report) {
  std::string out =
      "<thead><tr><th scope=\"col\">comparison</th><th "
      "scope=\"col\">verdict</th></tr></thead><tbody>\n";
  for (std::size_t i = 0; i < report.cells.size(); ++i)
    out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n",
                       escaped(report.cells[i].comparison.cell), matrix_field(report.cells[i], i));
  return out + "</tbody>";
}

}  // namespace

std::string verdict_matrix(const AuditReport& report) {
  const bool placed =
      std::none_of(report.cells.begin(), report.cells.end(),
                   [](const AuditedCell& cell) { return cell.place == CellPlace{}; });
  std::string out =
      "<div class=\"scroll\"><table class=\"matrix\"><caption>score: change in points; hidden: the "
      "unmasked gap, points that appear when at most " +
      counted(report.options.k_tight, "failed call") +
      (report.options.k_tight == 1 ? " is" : " are") + " allowed</caption>";
  return out + (placed ? by_place(report) : one_a_row(report)) + "</table></div>\n";
}

}  // namespace unmask::html
