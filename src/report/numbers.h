// Numbers as text, one way for every rendering: points, percent and steps one decimal, ratios two,
// p three significant digits. Negative numbers carry U+2212. Absent numbers are "–".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"  // count_text, counted
#include "compare/arm_summary.h"
#include "stats/interval.h"

namespace unmask {

inline constexpr const char* kAbsent = "–";

// 0.195 -> "19.5%". What would round to 0 but is not is "<0.1%".
std::string percent(std::optional<double> proportion);
// As percent, with a second decimal below 1%: 0.00182 -> "0.18%".
std::string fine_percent(std::optional<double> proportion);
// -0.013 -> "−1.3"; with_sign: 0.013 -> "+1.3".
std::string in_points(std::optional<double> proportion, bool with_sign = true);
// 1.9641 -> "1.96"; beyond 1000 ">999".
std::string ratio(std::optional<double> value);
// 0.0004 -> "<0.001", 0.04567 -> "0.0457", 1 -> "1".
std::string p_value(std::optional<double> p);
// 7.34 -> "7.3"; from a billion on "1.2e+12".
std::string decimal(std::optional<double> value, int digits = 1);

// "[15.2%, 24.1%]", "[−5.0, +2.4]", "[1.72, 2.24]"; empty where absent.
std::string percent_interval(const std::optional<Interval>& interval);
std::string points_interval(const std::optional<Interval>& interval);
std::string ratio_interval(const std::optional<Interval>& interval);

// "19.5% [15.2%, 24.1%]".
std::string percent_estimate(const Estimate& estimate);

// 34483.6 -> "34,484"; from a billion on "1.2e+12".
std::string rounded(std::optional<double> value);

// A sentence of another room in the typography of this page: U+2212 for the minus of a number, no
// space before "%".
std::string typeset(std::string_view sentence);

}  // namespace unmask
