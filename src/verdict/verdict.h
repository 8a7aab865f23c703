// verdict: criteria fixed beforehand -> a verdict with its reasons (METHOD 10).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"

namespace unmask {

enum class Verdict { DegradedAndMasked, Degraded, Masked, Amplified, Clean, Inconclusive };
std::string_view to_string(Verdict verdict);  // "degraded+masked", "masked" ...

enum class Flatness { Equivalent, Undetected };
std::string_view to_string(Flatness flatness);

struct NeededEvidence {  // what would settle `inconclusive`; nullopt: more of it never would
  std::optional<int> tasks;
  std::optional<int> trials;
  std::string condition;  // the condition that blocks `clean`
};

struct Judgement {
  bool degraded = false;
  bool unmasked_damage = false;
  Verdict verdict = Verdict::Inconclusive;
  std::optional<Flatness> flatness;  // with Masked
  bool fragile = false;              // changes with excluded episodes as best, worst or failed
  std::vector<std::string> reasons;  // sentences, the decisive first
  std::optional<NeededEvidence> needed;  // with Inconclusive
};

// Judges one comparison whose multiplicity has been applied. `fragile` is left false: audit sets it.
Judgement judge(const CellComparison& cell);

}  // namespace unmask
