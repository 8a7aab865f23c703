// The report in plain words: one headline, and the names of things, shared by the
// terminal and Markdown renderings. Texts from logs are returned as they are; the renderings make
// them safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/audit_report.h"

namespace unmask {

std::string verdict_title(Verdict verdict);  // "MASKED", "DEGRADED + MASKED"

// tool_name -> "hallucinated tool names".
std::string_view channel_in_words(Channel channel);

// The amplified channel with the largest difference; without one, the channel with the largest
// difference at all; nullopt: no failure in either arm.
std::optional<Channel> leading_channel(const CellComparison& cell);

// What happened, for somebody who reads nothing else: one or two sentences.
std::string headline(const AuditedCell& cell);

// What the tight budget allows, by the rule of the recount: "at most 2 failed calls", "fewer than 3
// failed calls".
std::string allowed_calls(const CellComparison& cell);
// Why the tight budget is not the one fixed beforehand, in brackets after a blank; empty: it is.
std::string exploratory_in_words(const CellComparison& cell);
// Why a table of failed calls is empty: none failed, none was made, or nothing ran.
std::string no_failure_in_words(const CellComparison& cell);

// Why the verdict is fragile; empty where it is not.
std::string fragility(const AuditedCell& cell);

// "114 tasks × 4 trials", "50 tasks × 1-4 trials", "10 tasks, 1 trial each".
std::string tasks_by_trials(const ArmSummary& arm);

// "−1.3 points [−5.0, +2.4], p 0.49 (Holm 0.98)".
std::string outcome_in_words(const Outcome& outcome, bool with_holm);
// "equivalent within ±7.5 points (90% interval [−4.4, +1.8], p <0.001)".
std::string equivalence_in_words(const Outcome& outcome);

// Recovery, names, noise: each one sentence, empty where there is nothing to say.
std::string recovery_in_words(const CellComparison& cell);
// Calls that were handed back before they ran (METHOD 9); empty where none was.
std::string repair_in_words(const ArmSummary& arm);
std::string repair_in_words(const CellComparison& cell);
std::string names_in_words(const NamesComparison& names);
std::string noise_in_words(const NoiseFloor& noise, const CellComparison& cell);
std::string unmasked_gap_in_words(const CellComparison& cell, bool with_holm);

// "message (where; 12 in all)".
std::string warning_in_words(const Warning& warning);
std::string dropped_in_words(const Dropped& dropped);
// Records that were dropped for one reason as one, the first, with their number.
std::vector<Dropped> by_reason(const std::vector<Dropped>& dropped);

}  // namespace unmask
