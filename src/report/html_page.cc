#include "report/html_page.h"

#include <fmt/format.h>

#include "report/numbers.h"
#include "report/sentences.h"

namespace unmask::html {
namespace {

// Nothing is loaded and no script runs but the one whose hash this is. Vega sets styles of
// elements.
std::string policy(const ChartLibrary& charts) {
  const std::string scripts = charts.script.empty() ? "'none'" : "'sha256-" + charts.sha256 + "'";
  return "default-src 'none'; script-src " + scripts +
         "; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
}

std::string note(std::string_view term, const std::string& meaning) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(term), escaped(meaning));
}

std::string notes_on_two_arms(const CompareOptions& options) {
  const int k = options.k_tight;
  return note(
             "Change Δ",
             "Per task, the candidate's mean success minus the baseline's; their mean, with "
             "Student's t on tasks − 1 degrees of freedom. p corrected (Holm) over the comparisons "
             "of one audit.") +
         note("Equivalence",
              fmt::format("Two one-sided tests at 5%: the scores count as equivalent where the 90% "
                          "interval of Δ lies inside ±{} points. \"Not significant\" is never read "
                          "as \"no damage\".",
                          in_points(options.equivalence_margin, false))) +
         note("Gap G(K)",
              "S(K) of the baseline minus S(K) of the candidate. The band holds for all K at once "
              "(95%; bootstrap over tasks, max-|t|). At the benchmark's own budget it is −Δ.") +
         note("Unmasked gap U",
              fmt::format(
                  "G({0}) minus the gap at the benchmark's own budget: per task, the share of "
                  "episodes that succeed with more than {0} failed calls, candidate minus "
                  "baseline; paired t over tasks, Holm over comparisons.",
                  k)) +
         note(
             "Amplification A",
             "Failures per call in the candidate over the baseline's. Interval: paired bootstrap "
             "over tasks of log A, its tails widened where few tasks fail. p: permutation that "
             "swaps whole tasks between the arms; Holm over comparisons × channels. No ratio under "
             "5 baseline failures or 8 failing tasks.") +
         note("Volume", "Failures per episode, candidate over baseline.") +
         note("Amplified",
              "Holm p < 0.05, and at least 1 point more, and A ≥ 1.25 (or new: fewer than 5 "
              "failures "
              "in the baseline); where the arms have different numbers of episodes of a task, also "
              "with every task weighed alike.") +
         note(
             "Masked",
             fmt::format("U > 0 (Holm), the lower 95% limit of G({}) > 0, and an amplified channel "
                         "that spends budget, while the score is not shown to be lower.",
                         k)) +
         note("Clean",
              "The score is equivalent or better, the error budget hides less than 5 points "
              "(one-sided "
              "95% limit), and in every channel A < 1.5 or the difference < 2 points (likewise).") +
         note("Novel names",
              "Names only the candidate called. Beyond chance: each trial of both arms scored "
              "against "
              "the baseline's other trials.");
}

}  // namespace

std::string document(const Page& page, const ChartLibrary& charts) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"" +
      policy(charts) +
      "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>" +
      escaped(page.title) + "</title>\n<style>";
  out += style_sheet();
  out += "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#report\">Skip to the report</a>\n";
  out += "<header>\n" + page.headings + "</header>\n<main id=\"report\" tabindex=\"-1\">\n";
  out += page.body + "</main>\n<footer>\n" + page.footer;
  out +=
      charts.script.empty()
          ? "<p>This build of unmask has no charts; every number is in a table.</p>\n"
          : "<noscript><p>Charts need JavaScript; every number is in a table as "
            "well.</p></noscript>\n"
            "<p>Charts by Vega, Vega-Lite and Vega-Embed, whose licences stand in this file.</p>\n";
  out += "</footer>\n";
  if (!charts.script.empty()) {
    out += "<script>";
    out += charts.script;
    out += "</script>\n";
  }
  return out + "</body>\n</html>\n";
}

std::string section(std::string_view id, int level, std::string_view heading,
                    const std::string& inner) {
  if (inner.empty()) return "";
  return fmt::format(
      "<section aria-labelledby=\"{0}\">\n<h{1} id=\"{0}\">{2}</h{1}>\n{3}</section>\n", id, level,
      escaped(heading), inner);
}

std::string bullet_list(const std::vector<std::string>& escaped_items, std::string_view css_class) {
  if (escaped_items.empty()) return "";
  std::string out = css_class.empty() ? "<ul>\n" : fmt::format("<ul class=\"{}\">\n", css_class);
  for (const std::string& item : escaped_items) out += "<li>" + item + "</li>\n";
  return out + "</ul>\n";
}

std::string_view verdict_symbol(Verdict verdict) {
  switch (verdict) {
    case Verdict::DegradedAndMasked:
      return "✖";
    case Verdict::Degraded:
      return "▼";
    case Verdict::Masked:
      return "◐";
    case Verdict::Amplified:
      return "▲";
    case Verdict::Clean:
      return "✓";
    case Verdict::Inconclusive:
      return "?";
  }
  return "";
}

std::string verdict_class(Verdict verdict) {
  if (verdict == Verdict::DegradedAndMasked) return "v-degraded-masked";
  return fmt::format("v-{}", to_string(verdict));
}

std::string evidence_list(const std::vector<Warning>& warnings,
                          const std::vector<Dropped>& dropped) {
  std::vector<std::string> items;
  for (const Warning& warning : warnings)
    items.push_back(escaped(warning_in_words(warning)) + " <code>" + escaped(warning.code) +
                    "</code>");
  for (const Dropped& record : dropped)
    items.push_back(escaped(dropped_in_words(record)) + " <code>" + escaped(record.code) +
                    "</code>");
  constexpr std::size_t kInSight = 12;
  if (items.size() <= kInSight) return bullet_list(items);
  const std::vector<std::string> first(items.begin(), items.begin() + kInSight);
  const std::vector<std::string> rest(items.begin() + kInSight, items.end());
  return bullet_list(first) + folded(fmt::format("{} more", rest.size()), bullet_list(rest));
}

std::string method_notes(const CompareOptions& options, bool compares) {
  const bool at_most = options.rule == BudgetRule::AtMost;
  std::string out = "<dl>\n";
  out += note("Unit",
              "The task. Trials of one task are not independent, so every interval and test "
              "resamples or aggregates by task.");
  out +=
      note("Failed call",
           "A tool call the environment answered with an error, in exactly one channel: malformed, "
           "tool_name, schema, entity or rejected. Rates are per call of the agent.");
  out += note("E", options.count == BudgetCount::All
                       ? "Failed tool messages of the episode, both sides together."
                       : "Failed tool messages of the episode, the agent's only.");
  out +=
      note("S(K)", at_most ? "P(success and E ≤ K): the success rate had the benchmark forgiven at "
                             "most K failed calls."
                           : "P(success and E < K): the benchmark's own stop rule with a budget of "
                             "K.");
  if (compares) out += notes_on_two_arms(options);
  out +=
      note("Recovery",
           "After a failed call, the agent's next call in a later message succeeds. A last failure "
           "cut off by the budget is left out.");
  if (!compares)
    out +=
        note("Screen",
             fmt::format("From the rate's 95% interval, clustered by task: low under {}, high over "
                         "{}, else watch. Low says safe from amplification; high says measure.",
                         percent(options.screen_low), percent(options.screen_high)));
  return out + "</dl>\n";
}

std::string provenance(const Provenance& provenance) {
  std::string out = "<dl>\n<dt>Version</dt><dd>unmask " + escaped(provenance.version) + "</dd>\n";
  out += fmt::format("<dt>Seed</dt><dd>{}, {} resamples</dd>\n", provenance.seed,
                     count_text(provenance.bootstrap));
  if (!provenance.command.empty())
    out += "<dt>Command</dt><dd><code>" + escaped(provenance.command) + "</code></dd>\n";
  return out + "</dl>\n";
}

}  // namespace unmask::html
