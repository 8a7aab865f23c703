#include "verdict/criteria.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "stats/power.h"

namespace unmask {
namespace {

// Half away from zero, and never "-0.0".
double rounded_points(double proportion, int decimals = 1) {
  const double scale = std::pow(10, decimals);
  const double value = std::round(points(proportion) * scale) / scale;
  return value == 0 ? 0.0 : value;
}

// "+1.3", "-1.3", "0.0".
std::string signed_number(double proportion, int decimals = 1) {
  const double value = rounded_points(proportion, decimals);
  return value == 0 ? fmt::format("{:.{}f}", value, decimals)
                    : fmt::format("{:+.{}f}", value, decimals);
}

std::string interval_of_points(const Interval& interval) {
  return signed_number(interval.lo) + " to " + signed_number(interval.hi);
}

std::string excluded_of(const ArmSummary& arm, std::string_view role) {
  return fmt::format("{} of {} of the {}", count_text(arm.episodes_excluded),
                     counted(arm.episodes_total, "episode"), role);
}

std::string holm_text(const std::optional<double>& p) {
  return p ? "Holm " + p_text(*p) : std::string("not tested");
}

std::optional<int> positive(const Result<int>& tasks, long present) {
  if (!tasks) return std::nullopt;
  // The closed forms speak of 80 % power; this sample has already failed to show it.
  return std::max(*tasks, static_cast<int>(present) + 1);
}

// Tasks until the mean is shown to lie below the limit, or, where it seems to lie beyond, to differ
// from 0.
std::optional<int> tasks_to_settle(double mean, std::optional<double> sd, double limit,
                                   long present) {
  if (!sd) return std::nullopt;
  if (mean < limit) {
    return positive(tasks_for_upper_limit(mean, *sd, limit, kVerdictAlpha, kPlanningPower),
                    present);
  }
  return positive(tasks_to_detect(mean, *sd, kVerdictAlpha, kPlanningPower), present);
}

// Where all tasks differ alike, the distance of the limit is a number over n and shrinks like one.
std::optional<int> tasks_without_spread(double mean, double upper, double limit, long present) {
  if (!(upper > mean) || !(mean < limit)) return std::nullopt;
  const double needed = static_cast<double>(present) * (upper - mean) / (limit - mean);
  if (!(needed < 1e9)) return std::nullopt;
  return std::max(static_cast<int>(present) + 1, static_cast<int>(std::floor(needed)) + 1);
}

// What a condition is settled by: a mean over tasks against a limit.
struct Settled {
  double mean = 0;
  std::optional<double> sd;       // per task, at the present trials
  std::optional<double> between;  // the part of sd that lies between tasks
  double limit = 0;
};

double power_to_settle(const Settled& what, double sd, int tasks) {
  if (what.mean < what.limit)
    return power_of_upper_limit(what.mean, sd, what.limit, kVerdictAlpha, tasks);
  return power_to_detect(what.mean, sd, kVerdictAlpha, tasks);
}

// Trials until the present tasks settle it: chance within tasks shrinks with the trials, what lies
// between tasks stays.
std::optional<int> trials_to_settle(const Settled& what, long tasks, int trials) {
  if (!what.sd || !what.between || tasks < 2 || what.mean == 0) return std::nullopt;
  const double between2 = std::min(*what.between * *what.between, *what.sd * *what.sd);
  const double chance = (*what.sd * *what.sd - between2) * trials;  // of a single trial
  for (int n = trials + 1; n <= kMostTrials; ++n) {
    const double sd = std::sqrt(between2 + chance / n);
    if (!(sd > 0) || power_to_settle(what, sd, static_cast<int>(tasks)) >= kPlanningPower) return n;
  }
  return std::nullopt;
}

// The spread per task that an upper limit implies, taking it as mean + 1.645 SE.
std::optional<double> implied_sd(double mean, double upper95, long tasks) {
  constexpr double kOneSided = 1.6448536269514722;
  const double se = (upper95 - mean) / kOneSided;
  if (!(se > 0) || !std::isfinite(se)) return std::nullopt;
  return se * std::sqrt(static_cast<double>(tasks));
}

// Where neither arm failed once, the limit is a number over n and shrinks like one.
std::optional<int> tasks_without_failures(const ChannelComparison& channel, long tasks) {
  if (!channel.difference_upper95) return std::nullopt;
  const double needed = static_cast<double>(tasks) * *channel.difference_upper95 / kDifferenceLimit;
  return std::max(static_cast<int>(tasks) + 1, static_cast<int>(std::floor(needed)) + 1);
}

// What one limit of a channel asks, as the pooled comparison tells it and, where the arms have
// different numbers of episodes of a task, the weighed one. Each has to be settled, and alike.
using Limit = std::vector<Settled>;

void add_difference(Limit& limit, std::optional<double> difference, std::optional<double> upper95,
                    std::optional<double> between, long tasks) {
  if (!difference || !upper95) return;
  limit.push_back(
      {*difference, implied_sd(*difference, *upper95, tasks), between, kDifferenceLimit});
}

void add_ratio(Limit& limit, std::optional<double> ratio, std::optional<double> upper95,
               std::optional<double> between, long tasks) {
  if (!ratio || !(*ratio > 0) || !upper95) return;
  const double log_ratio = std::log(*ratio);
  limit.push_back({log_ratio, implied_sd(log_ratio, std::log(*upper95), tasks), between,
                   std::log(kAmplificationLimit)});
}

// The two limits of a channel as means over tasks; empty where undefined.
std::vector<Limit> limits_of(const ChannelComparison& c, long tasks) {
  const bool weighed = c.weighed_difference.has_value();
  Limit difference;
  Limit amplification;
  add_difference(difference, c.difference,
                 weighed ? c.pooled_difference_upper95 : c.difference_upper95, c.between_difference,
                 tasks);
  add_ratio(amplification, c.amplification,
            weighed ? c.pooled_amplification_upper95 : c.amplification_upper95, c.between_log_ratio,
            tasks);
  if (weighed) {
    add_difference(difference, c.weighed_difference, c.weighed_difference_upper95,
                   c.between_difference, tasks);
    if (c.amplification)
      add_ratio(amplification, c.weighed_amplification, c.weighed_amplification_upper95,
                c.between_log_ratio, tasks);
  }
  return {difference, amplification};
}

// Whether the pooled and the weighed estimate lie on different sides: more tasks of this kind would
// show them to differ, and never that they do not.
bool is_told_otherwise(const Limit& limit) {
  return limit.size() == 2 && (limit[0].mean < limit[0].limit) != (limit[1].mean < limit[1].limit);
}

std::optional<int> smaller(std::optional<int> a, std::optional<int> b) {
  if (a && b) return std::min(*a, *b);
  return a ? a : b;
}

// What the most demanding of `limit` needs; nullopt: nothing settles one of them.
template <typename Need>
std::optional<int> most(const Limit& limit, Need need) {
  std::optional<int> largest;
  for (const Settled& what : limit) {
    const std::optional<int> needed = need(what);
    if (!needed) return std::nullopt;
    largest = std::max(largest.value_or(0), *needed);
  }
  return largest;
}

// A channel is settled by whichever of its two limits needs fewer tasks, or trials.
void add_needs_of_channel(const ChannelComparison& channel, long tasks, int trials,
                          Condition& condition) {
  if (channel.baseline_count + channel.candidate_count == 0) {
    condition.tasks_needed = tasks_without_failures(channel, tasks);
    return;
  }
  bool told_otherwise = false;
  for (const Limit& limit : limits_of(channel, tasks)) {
    if (is_told_otherwise(limit)) {
      told_otherwise = true;
      continue;
    }
    condition.tasks_needed =
        smaller(condition.tasks_needed, most(limit, [&](const Settled& what) {
                  return tasks_to_settle(what.mean, what.sd, what.limit, tasks);
                }));
    condition.trials_needed = smaller(
        condition.trials_needed,
        most(limit, [&](const Settled& what) { return trials_to_settle(what, tasks, trials); }));
  }
  if (told_otherwise && !condition.tasks_needed)
    condition.sentence +=
        " Pooled and weighed, the arms' rates tell different stories, which only as many trials of "
        "each task in both arms would settle.";
}

// " (weighed)" behind a limit that only the weighed comparison makes as large.
std::string_view whose(std::optional<double> pooled, std::optional<double> weighed) {
  return pooled && weighed && *weighed > *pooled ? " (weighed)" : "";
}

std::string limits_text(const ChannelComparison& channel) {
  std::string text;
  if (channel.amplification_upper95) {
    text = fmt::format(
        "A at most {:.2f}{}", *channel.amplification_upper95,
        whose(channel.pooled_amplification_upper95, channel.weighed_amplification_upper95));
  }
  if (channel.difference_upper95) {
    text +=
        fmt::format("{}an increase of at most {:.1f} points{}", text.empty() ? "" : ", ",
                    rounded_points(*channel.difference_upper95),
                    whose(channel.pooled_difference_upper95, channel.weighed_difference_upper95));
  }
  return text.empty() ? std::string("no limit could be computed") : text;
}

Condition channel_condition(Channel channel, const ChannelComparison& comparison, long tasks,
                            int trials) {
  Condition condition;
  condition.name = "channel " + std::string(to_string(channel));
  const bool ratio_small =
      comparison.amplification_upper95 && *comparison.amplification_upper95 < kAmplificationLimit;
  const bool difference_small =
      comparison.difference_upper95 && *comparison.difference_upper95 < kDifferenceLimit;
  condition.met = !comparison.amplified && (ratio_small || difference_small);
  condition.sentence = fmt::format(
      "Channel {}: {} (one-sided 95 % limits; clean asks for A below {} or an increase below "
      "{:.0f} "
      "points).",
      to_string(channel), limits_text(comparison), kAmplificationLimit, points(kDifferenceLimit));
  if (!condition.met) add_needs_of_channel(comparison, tasks, trials, condition);
  return condition;
}

}  // namespace

int present_trials(const CellComparison& cell) {
  return std::max({1, cell.baseline.trials_max, cell.candidate.trials_max});
}

std::string signed_points(double proportion, int decimals) {
  return signed_number(proportion, decimals) + " points";
}

std::string spaced_percent(double proportion, int decimals) {
  return fmt::format("{:.{}f} %", rounded_points(proportion, decimals), decimals);
}

std::string p_text(double p) {
  return p < 0.001 ? std::string("p < 0.001") : fmt::format("p = {:.3f}", p);
}

std::string nothing_ran_sentence(const CellComparison& cell) {
  const auto ran = [](const ArmSummary& arm) { return arm.episodes_total > arm.episodes_excluded; };
  if (ran(cell.baseline) && ran(cell.candidate))
    return "Nothing was evaluated: no task has an episode that ran in both arms.";
  return fmt::format("Nothing was evaluated: {} and {} are excluded (infrastructure errors).",
                     excluded_of(cell.baseline, "baseline"),
                     excluded_of(cell.candidate, "candidate"));
}

std::string outcome_sentence(const CellComparison& cell) {
  if (!cell.ran) return nothing_ran_sentence(cell);
  if (!cell.graded) return "The logs are not graded in both arms, so success cannot be compared.";
  if (!cell.outcome.delta) {
    return "Success cannot be compared: fewer than 2 tasks were evaluated in both arms.";
  }
  const MeanTest& delta = *cell.outcome.delta;
  return fmt::format("Success changes by {} (95 % interval {}, {}).", signed_points(delta.mean),
                     interval_of_points(delta.ci95), holm_text(cell.outcome.p_holm));
}

std::string unmasked_sentence(const CellComparison& cell) {
  const BudgetComparison& budget = cell.budget;
  if (!cell.ran) return "Without episodes that ran the budget cannot be recounted.";
  if (!cell.graded) return "Without grades the budget cannot be recounted.";
  if (!budget.unmasked.test) {
    if (!budget.k0)
      return "The logs name no error budget, so there is no unmasked gap; state the budget in "
             "force "
             "to get one.";
    if (budget.k_tight >= *budget.k0)
      return fmt::format(
          "Masking could not be judged: the tight budget {} is not below the error budget, {}, "
          "so there is no unmasked gap.",
          budget.k_tight, *budget.k0);
    if (!budget.gap_tight && budget.k_tight == 0 && cell.evaluated_tasks >= 2)
      return "Masking could not be judged: by the live rule no episode has fewer than 0 failed "
             "calls, so there is no unmasked gap at K = 0.";
    return "The unmasked gap is undefined: fewer than 2 tasks were evaluated in both arms.";
  }
  const MeanTest& unmasked = *budget.unmasked.test;
  const std::string_view fewer = cell.baseline.budget.rule == BudgetRule::Live ? "fewer than " : "";
  const bool kept = cell.baseline.budget.beyond_k0 + cell.candidate.budget.beyond_k0 == 0;
  const std::string in_force =
      kept ? fmt::format("{}{}", fewer, *budget.k0) : std::string("the unknown one in force");
  std::string text = fmt::format(
      "Under a budget of {}{} instead of {} the candidate's gap grows by {} (unmasked gap, "
      "95 % interval {}, {})",
      fewer, counted(budget.k_tight, "failed call"), in_force, signed_points(unmasked.mean),
      interval_of_points(unmasked.ci95), holm_text(budget.unmasked.p_holm));
  if (budget.gap_tight && budget.gap_tight_ci95) {
    text += fmt::format("; the gap there is {} ({})", signed_points(*budget.gap_tight),
                        interval_of_points(*budget.gap_tight_ci95));
  }
  return text + (budget.k_tight_is_primary ? "." : "; this tight budget is exploratory.");
}

std::string amplified_sentence(Channel channel, const CellComparison& cell) {
  const ChannelComparison& comparison = cell.channels.at(channel);
  std::string text =
      fmt::format("{} failures go from {} to {} of the agent's calls", to_string(channel),
                  spaced_percent(*comparison.baseline), spaced_percent(*comparison.candidate));
  if (comparison.is_new) {
    text += " (new: the baseline has hardly any)";
  } else if (comparison.amplification) {
    text += fmt::format(" (A = {:.2f}", *comparison.amplification);
    if (comparison.amplification_ci95) {
      text += fmt::format(", 95 % interval {:.2f} to {:.2f}", comparison.amplification_ci95->lo,
                          comparison.amplification_ci95->hi);
    }
    if (comparison.weighed_amplification)
      text += fmt::format("; {:.2f} weighed", *comparison.weighed_amplification);
    text += ")";
  } else {
    text += " (too few failing tasks for a ratio)";
  }
  text += fmt::format(", {}", holm_text(comparison.p_holm));
  if (comparison.counts_in_budget) return text + ".";
  return text + (cell.candidate.repair.refused > 0
                     ? "; none of them spent budget."
                     : "; leaked markup only, which spends no budget.");
}

Condition outcome_not_worse(const CellComparison& cell) {
  Condition condition;
  condition.name = "outcome";
  if (!cell.graded || !cell.outcome.delta || !cell.outcome.tost) {
    condition.sentence = outcome_sentence(cell);
    return condition;
  }
  const double margin = cell.outcome.tost->margin;
  const Interval& ci90 = cell.outcome.tost->ci90;
  condition.met = ci90.lo > -margin;
  condition.sentence = fmt::format(
      "The 90 % interval of the change in success is {} points; clean asks for a lower end above "
      "{:.1f}.",
      interval_of_points(ci90), -points(margin));
  if (!condition.met) {
    const Settled what{-cell.outcome.delta->mean, cell.sd_delta, cell.between_delta, margin};
    const long tasks = static_cast<long>(cell.outcome.delta->df) + 1;
    condition.tasks_needed = cell.sd_delta == 0.0
                                 ? tasks_without_spread(what.mean, -ci90.lo, margin, tasks)
                                 : tasks_to_settle(what.mean, what.sd, margin, tasks);
    condition.trials_needed = trials_to_settle(what, tasks, present_trials(cell));
  }
  return condition;
}

Condition unmasked_gap_small(const CellComparison& cell) {
  Condition condition;
  condition.name = "unmasked gap";
  const std::optional<MeanTest>& test = cell.budget.unmasked.test;
  if (!cell.graded || !test) {
    condition.sentence = unmasked_sentence(cell);
    return condition;
  }
  condition.met = test->upper95 < kUnmaskedLimit;
  condition.sentence = fmt::format(
      "The unmasked gap is {} with a one-sided 95 % upper limit of {}; clean asks for a limit "
      "below {:.0f} points.",
      signed_points(test->mean), signed_number(test->upper95), points(kUnmaskedLimit));
  if (!condition.met) {
    const Settled what{test->mean, cell.sd_unmasked, cell.between_unmasked, kUnmaskedLimit};
    const long tasks = static_cast<long>(test->df) + 1;
    condition.tasks_needed =
        cell.sd_unmasked == 0.0
            ? tasks_without_spread(what.mean, test->upper95, kUnmaskedLimit, tasks)
            : tasks_to_settle(what.mean, what.sd, kUnmaskedLimit, tasks);
    condition.trials_needed = trials_to_settle(what, tasks, present_trials(cell));
  }
  return condition;
}

std::vector<Condition> channels_not_amplified(const CellComparison& cell) {
  std::vector<Condition> conditions;
  for (const Channel channel : kFailureChannels) {
    const auto found = cell.channels.find(channel);
    const ChannelComparison none;
    conditions.push_back(channel_condition(channel,
                                           found == cell.channels.end() ? none : found->second,
                                           cell.paired_tasks, present_trials(cell)));
  }
  return conditions;
}

}  // namespace unmask
