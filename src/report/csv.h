// Tidy tables for R, pandas or a spreadsheet (docs/csv.md): one thing a row, one fact a column.
//
// UTF-8, quoted as RFC 4180 says, lines end with a line feed, the first line names the columns.
// Bytes that are not UTF-8 and control characters but tab and line breaks become U+FFFD. Undefined
// is an empty field. Numbers are the JSON report's, digit for digit. Text that a
// spreadsheet would take for a formula (it begins with = + - @, a tab or a carriage return) gets an
// apostrophe before it; so does text that begins with one, so that taking one away gives the text.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "report/audit_report.h"

namespace unmask {

struct CsvTable {
  std::string file;                   // "episodes.csv"
  std::function<std::string()> text;  // the whole table; made when asked for, for it may be large
};

// The names of all tables, in the order an audit writes them.
inline constexpr std::array<std::string_view, 9> kCsvFiles = {
    "arms.csv", "cells.csv", "channels.csv", "comparisons.csv", "curves.csv",
    "gaps.csv", "names.csv", "episodes.csv", "calls.csv"};

// arms, cells, channels, comparisons, curves, gaps, names, episodes and calls; calls are empty
// where the report was made without AuditOptions::keep_calls. The report must outlive the tables.
std::vector<CsvTable> to_csv(const AuditReport& report);
// arms, channels, curves, names, episodes and calls, with the same columns.
std::vector<CsvTable> to_csv(const InspectReport& report);

// One field as it stands in the file.
std::string csv_text(std::string_view text);

}  // namespace unmask
