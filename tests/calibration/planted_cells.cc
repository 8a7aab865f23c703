#include "planted_cells.h"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "failure/classify.h"
#include "ingest/ingest.h"
#include "trace/tau2_writer.h"

namespace unmask::calibration {
namespace {

constexpr int kResamples = 1000;

}  // namespace

Arm read_back(const Run& run, const std::string& label) {
  const std::string bytes = tau2_results(run);
  ReadOptions options;
  options.threads = 1;
  options.format = "tau2";
  std::vector<EpisodeFacts> facts;
  std::unique_ptr<Classifier> classifier;
  std::mutex mutex;
  const Result<IngestReport> report =
      ingest_bytes(bytes, label, options, [&](const RunInfo& info, std::size_t, Episode&& episode) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (!classifier) classifier = std::make_unique<Classifier>(info, nullptr);
        facts.push_back(episode_facts(episode, classifier->classify(episode)));
      });
  if (!report || !report->dropped.empty()) {
    fmt::print(stderr, "planted data could not be read back\n");
    std::exit(1);
  }
  return make_arm(label, {label}, report->run.info, std::move(facts));
}

CellComparison compare_planted(const Planter& planter, std::uint64_t seed) {
  const PlantedPair pair = planter.draw(seed);
  CompareOptions compare;
  compare.resamples = kResamples;
  compare.threads = 1;
  compare.seed = seed;
  Result<CellComparison> cell = compare_arms(read_back(pair.baseline, "baseline"),
                                             read_back(pair.candidate, "candidate"), compare);
  if (!cell) {
    fmt::print(stderr, "{}\n", to_string(cell.error()));
    std::exit(1);
  }
  std::vector<CellComparison> cells;
  cells.push_back(std::move(*cell));
  apply_multiplicity(cells);
  return std::move(cells.front());
}

Planter planter_of(const PlantOptions& options) {
  Result<Planter> planter = Planter::make(options);
  if (!planter) {
    fmt::print(stderr, "{}\n", to_string(planter.error()));
    std::exit(1);
  }
  return std::move(*planter);
}

}  // namespace unmask::calibration
