// The whole comparison, in order: pair the tasks, settle the budget, summarise each arm, then
// outcome, channels, budget, recovery, names. Every resampled statistic uses the same draws of
// tasks.

#include "compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "base/parallel.h"
#include "base/rng.h"
#include "compare/budget_comparison.h"
#include "compare/channel_comparison.h"
#include "compare/estimates.h"
#include "compare/evidence.h"
#include "compare/names_comparison.h"
#include "compare/pairing.h"
#include "compare/spread.h"
#include "stats/multiplicity.h"

namespace unmask {
namespace {

std::optional<Error> refuse(const CompareOptions& options) {
  if (options.resamples < 1)
    return Error{ErrorKind::InvalidArgument, "the number of resamples must be at least 1", ""};
  if (options.k_tight < 0)
    return Error{ErrorKind::InvalidArgument, "the tight budget must not be negative", ""};
  if (!(options.equivalence_margin > 0))
    return Error{ErrorKind::InvalidArgument, "the equivalence margin must be positive", ""};
  return std::nullopt;
}

// The smaller of two budgets, where none is larger than any.
std::optional<int> smaller(std::optional<int> a, std::optional<int> b) {
  if (!a) return b;
  if (!b) return a;
  return std::min(*a, *b);
}

}  // namespace

std::optional<int> settle_budget(PairedArms& arms, const CompareOptions& options) {
  const std::optional<int> of_baseline = effective_budget(arms.baseline, options);
  const std::optional<int> of_candidate = effective_budget(arms.candidate, options);
  const std::optional<int> k0 = smaller(of_baseline, of_candidate);
  if (of_baseline == of_candidate) return k0;
  // An arm that states the smaller one need not have kept to it.
  arms.baseline = recounted_at(arms.baseline, *k0);
  arms.candidate = recounted_at(arms.candidate, *k0);
  return k0;
}

namespace {

// pairing_warnings speak of the logs; where the options assume the missing budget to be the other
// arm's, the budgets do not differ after all.
std::vector<Warning> warnings_between(const Arm& baseline, const Arm& candidate,
                                      const CompareOptions& options) {
  std::vector<Warning> warnings = pairing_warnings(baseline, candidate);
  if (effective_budget(baseline, options) == effective_budget(candidate, options)) {
    std::erase_if(warnings, [](const Warning& w) { return w.code == "budget_differs"; });
  }
  return warnings;
}

// The share of tasks whose majority outcome changes. A tie among trials has no majority: such a
// task has not changed, and stays in the denominator.
std::optional<double> flipped(const PairedNumbers& success) {
  if (success.tasks.empty()) return std::nullopt;
  double flips = 0;
  for (std::size_t i = 0; i < success.tasks.size(); ++i) {
    const double b = success.baseline[i] - 0.5;
    const double c = success.candidate[i] - 0.5;
    if (b * c < 0) ++flips;
  }
  return flips / static_cast<double>(success.tasks.size());
}

Outcome compare_outcomes(const std::vector<double>& differences, double margin) {
  Outcome outcome;
  outcome.delta = difference_test(differences);
  if (differences.empty()) return outcome;
  const Result<Equivalence> equivalence = tost(differences, margin);
  if (!equivalence) return outcome;
  outcome.tost = *equivalence;
  outcome.tost->ci90 = cut_to(equivalence->ci90, -1, 1);
  return outcome;
}

long evaluated_in(const Arm& arm, const std::vector<std::size_t>& tasks) {
  long episodes = 0;
  for (const std::size_t t : tasks) {
    for (std::size_t e = arm.tasks[t].begin; e < arm.tasks[t].end; ++e) {
      if (is_evaluated(arm.episodes[e])) ++episodes;
    }
  }
  return episodes;
}

// Common tasks where an arm has no evaluated episode: outside outcome and budget, inside the
// channels.
void list_unevaluated(const PairedArms& arms, const std::vector<std::size_t>& evaluated,
                      std::vector<std::string>& unpaired) {
  for (std::size_t t = 0; t < arms.baseline.tasks.size(); ++t) {
    if (std::binary_search(evaluated.begin(), evaluated.end(), t)) continue;
    const bool in_baseline = evaluated_in(arms.baseline, {t}) > 0;
    const bool in_candidate = evaluated_in(arms.candidate, {t}) > 0;
    const std::string where = in_baseline ? "candidate" : in_candidate ? "baseline" : "either arm";
    unpaired.push_back(std::string(kNotGraded) + where + ": " + arms.baseline.tasks[t].id);
  }
}

bool any_graded(const Arm& arm) {
  return std::any_of(arm.episodes.begin(), arm.episodes.end(), is_evaluated);
}

bool any_task_ran_in_both(const PairedArms& arms) {
  for (std::size_t t = 0; t < arms.baseline.tasks.size(); ++t) {
    if (!never_ran(arms.baseline, t) && !never_ran(arms.candidate, t)) return true;
  }
  return false;
}

void compare_success(const PairedArms& arms, std::optional<int> k0, const TaskResamples& all_tasks,
                     const CompareOptions& options, CellComparison& cell) {
  const PairedNumbers success =
      pair_numbers(task_success(arms.baseline), task_success(arms.candidate));
  const std::vector<double> differences = success.differences();
  cell.episodes_baseline = evaluated_in(arms.baseline, success.tasks);
  cell.episodes_candidate = evaluated_in(arms.candidate, success.tasks);
  cell.graded = any_graded(arms.baseline) && any_graded(arms.candidate);
  cell.ran = any_task_ran_in_both(arms);
  cell.evaluated_tasks = static_cast<long>(success.tasks.size());
  if (cell.graded) list_unevaluated(arms, success.tasks, cell.unpaired_tasks);
  cell.outcome = compare_outcomes(differences, options.equivalence_margin);
  cell.flip_share = flipped(success);
  cell.sd_delta = standard_deviation(differences);

  const int tasks = static_cast<int>(success.tasks.size());
  if (tasks == all_tasks.tasks()) {
    cell.budget = compare_budgets(arms, k0, cell.outcome.delta, all_tasks, options, cell.warnings);
  } else {
    // Tasks without an outcome in both arms leave the draws as well.
    const TaskResamples evaluated(std::max(tasks, 1), options.resamples,
                                  Rng(options.seed, "compare/tasks").next(), options.threads);
    cell.budget = compare_budgets(arms, k0, cell.outcome.delta, evaluated, options, cell.warnings);
  }
  if (k0 && options.k_tight < *k0) {
    cell.sd_unmasked = standard_deviation(
        unmasked_by_task(arms, options.k_tight, *k0, options.rule, options.count));
  }
}

// Success and the curves are compared over the tasks evaluated in both arms; so are the numbers of
// each arm that stand beside them. What needs no grade stays over all tasks compared.
void summarize_outcome_where_both_have_one(const PairedArms& arms, std::optional<int> k0,
                                           const CompareOptions& options, CellComparison& cell) {
  const std::vector<std::size_t> both =
      pair_numbers(task_success(arms.baseline), task_success(arms.candidate)).tasks;
  if (both.empty() || both.size() == arms.baseline.tasks.size()) return;
  for (const auto& [arm, summary] :
       {std::pair(&arms.baseline, &cell.baseline), std::pair(&arms.candidate, &cell.candidate)}) {
    const ArmSummary outcome = summarize_arm_at(select_tasks(*arm, both), k0, options);
    summary->tasks = outcome.tasks;
    summary->trials_min = outcome.trials_min;
    summary->trials_max = outcome.trials_max;
    summary->success = outcome.success;
    summary->pass_hat_k = outcome.pass_hat_k;
    // E is known of ungraded episodes too: its mean stays that of all tasks compared.
    summary->budget.beyond_k0 = outcome.budget.beyond_k0;
    summary->budget.curve = outcome.budget.curve;
    summary->budget.curve_live = outcome.budget.curve_live;
  }
}

// Excluded episodes are counted wherever they are, also in tasks that are left out because of them.
void add_excluded_of(const Arm& arm, const std::vector<std::size_t>& tasks, ArmSummary& summary) {
  for (const std::size_t t : tasks) {
    for (std::size_t e = arm.tasks[t].begin; e < arm.tasks[t].end; ++e) {
      if (!arm.episodes[e].excluded) continue;
      ++summary.episodes_total;
      ++summary.episodes_excluded;
      ++summary.terminations[std::string(to_string(arm.episodes[e].termination))];
    }
  }
}

}  // namespace

Result<CellComparison> compare_arms(const Arm& baseline, const Arm& candidate,
                                    const CompareOptions& requested) {
  if (const std::optional<Error> error = refuse(requested)) return *error;
  CompareOptions options = requested;
  options.threads = resolve_threads(requested.threads);
  Result<PairedArms> paired = pair_tasks(baseline, candidate);
  if (!paired) return paired.error();
  PairedArms& arms = *paired;
  // From here on tasks[t] of both arms is the same task.

  CellComparison cell;
  cell.warnings = warnings_between(baseline, candidate, options);
  const PairedArms all = arms;
  const std::vector<std::size_t> dropped = drop_tasks_that_never_ran(arms);
  const std::optional<int> k0 = settle_budget(arms, options);
  // Both arms are held to one budget.

  cell.baseline = summarize_arm_at(arms.baseline, k0, options);
  cell.candidate = summarize_arm_at(arms.candidate, k0, options);
  summarize_outcome_where_both_have_one(arms, k0, options, cell);
  add_excluded_of(all.baseline, dropped, cell.baseline);
  add_excluded_of(all.candidate, dropped, cell.candidate);
  cell.baseline.episodes_in_log = static_cast<long>(baseline.episodes.size());
  cell.candidate.episodes_in_log = static_cast<long>(candidate.episodes.size());
  cell.paired_tasks = static_cast<long>(arms.baseline.tasks.size());
  cell.unpaired_tasks = arms.unpaired;
  const TaskResamples resamples(static_cast<int>(cell.paired_tasks), options.resamples,
                                Rng(options.seed, "compare/tasks").next(), options.threads);
  const std::optional<PairedArms> weighed = weighed_alike(arms);
  const bool copies = cell.baseline.trials_are_copies;
  const Units units{independent_units(arms.baseline, cell.baseline.trials_are_copies),
                    independent_units(arms.candidate, cell.candidate.trials_are_copies)};
  // None of these reads what another writes; the longest come first.
  const std::function<void()> parts[] = {
      [&] { cell.pairs = compare_pairs(arms, copies, options.seed); },
      [&] { cell.names = compare_names(arms, copies, options.seed); },
      [&] { compare_success(arms, k0, resamples, options, cell); },
      [&] {
        cell.channels =
            compare_channels(arms, weighed ? &*weighed : nullptr, units, resamples, options);
      },
      [&] {
        cell.argument =
            compare_argument(arms, weighed ? &*weighed : nullptr, units, resamples, options);
      },
      [&] { cell.positions = compare_positions(arms, resamples, options); },
      [&] { cell.quarters = compare_quarters(arms, resamples, options); },
      [&] { cell.position_trends = position_trends(arms); },
      [&] { add_spread_between_tasks(arms, copies, k0, options, cell); },
      [&] { cell.recovery = compare_recovery(arms); },
      [&] { cell.task_slope = task_slope(arms, copies); }};
  parallel_for(std::size(parts), options.threads, [&](std::size_t part) { parts[part](); });
  add_spread_between_tasks(arms, copies || cell.candidate.trials_are_copies, k0, options, cell);
  if (const std::optional<Warning> unequal = unequal_episodes_warning(cell.channels))
    cell.warnings.push_back(*unequal);
  if (const std::optional<Warning> moved = substitution_warning(cell.channels))
    cell.warnings.push_back(*moved);
  return cell;
}

NoiseFloor noise_floor(std::string which, const Arm& first, const Arm& rerun) {
  NoiseFloor noise;
  noise.arm = std::move(which);
  const Result<PairedArms> arms = pair_tasks(first, rerun);
  if (!arms) return noise;
  const PairedNumbers success =
      pair_numbers(task_success(arms->baseline), task_success(arms->candidate));
  noise.tasks = static_cast<long>(success.tasks.size());
  noise.flip_share = flipped(success);
  if (noise.tasks > 0) {
    noise.delta = sum(success.differences()) / static_cast<double>(noise.tasks);
  }
  return noise;
}

}  // namespace unmask
