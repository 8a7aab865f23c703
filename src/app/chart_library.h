// The script of the HTML report's charts that is part of the program.
#pragma once

#include "report/html.h"

namespace unmask {

// Empty where this build has none.
ChartLibrary chart_library();

}  // namespace unmask
