// Flips by margin, shared by the page of an audit and the page of replays.
#pragma once

#include <string>
#include <string_view>

#include "report/html_charts.h"

namespace unmask::html {

// `json`: where the analysis stands in the JSON report,
// "/cells/0/mechanism/candidates/0/flips/...".
std::string flip_bins_table(const FlipAnalysis& flips, std::string_view json);

// `place` names the chart's place in the page and is part of its id; `of` are the decisions, as a
// sentence begins: "Decisions in the same context in both logs".
Chart flips_chart(const FlipAnalysis& flips, std::string_view place, std::string_view of);

}  // namespace unmask::html
