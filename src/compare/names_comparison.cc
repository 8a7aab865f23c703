#include "compare/names_comparison.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "base/rng.h"
#include "compare/estimates.h"
#include "metrics/task_numbers.h"
#include "stats/distribution.h"
#include "stats/rank.h"

namespace unmask {
namespace {

constexpr std::size_t kFewestNames = 5;
constexpr std::size_t kMostTrialsToEnumerate = 8;

using Counts = std::map<std::string, NamesComparison::Pair>;

Counts joint_counts(const std::vector<NameCount>& baseline,
                    const std::vector<NameCount>& candidate) {
  Counts counts;
  for (const NameCount& name : baseline) {
    counts[name.name] = {name.name, name.count, 0, name.kind};
  }
  for (const NameCount& name : candidate) {
    const auto [entry, added] =
        counts.emplace(name.name, NamesComparison::Pair{name.name, 0, 0, name.kind});
    entry->second.candidate = name.count;
  }
  return counts;
}

void add_agreement(const Counts& counts, NamesComparison& out) {
  if (counts.size() < kFewestNames) return;
  std::vector<double> baseline;
  std::vector<double> candidate;
  double shared = 0;
  for (const auto& [name, pair] : counts) {
    baseline.push_back(static_cast<double>(pair.baseline));
    candidate.push_back(static_cast<double>(pair.candidate));
    if (pair.baseline > 0 && pair.candidate > 0) ++shared;
  }
  const Result<double> rho = spearman(baseline, candidate);
  if (rho) out.spearman = *rho;
  const Result<double> tau = kendall_tau_b(baseline, candidate);
  if (tau) out.kendall_tau_b = *tau;
  out.jaccard = shared / static_cast<double>(counts.size());
}

void add_novel_share(const Counts& counts, NamesComparison& out) {
  for (const auto& [name, pair] : counts) {
    out.candidate_calls += pair.candidate;
    if (pair.baseline == 0) out.novel_calls += pair.candidate;
  }
  if (out.candidate_calls == 0) return;
  out.novel_share = static_cast<double>(out.novel_calls) / static_cast<double>(out.candidate_calls);
}

// Trial number -> its rank among the arm's trial numbers.
std::map<int, std::size_t> trial_ranks(const Arm& arm) {
  std::map<int, std::size_t> ranks;
  for (const EpisodeFacts& episode : arm.episodes) {
    if (!episode.excluded) ranks.emplace(episode.trial, 0);
  }
  std::size_t next = 0;
  for (auto& [trial, rank] : ranks) rank = next++;
  return ranks;
}

// One call, its name reduced to an index into the union of the arms' names.
struct Occurrence {
  std::size_t task = 0;
  std::size_t trial = 0;  // rank
  std::size_t name = 0;
};

struct Occurrences {
  std::vector<Occurrence> calls;
  std::size_t trials = 0;
};

using NameIndex = std::map<std::string, std::size_t>;

Occurrences by_rank(const NamedFailures& found, const Arm& arm, const NameIndex& index) {
  const std::map<int, std::size_t> ranks = trial_ranks(arm);
  std::vector<std::size_t> in_union;
  for (const NameCount& name : found.names) in_union.push_back(index.at(name.name));
  Occurrences out;
  out.trials = ranks.size();
  out.calls.reserve(found.calls.size());
  for (const NameOccurrence& call : found.calls)
    out.calls.push_back({call.task, ranks.at(call.trial), in_union[call.name]});
  return out;
}

// (name, trial) -> how often the baseline produced it; names it never produced are left out.
std::vector<std::vector<double>> counts_by_trial(const Occurrences& baseline, std::size_t names) {
  std::vector<std::vector<double>> counts(names, std::vector<double>(baseline.trials, 0.0));
  for (const Occurrence& call : baseline.calls) counts[call.name][call.trial] += 1;
  std::erase_if(counts, [](const std::vector<double>& trials) { return sum(trials) == 0; });
  return counts;
}

// Bit j says that trial j is in the first half.
std::vector<std::uint64_t> halvings(std::size_t trials) {
  if (trials < 2) return {};
  if (trials > kMostTrialsToEnumerate) return {0x5555555555555555ULL};
  std::vector<std::uint64_t> halves;
  for (std::uint64_t mask = 1; mask < (std::uint64_t{1} << trials); ++mask) {
    const bool half = static_cast<std::size_t>(std::popcount(mask)) == trials / 2;
    // With an even number of trials a mask and its complement are one halving.
    if (half && (trials % 2 == 1 || (mask & 1) == 1)) halves.push_back(mask);
  }
  return halves;
}

std::optional<double> agreement_of_halves(const std::vector<std::vector<double>>& counts,
                                          std::uint64_t mask) {
  std::vector<double> first;
  std::vector<double> second;
  for (const std::vector<double>& trials : counts) {
    double a = 0;
    double b = 0;
    for (std::size_t j = 0; j < trials.size(); ++j) {
      ((mask >> (j % 64)) & 1 ? a : b) += trials[j];
    }
    first.push_back(a);
    second.push_back(b);
  }
  if (first.size() < kFewestNames) return std::nullopt;
  const Result<double> rho = spearman(first, second);
  if (!rho) return std::nullopt;
  return *rho;
}

std::optional<double> spearman_ceiling(const std::vector<std::vector<double>>& counts,
                                       std::size_t trials) {
  std::vector<double> values;
  for (const std::uint64_t mask : halvings(trials)) {
    const std::optional<double> rho = agreement_of_halves(counts, mask);
    if (rho) values.push_back(*rho);
  }
  if (values.empty()) return std::nullopt;
  return sum(values) / static_cast<double>(values.size());
}

// Scores the trials of both arms against the other trials of one of them, for any assignment of the
// arms' task blocks to the labels `baseline` and `candidate`.
class HeldOut {
 public:
  HeldOut(const Occurrences& baseline, const Occurrences& candidate, std::size_t names,
          std::size_t tasks)
      : trials_(std::min(baseline.trials, candidate.trials)),
        counts_(names * trials_),
        totals_(names),
        blocks_(tasks) {
    for (const Occurrence& call : baseline.calls) add(call, 0);
    for (const Occurrence& call : candidate.calls) add(call, 1);
  }

  // Candidate's share of novel calls - baseline's; nullopt where an arm has no call to score. Tasks
  // with swapped[t] lend their candidate's calls to the baseline and the reverse.
  std::optional<double> difference(const std::vector<bool>& swapped) {
    std::fill(counts_.begin(), counts_.end(), 0);
    std::fill(totals_.begin(), totals_.end(), 0);
    for (std::size_t t = 0; t < blocks_.size(); ++t) {
      for (const Occurrence& call : blocks_[t][swapped[t] ? 1 : 0]) {
        ++counts_[call.name * trials_ + call.trial];
        ++totals_[call.name];
      }
    }
    std::array<double, 2> novel{};
    std::array<double, 2> calls{};
    for (std::size_t t = 0; t < blocks_.size(); ++t) {
      for (std::size_t side = 0; side < 2; ++side) {
        const std::size_t label = swapped[t] ? 1 - side : side;
        for (const Occurrence& call : blocks_[t][side]) {
          ++calls[label];
          if (totals_[call.name] == counts_[call.name * trials_ + call.trial]) ++novel[label];
        }
      }
    }
    if (calls[0] <= 0 || calls[1] <= 0) return std::nullopt;
    return novel[1] / calls[1] - novel[0] / calls[0];
  }

  std::size_t trials() const { return trials_; }

  // Tasks with a call to score in either arm.
  std::size_t informative_tasks() const {
    return static_cast<std::size_t>(
        std::count_if(blocks_.begin(), blocks_.end(),
                      [](const auto& block) { return !block[0].empty() || !block[1].empty(); }));
  }

 private:
  void add(const Occurrence& call, std::size_t side) {
    if (call.trial < trials_) blocks_[call.task][side].push_back(call);
  }

  std::size_t trials_;       // that both arms have
  std::vector<int> counts_;  // (name, trial) of the label `baseline`
  std::vector<int> totals_;  // (name)
  std::vector<std::array<std::vector<Occurrence>, 2>> blocks_;  // (task, arm)
};

// Root mean square of the difference over random swaps of whole task blocks: its standard error
// where the labels mean nothing. nullopt where every swap gives 0.
std::optional<double> standard_error_by_swaps(HeldOut& held_out, std::size_t tasks,
                                              std::uint64_t seed) {
  constexpr int kSwaps = 1000;  // the error of an SE from them is about 2 %
  Rng rng(seed, "compare/novelty");
  std::vector<bool> swapped(tasks);
  double squares = 0;
  double used = 0;
  for (int i = 0; i < kSwaps; ++i) {
    for (std::size_t t = 0; t < tasks; ++t) swapped[t] = rng.bernoulli(0.5);
    const std::optional<double> value = held_out.difference(swapped);
    if (!value) continue;
    squares += *value * *value;
    ++used;
  }
  if (!(squares > 0)) return std::nullopt;
  return std::sqrt(squares / used);
}

std::optional<NamesComparison::NovelBeyondChance> novel_beyond_chance(HeldOut held_out,
                                                                      std::size_t tasks,
                                                                      std::uint64_t seed) {
  const std::optional<double> difference = held_out.difference(std::vector<bool>(tasks, false));
  const double informative = static_cast<double>(held_out.informative_tasks());
  if (held_out.trials() < 2 || !difference || informative < 2) return std::nullopt;
  const std::optional<double> se = standard_error_by_swaps(held_out, tasks, seed);
  if (!se) return std::nullopt;
  const double reach = t_quantile(0.975, informative - 1) * *se;
  return NamesComparison::NovelBeyondChance{
      *difference, cut_to({*difference - reach, *difference + reach}, -1, 1),
      two_sided_t_p(*difference / *se, informative - 1)};
}

NamesComparison compare_lists(const NamedFailures& baseline, const NamedFailures& candidate,
                              const PairedArms& arms, bool baseline_trials_are_copies,
                              std::uint64_t seed) {
  NamesComparison out;
  const Counts counts = joint_counts(baseline.names, candidate.names);
  for (const auto& [name, pair] : counts) out.counts.push_back(pair);
  std::stable_sort(out.counts.begin(), out.counts.end(),
                   [](const NamesComparison::Pair& a, const NamesComparison::Pair& b) {
                     return a.candidate > b.candidate;
                   });
  add_agreement(counts, out);
  add_novel_share(counts, out);
  if (baseline_trials_are_copies) return out;

  NameIndex index;
  for (const auto& [name, pair] : counts) index.emplace(name, index.size());
  const Occurrences b = by_rank(baseline, arms.baseline, index);
  const Occurrences c = by_rank(candidate, arms.candidate, index);
  out.spearman_ceiling = spearman_ceiling(counts_by_trial(b, index.size()), b.trials);
  const std::size_t tasks = arms.baseline.tasks.size();
  out.novel_beyond_chance = novel_beyond_chance(HeldOut(b, c, index.size(), tasks), tasks, seed);
  return out;
}

}  // namespace

NamesComparison compare_names(const PairedArms& arms, bool baseline_trials_are_copies,
                              std::uint64_t seed) {
  return compare_lists(hallucinated_names(arms.baseline), hallucinated_names(arms.candidate), arms,
                       baseline_trials_are_copies, seed);
}

NamesComparison compare_pairs(const PairedArms& arms, bool baseline_trials_are_copies,
                              std::uint64_t seed) {
  return compare_lists(failing_pairs(arms.baseline), failing_pairs(arms.candidate), arms,
                       baseline_trials_are_copies, seed);
}

}  // namespace unmask
