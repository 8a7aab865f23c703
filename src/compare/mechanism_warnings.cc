#include "compare/mechanism_warnings.h"

#include <fmt/format.h>

#include "base/units.h"

namespace unmask {
namespace {

std::string_view of_what(DecisionKind kind) {
  return kind == DecisionKind::WhichTool ? "which tool" : "whether to call";
}

std::string_view is_or_are(long count) {
  return count == 1 ? "is" : "are";
}

class Notices {
 public:
  void add(bool given, std::string_view code, const std::string& message, const std::string& where,
           long count = 1) {
    if (given) list.push_back({std::string(code), message, where, count});
  }
  std::vector<Warning> list;
};

constexpr const char* kAskForMore = "ask the server for more (20 are usual) and replay once more";

// Decisions without a margin, and what would give them one.
void warn_of_margins(const ReplayedArm& arm, DecisionKind kind, const MarginsMissing& missing,
                     Notices& warnings) {
  const std::string& label = arm.arm.label;
  const auto add = [&](long count, std::string_view code, std::string_view why) {
    warnings.add(
        count > 0, code,
        fmt::format("{} of {} replies {} no margin of {}: {}.", count_text(count),
                    count_text(arm.replies), count == 1 ? "has" : "have", of_what(kind), why),
        label, count);
  };
  add(missing.no_alternatives, "no_alternatives",
      fmt::format("no alternative to the token taken was recorded; {}", kAskForMore));
  add(missing.no_competitor, "no_competitor",
      kind == DecisionKind::WhichTool
          ? "no other name is offered or hallucinated in the replay"
          : "the replies of the replay do not show how the other act begins");
  add(missing.not_seen, "competitors_not_seen",
      "the tokens recorded end before any other name parts from the one called, or do not hold it");
}

// What a reply that an arm lacks is lost to.
std::string_view left_out_of(const ReplayedArm& arm) {
  return arm.arm.baseline          ? "every comparison"
         : arm.arm.repeats.empty() ? "this arm's comparison"
                                   : "the replay noise";
}

// A margin that is a bound says only that the choice was not closer than that.
void warn_of_bounds(const ReplayedArm& arm, Notices& warnings) {
  for (const MarginDistribution& d : arm.margins) {
    if (!d.channel.empty() || 2 * d.bounds <= d.decisions) continue;
    warnings.add(
        true, "margins_are_bounds",
        fmt::format("{} of {} margins of {} are known as bounds only, for no competitor is "
                    "among the alternatives; {}.",
                    count_text(d.bounds), count_text(d.decisions), of_what(d.kind), kAskForMore),
        arm.arm.label, d.bounds);
  }
}

void warn_of_replies(const ReplayedArm& arm, Notices& warnings) {
  const std::string& label = arm.arm.label;
  const long asked = arm.missing + arm.replies + arm.errors;
  const long silent = arm.without - arm.unreadable;
  warnings.add(arm.missing > 0, "missing_replies",
               fmt::format("{} of {} replies {} not in the replay: it was broken off, or lines of "
                           "it are missing; their contexts are left out of {}.",
                           count_text(arm.missing), count_text(asked), is_or_are(arm.missing),
                           left_out_of(arm)),
               label, arm.missing);
  warnings.add(arm.errors > 0, "no_reply",
               fmt::format("{} of {} replies {} an error instead; their contexts are left out of "
                           "{}.",
                           count_text(arm.errors), count_text(asked), is_or_are(arm.errors),
                           left_out_of(arm)),
               label, arm.errors);
  warnings.add(silent > 0, "no_logprobs",
               fmt::format("{} of {} replies came without log-probabilities, so they have no "
                           "margin: the server gives none, or was not asked for any.",
                           count_text(silent), count_text(arm.replies)),
               label, silent);
}

void warn_of_arm(const ReplayedArm& arm, Notices& warnings) {
  const std::string& label = arm.arm.label;
  warn_of_replies(arm, warnings);
  const auto add = [&](long count, std::string_view code, std::string_view what) {
    warnings.add(
        count > 0, code,
        fmt::format("{} of {} replies {}.", count_text(count), count_text(arm.replies), what),
        label, count);
  };
  add(arm.name_unseen(), "name_unseen",
      "call a tool, but the tokens of its name were not among the log-probabilities");
  add(arm.no_margin[0].no_token, "first_unseen",
      "have no log-probabilities of the first token: whether to call has no margin there");
  add(arm.undecided, "undecided_first_token",
      "begin with a token that begins calls and talk alike: whether they would call was not "
      "decided there");
  for (std::size_t kind = 0; kind < kDecisionKinds.size(); ++kind)
    warn_of_margins(arm, kDecisionKinds[kind], arm.no_margin[kind], warnings);
  warn_of_bounds(arm, warnings);
  warnings.add(arm.strangers > 0, "closer_stranger",
               fmt::format("{} of {} called names with a margin {} a likelier alternative that "
                           "leads to no known name; margins are taken against known names only.",
                           count_text(arm.strangers), count_text(arm.names_with_margin()),
                           arm.strangers == 1 ? "has" : "have"),
               label, arm.strangers);
}

void warn_of_copies(const Mechanism& mechanism, Notices& warnings) {
  const long copies = mechanism.contexts - mechanism.distinct.value_or(mechanism.contexts);
  std::string elsewhere;
  if (mechanism.copies_in_other_tasks > 0)
    elsewhere = fmt::format(", {} of them with the first's task instead of their own",
                            count_text(mechanism.copies_in_other_tasks));
  warnings.add(copies > 0, "identical_contexts",
               fmt::format("{} of {} contexts have the very prompt of an earlier one ({} are "
                           "distinct): McNemar's test takes each prompt once, the rest counts "
                           "copies within a task{}.",
                           count_text(copies), count_text(mechanism.contexts),
                           count_text(mechanism.contexts - copies), elsewhere),
               "", copies);
}

// Why the replay noise of the baseline is not known. `other` is set where it is another arm that
// was asked twice: its noise is no word on this one.
struct OneAsking {
  std::string why;
  bool other = false;
};

OneAsking one_asking(const ReplayHead& head) {
  std::string baseline;
  std::string repeated;
  for (const ReplayArm& arm : head.arms) {
    if (arm.baseline) baseline = arm.label;
    if (!arm.repeats.empty()) repeated = arm.repeats;
  }
  if (repeated.empty()) return {"The baseline was not asked twice"};
  if (repeated == baseline)
    return {"The baseline was asked twice, but fewer than 2 margins were measured in both askings"};
  return {fmt::format("The replay noise in the file is that of '{}', which was asked twice; '{}', "
                      "the baseline here, was asked once",
                      repeated, baseline),
          true};
}

void warn_of_flips(const CandidateMechanism& candidate, const OneAsking& asked, Notices& warnings) {
  for (const FlipAnalysis& flips : candidate.flips) {
    const long pairs = flips.pairs + flips.other_text;
    warnings.add(2 * flips.other_text > pairs, "other_text",
                 fmt::format("{} of {} pairs of replies wrote different text before the call: they "
                             "chose their names in different contexts, and are left out of the "
                             "margins and flips of {}.",
                             count_text(flips.other_text), count_text(pairs), of_what(flips.kind)),
                 candidate.label, flips.other_text);
    if (!flips.models || flips.replay_noise) continue;
    const double lambda = flips.models->multiplicative.lambda->value;
    warnings.add(lambda < 1 || asked.other, "no_replay_noise",
                 fmt::format("{}, so its replay noise is taken as 0; noise would show as lambda "
                             "below 1 ({}).",
                             asked.why, to_string(flips.kind)),
                 candidate.label);
  }
}

}  // namespace

std::vector<Warning> warnings_of(const Mechanism& mechanism, bool every_arm_asked) {
  Notices warnings;
  const long chosen = mechanism.head.selected;
  warnings.add(mechanism.contexts < chosen, "unfinished_replay",
               fmt::format("{} of {} chosen decisions {} not in the replay: it was broken off, and "
                           "the unmask replay that made it goes on with it.",
                           count_text(chosen - mechanism.contexts), count_text(chosen),
                           is_or_are(chosen - mechanism.contexts)),
               "", chosen - mechanism.contexts);
  warn_of_copies(mechanism, warnings);
  for (const ReplayedArm& arm : mechanism.arms) warn_of_arm(arm, warnings);
  const OneAsking asked = one_asking(mechanism.head);
  for (const CandidateMechanism& candidate : mechanism.candidates) {
    warnings.add(every_arm_asked && candidate.contexts == 0, "nothing_to_compare",
                 "No reply of this arm is to a context that the baseline replied to: there is "
                 "nothing to compare.",
                 candidate.label);
    warn_of_flips(candidate, asked, warnings);
  }
  warnings.add(!mechanism.head.greedy, "sampled",
               "Replies were sampled: a baseline's reply that is not its own likeliest is left out "
               "of the margins, and what is foretold and observed are preferred names.",
               "");
  warnings.add(mechanism.screen.noise && mechanism.screen.predicted, "noise_level_transfer",
               "The predicted rate holds for this noise level; levels fitted on one model do not "
               "carry over to another.",
               "");
  warnings.add(!mechanism.screen.nothing_foretold.empty(), "nothing_foretold",
               "Nothing can be foretold: " + mechanism.screen.nothing_foretold + ".", "");
  warnings.add(mechanism.screen.noise && mechanism.screen.decisions == 0, "screen_without_margins",
               "The baseline has no margins, so the screen is by its rate alone.", "");
  return std::move(warnings.list);
}

}  // namespace unmask
