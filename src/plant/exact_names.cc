#include "plant/exact_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "plant/apportion.h"
#include "stats/rank.h"

namespace unmask {
namespace {

constexpr int kRestarts = 400;
constexpr int kSwaps = 400;
constexpr std::uint32_t kFarthestSwap = 4;  // ranks; small steps come close to any correlation

// Spearman's rho over the names either arm has; nullopt where it is undefined.
std::optional<double> rank_correlation(const ExactNames& names) {
  std::vector<double> x;
  std::vector<double> y;
  for (std::size_t i = 0; i < names.baseline.size(); ++i) {
    if (names.baseline[i] + names.candidate[i] == 0) continue;
    x.push_back(names.baseline[i]);
    y.push_back(names.candidate[i]);
  }
  const Result<double> rho = spearman(x, y);
  if (!rho) return std::nullopt;
  return *rho;
}

bool reached(const ExactNames& names, double target) {
  const std::optional<double> rho = rank_correlation(names);
  return rho && std::abs(*rho - target) < 0.005;
}

// Swaps the candidate's counts of names of near rank until the target is met or passed.
bool reorder(ExactNames& names, int ordinary, double target, Rng& rng) {
  const auto count = static_cast<std::uint32_t>(ordinary);
  for (int swap = 0; swap < kSwaps; ++swap) {
    if (reached(names, target)) return true;
    const std::optional<double> rho = rank_correlation(names);
    if (count < 2 || !rho || *rho < target) return false;
    const std::uint32_t i = rng.below(count);
    const std::uint32_t j = std::min(count - 1, i + 1 + rng.below(kFarthestSwap));
    std::swap(names.candidate[i], names.candidate[j]);
  }
  return false;
}

}  // namespace

Result<ExactNames> exact_names(const ExactOptions& options) {
  std::vector<double> zipf;
  for (int k = 0; k < options.names; ++k) zipf.push_back(1.0 / (k + 1));
  ExactNames names;
  names.baseline = largest_remainders(options.baseline.tool_name, zipf);
  names.candidate = largest_remainders(options.candidate.tool_name - options.candidate.novel, zipf);
  const std::vector<int> novel =
      largest_remainders(options.candidate.novel, std::vector<double>(kNovelNames, 1.0));
  names.baseline.resize(names.baseline.size() + novel.size(), 0);
  names.candidate.insert(names.candidate.end(), novel.begin(), novel.end());
  if (!options.name_correlation) return names;
  Rng rng(options.seed, "name order");
  for (int attempt = 0; attempt < kRestarts; ++attempt) {
    ExactNames tried = names;
    if (reorder(tried, options.names, *options.name_correlation, rng)) return tried;
  }
  return Error{ErrorKind::InvalidArgument,
               fmt::format("name_correlation {} is not reached with {} names and these counts",
                           *options.name_correlation, options.names),
               ""};
}

}  // namespace unmask
