// Numbers of the report as fields of a table, each with its place in the JSON report, so that a
// reader of the page can find it there and a test can compare the two.
#pragma once

#include <optional>
#include <string>

#include "report/html_text.h"
#include "stats/interval.h"

namespace unmask::html {

Field percent_field(std::optional<double> value, std::string pointer);
Field points_field(std::optional<double> value, std::string pointer);
Field ratio_field(std::optional<double> value, std::string pointer);
Field p_field(std::optional<double> value, std::string pointer);
Field count_field(long value, std::string pointer);
// One or two decimals, or none: "7.3", "1.57", "34,484".
Field decimal_field(std::optional<double> value, int digits, std::string pointer);
// A word of the JSON report as it stands there.
Field word_field(std::string_view word, std::string pointer);
// "[0.81, 0.93]".
Field decimal_interval_field(const std::optional<Interval>& interval, int digits,
                             std::string pointer);
Field percent_interval_field(const std::optional<Interval>& interval, std::string pointer);
Field points_interval_field(const std::optional<Interval>& interval, std::string pointer);
Field ratio_interval_field(const std::optional<Interval>& interval, std::string pointer);

// A number inside a sentence, with its place in the JSON report.
std::string inline_field(const Field& field);

// Several numbers of one field, "a [b, c]" or "a → b"; those absent after the first are left away.
Field joined(const Field& first, std::string_view between, const Field& second);

}  // namespace unmask::html
