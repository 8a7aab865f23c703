#include "compare/names_comparison.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "compare/estimates.h"
#include "metrics/task_numbers.h"
#include "stats/mean_test.h"
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

// One call, its name reduced to an index into the names of the baseline; names the baseline never
// produced have none.
struct Occurrence {
  std::size_t task = 0;
  std::size_t trial = 0;  // rank
  std::optional<std::size_t> name;
};

struct Occurrences {
  std::vector<Occurrence> calls;
  std::size_t trials = 0;
};

using NameIndex = std::map<std::string, std::size_t>;

Occurrences by_rank(const std::vector<NameOccurrence>& found, const Arm& arm,
                    const NameIndex& index) {
  const std::map<int, std::size_t> ranks = trial_ranks(arm);
  Occurrences out;
  out.trials = ranks.size();
  for (const NameOccurrence& call : found) {
    Occurrence occurrence{call.task, ranks.at(call.trial), std::nullopt};
    const auto known = index.find(call.name);
    if (known != index.end()) occurrence.name = known->second;
    out.calls.push_back(occurrence);
  }
  return out;
}

// (name, trial) -> how often the baseline produced it.
std::vector<std::vector<double>> counts_by_trial(const Occurrences& baseline, std::size_t names) {
  std::vector<std::vector<double>> counts(names, std::vector<double>(baseline.trials, 0.0));
  for (const Occurrence& call : baseline.calls) counts[*call.name][call.trial] += 1;
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

struct NovelByTask {
  std::vector<double> novel;  // (task)
  std::vector<double> calls;  // (task)
};

// Scores the trials that both arms have against the baseline's other trials.
NovelByTask novel_by_task(const Occurrences& arm, const std::vector<std::vector<double>>& counts,
                          std::size_t trials, std::size_t tasks) {
  std::vector<double> total;
  for (const std::vector<double>& name : counts) total.push_back(sum(name));
  NovelByTask out{std::vector<double>(tasks, 0.0), std::vector<double>(tasks, 0.0)};
  for (const Occurrence& call : arm.calls) {
    if (call.trial >= trials) continue;
    out.calls[call.task] += 1;
    const bool elsewhere = call.name && total[*call.name] > counts[*call.name][call.trial];
    if (!elsewhere) out.novel[call.task] += 1;
  }
  return out;
}

std::optional<NamesComparison::NovelBeyondChance> novel_beyond_chance(
    const NovelByTask& baseline, const NovelByTask& candidate) {
  const double calls_b = sum(baseline.calls);
  const double calls_c = sum(candidate.calls);
  if (calls_b <= 0 || calls_c <= 0) return std::nullopt;
  const double rate_b = sum(baseline.novel) / calls_b;
  const double rate_c = sum(candidate.novel) / calls_c;
  std::vector<double> influence;
  for (std::size_t t = 0; t < baseline.calls.size(); ++t) {
    if (baseline.calls[t] + candidate.calls[t] <= 0) continue;
    influence.push_back((candidate.novel[t] - rate_c * candidate.calls[t]) / calls_c -
                        (baseline.novel[t] - rate_b * baseline.calls[t]) / calls_b);
  }
  const double tasks = static_cast<double>(influence.size());
  const double difference = rate_c - rate_b;
  for (double& value : influence) value = difference + tasks * value;
  const std::optional<MeanTest> test = difference_test(influence);
  if (!test) return std::nullopt;
  return NamesComparison::NovelBeyondChance{difference, test->ci95, test->p};
}

struct NameLists {
  std::vector<NameCount> baseline;
  std::vector<NameCount> candidate;
  std::vector<NameOccurrence> baseline_calls;
  std::vector<NameOccurrence> candidate_calls;
};

NamesComparison compare_lists(const NameLists& lists, const PairedArms& arms,
                              bool baseline_trials_are_copies) {
  NamesComparison out;
  const Counts counts = joint_counts(lists.baseline, lists.candidate);
  for (const auto& [name, pair] : counts) out.counts.push_back(pair);
  std::stable_sort(out.counts.begin(), out.counts.end(),
                   [](const NamesComparison::Pair& a, const NamesComparison::Pair& b) {
                     return a.candidate > b.candidate;
                   });
  add_agreement(counts, out);
  add_novel_share(counts, out);
  if (baseline_trials_are_copies) return out;

  NameIndex index;
  for (const NameCount& name : lists.baseline) index.emplace(name.name, index.size());
  const Occurrences b = by_rank(lists.baseline_calls, arms.baseline, index);
  const Occurrences c = by_rank(lists.candidate_calls, arms.candidate, index);
  const std::vector<std::vector<double>> by_trial = counts_by_trial(b, index.size());
  out.spearman_ceiling = spearman_ceiling(by_trial, b.trials);
  if (b.trials < 2) return out;
  const std::size_t trials = std::min(b.trials, c.trials);
  const std::size_t tasks = arms.baseline.tasks.size();
  out.novel_beyond_chance = novel_beyond_chance(novel_by_task(b, by_trial, trials, tasks),
                                                novel_by_task(c, by_trial, trials, tasks));
  return out;
}

}  // namespace

NamesComparison compare_names(const PairedArms& arms, bool baseline_trials_are_copies) {
  const NameLists lists{hallucinated_names(arms.baseline), hallucinated_names(arms.candidate),
                        name_occurrences(arms.baseline), name_occurrences(arms.candidate)};
  return compare_lists(lists, arms, baseline_trials_are_copies);
}

NamesComparison compare_pairs(const PairedArms& arms, bool baseline_trials_are_copies) {
  const NameLists lists{failing_pairs(arms.baseline), failing_pairs(arms.candidate),
                        pair_occurrences(arms.baseline), pair_occurrences(arms.candidate)};
  return compare_lists(lists, arms, baseline_trials_are_copies);
}

}  // namespace unmask
