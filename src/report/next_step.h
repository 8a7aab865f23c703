// What to do after a verdict, with a command that works where it is pasted.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/audit_report.h"

namespace unmask {

struct NextStep {
  std::string sentence;              // ends in ":" where a command follows
  std::vector<std::string> command;  // its words, not yet quoted; empty: none
};

// The command lists the candidate's failed calls: every file of its arm, and the options that were
// needed to read them. Where it has none, none is suggested; where the log cannot be read again, or
// is of too many files to list, the sentence says what to do in words.
NextStep next_step(const AuditedCell& cell);

// The same in one line, the command quoted for a shell, between backticks.
std::string next_step_line(const AuditedCell& cell);

// A command as lines of at most `columns`, which a shell reads as one: "\" ends a line, between two
// words, and where a word is longer than a line, inside it (the next line then has no indent). Safe
// to show. Fewer columns than 24 count as 24.
std::vector<std::string> command_lines(const std::vector<std::string>& words, std::size_t columns);

}  // namespace unmask
