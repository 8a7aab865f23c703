// The charts of the HTML report as Vega-Lite specifications. Their data are the report's numbers as
// they are: proportions stay proportions, and only axes and tooltips write them as points or
// percent.
#pragma once

#include <string>
#include <string_view>

#include "report/audit_report.h"

namespace unmask::html {

struct Chart {
  std::string id;           // of the element it is drawn in
  std::string description;  // for who cannot see it
  std::string caption;      // below it; both already escaped
  std::string spec;         // JSON; empty: there is nothing to draw
};

// `cell` names the cell's place in the page and is part of the ids.
Chart outcome_chart(const CellComparison& cell, std::string_view place);
Chart budget_chart(const CellComparison& cell, BudgetRule rule, std::string_view place);
Chart forest_chart(const CellComparison& cell, std::string_view place);
Chart names_chart(const NamesComparison& names, std::string_view place);
Chart position_chart(const CellComparison& cell, Channel channel, std::string_view place);
Chart task_chart(const CellComparison& cell, std::string_view place);

Chart arm_curve_chart(const ArmSummary& arm, int k_tight);
Chart arm_rates_chart(const ArmSummary& arm, const CompareOptions& options);
Chart arm_names_chart(const ArmSummary& arm);
Chart arm_position_chart(const ArmSummary& arm);

// The figure: the chart where there is one and `drawn`, its caption, and the numbers as a table,
// folded beneath the chart or in its place.
std::string figure(const Chart& chart, const std::string& table, bool drawn);

}  // namespace unmask::html
