// The report as one HTML page: self-contained, opened from disk, readable without JavaScript.
//
// Everything a log or a user wrote is escaped for its place, and the page's policy lets no script
// run but the one handed in here.
#pragma once

#include <string>
#include <string_view>

#include "report/audit_report.h"

namespace unmask {

// The script that draws the charts, libraries included. Empty: the page has its tables only, and
// says so.
struct ChartLibrary {
  std::string_view script;
  std::string sha256;  // of the script, base64, for the page's policy
};

// Pure: same report, same bytes.
std::string to_html(const AuditReport& report, const ChartLibrary& charts);
std::string to_html(const InspectReport& report, const ChartLibrary& charts);

}  // namespace unmask
