#include "llm/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace unmask {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double number(float logit) {
  return std::isnan(logit) ? kNever : static_cast<double>(logit);
}

std::optional<std::size_t> most_likely(std::span<const float> logits) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (number(logits[i]) > (best ? number(logits[*best]) : kNever)) best = i;
  return best;
}

// The `most` greatest logits in falling order, of equal ones the first.
std::vector<std::size_t> leading(std::span<const float> logits, std::size_t most) {
  std::vector<std::size_t> order(logits.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  most = std::min(most, order.size());
  const auto before = [&](std::size_t a, std::size_t b) {
    const double x = number(logits[a]);
    const double y = number(logits[b]);
    return x != y ? x > y : a < b;
  };
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(most);
  std::partial_sort(order.begin(), end, order.end(), before);
  order.resize(most);
  return order;
}

struct Weights {
  std::vector<double> of_token;
  double sum = 0;
};

Weights weights_of(std::span<const float> logits, double greatest, double temperature) {
  Weights weights;
  weights.of_token.reserve(logits.size());
  for (const float logit : logits) {
    const double weight = std::exp((number(logit) - greatest) / temperature);
    weights.of_token.push_back(weight);
    weights.sum += weight;
  }
  return weights;
}

// The tokens that top_k and top_p leave, most likely first. Looks at as few as it can: sorting a
// vocabulary of 260,000 for every token would take longer than most models do.
std::vector<std::size_t> left_by_limits(std::span<const float> logits, const Weights& weights,
                                        const SamplerOptions& options) {
  std::size_t most = options.top_k > 0 ? static_cast<std::size_t>(options.top_k) : logits.size();
  most = std::min(most, logits.size());
  if (options.top_p >= 1) return leading(logits, most);
  double whole = weights.sum;
  if (most < logits.size()) {
    whole = 0;
    for (const std::size_t token : leading(logits, most)) whole += weights.of_token[token];
  }
  for (std::size_t looked_at = std::min<std::size_t>(most, 256);;
       looked_at = std::min(most, looked_at * 8)) {
    std::vector<std::size_t> order = leading(logits, looked_at);
    double sum = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      sum += weights.of_token[order[i]];
      if (sum >= options.top_p * whole) {
        order.resize(i + 1);
        return order;
      }
    }
    if (looked_at == most) return order;
  }
}

}  // namespace

std::optional<std::size_t> sample_token(std::span<const float> logits,
                                        const SamplerOptions& options, Rng& rng) {
  const std::optional<std::size_t> best = most_likely(logits);
  if (!best || options.temperature <= 0) return best;
  const Weights weights = weights_of(logits, number(logits[*best]), options.temperature);
  const double drawn = rng.uniform();
  double sum = 0;
  if (options.top_k <= 0 && options.top_p >= 1) {
    for (std::size_t i = 0; i < logits.size(); ++i) {
      sum += weights.of_token[i];
      if (drawn * weights.sum < sum) return i;
    }
    return best;
  }
  const std::vector<std::size_t> left = left_by_limits(logits, weights, options);
  double whole = 0;
  for (const std::size_t token : left) whole += weights.of_token[token];
  for (const std::size_t token : left) {
    sum += weights.of_token[token];
    if (drawn * whole < sum) return token;
  }
  return best;
}

TokenLogprobs token_logprobs(std::span<const float> logits, std::size_t chosen, std::size_t most) {
  TokenLogprobs out;
  const std::optional<std::size_t> best = most_likely(logits);
  if (!best) return out;
  const double greatest = number(logits[*best]);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(number(logit) - greatest);
  const double norm = greatest + std::log(sum);
  out.chosen = number(logits[chosen]) - norm;
  for (const std::size_t token : leading(logits, most)) {
    if (number(logits[token]) == kNever) break;
    out.top.emplace_back(token, number(logits[token]) - norm);
  }
  return out;
}

}  // namespace unmask
