// A criterion is one finding; a cell is as good as its worst finding, an audit as its worst cell.
// So the order of the criteria changes nothing, and one more criterion never turns a no into a yes.
//
// A number passes by itself (`estimate`) or with its uncertainty (`confidence`). Worked example:
// max_amplification 1.5, A = 1.4 with 95 % interval 1.1 to 1.8 and one-sided upper limit 1.7. By
// the estimate it passes; by confidence it is inconclusive, for 1.7 is beyond 1.5 and 1.1 is not.
#include "verdict/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "verdict/criteria.h"
#include "verdict/gate_evidence.h"

namespace unmask {
namespace {

// 0.3 - 0.2 is beyond 0.1, but nobody asked for that.
constexpr double kRoundingNoise = 1e-12;

// A number with what is known of it. `high`: large is bad.
struct Measured {
  std::optional<double> value;
  std::optional<double> bad_limit;   // 95 %, on the bad side
  std::optional<double> good_limit;  // 95 %, on the good side
  std::optional<double> weighed;     // the same with each task weighed alike, where that differs
  bool high = true;
};

// A number in words, with so many decimals.
using Wording = std::string (*)(double value, int decimals);

struct Words {
  Wording number;
  Wording distance;
  int decimals;  // at least
};

std::string ratio_text(double value, int decimals) {
  return fmt::format("{:.{}f}", value, decimals);
}

std::string distance_in_points(double proportion, int decimals) {
  return fmt::format("{:.{}f} points", points(proportion), decimals);
}

constexpr Words kRatio = {ratio_text, ratio_text, 2};
constexpr Words kPoints = {signed_points, distance_in_points, 1};
constexpr Words kPercent = {spaced_percent, distance_in_points, 1};

// As many decimals as tell the numbers from the limit they are held against, so that no sentence
// reads "1.50, at most 1.50 asked: 0.00 too much".
int decimals_apart(const Words& words, const std::vector<double>& numbers, double limit) {
  constexpr int kMost = 12;
  const auto told_apart = [&](int decimals) {
    return std::all_of(numbers.begin(), numbers.end(), [&](double number) {
      return std::fabs(number - limit) < kRoundingNoise ||
             (words.number(number, decimals) != words.number(limit, decimals) &&
              words.distance(std::fabs(number - limit), decimals) != words.distance(0, decimals));
    });
  };
  int decimals = words.decimals;
  while (decimals < kMost && !told_apart(decimals)) ++decimals;
  return decimals;
}

// How far `value` is beyond `limit`, on the bad side.
double beyond(double value, double limit, bool high) {
  const double distance = high ? value - limit : limit - value;
  return std::fabs(distance) < kRoundingNoise ? 0 : distance;
}

GateStatus status_of(const Measured& measured, double limit, GateBasis basis) {
  if (basis == GateBasis::Estimate)
    return beyond(*measured.value, limit, measured.high) > 0 ? GateStatus::Fail : GateStatus::Pass;
  if (!measured.bad_limit || !measured.good_limit) return GateStatus::Inconclusive;
  if (beyond(*measured.bad_limit, limit, measured.high) <= 0) return GateStatus::Pass;
  return beyond(*measured.good_limit, limit, measured.high) > 0 ? GateStatus::Fail
                                                                : GateStatus::Inconclusive;
}

// Two numbers of one thing that lie on different sides of the limit do not settle it.
GateStatus agreed_status(const Measured& measured, double limit, GateBasis basis) {
  const GateStatus status = status_of(measured, limit, basis);
  if (!measured.weighed || status == GateStatus::Inconclusive) return status;
  const bool fails = beyond(*measured.weighed, limit, measured.high) > 0;
  return fails == (status == GateStatus::Fail) ? status : GateStatus::Inconclusive;
}

// "2.40 (95 % limit 2.90), at most 1.50 asked: 0.90 too much".
std::string sentence_of(const Measured& measured, double limit, const GateFinding& finding,
                        GateBasis basis, const Words& words) {
  const bool limits = basis == GateBasis::Confidence && measured.bad_limit && measured.good_limit;
  std::vector<double> shown = {*measured.value};
  if (measured.weighed) shown.push_back(*measured.weighed);
  if (limits) shown.insert(shown.end(), {*measured.bad_limit, *measured.good_limit});
  const int decimals = decimals_apart(words, shown, limit);
  const auto in_words = [&](double number) { return words.number(number, decimals); };
  std::string text = in_words(*measured.value);
  if (limits)
    text += fmt::format(" (95 % limits {} and {})",
                        in_words(std::min(*measured.good_limit, *measured.bad_limit)),
                        in_words(std::max(*measured.good_limit, *measured.bad_limit)));
  else if (basis == GateBasis::Confidence)
    text += " (its 95 % limits are undefined)";
  if (measured.weighed)
    text += fmt::format(", {} with each task weighed alike", in_words(*measured.weighed));
  text += fmt::format(", at {} {} asked", measured.high ? "most" : "least", in_words(limit));
  if (finding.status == GateStatus::Fail && finding.excess && *finding.excess > 0)
    text += fmt::format(": {} too {}", words.distance(*finding.excess, decimals),
                        measured.high ? "much" : "little");
  if (finding.status == GateStatus::Inconclusive) text += ": the evidence does not settle it";
  return text;
}

// One number held against one limit; `what` begins the sentence.
GateFinding hold(GateFinding finding, const std::string& what, const Measured& measured,
                 double limit, GateBasis basis, const Words& words) {
  finding.value = measured.value;
  finding.limit = limit;
  if (!measured.value) {
    finding.status = GateStatus::Inconclusive;
    finding.sentence =
        fmt::format("{} is undefined, at {} {} asked", what, measured.high ? "most" : "least",
                    words.number(limit, words.decimals));
    return finding;
  }
  // What decides is the limit on the good side where confidence is asked for.
  const std::optional<double> compared =
      basis == GateBasis::Estimate ? measured.value : measured.good_limit;
  finding.status = agreed_status(measured, limit, basis);
  if (compared) finding.excess = beyond(*compared, limit, measured.high);
  finding.sentence = what + " is " + sentence_of(measured, limit, finding, basis, words);
  return finding;
}

GateFinding equivalence_finding(const CellComparison& cell) {
  GateFinding finding;
  finding.criterion = "require_equivalence";
  finding.subject = GateSubject::Outcome;
  const Outcome& outcome = cell.outcome;
  if (!outcome.tost || !outcome.delta) {
    finding.status = GateStatus::Inconclusive;
    finding.sentence = "the difference in success is undefined, equivalence was asked";
    return finding;
  }
  const double margin = outcome.tost->margin;
  const double delta = outcome.delta->mean;
  finding.value = delta;
  finding.limit = margin;
  finding.excess = beyond(std::fabs(delta), margin, true);
  const Interval& ci90 = outcome.tost->ci90;
  const int decimals =
      decimals_apart({distance_in_points, distance_in_points, 1},
                     {std::fabs(delta), std::fabs(ci90.lo), std::fabs(ci90.hi)}, margin);
  const std::string numbers =
      fmt::format("the score changes by {} (90 % interval {} to {}), within {} was asked",
                  signed_points(delta, decimals), signed_points(ci90.lo, decimals),
                  signed_points(ci90.hi, decimals), distance_in_points(margin, decimals));
  if (outcome.tost->equivalent) {
    finding.sentence = numbers;
  } else if (*finding.excess > 0) {
    finding.status = GateStatus::Fail;
    finding.sentence = numbers + ": " + distance_in_points(*finding.excess, decimals) + " beyond";
  } else {
    finding.status = GateStatus::Inconclusive;
    finding.sentence = numbers + ": the evidence does not show it";
  }
  return finding;
}

std::optional<Interval> interval_of(const std::vector<CurvePoint>& curve, int k,
                                    std::optional<double>& success) {
  for (const CurvePoint& point : curve)
    if (point.k == k) {
      success = point.success;
      return point.ci95;
    }
  return std::nullopt;
}

GateFinding success_finding(const CellComparison& cell, double limit, GateBasis basis) {
  GateFinding finding;
  finding.criterion = "min_success_tight";
  finding.subject = GateSubject::UnmaskedGap;
  const BudgetSummary& budget = cell.candidate.budget;
  const int k = cell.budget.k_tight;
  Measured measured;
  measured.high = false;
  std::optional<Interval> interval;
  if (is_identified(budget, k))
    interval = interval_of(budget.rule == BudgetRule::Live ? budget.curve_live : budget.curve, k,
                           measured.value);
  if (interval) {
    measured.bad_limit = interval->lo;
    measured.good_limit = interval->hi;
  }
  return hold(std::move(finding), fmt::format("S({}) of the candidate", k), measured, limit, basis,
              kPercent);
}

GateFinding on_channel(std::string criterion, Channel channel) {
  GateFinding finding;
  finding.criterion = std::move(criterion);
  finding.subject = GateSubject::Channel;
  finding.channel = channel;
  return finding;
}

const ChannelComparison* find_channel(const CellComparison& cell, Channel channel) {
  const auto found = cell.channels.find(channel);
  return found == cell.channels.end() ? nullptr : &found->second;
}

// How often the candidate fails over how often the baseline does, where the candidate's failures
// are too sparse for A and the baseline's are not: its limits are those of the difference, as a
// share of the baseline's rate.
Measured plain_ratio(const ChannelComparison& c) {
  Measured measured;
  measured.value = *c.candidate / *c.baseline;
  measured.weighed = c.weighed_amplification;
  const auto as_ratio = [&](double difference) {
    return std::max(0.0, (*c.baseline + difference) / *c.baseline);
  };
  if (c.difference_upper95) measured.bad_limit = as_ratio(*c.difference_upper95);
  if (c.difference_ci95) measured.good_limit = as_ratio(c.difference_ci95->lo);
  return measured;
}

GateFinding amplification_finding(const CellComparison& cell, Channel channel, double limit,
                                  GateBasis basis) {
  Measured measured;
  if (const ChannelComparison* c = find_channel(cell, channel)) {
    if (!c->amplification && c->sparse_in_candidate)
      return hold(on_channel("max_amplification", channel),
                  fmt::format("the ratio of the rates of {} (held for the amplification, for which "
                              "the candidate fails in too few tasks)",
                              to_string(channel)),
                  plain_ratio(*c), limit, basis, kRatio);
    measured.value = c->amplification;
    measured.weighed = c->weighed_amplification;
    measured.bad_limit = c->amplification_upper95;
    if (c->amplification_ci95) measured.good_limit = c->amplification_ci95->lo;
  }
  return hold(on_channel("max_amplification", channel),
              fmt::format("amplification of {}", to_string(channel)), measured, limit, basis,
              kRatio);
}

GateFinding increase_finding(const CellComparison& cell, Channel channel, double limit,
                             GateBasis basis) {
  Measured measured;
  if (const ChannelComparison* c = find_channel(cell, channel)) {
    measured.value = c->difference;
    measured.weighed = c->weighed_difference;
    measured.bad_limit = c->difference_upper95;
    if (c->difference_ci95) measured.good_limit = c->difference_ci95->lo;
  }
  return hold(on_channel("max_increase", channel),
              fmt::format("increase of {} per call", to_string(channel)), measured, limit, basis,
              kPoints);
}

bool is_about(const GateFinding& finding, GateSubject subject, std::optional<Channel> channel) {
  return finding.subject == subject &&
         (subject != GateSubject::Channel || finding.channel == channel);
}

// The findings about one part, worst first, and `own`: what the verdict's failing says of it.
GatePart part_of(std::string name, const CellGate& gate, GateSubject subject,
                 std::optional<Channel> channel, GateStatus own, const std::string& measured) {
  GatePart part;
  part.name = std::move(name);
  part.status = own;
  for (const GateStatus status : {GateStatus::Fail, GateStatus::Inconclusive})
    for (const GateFinding& finding : gate.findings)
      if (finding.status == status && is_about(finding, subject, channel)) {
        part.status = std::max(part.status, status);
        part.sentences.push_back(finding.sentence);
      }
  if (!measured.empty()) part.sentences.push_back(measured);
  return part;
}

std::string channel_sentence(Channel channel, const ChannelComparison& c) {
  std::string text = fmt::format("{} per call: ", to_string(channel));
  text += c.baseline && c.candidate
              ? fmt::format("{} to {}", spaced_percent(*c.baseline), spaced_percent(*c.candidate))
              : std::string("undefined");
  if (c.difference) text += fmt::format(", {}", signed_points(*c.difference));
  if (c.amplification) text += fmt::format(", A {:.2f}", *c.amplification);
  if (c.p_holm) text += fmt::format(", Holm {}", p_text(*c.p_holm));
  if (c.amplified) text += c.is_new ? "; amplified, new" : "; amplified";
  return text;
}

}  // namespace

std::string_view to_string(GateStatus status) {
  switch (status) {
    case GateStatus::Pass:
      return "pass";
    case GateStatus::Inconclusive:
      return "inconclusive";
    case GateStatus::Fail:
      return "fail";
  }
  return "fail";
}

std::string_view to_string(GateBasis basis) {
  return basis == GateBasis::Estimate ? "estimate" : "confidence";
}

CellGate gate_of_cell(const CellComparison& cell, const Judgement& judgement,
                      const GateCriteria& criteria) {
  CellGate gate;
  gate.findings = evidence_findings(cell, judgement, criteria);
  if (criteria.require_equivalence) gate.findings.push_back(equivalence_finding(cell));
  if (criteria.min_success_tight)
    gate.findings.push_back(success_finding(cell, *criteria.min_success_tight, criteria.basis));
  for (const auto& [channel, limit] : criteria.max_amplification)
    gate.findings.push_back(amplification_finding(cell, channel, limit, criteria.basis));
  for (const auto& [channel, limit] : criteria.max_increase)
    gate.findings.push_back(increase_finding(cell, channel, limit, criteria.basis));
  for (const GateFinding& finding : gate.findings)
    gate.status = std::max(gate.status, finding.status);
  return gate;
}

GateResult gate_of_cells(const GateCriteria& criteria, std::vector<CellGate> cells) {
  GateResult result;
  result.criteria = criteria;
  result.cells = std::move(cells);
  if (result.cells.empty()) result.status = GateStatus::Inconclusive;
  for (const CellGate& cell : result.cells) result.status = std::max(result.status, cell.status);
  return result;
}

std::vector<GatePart> gate_parts(const CellComparison& cell, const Judgement& judgement,
                                 const CellGate& gate) {
  const bool verdict_fails = !gate.findings.empty() && gate.findings.front().criterion == "fail" &&
                             gate.findings.front().status == GateStatus::Fail;
  const auto fails_with_it = [&](bool part) {
    return verdict_fails && part ? GateStatus::Fail : GateStatus::Pass;
  };
  std::vector<GatePart> parts;
  parts.push_back(
      part_of("verdict", gate, GateSubject::Verdict, std::nullopt, GateStatus::Pass, ""));
  for (const std::string& reason : judgement.reasons) parts.back().sentences.push_back(reason);
  parts.push_back(part_of("outcome", gate, GateSubject::Outcome, std::nullopt,
                          fails_with_it(judgement.degraded), outcome_sentence(cell)));
  parts.push_back(part_of("unmasked gap", gate, GateSubject::UnmaskedGap, std::nullopt,
                          fails_with_it(judgement.unmasked_damage), unmasked_sentence(cell)));
  for (const auto& [channel, comparison] : cell.channels)
    parts.push_back(part_of("channel " + std::string(to_string(channel)), gate,
                            GateSubject::Channel, channel, fails_with_it(comparison.amplified),
                            channel_sentence(channel, comparison)));
  return parts;
}

}  // namespace unmask
