// The gate as a test report that CI systems show (JUnit's XML).
#pragma once

#include <string>

#include "report/audit_report.h"

namespace unmask {

// A suite a cell; in it a case for the verdict, the outcome, the unmasked gap and each channel. A
// case fails where the gate says no to its part, and is skipped where it cannot say; without a gate
// the default criteria decide. Text that XML 1.0 cannot hold becomes U+FFFD.
std::string to_junit(const AuditReport& report);

// Text as content or attribute of XML 1.0.
std::string xml_text(std::string_view text);

}  // namespace unmask
