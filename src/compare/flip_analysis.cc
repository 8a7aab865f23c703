// Failures foretold from the baseline's margins.
//
// A decision i has the choice a and, of the competitors that were seen, margins m_b. Under a fitted
// model the choice flips with the probability
//
//   P_i = Phi(-(alpha + lambda m*) / omega),   m the smallest of the m_b, m* its calibrated value,
//
// and goes to competitor b in proportion to what the same formula gives for m_b: noise that reaches
// the closest competitor reaches one farther off less often. h_i is the share of that which goes to
// names that are not offered. Then the candidate's name is hallucinated with probability
//
//   P_i h_i                where a is offered,
//   1 - P_i + P_i h_i      where a is not,
//
// and the sum over decisions is the number of failures foretold. It is a forecast of preferences,
// so what was observed beside it are the candidate's likeliest names as well, whatever was drawn,
// in the same decisions (those in which the baseline's reply is its own likeliest). Where no
// competitor was seen (the margin is a bound) P_i is taken at the bound, its largest possible
// value, and h_i is the mean of the other decisions. Parameters come from the tasks that i's task
// is not among.
//
//   Example  margin 0.5 to a hallucinated name and 1.5 to an offered one, sigma 1, lambda 1, alpha
//   0: P = 0.309, weights 0.309 and 0.067, h = 0.82; failure 0.25.
#include "compare/flip_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/rng.h"
#include "compare/estimates.h"
#include "stats/distribution.h"
#include "stats/proportion.h"
#include "stats/resample.h"

namespace unmask {
namespace {

constexpr std::array<double, 8> kBinEdges = {0, 0.25, 0.5, 1, 2, 4, 8, 16};
constexpr int kReliabilityBins = 10;
constexpr int kFewestTasksToSplit = 10;
constexpr int kFewestTasksForASlope = 8;       // with a flip, and without: METHOD 4
constexpr double kFewestBaselineFailures = 5;  // METHOD 4

std::vector<FlipBin> empty_bins() {
  std::vector<FlipBin> bins;
  for (std::size_t i = 0; i < kBinEdges.size(); ++i) {
    bins.push_back({kBinEdges[i], std::nullopt, 0, 0});
    if (i + 1 < kBinEdges.size()) bins.back().hi = kBinEdges[i + 1];
  }
  return bins;
}

bool lies_in(const FlipBin& bin, const MarginPair& row) {
  if (row.baseline.known == Margin::Known::AtLeast) return false;
  return row.baseline.value >= bin.lo && (!bin.hi || row.baseline.value < *bin.hi);
}

std::vector<FlipBin> bins_of(const PairedMargins& margins, int tasks) {
  std::vector<FlipBin> bins = empty_bins();
  for (FlipBin& bin : bins) {
    std::vector<double> flips(static_cast<std::size_t>(tasks), 0.0);
    std::vector<double> decisions(static_cast<std::size_t>(tasks), 0.0);
    for (const MarginPair& row : margins.rows) {
      if (!lies_in(bin, row)) continue;
      const auto task = static_cast<std::size_t>(row.pair->task);
      decisions[task] += 1;
      flips[task] += row.flip ? 1 : 0;
    }
    bin.decisions = std::lround(sum(decisions));
    bin.flips = std::lround(sum(flips));
    if (bin.decisions > 0)
      bin.ci95 = rate_estimate(flips, decisions, static_cast<double>(tasks)).ci95;
  }
  return bins;
}

// The rows that models are fitted to, as columns.
struct Columns {
  std::vector<double> baseline;
  std::vector<Bounded> candidate;
  std::vector<int> flip;
  std::vector<int> task;
};

template <typename Chosen>
Columns columns_of(const PairedMargins& margins, const std::optional<MeasurementNoise>& noise,
                   Chosen chosen) {
  Columns out;
  for (const MarginPair& row : margins.rows) {
    const std::optional<double> value = measured(row, noise);
    if (!value || !chosen(row.pair->task)) continue;
    out.baseline.push_back(*value);
    out.candidate.push_back(bounded(row.candidate));
    out.flip.push_back(row.flip ? 1 : 0);
    out.task.push_back(row.pair->task);
  }
  return out;
}

// Every task's half, the tasks in an order of the seed.
std::vector<int> halves_of(const Columns& all, int tasks, std::uint64_t seed) {
  std::vector<int> present = all.task;
  std::sort(present.begin(), present.end());
  present.erase(std::unique(present.begin(), present.end()), present.end());
  Rng rng(seed, "compare/held-out");
  for (std::size_t i = present.size(); i > 1; --i)
    std::swap(present[i - 1], present[rng.below(static_cast<std::uint32_t>(i))]);
  std::vector<int> half(static_cast<std::size_t>(tasks), 0);
  for (std::size_t i = 0; i < present.size(); ++i)
    half[static_cast<std::size_t>(present[i])] = static_cast<int>(i % 2);
  return half;
}

Result<CrossFit> cross_fit(const PairedMargins& margins, const Columns& all, int tasks,
                           const std::optional<MeasurementNoise>& noise, std::uint64_t seed) {
  std::vector<int> distinct = all.task;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (static_cast<int>(distinct.size()) < kFewestTasksToSplit)
    return Error{
        ErrorKind::Undefined,
        fmt::format("only {} tasks to split, not {}", distinct.size(), kFewestTasksToSplit), ""};
  CrossFit cross;
  cross.half_of_task = halves_of(all, tasks, seed);
  for (const int half : {0, 1}) {
    const Columns other = columns_of(margins, noise, [&](int task) {
      return cross.half_of_task[static_cast<std::size_t>(task)] != half;
    });
    Result<NoiseModels> models = fit_noise_models(other.baseline, other.candidate, other.task,
                                                  noise.value_or(MeasurementNoise{}));
    if (!models)
      return Error{models.error().kind, "half of the tasks: " + models.error().message, ""};
    cross.other_half.push_back(std::move(*models));
  }
  return cross;
}

std::optional<HeldOut> held_out(const Columns& all, const CrossFit& cross, bool additive) {
  std::vector<double> predicted;
  for (std::size_t i = 0; i < all.task.size(); ++i) {
    const NoiseModels& models = cross.for_task(all.task[i]);
    const NoiseModel& model = additive ? models.additive : models.multiplicative;
    predicted.push_back(model.chance_below_zero(all.baseline[i]));
  }
  Result<Reliability> table = reliability(predicted, all.flip, kReliabilityBins);
  if (!table) return std::nullopt;
  HeldOut out{std::move(*table), static_cast<long>(predicted.size()), sum(predicted), 0, {}};
  out.flips_observed = std::count(all.flip.begin(), all.flip.end(), 1);
  const auto rows = static_cast<double>(out.rows);
  const Result<Interval> share =
      clopper_pearson(static_cast<double>(out.flips_observed), rows, 0.95);
  if (!share) return std::nullopt;
  out.flips_ci95 = {share->lo * rows, share->hi * rows};
  // Flips of one task may be one decision met again, so the range is no narrower than by tasks.
  std::map<int, std::pair<double, double>> tasks;  // flips, rows
  for (std::size_t i = 0; i < all.task.size(); ++i) {
    tasks[all.task[i]].first += all.flip[i];
    tasks[all.task[i]].second += 1;
  }
  std::vector<double> flips;
  std::vector<double> chances;
  for (const auto& [task, counts] : tasks) {
    flips.push_back(counts.first);
    chances.push_back(counts.second);
  }
  const Estimate by_task = rate_estimate(flips, chances, static_cast<double>(tasks.size()));
  if (by_task.ci95) {
    out.flips_ci95.lo = std::min(out.flips_ci95.lo, by_task.ci95->lo * rows);
    out.flips_ci95.hi = std::max(out.flips_ci95.hi, by_task.ci95->hi * rows);
  }
  return out;
}

// Tasks with a flip and tasks with a decision that does not flip.
std::pair<int, int> tasks_with_and_without(const Columns& columns) {
  std::set<int> with;
  std::set<int> without;
  for (std::size_t i = 0; i < columns.task.size(); ++i)
    (columns.flip[i] == 1 ? with : without).insert(columns.task[i]);
  return {static_cast<int>(with.size()), static_cast<int>(without.size())};
}

// Why no row is left for a line or a model.
std::string nothing_to_fit(const FlipAnalysis& flips) {
  if (flips.pairs > 0)
    return flips.censored == flips.pairs
               ? "every margin of the baseline is known as a bound only"
               : "no margin was measured twice, clear of the reach of the alternatives";
  if (flips.other_text > 0)
    return fmt::format("no pair is left: {} wrote different text before the call{}",
                       flips.other_text,
                       flips.off_top + flips.undetermined > 0 ? ", others left out as well" : "");
  if (flips.off_top + flips.undetermined > 0)
    return "no pair is left: every one is left out of the margins";
  return "no pair of replies has both margins";
}

// Whether every margin of the candidate is the baseline's.
bool is_one_model_twice(const Columns& all) {
  for (std::size_t i = 0; i < all.task.size(); ++i)
    if (all.candidate[i].known != Known::Exactly || all.candidate[i].value != all.baseline[i])
      return false;
  return true;
}

// Of the margin as it was first given: flips against it are what a reader can see. A standard error
// clustered by task means nothing where few tasks hold all events, so the rule of METHOD 4 for
// ratios holds for the slope as well.
void add_logistic(const Columns& columns, FlipAnalysis& analysis) {
  if (columns.task.empty()) {
    analysis.no_logistic = nothing_to_fit(analysis);
    return;
  }
  const auto [with, without] = tasks_with_and_without(columns);
  const long flips = std::count(columns.flip.begin(), columns.flip.end(), 1);
  if (flips > 0 && with < kFewestTasksForASlope) {
    analysis.no_logistic =
        fmt::format("too few flips ({}, in {} of the {} tasks it takes) for a slope", flips, with,
                    kFewestTasksForASlope);
    return;
  }
  if (flips > 0 && without < kFewestTasksForASlope) {
    analysis.no_logistic = fmt::format(
        "too few tasks with a decision that does not flip ({} of the {} it takes) for a slope",
        without, kFewestTasksForASlope);
    return;
  }
  Result<Logistic> line = logistic(columns.baseline, columns.flip, columns.task);
  if (line)
    analysis.logistic = std::move(*line);
  else
    analysis.no_logistic = line.error().message;
}

void add_models(const ReplayTable& table, const PairedMargins& margins, const Columns& all,
                const MechanismOptions& options, FlipFits& out) {
  FlipAnalysis& analysis = out.analysis;
  if (all.task.empty() || is_one_model_twice(all)) {
    analysis.no_models =
        all.task.empty()
            ? nothing_to_fit(analysis)
            : "both arms have the same margins, as of one model asked twice: no noise to fit";
    analysis.no_held_out = analysis.no_models;
    return;
  }
  Result<NoiseModels> models = fit_noise_models(all.baseline, all.candidate, all.task,
                                                analysis.replay_noise.value_or(MeasurementNoise{}));
  if (!models) {
    analysis.no_models = models.error().message;
    analysis.no_held_out = models.error().message;
    return;
  }
  analysis.models = std::move(*models);
  Result<CrossFit> cross =
      cross_fit(margins, all, table.tasks(), analysis.replay_noise, options.seed);
  if (!cross) {
    analysis.no_held_out = cross.error().message;
    return;
  }
  analysis.held_out_additive = held_out(all, *cross, true);
  analysis.held_out_multiplicative = held_out(all, *cross, false);
  out.cross = std::move(*cross);
}

// The share of a flip's chances that goes to names which are not offered; nullopt where no
// competitor was seen.
template <typename Chance>
std::optional<double> hallucinated_share(const ReplayTable& table, std::size_t context,
                                         const std::vector<CompetitorMargin>& seen, Chance chance) {
  const Competitors& competitors = table.competitors_of(context);
  double all = 0;
  double hallucinated = 0;
  for (const CompetitorMargin& competitor : seen) {
    const double weight = chance(competitor.margin);
    all += weight;
    if (competitors.offered.count(competitors.names[competitor.competitor]) == 0)
      hallucinated += weight;
  }
  if (!(all > 0)) return std::nullopt;
  return hallucinated / all;
}

bool shows_wrong_name(const ReplayTable& table, std::size_t context,
                      const std::vector<CompetitorMargin>& seen) {
  const Competitors& competitors = table.competitors_of(context);
  return std::any_of(seen.begin(), seen.end(), [&](const CompetitorMargin& competitor) {
    return competitors.offered.count(competitors.names[competitor.competitor]) == 0;
  });
}

double failure_chance(bool offered, double flip, double share) {
  return offered ? flip * share : 1 - flip + flip * share;
}

struct Foretold {
  std::size_t context = 0;
  int task = 0;
  bool offered = false;
  double flip = 0;
  std::optional<double> share;
};

// Chances of failure; decisions without a seen competitor take the mean share of the others.
std::vector<double> failure_chances(const std::vector<Foretold>& decisions) {
  double sum = 0;
  double count = 0;
  for (const Foretold& decision : decisions) {
    if (!decision.share) continue;
    sum += *decision.share;
    count += 1;
  }
  const double mean = count > 0 ? sum / count : 0;
  std::vector<double> chances;
  for (const Foretold& decision : decisions)
    chances.push_back(
        failure_chance(decision.offered, decision.flip, decision.share.value_or(mean)));
  return chances;
}

// `observed_other`, `predicted_other`: decisions in which the candidate fails and the baseline does
// not, or the reverse. Where there is none the ratio is 1 in every resample, which is no interval.
void add_amplification(const std::vector<double>& calls, const std::vector<double>& baseline,
                       const std::vector<double>& observed, const std::vector<double>& predicted,
                       double observed_other, double predicted_other,
                       const MechanismOptions& options, FailurePrediction& out) {
  constexpr double kLessThanOne = 0.5;
  if (sum(baseline) < kFewestBaselineFailures) return;
  out.predicted_amplification = out.predicted / out.baseline;
  out.observed_amplification = out.observed / out.baseline;
  const TaskResamples resamples(static_cast<int>(calls.size()), options.resamples,
                                Rng(options.seed, "compare/mechanism").next(), options.threads);
  const Result<Interval> foretold = ratio_interval(baseline, calls, predicted, calls, resamples);
  if (foretold && predicted_other >= kLessThanOne) out.predicted_ci95 = *foretold;
  const Result<Interval> seen = ratio_interval(baseline, calls, observed, calls, resamples);
  if (seen && observed_other >= kLessThanOne) out.observed_ci95 = *seen;
}

}  // namespace

std::optional<double> measured(const MarginPair& row,
                               const std::optional<MeasurementNoise>& noise) {
  constexpr double kGuard = 3;  // standard deviations
  if (row.baseline.known != Margin::Known::Exactly) return std::nullopt;
  if (!noise) return row.baseline.value;
  if (!row.again || row.again->known != Margin::Known::Exactly) return std::nullopt;
  const double within = row.baseline.reach - kGuard * std::sqrt(noise->variance);
  if (row.baseline.value > within) return std::nullopt;
  return row.again->value;
}

std::optional<MeasurementNoise> replay_noise_of(const PairedMargins& margins) {
  std::vector<double> first;
  std::vector<double> second;
  for (const MarginPair& row : margins.rows) {
    if (row.baseline.known != Margin::Known::Exactly || !row.again ||
        row.again->known != Margin::Known::Exactly)
      continue;
    first.push_back(row.baseline.value);
    second.push_back(row.again->value);
  }
  const Result<MeasurementNoise> noise = measurement_noise(first, second);
  if (!noise) return std::nullopt;
  return *noise;
}

const HeldOut* chosen_held_out(const FlipAnalysis& flips) {
  if (!flips.models) return nullptr;
  const std::optional<HeldOut>& held_out =
      is_multiplicative(*flips.models) ? flips.held_out_multiplicative : flips.held_out_additive;
  return held_out ? &*held_out : nullptr;
}

std::optional<bool> margins_foretell(const FlipAnalysis& flips) {
  const HeldOut* const held_out = chosen_held_out(flips);
  if (held_out != nullptr && held_out->is_contradicted()) return false;
  if (!flips.logistic) return std::nullopt;
  if (flips.logistic->slope.value >= 0 || flips.logistic->p_slope >= 0.05) return false;
  return held_out != nullptr ? std::optional<bool>(true) : std::nullopt;
}

FlipFits analyse_flips(const ReplayTable& table, DecisionKind kind, const PairedMargins& margins,
                       const MechanismOptions& options) {
  FlipFits out;
  FlipAnalysis& analysis = out.analysis;
  analysis.kind = kind;
  analysis.pairs = static_cast<long>(margins.rows.size());
  analysis.other_text = margins.other_text;
  analysis.off_top = margins.off_top;
  analysis.undetermined = margins.undetermined;
  analysis.bins = bins_of(margins, table.tasks());
  std::vector<double> flips(static_cast<std::size_t>(table.tasks()), 0.0);
  std::vector<double> decisions(static_cast<std::size_t>(table.tasks()), 0.0);
  for (const MarginPair& row : margins.rows) {
    const auto task = static_cast<std::size_t>(row.pair->task);
    decisions[task] += 1;
    flips[task] += row.flip ? 1 : 0;
    analysis.flips += row.flip ? 1 : 0;
    if (row.baseline.known != Margin::Known::AtLeast) continue;
    ++analysis.censored;
    analysis.censored_flips += row.flip ? 1 : 0;
  }
  analysis.flip_share = rate_estimate(flips, decisions, static_cast<double>(table.tasks()));
  analysis.replay_noise = replay_noise_of(margins);
  const auto every = [](int) { return true; };
  add_logistic(columns_of(margins, std::nullopt, every), analysis);
  const Columns all = columns_of(margins, analysis.replay_noise, every);
  analysis.fitted = static_cast<long>(all.task.size());
  analysis.fitted_flips = std::count(all.flip.begin(), all.flip.end(), 1);
  add_models(table, margins, all, options, out);
  return out;
}

std::optional<FailurePrediction> predict_failures(const ReplayTable& table,
                                                  const PairedMargins& margins,
                                                  const FlipFits& fits, bool additive,
                                                  const MechanismOptions& options) {
  if (margins.rows.empty() || !fits.cross) return std::nullopt;
  std::vector<Foretold> decisions;
  for (const MarginPair& row : margins.rows) {
    const NoiseModels& models = fits.cross->for_task(row.pair->task);
    const NoiseModel& model = additive ? models.additive : models.multiplicative;
    const auto chance = [&](double margin) { return model.chance_below_zero(margin); };
    const bool offered = table.is_offered(row.pair->context, first_name(*row.pair->baseline.reply));
    const double margin = measured(row, fits.analysis.replay_noise).value_or(row.baseline.value);
    decisions.push_back({row.pair->context, row.pair->task, offered, chance(margin),
                         hallucinated_share(table, row.pair->context, row.seen, chance)});
  }
  const std::vector<double> chances = failure_chances(decisions);
  const auto tasks = static_cast<std::size_t>(table.tasks());
  std::vector<double> calls(tasks, 0.0);
  std::vector<double> baseline(tasks, 0.0);
  std::vector<double> observed(tasks, 0.0);
  std::vector<double> predicted(tasks, 0.0);
  double observed_other = 0;
  double predicted_other = 0;
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    const auto task = static_cast<std::size_t>(decisions[i].task);
    calls[task] += 1;
    baseline[task] += decisions[i].offered ? 0 : 1;
    observed[task] += table.is_offered(decisions[i].context, margins.rows[i].prefers) ? 0 : 1;
    predicted[task] += chances[i];
    const bool fails = !table.is_offered(decisions[i].context, margins.rows[i].prefers);
    observed_other += fails == decisions[i].offered ? 1 : 0;
    predicted_other += decisions[i].offered ? chances[i] : 1 - chances[i];
  }
  FailurePrediction out;
  out.decisions = static_cast<long>(decisions.size());
  const double n = sum(calls);
  out.baseline = sum(baseline) / n;
  out.observed = sum(observed) / n;
  out.predicted = sum(predicted) / n;
  add_amplification(calls, baseline, observed, predicted, observed_other, predicted_other, options,
                    out);
  return out;
}

MarginScreen screen_by_margins(const ReplayTable& table, const MechanismOptions& options) {
  MarginScreen out;
  out.noise = options.noise;
  const auto tasks = static_cast<std::size_t>(table.tasks());
  std::vector<double> calls(tasks, 0.0);
  std::vector<double> failures(tasks, 0.0);
  std::vector<Foretold> decisions;
  for (const ReplayTable::Placed& placed :
       table.replies_of(static_cast<std::size_t>(table.baseline()))) {
    const std::string_view name = first_name(*placed.at.reply);
    if (name.empty()) continue;
    const int task = table.task_of(placed.context);
    const bool offered = table.is_offered(placed.context, name);
    calls[static_cast<std::size_t>(task)] += 1;
    failures[static_cast<std::size_t>(task)] += offered ? 0 : 1;
    if (!options.noise || placed.at.decision == nullptr || !placed.at.decision->name) continue;
    const std::optional<ToolMargin> margin =
        tool_margin(*placed.at.decision->name, name, table.competitors_of(placed.context).names);
    if (!margin) continue;
    if (shows_wrong_name(table, placed.context, margin->seen)) ++out.with_wrong_name;
    const auto chance = [&](double m) {
      return normal_cdf(-(options.noise->alpha + options.noise->lambda * m) / options.noise->sigma);
    };
    decisions.push_back({placed.context, task, offered, chance(margin->margin.value),
                         hallucinated_share(table, placed.context, margin->seen, chance)});
  }
  const auto units = static_cast<double>(tasks);
  out.baseline = rate_estimate(failures, calls, units);
  out.decisions = static_cast<long>(decisions.size());
  if (out.decisions > 0 && out.with_wrong_name == 0)
    out.nothing_foretold = fmt::format(
        "no decision of {} shows a name that is not offered among its alternatives, so no noise "
        "leads to one",
        out.decisions);
  if (out.with_wrong_name > 0) {
    std::vector<double> foretold(tasks, 0.0);
    std::vector<double> variance(tasks, 0.0);
    std::vector<double> seen(tasks, 0.0);
    const std::vector<double> chances = failure_chances(decisions);
    for (std::size_t i = 0; i < decisions.size(); ++i) {
      foretold[static_cast<std::size_t>(decisions[i].task)] += chances[i];
      variance[static_cast<std::size_t>(decisions[i].task)] += chances[i] * (1 - chances[i]);
      seen[static_cast<std::size_t>(decisions[i].task)] += 1;
    }
    out.predicted = Estimate{sum(foretold) / sum(seen), std::nullopt};
    const Result<Interval> ci95 = foretold_rate_interval(foretold, variance, seen, units, 0.95);
    if (ci95) out.predicted->ci95 = *ci95;
  }
  const Estimate& rate = out.predicted ? *out.predicted : out.baseline;
  if (rate.ci95)
    out.risk = rate.ci95->hi < options.screen_low    ? Risk::Low
               : rate.ci95->lo > options.screen_high ? Risk::High
                                                     : Risk::Watch;
  if (!out.nothing_foretold.empty() && out.risk == Risk::Low) out.risk.reset();
  return out;
}

}  // namespace unmask
