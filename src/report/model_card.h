// A block for a model card: the reporting standard of METHOD 10 beside the task score.
#pragma once

#include <string>

#include "report/audit_report.h"

namespace unmask {

// Markdown of at most kMarkdownBytes, which says how many comparisons did not fit. For each
// comparison, or for the arm: task success, failed calls per call by channel,
// success with at most K failed calls, recovery, n, exclusions, settings, seeds, version, command.
std::string to_model_card(const AuditReport& report);
std::string to_model_card(const InspectReport& report);

}  // namespace unmask
