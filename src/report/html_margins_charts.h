// The chart of a page of replays that no other page has.
#pragma once

#include "report/html_charts.h"

namespace unmask::html {

// How wide the margins of each arm's own choices are: 10 to 90 % as a thin line, 25 to 75 % as a
// thick one, the median as a point. Quantiles beyond what was seen are left away.
Chart margins_chart(const Mechanism& mechanism, std::string_view place);

}  // namespace unmask::html
