// What the chart templates share: filling them, and how the two arms look.
#pragma once

#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_writer.h"
#include "failure/channel.h"
#include "stats/interval.h"

namespace unmask::html {

// Names beyond these are in the table only.
inline constexpr std::size_t kNamesDrawn = 12;

using Filling = std::pair<std::string_view, std::string>;

// The template with every "@name@" replaced, in order: what holds texts of a log must come last, so
// that nothing is replaced inside it.
std::string filled(std::string_view pattern, std::initializer_list<Filling> fillings);

// Encodings of the two arms, the same in every chart.
inline constexpr std::string_view kArmColor =
    R"json({"field":"arm","type":"nominal","scale":{"domain":["baseline","candidate"],"range":["var(--baseline)","var(--candidate)"]},"legend":{"title":null,"orient":"top"}})json";
inline constexpr std::string_view kArmShape =
    R"json({"field":"arm","type":"nominal","scale":{"domain":["baseline","candidate"],"range":["circle","diamond"]},"legend":{"title":null,"orient":"top"}})json";
inline constexpr std::string_view kArmDash =
    R"json({"field":"arm","type":"nominal","scale":{"domain":["baseline","candidate"],"range":[[1,0],[6,3]]},"legend":{"title":null,"orient":"top"}})json";

// K_tight as a dashed line that says so, two layers over the field k; "@tight@" is still to be
// filled.
inline constexpr std::string_view kTightRule =
    R"json({"data":{"values":[{"k":@tight@,"label":"tight budget, K = @tight@"}]},"mark":{"type":"rule","color":"var(--dim)","strokeDash":[3,3]},"encoding":{"x":{"field":"k","type":"quantitative"}}},
{"data":{"values":[{"k":@tight@,"label":"tight budget, K = @tight@"}]},"mark":{"type":"text","align":"left","dx":5,"y":8,"color":"var(--dim)","fontSize":11},"encoding":{"x":{"field":"k","type":"quantitative"},"text":{"field":"label"}}})json";

// kTightRule as one more layer; empty where success there is not known.
std::string tight_rule(bool known);

// Members "lo" and "hi" of an open object.
void write_ends(JsonWriter& json, const std::optional<Interval>& interval);

// "c0-names-chart".
std::string id_of(std::string_view place, std::string_view name);

// An arm's label, short enough for an axis and unlike those in `used`, where it is added.
std::string arm_axis_label(const std::string& label, std::set<std::string>& used);

// A name and its kind, short enough for an axis and unlike those in `used`, where it is added.
std::string axis_label(const std::string& name, SubKind kind, std::set<std::string>& used);

}  // namespace unmask::html
