#include "compare/mechanism.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/rng.h"
#include "compare/estimates.h"
#include "compare/flip_analysis.h"
#include "compare/mechanism_warnings.h"
#include "compare/replay_table.h"
#include "compare/replayed_arm.h"
#include "metrics/task_numbers.h"
#include "stats/multiplicity.h"
#include "stats/permutation.h"
#include "stats/resample.h"

namespace unmask {
namespace {

constexpr std::array<const char*, 3> kReplayChannels = {"malformed", "tool_name", "schema"};
constexpr const char* kAny = "any";
constexpr double kFewestFailures = 5;  // METHOD 4

bool fails(const ReplayReply& reply, std::string_view channel) {
  return channel == kAny ? !reply.channel.empty() : reply.channel == channel;
}

// The candidate's reply beside the baseline's.
void count_outcome(const ReplyPair& pair, ReplayOutcomes& out) {
  const ReplayReply& b = *pair.baseline.reply;
  const ReplayReply& c = *pair.candidate.reply;
  ++out.replies;
  if (calls(b) != calls(c)) {
    ++(calls(b) ? out.text_instead : out.call_instead);
  } else if (first_name(b) != first_name(c)) {
    ++out.other_tool;
  } else {
    ++out.same;
    const bool same_calls = std::equal(b.calls.begin(), b.calls.end(), c.calls.begin(),
                                       c.calls.end(), [](const ToolCall& x, const ToolCall& y) {
                                         return x.name == y.name && x.arguments == y.arguments;
                                       });
    if (!same_calls) ++out.other_arguments;
  }
}

void count_direction(const ReplayTable& table, const ReplyPair& pair, FlipDirections& out) {
  const std::string_view a = first_name(*pair.baseline.reply);
  const std::string b(first_name(*pair.candidate.reply));
  if (a.empty() || b.empty() || a == b) return;
  ++out.changed;
  if (table.is_offered(pair.context, b)) {
    ++out.to_offered;
    if (!table.is_offered(pair.context, a)) ++out.healed;
  } else {
    ++(table.is_known_failure(b) ? out.to_known_failure : out.to_new_failure);
  }
}

// Decisions in which one arm alone fails, of contexts that are alike the first.
struct Discordant {
  long only_baseline = 0;
  long only_candidate = 0;
};

void add_channel_estimates(const TaskCounts& baseline, const TaskCounts& candidate,
                           const Discordant& distinct, const MechanismOptions& options,
                           ReplayChannel& out) {
  const double replies = sum(baseline.calls);
  if (!(replies > 0)) return;
  out.baseline = sum(baseline.failures) / replies;
  out.candidate = sum(candidate.failures) / replies;
  out.difference = *out.candidate - *out.baseline;
  const Result<DifferenceInterval> interval = rate_difference_interval(
      baseline.failures, baseline.calls, candidate.failures, candidate.calls);
  if (interval) out.difference_ci95 = interval->ci95;
  const Result<McNemar> paired = mcnemar(distinct.only_baseline, distinct.only_candidate);
  if (paired) out.mcnemar = *paired;
  const bool ratio = sum(baseline.failures) >= kFewestFailures;
  if (ratio) {
    out.amplification = *out.candidate / *out.baseline;
    const TaskResamples resamples(static_cast<int>(baseline.calls.size()), options.resamples,
                                  Rng(options.seed, "compare/mechanism").next(), options.threads);
    const Result<Interval> ci = ratio_interval(baseline.failures, baseline.calls,
                                               candidate.failures, candidate.calls, resamples);
    // Where no reply differs every resample has the ratio 1: no width, and no interval (METHOD 8).
    if (ci && out.only_baseline + out.only_candidate > 0) out.amplification_ci95 = *ci;
  }
  if (sum(baseline.failures) + sum(candidate.failures) == 0) return;
  const Result<PermutationTest> test = block_swap_test(
      baseline.failures, baseline.calls, candidate.failures, candidate.calls, !ratio,
      options.resamples, Rng(options.seed, "compare/mechanism/swap").next(), options.threads);
  if (test) out.p = test->p;
}

ReplayChannel compare_replay_channel(const ReplayTable& table, const std::vector<ReplyPair>& pairs,
                                     const std::string& channel, const MechanismOptions& options) {
  ReplayChannel out;
  out.channel = channel;
  const std::vector<double> none(static_cast<std::size_t>(table.tasks()), 0.0);
  TaskCounts baseline{none, none, {}};
  TaskCounts candidate{none, none, {}};
  Discordant distinct;
  std::set<std::pair<std::size_t, int>> seen;  // context, sample
  for (const ReplyPair& pair : pairs) {
    const auto task = static_cast<std::size_t>(pair.task);
    const bool b = fails(*pair.baseline.reply, channel);
    const bool c = fails(*pair.candidate.reply, channel);
    ++out.replies;
    if (b && c) ++out.both;
    if (b && !c) ++out.only_baseline;
    if (c && !b) ++out.only_candidate;
    if (seen.emplace(table.first_alike(pair.context), pair.baseline.reply->sample).second) {
      distinct.only_baseline += b && !c ? 1 : 0;
      distinct.only_candidate += c && !b ? 1 : 0;
    }
    baseline.calls[task] += 1;
    candidate.calls[task] += 1;
    baseline.failures[task] += b ? 1 : 0;
    candidate.failures[task] += c ? 1 : 0;
  }
  add_channel_estimates(baseline, candidate, distinct, options, out);
  return out;
}

CandidateMechanism compare_candidate(const ReplayTable& table, std::size_t arm,
                                     const MechanismOptions& options) {
  CandidateMechanism out;
  out.label = table.replay().head.arms[arm].label;
  const std::vector<ReplyPair> pairs = table.pairs_with(arm);
  out.contexts = static_cast<long>(pairs.size());
  std::vector<bool> tasks(static_cast<std::size_t>(table.tasks()), false);
  for (const ReplyPair& pair : pairs) {
    tasks[static_cast<std::size_t>(pair.task)] = true;
    count_outcome(pair, out.outcomes);
    count_direction(table, pair, out.directions);
  }
  out.tasks = std::count(tasks.begin(), tasks.end(), true);
  for (const char* channel : kReplayChannels)
    out.channels.push_back(compare_replay_channel(table, pairs, channel, options));
  out.channels.push_back(compare_replay_channel(table, pairs, kAny, options));

  const PairedMargins acts = paired_act_margins(table, pairs);
  out.flips.push_back(analyse_flips(table, DecisionKind::WhetherToCall, acts, options).analysis);
  const PairedMargins tools = paired_tool_margins(table, pairs);
  FlipFits fits = analyse_flips(table, DecisionKind::WhichTool, tools, options);
  out.additive = predict_failures(table, tools, fits, true, options);
  out.multiplicative = predict_failures(table, tools, fits, false, options);
  out.flips.push_back(std::move(fits.analysis));
  return out;
}

void correct_for_number(std::vector<CandidateMechanism>& candidates) {
  std::vector<std::optional<double>> p;
  for (const CandidateMechanism& candidate : candidates)
    for (const ReplayChannel& channel : candidate.channels)
      p.push_back(channel.channel == kAny ? std::nullopt : channel.p);
  const std::vector<std::optional<double>> corrected = holm(p);
  std::size_t next = 0;
  for (CandidateMechanism& candidate : candidates)
    for (ReplayChannel& channel : candidate.channels) channel.p_holm = corrected[next++];
}

Result<Done> check(const MechanismOptions& options) {
  if (!(options.narrow > 0))
    return Error{ErrorKind::InvalidArgument, "a margin is narrow below a number above 0", ""};
  if (!options.noise) return Done{};
  if (!(options.noise->sigma > 0) || !std::isfinite(options.noise->sigma) ||
      !std::isfinite(options.noise->lambda) || !std::isfinite(options.noise->alpha) ||
      options.noise->lambda < 0)
    return Error{ErrorKind::InvalidArgument,
                 "a noise level needs a sigma above 0 and a lambda not below 0, all of them finite",
                 ""};
  return Done{};
}

Error without_baseline(const ReplayedArm& baseline) {
  return Error{
      ErrorKind::Undefined,
      fmt::format(
          "the baseline '{}' has no reply{}, so there is nothing to compare with",
          baseline.arm.label,
          baseline.errors > 0 ? fmt::format(" ({} ended in an error)", baseline.errors) : ""),
      ""};
}

}  // namespace

long ReplayedArm::names_with_margin() const {
  for (const MarginDistribution& d : margins)
    if (d.kind == DecisionKind::WhichTool && d.channel.empty()) return d.decisions;
  return 0;
}

std::string_view to_string(DecisionKind kind) {
  return kind == DecisionKind::WhetherToCall ? "whether_to_call" : "which_tool";
}

Result<Mechanism> analyse_mechanism(const Replay& replay,
                                    std::span<const std::optional<Decision>> decisions,
                                    const MechanismOptions& options) {
  std::vector<const Decision*> places;
  places.reserve(decisions.size());
  for (const std::optional<Decision>& decision : decisions)
    places.push_back(decision ? &*decision : nullptr);
  return analyse_mechanism(replay, std::span<const Decision* const>(places), options);
}

Result<Mechanism> analyse_mechanism(const Replay& replay,
                                    std::span<const Decision* const> decisions,
                                    const MechanismOptions& options) {
  const Result<Done> usable = check(options);
  if (!usable) return usable.error();
  if (replay.replies.empty())
    return Error{ErrorKind::Undefined, "the replay holds no reply", replay.head.log};
  const ReplayTable table(replay, decisions);
  Mechanism out;
  out.head = replay.head;
  out.contexts = static_cast<long>(replay.contexts.size());
  out.distinct = table.distinct();
  out.copies_in_other_tasks = table.copies_in_other_tasks();
  out.tasks = table.tasks();
  for (std::size_t arm = 0; arm < replay.head.arms.size(); ++arm)
    out.arms.push_back(describe_arm(table, arm, options));
  const ReplayedArm& baseline = out.arms[static_cast<std::size_t>(table.baseline())];
  if (baseline.replies == 0) return without_baseline(baseline);
  for (std::size_t arm = 0; arm < replay.head.arms.size(); ++arm) {
    const ReplayArm& who = replay.head.arms[arm];
    if (!who.baseline && who.repeats.empty())
      out.candidates.push_back(compare_candidate(table, arm, options));
  }
  correct_for_number(out.candidates);
  out.screen = screen_by_margins(table, options);
  out.warnings = warnings_of(out, options.every_arm_asked);
  return out;
}

}  // namespace unmask
