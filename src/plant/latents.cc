#include <cmath>

#include "plant/model.h"
#include "stats/distribution.h"

namespace unmask {
namespace {

double quantile_of(double shared, double own, double pairing) {
  return normal_cdf(std::sqrt(pairing) * shared + std::sqrt(1 - pairing) * own);
}

}  // namespace

std::vector<PairedLatents> draw_latents(int tasks, double pairing, std::uint64_t seed) {
  Rng rng(seed, "tasks");
  std::vector<PairedLatents> latents(static_cast<std::size_t>(tasks));
  for (PairedLatents& task : latents) {
    const double failure = rng.normal();
    const double success = rng.normal();
    const double length = rng.normal();
    for (TaskLatents* arm : {&task.baseline, &task.candidate}) {
      arm->failure_quantile = quantile_of(failure, rng.normal(), pairing);
      arm->success_quantile = quantile_of(success, rng.normal(), pairing);
      arm->length_normal = length;
    }
  }
  return latents;
}

}  // namespace unmask
