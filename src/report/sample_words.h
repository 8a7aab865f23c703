// What the numbers of a report rest on, in words: episodes, tasks that are left out, how episodes
// are weighed. Texts from logs are returned as they are; the renderings make them safe.
#pragma once

#include <string>
#include <string_view>

#include "report/audit_report.h"

namespace unmask {

// "11 tasks compared; 5 tasks in one arm only are left out: 3, 7, 12 and 2 more"; also those
// without a graded episode in an arm, which the outcome leaves out: "11 tasks compared by their
// calls, 9 of them in the outcome; ...". Empty where all are compared.
std::string left_out_in_words(const CellComparison& cell);

// "80 of 120 episodes evaluated, 20 tasks × 4 trials; 36 of tasks left out; 4 excluded
// (infrastructure errors); 2 ungraded": what became of every episode of the arm's log. `evaluated`:
// those the outcome rests on.
std::string episodes_in_words(const ArmSummary& arm, long evaluated);

// "failed calls (both sides)": what E counts (METHOD 2), beside the agent's failures by channel.
std::string_view counted_failures(BudgetCount count);

// The mark of a channel whose weighed numbers are not the pooled ones as shown; empty elsewhere.
std::string_view weighed_mark(const ChannelComparison& channel);
// The footnote to that mark: "† ... Weighed alike: tool_name ×1.80, +9.1 points."; empty where no
// channel has it.
std::string weighed_in_words(const CellComparison& cell);

}  // namespace unmask
