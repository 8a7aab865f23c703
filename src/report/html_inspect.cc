// One arm as a page.
#include <fmt/format.h>

#include <algorithm>

#include "failure/secrets.h"
#include "report/html.h"
#include "report/html_charts.h"
#include "report/html_fields.h"
#include "report/html_page.h"
#include "report/numbers.h"
#include "report/render.h"
#include "report/sample_words.h"
#include "report/sections.h"
#include "report/sentences.h"

namespace unmask::html {
namespace {

constexpr std::size_t kArmNamesInTable = 200;
constexpr std::size_t kToolsInTable = 10;
constexpr std::size_t kFailuresInTable = 200;

std::string item(std::string_view term, const std::string& meaning) {
  if (meaning.empty()) return "";
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", term, meaning);
}

std::string kinds_in_words(const ChannelSummary& channel) {
  std::string text;
  for (const auto& [kind, n] : channel.kinds) {
    if (kind == SubKind::None || n == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_string(kind), count_text(n));
  }
  return text;
}

std::vector<Field> arm_channel_row(const std::string& name, const ChannelSummary& c,
                                   const std::string& json, const std::string& screen_json) {
  Field screen = words(c.screen ? std::string(to_string(*c.screen)) : kAbsent);
  if (!screen_json.empty()) {
    screen.pointer = screen_json;
    screen.unit = "word";
  }
  return {{"<code>" + name + "</code>", "", ""},
          count_field(c.count, json + "/count"),
          percent_field(c.per_call.value, json + "/per_call"),
          percent_interval_field(c.per_call.ci95, json + "/ci95"),
          decimal_field(c.per_episode, 2, json + "/per_episode"),
          percent_field(c.share_with, json + "/share_with"),
          screen,
          words(kinds_in_words(c))};
}

std::string arm_channels_table(const ArmSummary& arm) {
  Rows rows{"Failed calls of the agent, by channel",
            {{"channel", false},
             {"failed"},
             {"per call"},
             {"95%"},
             {"per episode"},
             {"episodes with one"},
             {"screen", false},
             {"kinds", false}},
            {}};
  for (const auto& [channel, c] : arm.channels) {
    const std::string name(to_string(channel));
    rows.rows.push_back(arm_channel_row(name, c, "/channels/" + name, "/screen/" + name));
  }
  rows.rows.push_back(arm_channel_row("schema + entity", arm.argument, "/argument", ""));
  return table(rows);
}

std::string arm_curve_table(const ArmSummary& arm, int k_tight) {
  Rows rows{"Success with at most K failed calls", {{"K"}, {"success"}, {"95%"}}, {}};
  for (std::size_t i = 0; i < arm.budget.curve.size(); ++i) {
    const CurvePoint& point = arm.budget.curve[i];
    const std::string json = fmt::format("/budget/curve/{}", i);
    rows.rows.push_back(
        {{fmt::format("{}{}", point.k,
                      point.k == k_tight && is_identified(arm.budget, k_tight) ? " (tight)" : ""),
          "", ""},
         percent_field(point.success, json + "/success"),
         percent_interval_field(point.ci95, json + "/ci95")});
  }
  return table(rows);
}

std::string arm_names_table(const ArmSummary& arm) {
  Rows rows{"Hallucinated tool names", {{"name", false}, {"kind", false}, {"calls"}}, {}};
  for (std::size_t i = 0; i < arm.names.size() && i < kArmNamesInTable; ++i)
    rows.rows.push_back({{"<code>" + escaped(shown_name(arm.names[i].name)) + "</code>", "", ""},
                         words(to_string(arm.names[i].kind)),
                         count_field(arm.names[i].count, fmt::format("/names/{}/count", i))});
  const std::size_t left = arm.names.size() - rows.rows.size();
  return table(rows) +
         (left > 0 ? paragraph(fmt::format("And {} more: --json lists them all.", left), "dim")
                   : "");
}

std::string arm_positions_table(const ArmSummary& arm) {
  Rows rows{
      "Along the episode",
      {{"call of the episode", false}, {"calls"}, {"failed per call"}, {"tool_name per call"}},
      {}};
  if (arm.failed_agent == 0) return "";
  for (std::size_t i = 0; i < arm.positions.size(); ++i) {
    const PositionSummary& position = arm.positions[i];
    if (position.calls == 0) continue;
    rows.rows.push_back({words(position_bin_label(position.bin)),
                         count_field(position.calls, fmt::format("/positions/{}/calls", i)),
                         {escaped(percent(position.failed_per_call)), "", ""},
                         {escaped(percent(position.tool_name_per_call)), "", ""}});
  }
  return table(rows);
}

std::string failing_tools_table(const ArmSummary& arm) {
  std::vector<std::pair<std::string, long>> tools(arm.failing_tools.begin(),
                                                  arm.failing_tools.end());
  std::stable_sort(tools.begin(), tools.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  Rows rows{"Tools whose calls fail most", {{"tool", false}, {"failed calls"}}, {}};
  for (std::size_t i = 0; i < tools.size() && i < kToolsInTable; ++i)
    rows.rows.push_back(
        {{"<code>" + escaped(tools[i].first.empty() ? "(no name)" : tools[i].first) + "</code>", "",
          ""},
         {count_text(tools[i].second), "", ""}});
  return table(rows);
}

// The failures with their evidence, as many as a page can hold.
std::string failures_table(const InspectReport& report) {
  Rows rows{"Every failed call, in order",
            {{"task", false},
             {"trial"},
             {"call"},
             {"channel", false},
             {"name", false},
             {"evidence", false}},
            {}};
  for (std::size_t i = 0; i < report.failures.size() && i < kFailuresInTable; ++i) {
    const FailureRow& row = report.failures[i];
    rows.rows.push_back({words(row.task),
                         {std::to_string(row.trial + 1), "", ""},
                         {std::to_string(row.call.position + 1), "", ""},
                         {"<code>" + std::string(to_string(row.call.channel)) + "</code>", "", ""},
                         {"<code>" + escaped(shown_name(row.call.name)) + "</code>", "", ""},
                         words(report.excerpts.empty() ? "" : without_secrets(row.call.evidence))});
  }
  const std::size_t left = report.failures.size() - rows.rows.size();
  std::string out = table(rows);
  if (left > 0)
    out += paragraph(
        fmt::format("And {} more: --json lists them all.", count_text(static_cast<long>(left))),
        "dim");
  return folded(
      counted(static_cast<long>(report.failures.size()), "failed call") + " with evidence", out);
}

std::string overview(const ArmSummary& arm) {
  std::string pass_k;
  for (const auto& [k, value] : arm.pass_hat_k)
    pass_k += fmt::format("{}k = {}: {}", pass_k.empty() ? "" : ", ", k, percent(value));
  const std::string episodes = episodes_in_words(arm, arm.episodes_evaluated);
  std::string out =
      "<dl>\n" + item("Model", escaped(arm.info.model)) + item("Episodes", escaped(episodes));
  out += arm.success.value
             ? item("Success", inline_field(percent_field(arm.success.value, "/success/rate")) +
                                   " " + escaped(percent_interval(arm.success.ci95)))
             : item("Success", "undefined: no graded episode");
  if (arm.pass_hat_k.size() > 1) out += item("pass^k", escaped(pass_k));
  out += item("Budget", escaped(budget_in_words(arm.budget)));
  out += item("Agent calls",
              inline_field(count_field(arm.agent_calls, "/calls/agent")) + ", " +
                  inline_field(count_field(arm.failed_agent, "/calls/failed_agent")) + " failed");
  if (arm.user_calls > 0)
    out += item("User calls", inline_field(count_field(arm.user_calls, "/calls/user")) + ", " +
                                  inline_field(count_field(arm.failed_user, "/calls/failed_user")) +
                                  " failed");
  return out + "</dl>\n";
}

std::string arm_banner(const ArmSummary& arm) {
  std::string high;
  std::string watch;
  for (const auto& [channel, c] : arm.channels) {
    if (c.screen != Risk::High && c.screen != Risk::Watch) continue;
    std::string& list = c.screen == Risk::High ? high : watch;
    list += (list.empty() ? "" : ", ") + std::string(channel_in_words(channel));
  }
  std::string text;
  if (!high.empty())
    text = "Frequent at this precision: " + high + ". Measure a quantized arm before shipping it.";
  else if (!watch.empty())
    text = "Not shown to be safe from amplification: " + watch + ".";
  else
    text = "Every channel of failed calls is rare: safe from amplification by this screen.";
  const std::string_view css = !high.empty()    ? "v-masked"
                               : !watch.empty() ? "v-amplified"
                                                : "v-clean";
  const std::string_view word = !high.empty()    ? "HIGH PROPENSITY"
                                : !watch.empty() ? "WATCH"
                                                 : "LOW PROPENSITY";
  const std::string_view symbol = !high.empty() ? "▲" : !watch.empty() ? "◆" : "✓";
  if (arm.agent_calls == 0)
    return "<div class=\"verdict\"><span class=\"word\">NO CALLS</span><p>The agent made no call, "
           "so "
           "nothing can be said about failed ones.</p></div>\n";
  return fmt::format(
      "<div class=\"verdict {}\"><span class=\"word\"><span class=\"symbol\" "
      "aria-hidden=\"true\">{}</span>{}</span><p>{}</p></div>\n",
      css, symbol, word, escaped(text));
}

std::string recovery_of_arm(const ArmSummary& arm) {
  const RecoverySummary& r = arm.recovery;
  std::string out = "<dl>\n";
  if (r.failures + r.censored > 0) {
    out +=
        item("Recovered", inline_field(count_field(r.recovered, "/recovery/recovered")) + " of " +
                              inline_field(count_field(r.failures, "/recovery/failures")) + ": " +
                              inline_field(percent_field(r.rate.value, "/recovery/rate")) + " " +
                              escaped(percent_interval(r.rate.ci95)));
    if (r.success_given_failure.value)
      out += item("Succeeded all the same", escaped(percent_estimate(r.success_given_failure)) +
                                                " of the episodes with a failure");
    if (arm.bursts.mean_length)
      out += item("In a row", fmt::format("{} failures on average; the same call repeated after it "
                                          "failed: {}",
                                          decimal(arm.bursts.mean_length, 2),
                                          count_text(arm.bursts.repeated_after_failure)));
  }
  out += item("Repair", escaped(repair_in_words(arm)));
  const LengthMeans& l = arm.length;
  const auto add = [&](std::string_view name, std::optional<double> value, int digits,
                       const char* json) {
    if (value) out += item(name, inline_field(decimal_field(value, digits, json)) + " per episode");
  };
  add(arm.budget.count == BudgetCount::All ? "Failed calls (both sides)" : "Failed calls (agent)",
      arm.budget.mean_errors, 2, "/budget/mean_errors");
  add("Steps", l.steps, 1, "/length/steps_mean");
  add("Agent calls", l.agent_calls, 1, "/length/agent_calls_mean");
  add("Prompt tokens", l.prompt_tokens, 0, "/length/prompt_tokens_mean");
  add("Completion tokens", l.completion_tokens, 0, "/length/completion_tokens_mean");
  add("Seconds", l.seconds, 1, "/length/seconds_mean");
  add("Agent cost, USD", l.agent_cost_usd, 4, "/length/agent_cost_usd_mean");
  return out + "</dl>\n";
}

std::string arm_evidence(const InspectReport& report) {
  std::string out;
  const std::string tools = tool_evidence_in_words(report.arm);
  if (!tools.empty()) out += paragraph("Offered tools known from " + escaped(tools) + ".");
  if (!report.arm.info.failure_rule.empty())
    out += paragraph(escaped(report.arm.info.failure_rule));
  return out + evidence_list(report.warnings, report.dropped);
}

std::string arm_body(const InspectReport& report, bool charts) {
  const ArmSummary& arm = report.arm;
  const int k = report.options.k_tight;
  std::string out = arm_banner(arm) + overview(arm);
  std::string channels = charts ? figure(arm_rates_chart(arm, report.options), "", true) : "";
  channels += arm_channels_table(arm);
  out += section("channels", 2, "Failed calls by channel", channels);
  if (has_success(arm.budget.curve))
    out += section("budget", 2, "Success within a budget of failed calls",
                   figure(arm_curve_chart(arm, k), arm_curve_table(arm, k), charts));
  if (!arm.names.empty())
    out += section("names", 2, "Hallucinated tool names",
                   figure(arm_names_chart(arm), arm_names_table(arm), charts));
  const std::string positions = figure(arm_position_chart(arm), arm_positions_table(arm), charts);
  const std::string tools = failing_tools_table(arm);
  if (!positions.empty() || !tools.empty())
    out += section(
        "where", 2, "Where calls fail",
        "<div class=\"side\"><div>\n" + positions + "</div><div>\n" + tools + "</div></div>\n");
  out += section("recovery", 2, "Recovery and length", recovery_of_arm(arm));
  std::string calls = excerpts(report.excerpts, 3);
  if (!report.failures.empty()) calls += failures_table(report);
  out += section("calls", 2, "The failed calls themselves", calls);
  out += section("evidence", 2, "Evidence quality", arm_evidence(report));
  return out + section("method", 2, "Method", method_notes(report.options, false));
}

}  // namespace
}  // namespace unmask::html

namespace unmask {

std::string to_html(const InspectReport& report, const ChartLibrary& charts) {
  const ArmSummary& arm = report.arm;
  const std::string name = arm.info.domain.empty() ? arm.label : arm.label + ", " + arm.info.domain;
  html::Page page;
  page.title = name + ", unmask";
  page.headings =
      html::paragraph("unmask inspect", "kicker") + "<h1>" + html::escaped(name) + "</h1>\n";
  page.body = html::arm_body(report, !charts.script.empty());
  page.footer = html::provenance(report.provenance);
  return html::document(page, charts);
}

}  // namespace unmask
