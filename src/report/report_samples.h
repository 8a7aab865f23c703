// Reports for tests: everything filled in, nothing filled in, and texts that attack the reader.
#pragma once

#include <string>
#include <vector>

#include "report/audit_report.h"

namespace unmask {

inline const std::vector<std::string>& hostile_texts() {
  static const std::vector<std::string> texts = {
      "\x1b[2J\x1b]0;owned\x07",
      "bell\x07 back\bspace del\x7f nul" + std::string(1, '\0') + "!",
      "\xC2\x9B"
      "31m c1 control",
      "\xE2\x80\xAE"
      "gnp.exe"
      "\xE2\x80\xAC",  // bidirectional override
      "zero\xE2\x80\x8Bwidth\xE2\x80\x8Djoiner\xEF\xBB\xBF",
      "line\nbreak\r\nand\ttab \xE2\x80\xA8 separator",
      "broken \xFF\xC0\xAF\xED\xA0\x80 utf8 \xE2\x82",
      "全角の名前がとても長いのでカットされるはずです全角の名前がとても長い",
      "emoji 👩‍👩‍👧‍👦 🏳️‍🌈 ❤️ 🇯🇵 1️⃣",
      "Z\xCC\xB5\xCC\xB5\xCC\xB5\xCC\xB5\xCC\xB5\xCC\xB5\xCC\xB5\xCC\xB5"
      "algo",
      "| pipes | `ticks` <script>alert(1)</script> @everyone [x](http://y) ![i](j) # * _ ~",
      std::string(300, 'x'),
      "",
  };
  return texts;
}

inline Estimate sample_estimate(double value) {
  return {value, Interval{value - 0.05, value + 0.05}};
}

inline ArmSummary sample_arm(const std::string& label, double rate) {
  ArmSummary arm;
  arm.label = label;
  arm.info.format = "tau2";
  arm.info.domain = "telecom";
  arm.info.model = label + "-model";
  arm.info.max_errors = 10;
  arm.info.failure_rule = "A call failed when its tool message is flagged.";
  arm.sources = {"logs/" + label + ".json"};
  arm.episodes_in_log = 460;
  arm.episodes_total = 460;
  arm.episodes_evaluated = 456;
  arm.episodes_excluded = 4;
  arm.tasks = 114;
  arm.trials_min = 3;
  arm.trials_max = 4;
  arm.distinct_trajectories_per_task = 3.9;
  arm.terminations = {{"user_stop", 450}, {"too_many_errors", 6}};
  arm.success = sample_estimate(0.66);
  arm.pass_hat_k = {{1, 0.66}, {2, 0.5}};
  arm.agent_calls = 3328;
  arm.user_calls = 12;
  arm.failed_agent = 700;
  arm.failed_user = 3;
  for (const Channel channel : kFailureChannels) {
    ChannelSummary& summary = arm.channels[channel];
    summary.count = channel == Channel::ToolName ? 649 : 0;
    summary.per_call = sample_estimate(channel == Channel::ToolName ? rate : 0.0);
    summary.per_episode = 1.4;
    summary.episodes_with = 200;
    summary.share_with = 0.44;
    summary.screen = channel == Channel::ToolName ? Risk::High : Risk::Low;
  }
  arm.channels[Channel::ToolName].kinds = {{SubKind::NearMiss, 49}, {SubKind::Invented, 600}};
  arm.argument.per_call = sample_estimate(0);
  arm.budget.k0 = 10;
  for (int k = 0; k <= 10; ++k)
    arm.budget.curve.push_back({k, 0.30 + 0.036 * k - rate * (10 - k) * 0.05, Interval{0.2, 0.8}});
  for (int k = 1; k <= 10; ++k) arm.budget.curve_live.push_back({k, 0.3 + 0.03 * k, std::nullopt});
  arm.budget.mean_errors = 1.57;
  arm.budget.error_quantiles = {0, 0, 1, 2, 10};
  arm.budget.share_near_exhaustion = 0.03;
  arm.recovery = {600, 330, 5, sample_estimate(0.55), sample_estimate(0.4)};
  arm.names = {{"check_status_bar", 400, SubKind::OtherSide},
               {"get_customr", 49, SubKind::NearMiss}};
  for (int bin = 0; bin < kPositionBins; ++bin)
    arm.positions.push_back({bin, 800, {{Channel::ToolName, 160}}});
  arm.by_task = {{"telecom", "t1", 4, 0.5, 30, 6, 5}};
  arm.bursts = {{{1, 300}, {2, 100}}, 1.25, 17};
  arm.length.steps = 18.6;
  arm.length.agent_calls = 7.3;
  arm.length.prompt_tokens = 34484.4;
  arm.length.agent_cost_usd = 0.0044;
  arm.tool_evidence = {{ToolEvidence::Domain, 456}};
  arm.failing_tools = {{"check_status_bar", 400}, {"get_bill", 10}};
  return arm;
}

inline MeanTest sample_test(double mean) {
  return {mean,        0.02, 113, 0.0004, {mean - 0.04, mean + 0.04}, {mean - 0.033, mean + 0.033},
          mean + 0.033};
}

inline ChannelComparison sample_channel(double baseline, double candidate, bool amplified) {
  ChannelComparison c;
  c.baseline = baseline;
  c.candidate = candidate;
  c.baseline_count = static_cast<long>(baseline * 3328);
  c.candidate_count = static_cast<long>(candidate * 4298);
  if (baseline > 0) {
    c.amplification = candidate / baseline;
    c.amplification_ci95 = Interval{1.6, 2.4};
    c.amplification_upper95 = 2.3;
    c.volume = 2.54;
    c.per_other_call = 2.56;
  }
  c.difference = candidate - baseline;
  c.difference_ci95 = Interval{candidate - baseline - 0.03, candidate - baseline + 0.03};
  c.difference_upper95 = candidate - baseline + 0.025;
  c.p = 0.0001;
  c.p_holm = 0.0005;
  c.amplified = amplified;
  return c;
}

inline CellComparison sample_cell() {
  CellComparison cell;
  cell.cell = "gemma dense telecom INT4";
  cell.baseline = sample_arm("bf16", 0.195);
  cell.candidate = sample_arm("int4", 0.383);
  cell.evaluated_tasks = cell.paired_tasks = 114;
  cell.episodes_baseline = 456;
  cell.episodes_candidate = 455;
  cell.unpaired_tasks = {"only in baseline: 17"};
  cell.outcome = {sample_test(-0.013), 0.49, Equivalence{0.075, 0.0004, true, {-0.046, 0.02}}};
  cell.flip_share = 0.12;
  for (const Channel channel : kFailureChannels)
    cell.channels[channel] = channel == Channel::ToolName ? sample_channel(0.195, 0.383, true)
                             : channel == Channel::Entity ? sample_channel(0.01, 0.012, false)
                                                          : sample_channel(0, 0, false);
  cell.argument = sample_channel(0.01, 0.012, false);
  cell.budget.k0 = 10;
  for (int k = 0; k <= 10; ++k) {
    const double gap = 0.167 - 0.0154 * k;
    cell.budget.gap.push_back({k, gap, {gap - 0.08, gap + 0.08}, {gap - 0.05, gap + 0.05}});
  }
  cell.budget.unmasked = {sample_test(0.154), 0.001};
  cell.budget.agent_only = {sample_test(0.15), 0.001};
  cell.budget.all_sides = cell.budget.unmasked;
  cell.budget.gap_tight = 0.167;
  cell.budget.gap_tight_ci95 = Interval{0.1, 0.23};
  cell.budget.masking_factor = 12.8;
  cell.recovery = {0.55, 0.552, 0.002, Interval{-0.03, 0.03}, true};
  cell.names.spearman = 0.97;
  cell.names.spearman_ceiling = 0.81;
  cell.names.kendall_tau_b = 0.9;
  cell.names.jaccard = 0.95;
  cell.names.novel_share = 0.0018;
  cell.names.novel_calls = 3;
  cell.names.candidate_calls = 1646;
  cell.names.novel_beyond_chance = NamesComparison::NovelBeyondChance{0.001, {-0.001, 0.004}, 0.2};
  cell.names.counts = {{"check_status_bar", 176, 452, SubKind::OtherSide}};
  cell.pairs.counts = {{"get_bill/entity", 10, 12, SubKind::None}};
  for (int bin = 0; bin < kPositionBins; ++bin)
    cell.positions.push_back({bin, {{Channel::ToolName, sample_channel(0.19, 0.38, false)}}});
  cell.task_slope = {-0.2, Interval{-0.3, -0.1}, 0.001};
  cell.noise = {{"baseline", 0.03, 0.2, 114}};
  cell.sd_delta = 0.2;
  cell.warnings = {{"commit_differs", "the arms come from different commits", "abc, def", 1}};
  return cell;
}

inline Judgement sample_judgement(Verdict verdict) {
  Judgement judgement;
  judgement.verdict = verdict;
  judgement.unmasked_damage = verdict == Verdict::Masked;
  if (verdict == Verdict::Masked) judgement.flatness = Flatness::Equivalent;
  judgement.reasons = {
      "A budget of 2 failed calls reveals +15.4 points (95 % interval -1.0 to +2.0)."};
  if (verdict == Verdict::Inconclusive) judgement.needed = NeededEvidence{200, 4, "outcome"};
  return judgement;
}

inline AuditReport sample_audit(Verdict verdict = Verdict::Masked) {
  AuditReport report;
  report.cells = {{sample_cell(), sample_judgement(verdict)}};
  report.dropped = {{"truncated_record", "the record ends early", "a.json: byte 88"}};
  report.warnings = {{"excluded_episodes", "4 episodes were left out", "bf16", 4}};
  report.provenance = {"0.1.0", "unmask audit a.json b.json", 18446744073709551615u, 10000};
  return report;
}

inline InspectReport sample_inspect() {
  InspectReport report;
  report.arm = sample_arm("bf16", 0.195);
  FailedCall call;
  call.channel = Channel::ToolName;
  call.kind = SubKind::Invented;
  call.name = "get_weather";
  call.evidence = "Tool 'get_weather' not found.";
  report.failures = {{"t1", 0, "a.json: simulation 3", call}};
  report.warnings = {{"one_trial", "every task was run once", "bf16", 1}};
  report.provenance = {"0.1.0", "unmask inspect a.json", 20260731, 10000};
  return report;
}

// Every text of the report that a log or a user can choose, replaced.
inline void poison(ArmSummary& arm, const std::string& text) {
  arm.label = arm.info.domain = arm.info.format = arm.info.model = arm.info.failure_rule = text;
  arm.sources = {text};
  arm.terminations = {{text, 1}};
  arm.names = {{text, 3, SubKind::Invented}};
  arm.failing_tools = {{text, 3}};
  arm.by_task[0].task = arm.by_task[0].domain = text;
}

inline Mechanism sample_mechanism(const std::string& label) {
  Mechanism mechanism;
  mechanism.contexts = 300;
  mechanism.tasks = 40;
  for (const bool baseline : {true, false}) {
    ReplayedArm arm;
    arm.arm.label = label;
    arm.arm.baseline = baseline;
    arm.replies = 200;
    for (const DecisionKind kind : kDecisionKinds)
      arm.margins.push_back({kind, "", 200, 20, {0.5, 1, 3, 5, {}}, 30, sample_estimate(0.15)});
    mechanism.arms.push_back(std::move(arm));
  }
  CandidateMechanism candidate;
  candidate.label = label;
  candidate.contexts = 100;
  candidate.tasks = 40;
  for (const char* channel : {"malformed", "tool_name", "schema", "any"}) {
    ReplayChannel replies;
    replies.channel = channel;
    replies.replies = 100;
    candidate.channels.push_back(std::move(replies));
  }
  for (const DecisionKind kind : kDecisionKinds) {
    FlipAnalysis flips;
    flips.kind = kind;
    flips.pairs = kind == DecisionKind::WhichTool ? 90 : 0;
    flips.flips = 12;
    flips.flip_share = sample_estimate(0.13);
    flips.no_models = "every margin is the same";
    flips.no_held_out = "only 4 tasks to split, not 10";
    if (flips.pairs > 0)
      flips.bins = {{0, 1, 40, 10, Interval{0.1, 0.4}}, {1, std::nullopt, 50, 2, Interval{0, 0.1}}};
    candidate.flips.push_back(std::move(flips));
  }
  mechanism.candidates.push_back(std::move(candidate));
  return mechanism;
}

inline AuditReport hostile_audit(const std::string& text) {
  AuditReport report = sample_audit(Verdict::Inconclusive);
  CellComparison& cell = report.cells[0].comparison;
  cell.cell = text;
  poison(cell.baseline, text);
  poison(cell.candidate, text);
  cell.unpaired_tasks = {text};
  cell.names.counts = {{text, 1, 2, SubKind::NearMiss}, {"b", 1, 1, SubKind::Invented}};
  cell.pairs.counts = cell.names.counts;
  cell.warnings = {{text, text, text, 2}};
  report.cells[0].mechanism = sample_mechanism(text);
  report.cells[0].mechanism->warnings = {{text, text, text, 2}};
  report.cells[0].judgement.reasons = {text};
  report.cells[0].judgement.needed->condition = text;
  report.dropped = {{text, text, text}};
  report.warnings = {{text, text, text, 3}};
  report.provenance.command = text;
  return report;
}

inline InspectReport hostile_inspect(const std::string& text) {
  InspectReport report = sample_inspect();
  poison(report.arm, text);
  report.failures[0].task = report.failures[0].where = text;
  report.failures[0].call.name = report.failures[0].call.evidence = text;
  report.dropped = {{text, text, text}};
  report.warnings = {{text, text, text, 3}};
  report.provenance.command = text;
  return report;
}

// A grid of one cell per verdict.
inline AuditReport sample_grid() {
  AuditReport report = sample_audit();
  report.cells.clear();
  for (const Verdict verdict : {Verdict::DegradedAndMasked, Verdict::Degraded, Verdict::Masked,
                                Verdict::Amplified, Verdict::Clean, Verdict::Inconclusive})
    report.cells.push_back({sample_cell(), sample_judgement(verdict)});
  report.cells[1].judgement.fragile_by = {Unknown::Excluded};
  return report;
}

}  // namespace unmask
