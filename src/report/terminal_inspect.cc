// One arm on a screen.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/chart.h"
#include "report/display.h"
#include "report/numbers.h"
#include "report/render.h"
#include "report/sample_words.h"
#include "report/screen.h"
#include "report/sections.h"
#include "report/sentences.h"

namespace unmask {
namespace {

constexpr std::size_t kNamesInInspect = 12;
constexpr std::size_t kToolsShown = 8;
constexpr std::size_t kWarningsInInspect = 10;
constexpr std::size_t kExamplesPerChannel = 2;

void show_arm_line(Screen& screen, const ArmSummary& arm) {
  std::string text = safe_for_terminal(arm.label);
  if (!arm.info.domain.empty()) text += ", " + safe_for_terminal(arm.info.domain);
  if (!arm.info.format.empty()) text += fmt::format(" ({})", safe_for_terminal(arm.info.format));
  screen.line({{text, Paint::Strong}});
  if (!arm.info.model.empty() && arm.info.model != arm.label)
    screen.paragraph("  model     ", safe_for_terminal(arm.info.model));
  screen.paragraph("  episodes  ", episodes_in_words(arm, arm.episodes_evaluated));
  std::string success = percent_estimate(arm.success);
  if (!arm.success.value) success = "undefined: no graded episode";
  screen.paragraph("  success   ", success, Paint::Strong);
  if (arm.pass_hat_k.size() > 1) {
    std::string text_k;
    for (const auto& [k, value] : arm.pass_hat_k)
      text_k += fmt::format("{}k={} {}", text_k.empty() ? "" : "  ", k, percent(value));
    screen.paragraph("  pass^k    ", text_k);
  }
  screen.paragraph("  budget    ", budget_in_words(arm.budget));
}

void show_calls(Screen& screen, const ArmSummary& arm) {
  screen.heading("Tool calls");
  std::string agent =
      fmt::format("{}, {} failed", counted(arm.agent_calls, "call"), count_text(arm.failed_agent));
  if (arm.agent_calls > 0)
    agent += fmt::format(" ({})", percent(static_cast<double>(arm.failed_agent) /
                                          static_cast<double>(arm.agent_calls)));
  if (arm.unanswered > 0) agent += fmt::format("; {} unanswered", count_text(arm.unanswered));
  if (arm.system > 0)
    agent += fmt::format("; {} broken by the harness, not counted", count_text(arm.system));
  screen.paragraph("  agent     ", agent);
  if (arm.user_calls > 0)
    screen.paragraph("  user      ", fmt::format("{}, {} failed", counted(arm.user_calls, "call"),
                                                 count_text(arm.failed_user)));
  const std::string evidence = tool_evidence_in_words(arm);
  if (!evidence.empty()) screen.paragraph("  tools     ", "known from " + evidence);
  if (!arm.info.failure_rule.empty())
    screen.paragraph("  failures  ", safe_for_terminal(arm.info.failure_rule), Paint::Dim);
}

std::string kinds_text(const ChannelSummary& channel) {
  std::string text;
  for (const auto& [kind, n] : channel.kinds) {
    if (kind == SubKind::None || n == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_string(kind), count_text(n));
  }
  return text;
}

Paint paint_of(const std::optional<Risk>& risk) {
  if (!risk) return Paint::Dim;
  switch (*risk) {
    case Risk::Low:
      return Paint::Good;
    case Risk::Watch:
      return Paint::Warn;
    case Risk::High:
      return Paint::Bad;
  }
  return Paint::Plain;
}

std::vector<Span> channel_row(const std::string& name, const ChannelSummary& c, bool dim) {
  const Paint paint = dim ? Paint::Dim : Paint::Plain;
  return {{name, paint},
          {count_text(c.count), paint},
          {percent(c.per_call.value), paint},
          {percent_interval(c.per_call.ci95), paint},
          {decimal(c.per_episode, 2), paint},
          {percent(c.share_with), paint},
          {c.screen ? std::string(to_string(*c.screen)) : kAbsent, paint_of(c.screen)},
          {kinds_text(c), Paint::Dim}};
}

void show_channels(Screen& screen, const InspectReport& report) {
  const ArmSummary& arm = report.arm;
  screen.heading("Failed calls of the agent, by channel");
  Table table;
  table.columns = {{"channel", false},
                   {"failed"},
                   {"per call"},
                   {"[95%]"},
                   {"per episode", true, 2},
                   {"episodes", true, 3},
                   {"screen", false},
                   {"kinds", false, 4, true}};
  for (const auto& [channel, c] : arm.channels)
    table.rows.push_back(channel_row(std::string(to_string(channel)), c, c.count == 0));
  table.rows.push_back(channel_row("argument", arm.argument, true));
  screen.table(table);
  screen.paragraph(
      "  ",
      fmt::format("screen: low, the upper limit is under {}: safe from amplification; "
                  "high, the lower limit is over {}: measure before quantizing; watch, "
                  "in between. argument = schema + entity.",
                  percent(report.options.screen_low), percent(report.options.screen_high)),
      Paint::Dim);
}

void show_examples(Screen& screen, const InspectReport& report) {
  std::map<Channel, std::vector<const FailedCall*>> examples;
  for (const FailureRow& row : report.failures) {
    const FailedCall& call = row.call;
    std::vector<const FailedCall*>& chosen = examples[call.channel];
    const bool seen = std::any_of(chosen.begin(), chosen.end(), [&](const FailedCall* other) {
      return other->name == call.name && other->kind == call.kind;
    });
    if (!seen && chosen.size() < kExamplesPerChannel) chosen.push_back(&call);
  }
  if (examples.empty()) return;
  screen.heading("What they look like");
  for (const auto& [channel, calls] : examples) {
    for (const FailedCall* call : calls) {
      std::string what(to_string(channel));
      if (call->kind != SubKind::None) what += fmt::format("/{}", to_string(call->kind));
      screen.line({{"  " + what, Paint::Strong},
                   {"  " + safe_for_terminal(call->name.empty() ? "(no name)" : call->name)}});
      // Two lines of evidence are enough to recognise it; the JSON report has all of it.
      const std::size_t room = screen.width() > 6 ? 2 * (screen.width() - 6) - 8 : 8;
      screen.paragraph("    ", fit(safe_for_terminal(call->evidence), room), Paint::Dim);
    }
  }
}

bool is_same_level(const CurvePoint& a, const CurvePoint& b) {
  return a.success == b.success && a.ci95 == b.ci95;
}

void show_curve(Screen& screen, const InspectReport& report) {
  const BudgetSummary& budget = report.arm.budget;
  if (!has_success(budget.curve)) return;
  screen.heading("Success with at most K failed calls");
  Table table;
  table.columns = {{"K"}, {"success"}, {"[95%]", true, 1}, {"", false}};
  for (std::size_t i = 0; i < budget.curve.size(); ++i) {
    const CurvePoint& point = budget.curve[i];
    const bool tight = point.k == report.options.k_tight && is_identified(budget, point.k);
    const Paint paint = tight ? Paint::Strong : Paint::Plain;
    // Past the tight budget a curve that no longer moves is one row.
    std::size_t last = i;
    while (point.k > report.options.k_tight && last + 1 < budget.curve.size() &&
           is_same_level(point, budget.curve[last + 1]))
      ++last;
    const std::string k =
        last == i ? std::to_string(point.k) : fmt::format("{}-{}", point.k, budget.curve[last].k);
    table.rows.push_back(
        {{k, paint},
         {percent(point.success), paint},
         {percent_interval(point.ci95), Paint::Dim},
         {bar(point.success.value_or(0), 30) + (tight ? " ◂ tight" : ""), Paint::Baseline}});
    i = last;
  }
  screen.table(table);
  std::string note;
  if (budget.mean_errors)
    note = fmt::format("{} {} an episode on average, at most {}.", decimal(budget.mean_errors, 2),
                       counted_failures(budget.count), decimal(budget.error_quantiles[4], 0));
  if (budget.share_near_exhaustion)
    note += fmt::format(" {} of the episodes come within 2 of the budget.",
                        percent(budget.share_near_exhaustion));
  if (!note.empty()) screen.paragraph("  ", note, Paint::Dim);
}

void show_recovery(Screen& screen, const ArmSummary& arm) {
  const RecoverySummary& r = arm.recovery;
  if (r.failures + r.censored == 0) return;
  screen.heading("After a failed call");
  screen.paragraph("  recovered   ",
                   fmt::format("{} of {}: {}", count_text(r.recovered), count_text(r.failures),
                               percent_estimate(r.rate)) +
                       (r.censored > 0 ? fmt::format("; {} cut off by the budget, left out",
                                                     count_text(r.censored))
                                       : ""));
  const std::string repair = repair_in_words(arm);
  if (!repair.empty()) screen.paragraph("  repair      ", repair);
  if (r.success_given_failure.value)
    screen.paragraph("  succeeded   ",
                     percent_estimate(r.success_given_failure) + " of the episodes with a failure");
  if (arm.bursts.mean_length)
    screen.paragraph(
        "  in a row    ",
        fmt::format("{} failures on average; the same call repeated after it failed: {}",
                    decimal(arm.bursts.mean_length, 2),
                    count_text(arm.bursts.repeated_after_failure)));
}

void show_names(Screen& screen, const ArmSummary& arm) {
  if (arm.names.empty()) return;
  screen.heading("Hallucinated tool names");
  Table table;
  table.columns = {{"name", false, 0, true}, {"count"}, {"kind", false}};
  for (std::size_t i = 0; i < arm.names.size() && i < kNamesInInspect; ++i)
    table.rows.push_back({{safe_for_terminal(shown_name(arm.names[i].name))},
                          {count_text(arm.names[i].count)},
                          {std::string(to_string(arm.names[i].kind)), Paint::Dim}});
  screen.table(table);
  if (arm.names.size() > kNamesInInspect)
    screen.line({{fmt::format("  and {} more", arm.names.size() - kNamesInInspect), Paint::Dim}});
}

void show_failing_tools(Screen& screen, const ArmSummary& arm) {
  std::vector<std::pair<std::string, long>> tools(arm.failing_tools.begin(),
                                                  arm.failing_tools.end());
  if (tools.empty()) return;
  std::stable_sort(tools.begin(), tools.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  screen.heading("Tools whose calls fail most");
  Table table;
  table.columns = {{"tool", false, 0, true}, {"failed calls"}};
  for (std::size_t i = 0; i < tools.size() && i < kToolsShown; ++i)
    table.rows.push_back(
        {{safe_for_terminal(tools[i].first.empty() ? "(no name)" : tools[i].first)},
         {count_text(tools[i].second)}});
  screen.table(table);
  if (tools.size() > kToolsShown)
    screen.line({{fmt::format("  and {} more", tools.size() - kToolsShown), Paint::Dim}});
}

void show_positions(Screen& screen, const ArmSummary& arm) {
  if (arm.failed_agent == 0) return;
  Table table;
  table.columns = {{"call of the episode", false}, {"calls"}, {"failed"}, {"rate"}, {"tool_name"}};
  for (const PositionSummary& position : arm.positions) {
    if (position.calls == 0) continue;
    long failed = 0;
    long names = 0;
    for (const auto& [channel, n] : position.failures) {
      failed += n;
      if (channel == Channel::ToolName) names += n;
    }
    const auto calls = static_cast<double>(position.calls);
    table.rows.push_back({{std::string(position_bin_label(position.bin))},
                          {count_text(position.calls)},
                          {count_text(failed)},
                          {percent(static_cast<double>(failed) / calls)},
                          {percent(static_cast<double>(names) / calls)}});
  }
  if (table.rows.empty()) return;
  screen.heading("Along the episode");
  screen.table(table);
}

void show_length(Screen& screen, const ArmSummary& arm) {
  const LengthMeans& l = arm.length;
  std::string text;
  const auto add = [&](const char* name, std::optional<double> value, int digits) {
    if (!value) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name,
                        digits == 0 ? rounded(value) : decimal(value, digits));
  };
  add("steps", l.steps, 1);
  add("agent turns", l.agent_turns, 1);
  add("agent calls", l.agent_calls, 1);
  if (arm.user_calls > 0) add("user calls", l.user_calls, 1);
  add("prompt tokens", l.prompt_tokens, 0);
  add("completion tokens", l.completion_tokens, 0);
  add("seconds", l.seconds, 1);
  if (l.agent_cost_usd && *l.agent_cost_usd > 0) add("USD", l.agent_cost_usd, 4);
  if (text.empty()) return;
  screen.heading("Length, mean per episode");
  screen.paragraph("  ", text);
}

}  // namespace

std::string to_terminal(const InspectReport& report, const TerminalStyle& style) {
  Screen screen(style);
  show_arm_line(screen, report.arm);
  show_calls(screen, report.arm);
  show_channels(screen, report);
  show_examples(screen, report);
  show_curve(screen, report);
  show_recovery(screen, report.arm);
  show_names(screen, report.arm);
  show_failing_tools(screen, report.arm);
  show_positions(screen, report.arm);
  show_length(screen, report.arm);
  std::vector<std::string> evidence;
  for (const Warning& warning : report.warnings) evidence.push_back(warning_in_words(warning));
  for (const Dropped& dropped : report.dropped) evidence.push_back(dropped_in_words(dropped));
  show_evidence(screen, evidence, kWarningsInInspect);
  show_provenance(screen, report.provenance, false);
  return screen.take();
}

}  // namespace unmask
