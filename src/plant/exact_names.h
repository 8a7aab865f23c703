// Which hallucinated names the calls of exact mode use, and how often.
#pragma once

#include <vector>

#include "plant/plant.h"

namespace unmask {

inline constexpr int kNovelNames = 3;  // at most: novel calls are spread over this many

// Counts per name of the vocabulary; novel names come after options.names.
struct ExactNames {
  std::vector<int> baseline;
  std::vector<int> candidate;
};

// Zipf-like counts in both arms, the candidate's reordered until the rank correlation is met.
// Errors   InvalidArgument: name_correlation is not reached by any reordering that was tried.
Result<ExactNames> exact_names(const ExactOptions& options);

}  // namespace unmask
