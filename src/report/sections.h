// Parts that several terminal screens share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/audit_report.h"
#include "report/screen.h"

namespace unmask {

Paint paint_of(Verdict verdict);

// Warnings and dropped records as a list, the first `most` of them; nothing where there are none.
void show_evidence(Screen& screen, const std::vector<std::string>& lines, std::size_t most);

// Version, seed and the command, dimmed; `resamples`: with their number, where any were drawn.
void show_provenance(Screen& screen, const Provenance& provenance, bool resamples);

// Where the decisions of two logs flip; nothing where they hold no log-probabilities.
void show_mechanism(Screen& screen, const std::optional<Mechanism>& mechanism);

// "offered tools from the domain's built-in list" ...
std::string tool_evidence_in_words(const ArmSummary& arm);

// Whether any budget of the curve has a success rate.
bool has_success(const std::vector<CurvePoint>& curve);
// Whether success within the tight budget is known of both arms; it is not marked elsewhere.
bool knows_tight(const CellComparison& cell);
// "error budget 10; both sides' failed calls counted".
std::string budget_in_words(const BudgetSummary& budget);

}  // namespace unmask
