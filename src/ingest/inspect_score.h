// Inspect's scores: which scorer counts, and what its value says. Internal to ingest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/json_tree.h"
#include "ingest/notes.h"

namespace unmask {

// The number Inspect gives a score's value: "C" 1, "P" 0.5, "I" and "N" 0, yes/no, true/false,
// numbers and texts of numbers themselves. nullopt for what it cannot read (there it is 0) and for
// NaN.
std::optional<double> inspect_score(const JsonNode& value);

struct Grade {
  std::optional<double> reward;  // 1 or 0; nullopt: ungraded
  std::optional<bool> success;
};

// 1 passes, 0 fails, else ungraded; with a threshold: passes iff score >= threshold.
Grade grade_of(std::optional<double> score, std::optional<double> pass_threshold);

// The scorer that counts, with the key to take where its value is an object.
struct ScorerChoice {
  std::string scorer;  // empty: the log has no scorer
  std::string key;     // empty: the value itself

  bool operator==(const ScorerChoice&) const = default;
};

// Names a sample's "scores" offer, in order: "match", and for an object value also "match/f1". For
// the one "score" without a name of older logs: "score". Empty when the sample was not scored.
std::vector<std::string> scorer_names(const JsonNode& sample);

// `known` are the names found in the log, best source first. Warns when others are passed over.
// Errors   InvalidArgument: `wanted` is not empty and not among them.
Result<ScorerChoice> choose_scorer(const std::string& wanted, const std::vector<std::string>& known,
                                   Notes& notes, const std::string& where);

// The value of the chosen score in a sample's "scores"; absent when the sample lacks it.
JsonNode chosen_value(const JsonNode& scores, const ScorerChoice& choice);

}  // namespace unmask
