// The gate as a section of the page.
#pragma once

#include <string>
#include <string_view>

#include "report/audit_report.h"

namespace unmask::html {

inline constexpr std::string_view kGateId = "gate";

// What was asked, what was found and by how much it is beyond the limit, criterion by criterion
// and, in a grid, cell by cell, what does not hold first. Empty where no gate was asked for.
std::string gate_section(const AuditReport& report);

}  // namespace unmask::html
