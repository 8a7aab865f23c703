// Would a verdict change with the episodes whose outcome nobody knows (METHOD 1)?
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "compare/options.h"
#include "metrics/arm.h"
#include "report/audit_report.h"

namespace unmask {

// The two arms of a cell, as read.
struct CellArms {
  std::string name;
  Arm baseline;
  Arm candidate;
  std::vector<TaskTrial> missing_baseline, missing_candidate;  // missing_beside the other
};

// Compares every cell as it stands, episodes of unknown outcome left out, and judges with Holm
// across cells.
// Errors   those of compare_arms, with the cell's name.
Result<std::vector<AuditedCell>> judge_cells(const std::vector<CellArms>& cells,
                                             const CompareOptions& options);

// Judges again with the unknown episodes of each kind read as best case, worst case and all failed,
// and puts into Judgement::fragile_by the kinds that change a verdict. A cell without grades in an
// arm has no reading of ungraded episodes: that verdict speaks of nothing else. Where more episodes
// are missing than there are, they decide, without a reading.
// Errors   those of judge_cells.
Result<Done> mark_fragile(const std::vector<CellArms>& cells, const CompareOptions& options,
                          std::vector<AuditedCell>& judged);

}  // namespace unmask
