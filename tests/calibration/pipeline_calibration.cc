// Does the whole instrument hold its promises? Plants data sets, serializes them as tau2 files,
// reads them back through ingest, audits them, and counts how often each 95 % interval covers the
// truth, how often an A/A pair raises an alarm, and which verdicts the paper's cells get.
//
//   pipeline_calibration coverage DATASETS [tasks] [config ...]
//   pipeline_calibration aa PAIRS
//   pipeline_calibration cells DRAWS
//
// The truth of a configuration is the value pooled over all its data sets (each with fresh tasks):
// with thousands of data sets its own error is below 2 % of one data set's standard error, which
// moves no coverage figure shown here.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "compare/comparison.h"
#include "plant/plant.h"
#include "planted_cells.h"
#include "stats/distribution.h"
#include "verdict/verdict.h"

namespace {

using namespace unmask;
using calibration::compare_planted;
using calibration::planter_of;

// One interval of one data set: the estimate is kept to pool the truth.
struct Seen {
  double estimate;
  Interval interval;
};

// What one data set contributes, by name of the interval. Ratios are pooled from their parts.
struct DataSet {
  std::map<std::string, Seen> intervals;
  std::map<std::string, std::pair<double, double>>
      parts;  // numerator, denominator of pooled truths
  std::vector<double> gap;
  std::vector<Interval> band;
};

void see(DataSet& set, const std::string& name, const std::optional<double>& value,
         const std::optional<Interval>& interval) {
  if (value && interval) set.intervals[name] = {*value, *interval};
}

void see_arm(DataSet& set, const std::string& prefix, const ArmSummary& arm) {
  see(set, prefix + "success", arm.success.value, arm.success.ci95);
  for (const auto& [channel, summary] : arm.channels) {
    const std::string name = prefix + "rate " + std::string(to_string(channel));
    see(set, name, summary.per_call.value, summary.per_call.ci95);
    set.parts[name] = {static_cast<double>(summary.count), static_cast<double>(arm.agent_calls)};
  }
  see(set, prefix + "recovery", arm.recovery.rate.value, arm.recovery.rate.ci95);
  set.parts[prefix + "recovery"] = {static_cast<double>(arm.recovery.recovered),
                                    static_cast<double>(arm.recovery.failures)};
  for (const CurvePoint& point : arm.budget.curve)
    if (point.k == 2) see(set, prefix + "S(2)", point.success, point.ci95);
}

DataSet see_all(const CellComparison& cell) {
  DataSet set;
  see_arm(set, "baseline ", cell.baseline);
  see_arm(set, "candidate ", cell.candidate);
  for (const auto& [channel, comparison] : cell.channels) {
    const std::string name(to_string(channel));
    see(set, "A " + name, comparison.amplification, comparison.amplification_ci95);
    see(set, "difference " + name, comparison.difference, comparison.difference_ci95);
  }
  see(set, "recovery difference", cell.recovery.difference, cell.recovery.difference_ci95);
  if (cell.outcome.delta) see(set, "delta", cell.outcome.delta->mean, cell.outcome.delta->ci95);
  if (cell.budget.unmasked.test)
    see(set, "U", cell.budget.unmasked.test->mean, cell.budget.unmasked.test->ci95);
  for (const GapPoint& point : cell.budget.gap) {
    set.gap.push_back(point.gap);
    set.band.push_back(point.band95);
    if (point.k == 2) see(set, "G(2)", point.gap, point.ci95);
  }
  return set;
}

double pooled_rate(const std::vector<DataSet>& sets, const std::string& name) {
  double numerator = 0;
  double denominator = 0;
  for (const DataSet& set : sets) {
    const auto found = set.parts.find(name);
    if (found == set.parts.end()) continue;
    numerator += found->second.first;
    denominator += found->second.second;
  }
  return denominator > 0 ? numerator / denominator : 0;
}

double truth_of(const std::vector<DataSet>& sets, const std::string& name) {
  if (sets.front().parts.count(name) > 0) return pooled_rate(sets, name);
  if (name.rfind("A ", 0) == 0)
    return pooled_rate(sets, "candidate rate " + name.substr(2)) /
           pooled_rate(sets, "baseline rate " + name.substr(2));
  if (name.rfind("difference ", 0) == 0)
    return pooled_rate(sets, "candidate rate " + name.substr(11)) -
           pooled_rate(sets, "baseline rate " + name.substr(11));
  if (name == "recovery difference")
    return pooled_rate(sets, "candidate recovery") - pooled_rate(sets, "baseline recovery");
  double sum = 0;
  long n = 0;
  for (const DataSet& set : sets) {
    const auto found = set.intervals.find(name);
    if (found == set.intervals.end()) continue;
    sum += found->second.estimate;
    ++n;
  }
  return sum / static_cast<double>(n);
}

double band_coverage(const std::vector<DataSet>& sets) {
  std::vector<double> truth(sets.front().gap.size());
  for (const DataSet& set : sets)
    for (std::size_t k = 0; k < truth.size(); ++k)
      truth[k] += set.gap[k] / static_cast<double>(sets.size());
  long covered = 0;
  for (const DataSet& set : sets) {
    bool inside = true;
    for (std::size_t k = 0; k < truth.size(); ++k)
      inside = inside && truth[k] >= set.band[k].lo - 1e-12 && truth[k] <= set.band[k].hi + 1e-12;
    covered += inside;
  }
  return static_cast<double>(covered) / static_cast<double>(sets.size());
}

struct Configuration {
  std::string name;
  PlantOptions options;
};

std::vector<Configuration> configurations(int tasks) {
  std::vector<Configuration> all;
  for (const double correlation : {0.0, 0.2, 0.5})
    for (const double rate : {0.01, 0.05, 0.20})
      for (const double burst : {1.0, 2.5}) {
        PlantOptions options;
        options.tasks = tasks;
        options.task_correlation = correlation;
        if (burst > 1)
          options.burst_mean = burst;
        else
          options.baseline.recovery = options.candidate.recovery =
              std::nullopt;  // independent calls
        options.baseline.tool_name_rate = rate;
        // Independent calls above 20 % cannot be correlated by 0.5 within a task: no Beta does
        // that.
        const bool reachable = rate < 0.1 || correlation < 0.4 || burst > 1;
        options.candidate.tool_name_rate = (reachable ? 1.5 : 1.0) * rate;
        options.baseline.entity_rate = options.candidate.entity_rate = 0.02;
        options.baseline.success = 0.65;
        options.candidate.success = 0.62;
        options.baseline.recovery = options.candidate.recovery =
            1.0 / burst > 0.55 ? 0.55 : 1.0 / burst;
        options.baseline.coupling = options.candidate.coupling = 0.2;
        all.push_back({fmt::format("icc {:.1f} rate {:4.1f}% {}", correlation, 100 * rate,
                                   burst > 1 ? "bursts" : "alone"),
                       options});
      }
  return all;
}

void run_coverage(int datasets, int tasks, const std::vector<int>& chosen) {
  const std::vector<Configuration> all = configurations(tasks);
  fmt::print(
      "| configuration | interval | truth | data sets | coverage % | mean width "
      "|\n|---|---|---|---|---|---|\n");
  for (std::size_t c = 0; c < all.size(); ++c) {
    if (!chosen.empty() &&
        std::find(chosen.begin(), chosen.end(), static_cast<int>(c)) == chosen.end())
      continue;
    std::vector<DataSet> sets(static_cast<std::size_t>(datasets));
    const Planter planter = planter_of(all[c].options);
    parallel_for(sets.size(), 0, [&](std::size_t i) {
      sets[i] = see_all(compare_planted(planter, 1000003ULL * (c + 1) + i));
    });
    std::map<std::string, int> names;
    for (const DataSet& set : sets)
      for (const auto& [name, seen] : set.intervals) ++names[name];
    for (const auto& [name, n] : names) {
      const double truth = truth_of(sets, name);
      long covered = 0;
      double width = 0;
      for (const DataSet& set : sets) {
        const auto found = set.intervals.find(name);
        if (found == set.intervals.end()) continue;
        const Interval& interval = found->second.interval;
        covered += truth >= interval.lo - 1e-12 && truth <= interval.hi + 1e-12;
        width += interval.hi - interval.lo;
      }
      fmt::print("| {} | {} | {:.4f} | {} | {:.1f} | {:.4f} |\n", all[c].name, name, truth, n,
                 100.0 * static_cast<double>(covered) / n, width / n);
    }
    fmt::print("| {} | G band, all K | | {} | {:.1f} | |\n", all[c].name, sets.size(),
               100 * band_coverage(sets));
    std::fflush(stdout);
  }
}

struct Judged {
  Verdict verdict = Verdict::Inconclusive;
  bool delta_significant = false;
  bool equivalent = false;
  std::string screen;  // of tool_name
  double sd_delta = 0;
};

std::vector<Judged> judge_draws(const PlantOptions& options, int draws, std::uint64_t base) {
  std::vector<Judged> judged(static_cast<std::size_t>(draws));
  const Planter planter = planter_of(options);
  parallel_for(judged.size(), 0, [&](std::size_t i) {
    const CellComparison cell = compare_planted(planter, base + i);
    Judged& one = judged[i];
    one.verdict = judge(cell).verdict;
    one.delta_significant = cell.outcome.delta && cell.outcome.delta->p < 0.05;
    one.equivalent = cell.outcome.tost && cell.outcome.tost->equivalent;
    const std::optional<Risk>& risk = cell.baseline.channels.at(Channel::ToolName).screen;
    one.screen = risk ? std::string(to_string(*risk)) : "undefined";
    one.sd_delta = cell.sd_delta.value_or(0);
  });
  return judged;
}

// Power of the two-sided t test over `tasks` tasks at a true difference; normal, for tasks > 100.
double t_power(double difference, double sd, int tasks) {
  const double shift = difference / (sd / std::sqrt(tasks));
  const double critical = t_quantile(0.975, tasks - 1.0);
  return normal_cdf(-critical - shift) + 1 - normal_cdf(critical - shift);
}

void print_verdicts(const std::string& name, const PlantOptions& options, int draws,
                    std::uint64_t base, double true_delta) {
  const std::vector<Judged> judged = judge_draws(options, draws, base);
  std::map<std::string, int> counts;
  int alarms = 0;
  int significant = 0;
  int equivalent = 0;
  double power = 0;
  for (const Judged& one : judged) {
    ++counts[std::string(to_string(one.verdict))];
    ++counts["screen " + one.screen];
    alarms += one.verdict != Verdict::Clean && one.verdict != Verdict::Inconclusive;
    significant += one.delta_significant;
    equivalent += one.equivalent;
    if (one.sd_delta > 0) power += t_power(true_delta, one.sd_delta, options.tasks) / draws;
  }
  const auto percent = [&](int count) { return 100.0 * count / draws; };
  fmt::print("| {} | {} |", name, draws);
  for (const char* verdict :
       {"masked", "degraded+masked", "degraded", "amplified", "clean", "inconclusive"})
    fmt::print(" {:.1f} |", percent(counts[verdict]));
  fmt::print(" {:.1f} | {:.1f} | {:.1f} | {:.1f} | low {:.0f}, watch {:.0f}, high {:.0f} |\n",
             percent(alarms), percent(significant), 100 * power, percent(equivalent),
             percent(counts["screen low"]), percent(counts["screen watch"]),
             percent(counts["screen high"]));
  std::fflush(stdout);
}

void print_verdict_header() {
  fmt::print(
      "| cell | draws | masked % | degraded+masked | degraded | amplified | clean | inconclusive | "
      "any alarm | delta p < 0.05 | its power | equivalent | screen of tool_name % |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
}

void run_aa(int pairs) {
  print_verdict_header();
  std::uint64_t base = 77000000;
  for (const Configuration& configuration : configurations(114)) {
    PlantOptions options = configuration.options;
    options.candidate = options.baseline;
    print_verdicts("A/A " + configuration.name, options, pairs, base += 100000, 0);
  }
}

void run_cells(int draws) {
  print_verdict_header();
  print_verdicts("damaged", preset_damaged(), draws, 424200, -6.0 / 456);
  print_verdicts("clean", preset_clean(), draws, 434300, 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: pipeline_calibration coverage|aa|cells COUNT [TASKS [CONFIG...]]\n");
    return 2;
  }
  const int count = std::atoi(argv[2]);
  if (std::strcmp(argv[1], "coverage") == 0) {
    std::vector<int> chosen;
    for (int i = 4; i < argc; ++i) chosen.push_back(std::atoi(argv[i]));
    run_coverage(count, argc > 3 ? std::atoi(argv[3]) : 114, chosen);
  } else if (std::strcmp(argv[1], "aa") == 0) {
    run_aa(count);
  } else {
    run_cells(count);
  }
  return 0;
}
