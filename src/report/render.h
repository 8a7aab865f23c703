// Renderings of a report. All are pure: same report, same bytes.
#pragma once

#include <string>

#include "report/audit_report.h"

namespace unmask {

struct TerminalStyle {
  bool color = false;
  int width = 80;  // columns; never exceeded
};

// The JSON contract (DESIGN 5): unmask.audit/1 and unmask.inspect/1.
std::string to_json(const AuditReport& report);
std::string to_json(const InspectReport& report);

// A screen that says the verdict first, then why. Texts from logs are made safe for a terminal.
std::string to_terminal(const AuditReport& report, const TerminalStyle& style);
std::string to_terminal(const InspectReport& report, const TerminalStyle& style);

// Short enough for a pull-request comment.
std::string to_markdown(const AuditReport& report);
std::string to_markdown(const InspectReport& report);

// Control sequences, bidirectional overrides and broken UTF-8 replaced by visible stand-ins, so
// that a hostile log cannot drive the terminal. Newlines and tabs become spaces.
std::string safe_for_terminal(std::string_view text);

// A tool's name as a table shows it; a call may name none.
inline std::string shown_name(const std::string& name) {
  return name.empty() ? "(no name)" : name;
}

}  // namespace unmask
