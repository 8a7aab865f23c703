// One comparison as sections of the page, and a grid's matrix of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "report/audit_report.h"

namespace unmask::html {

// Where a cell stands: "c0", its elements' prefix, and "/cells/0", its place in the JSON report.
struct CellSpot {
  std::size_t index = 0;
  bool of_many = false;  // then p values are shown with Holm's correction over the cells

  std::string id() const { return "c" + std::to_string(index); }
  std::string json(std::string_view rest) const {
    return "/cells/" + std::to_string(index) + std::string(rest);
  }
};

// The verdict with its one sentence, and what to do next.
std::string verdict_banner(const AuditedCell& cell);

// Everything else about it but the table of its arms; `charts`: drawn, else their tables alone.
// `level` of its headings.
std::string cell_sections(const AuditedCell& cell, const CellSpot& spot,
                          const CompareOptions& options, bool charts, int level);

// Tables, each with its numbers' places in the JSON report.
std::string arms_table(const CellComparison& cell, const CellSpot& spot);
std::string outcome_table(const CellComparison& cell, const CellSpot& spot);
std::string channels_table(const CellComparison& cell, const CellSpot& spot);
std::string budget_table(const CellComparison& cell, const CompareOptions& options,
                         const CellSpot& spot);
std::string names_table(const NamesComparison& names, const CellSpot& spot);
std::string positions_table(const CellComparison& cell, Channel channel, const CellSpot& spot);
std::string tasks_table(const CellComparison& cell, const CellSpot& spot);
std::string recovery_table(const CellComparison& cell, const CellSpot& spot);
std::string length_table(const CellComparison& cell, const CellSpot& spot);

// Where decisions flip; empty where the logs hold no log-probabilities.
std::string mechanism_part(const std::optional<Mechanism>& mechanism, const CellSpot& spot,
                           bool charts);

// Family and architecture down, domain and precision across, where the cells' places are known;
// else one row a comparison. Every field says its verdict in a word and links to its cell.
std::string verdict_matrix(const AuditReport& report);

}  // namespace unmask::html
