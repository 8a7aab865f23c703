// What an audit found, in plain words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unmask {

struct DemoCell {
  std::string domain;
  std::string candidate;  // the arm's label
  std::string verdict;    // "masked"
  // Calls to tools that do not exist, a share of the candidate's calls; nullopt: it made none.
  std::optional<double> hallucinated;
  std::string words;  // lines for a person
};

// The cells of an audit's JSON ("unmask.audit/1"), in its order.
// Errors   Malformed: not such a JSON.
Result<std::vector<DemoCell>> demo_cells(std::string_view audit_json);

// What was found and what it means, ready to print. agent: a sentence on who played.
std::string demo_conclusion(const std::vector<DemoCell>& cells, const std::string& agent);

}  // namespace unmask
