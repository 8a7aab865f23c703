// Draws tokens from logits. Knows no model.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace unmask {

struct SamplerOptions {
  double temperature = 1;  // 0: the most likely token, of equal ones the first
  double top_p = 1;        // the fewest most likely tokens that have this much together
  int top_k = 0;           // the most likely tokens; 0: all
};

// A token drawn from softmax(logits / temperature), cut by top_k, then top_p. One number of `rng`
// is used, none at temperature 0. Logits of -infinity and NaN are never drawn.
//
// Empty   nullopt: no logit is a number.
std::optional<std::size_t> sample_token(std::span<const float> logits,
                                        const SamplerOptions& options, Rng& rng);

struct TokenLogprobs {
  double chosen = 0;
  std::vector<std::pair<std::size_t, double>> top;  // most likely first, of equal ones the first
};

// log softmax(logits): natural, over all of them, at temperature 1.
TokenLogprobs token_logprobs(std::span<const float> logits, std::size_t chosen, std::size_t most);

}  // namespace unmask
