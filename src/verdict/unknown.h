// Episodes whose outcome nobody knows: how many, of which arm, and in words.
#pragma once

#include <string>
#include <string_view>

#include "compare/comparison.h"

namespace unmask {

// Why the outcome is unknown. A verdict that changes with such episodes read as failed or as passed
// is fragile.
//   Excluded  infrastructure errors
//   Ungraded  ran without a grade
//   Missing   that a log should hold and does not (missing_beside)
enum class Unknown { Excluded, Ungraded, Missing };
std::string_view to_string(Unknown unknown);  // "excluded", "ungraded", "missing"

// Of both arms; of compared tasks, but for excluded ones, which are counted wherever they are.
long unknown_episodes(const CellComparison& cell, Unknown unknown);

// "the 128 episodes of the candidate that have no grade"; "the 5 episodes (2 of the baseline, 3 of
// the candidate) that are missing". Where the cell has none: "episodes of other comparisons that
// have no grade" (Holm's correction joins them).
std::string unknown_episodes_in_words(const CellComparison& cell, Unknown unknown);

}  // namespace unmask
