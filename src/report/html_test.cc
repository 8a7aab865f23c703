// The page as text: escaping, policy, completeness. What a browser makes of it is tests/browser.
#include <gtest/gtest.h>

#include <string>

#include "report/html.h"
#include "report/html_charts.h"
#include "report/html_spec.h"
#include "report/html_text.h"
#include "report/render.h"
#include "report/report_samples.h"

namespace unmask {
namespace {

const ChartLibrary kCharts{"draw();", "hash+of/it="};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The page without the charts' data, which no browser reads as markup.
std::string markup_of(std::string page) {
  const std::string begin = "<script type=\"application/json\"";
  for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at))
    page.erase(at, page.find("</script>", at) - at);
  return page;
}

constexpr const char* kAttack =
    "</script><script>alert(1)</script><!-- \" onerror='x' javascript:x \xE2\x80\xA8 \xE2\x80\xAE";

TEST(HtmlText, EscapesEveryCharacterThatMarkupReads) {
  EXPECT_EQ(html::escaped("<a href=\"x\" title='y'>&amp;"),
            "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;");
}

TEST(HtmlText, ShowsInvisibleCharactersAndBrokenBytes) {
  EXPECT_EQ(html::escaped("a\xE2\x80\xAE"
                          "b"),
            "a&lt;U+202E&gt;b");
  EXPECT_EQ(html::escaped("a\xFF"), "a\xEF\xBF\xBD");
  EXPECT_EQ(html::escaped("a\nb"), "a b");
  EXPECT_EQ(html::escaped_lines("a\n<b>\tc\r\n"), "a\n&lt;b&gt;\tc\xE2\x90\x8D\n");
}

TEST(HtmlText, JsonInAScriptCannotEndIt) {
  const std::string escaped = html::script_json("{\"a\": \"</script><!--&\xE2\x80\xA8\"}");
  EXPECT_EQ(escaped, "{\"a\": \"\\u003c/script\\u003e\\u003c!--\\u0026\\u2028\"}");
}

TEST(HtmlText, CodeOnlyBetweenTwoBackticks) {
  EXPECT_EQ(html::with_code("run `a<b` or `x"), "run <code>a&lt;b</code> or x");
}

TEST(HtmlSpec, NothingIsReplacedInsideATextOfALog) {
  EXPECT_EQ(html::filled("[@a@,@b@]", {{"@a@", "1"}, {"@b@", "\"@a@@b@\""}}), "[1,\"@a@@b@\"]");
}

TEST(HtmlSpec, AxisLabelsDiffer) {
  std::set<std::string> used;
  const std::string name(200, 'x');
  EXPECT_NE(html::axis_label(name + "a", SubKind::Invented, used),
            html::axis_label(name + "b", SubKind::Invented, used));
}

TEST(Html, ALogCannotAddAScriptOrAttribute) {
  for (const std::string& page :
       {to_html(hostile_audit(kAttack), kCharts), to_html(hostile_inspect(kAttack), kCharts)}) {
    EXPECT_FALSE(contains(page, "<script>alert"));
    EXPECT_FALSE(contains(page, "<!--"));
    EXPECT_FALSE(contains(markup_of(page), "onerror='x'"));
    EXPECT_FALSE(contains(page, "\xE2\x80\xAE"));
    EXPECT_FALSE(contains(page, "\xE2\x80\xA8"));
    EXPECT_EQ(count_of(page, "<script>"), 1u);
    EXPECT_EQ(count_of(page, "<script"), count_of(page, "</script>"));
  }
}

TEST(Html, ThePolicyAllowsTheChartScriptAlone) {
  const std::string page = to_html(sample_audit(), kCharts);
  EXPECT_TRUE(contains(page, "default-src 'none'; script-src 'sha256-hash+of/it='; style-src"));
  EXPECT_FALSE(contains(page, "unsafe-eval"));
  EXPECT_TRUE(contains(page, "<script>draw();</script>"));
}

TEST(Html, WithoutChartsThereIsNoScriptAndThePageSaysSo) {
  const std::string page = to_html(sample_audit(), {});
  EXPECT_TRUE(contains(page, "script-src 'none'"));
  EXPECT_FALSE(contains(page, "<script"));
  EXPECT_FALSE(contains(page, "data-chart"));
  EXPECT_TRUE(contains(page, "no charts; every number is in a table"));
  EXPECT_EQ(count_of(page, "data-json="), count_of(to_html(sample_audit(), kCharts), "data-json="));
}

TEST(Html, EveryChartHasItsWordsAndItsTable) {
  const std::string page = to_html(sample_audit(), kCharts);
  for (const char* id : {"c0-outcome-chart", "c0-budget-chart", "c0-forest-chart", "c0-names-chart",
                         "c0-position-chart"})
    EXPECT_TRUE(contains(page, std::string("id=\"") + id + "\"")) << id;
  EXPECT_EQ(count_of(page, "role=\"img\" aria-label=\""), count_of(page, "data-chart="));
  EXPECT_EQ(count_of(page, "<figcaption>"), count_of(page, "data-chart="));
}

TEST(Html, WhereDecisionsFlipIsShownWhereTheLogsHaveThem) {
  AuditReport report = sample_audit();
  EXPECT_FALSE(contains(to_html(report, kCharts), "c0-decisions"));
  report.cells[0].mechanism = sample_mechanism("int4");
  const std::string page = to_html(report, kCharts);
  EXPECT_TRUE(contains(page, "<a href=\"#c0-decisions\">"));
  EXPECT_TRUE(contains(page, "id=\"c0-flips-chart\""));
  EXPECT_TRUE(contains(page, "/cells/0/mechanism/candidates/0/flips/which_tool/bins/1/share"));
  EXPECT_TRUE(contains(page, "100 decisions of 40 tasks had the same context in both logs"));
  EXPECT_TRUE(contains(page, "nothing is foretold: only 4 tasks to split, not 10"));
  // Too few for a chart.
  report.cells[0].mechanism->candidates[0].flips[1].bins[0].decisions = 0;
  EXPECT_FALSE(contains(to_html(report, kCharts), "id=\"c0-flips-chart\""));
}

TEST(Html, ArmsWithoutACommonContextSaySo) {
  AuditReport report = sample_audit();
  report.cells[0].mechanism = sample_mechanism("int4");
  CandidateMechanism& candidate = report.cells[0].mechanism->candidates[0];
  candidate.contexts = candidate.flips[1].pairs = 0;
  candidate.flips[1].bins.clear();
  const std::string page = to_html(report, kCharts);
  EXPECT_TRUE(contains(page, "no decision had the same context in both logs"));
  EXPECT_FALSE(contains(page, "nothing is foretold"));
  EXPECT_TRUE(contains(to_markdown(report), "Decisions: no decision had the same context"));
}

TEST(Html, TheVerdictAndItsSentenceComeFirst) {
  const std::string page = to_html(sample_audit(), kCharts);
  const std::size_t verdict = page.find("MASKED</span>");
  ASSERT_NE(verdict, std::string::npos);
  for (const char* later : {"id=\"c0-outcome\"", "id=\"c0-budget\"", "id=\"c0-channels\"",
                            "id=\"c0-names\"", "id=\"c0-recovery\"", "id=\"method\""}) {
    const std::size_t at = page.find(later);
    ASSERT_NE(at, std::string::npos) << later;
    EXPECT_LT(verdict, at);
  }
}

TEST(Html, AGridSaysEveryVerdictInAWordAndLinksToItsCell) {
  AuditReport grid = sample_grid();
  for (std::size_t i = 0; i < grid.cells.size(); ++i)
    grid.cells[i].place = {"gemma", i % 2 == 0 ? "dense" : "moe", "telecom",
                           "INT" + std::to_string(i)};
  const std::string page = to_html(grid, kCharts);
  EXPECT_TRUE(contains(page, "class=\"matrix\""));
  for (std::size_t i = 0; i < grid.cells.size(); ++i) {
    EXPECT_TRUE(contains(page, "href=\"#c" + std::to_string(i) + "\""));
    EXPECT_TRUE(
        contains(page, "</span>" + std::string(to_string(grid.cells[i].judgement.verdict))));
  }
  EXPECT_TRUE(contains(page, "not in the grid"));                         // gemma moe INT0
  EXPECT_LT(page.find("telecom<br>INT5"), page.find("telecom<br>INT4"));  // from many bits to few
}

TEST(Html, ConversationsAreEscapedAndMarked) {
  AuditReport report = sample_audit();
  Excerpt excerpt;
  excerpt.task = kAttack;
  excerpt.channel = Channel::ToolName;
  excerpt.name = "get_weather";
  excerpt.messages = {{Role::Agent, 3, kAttack, {{kAttack, kAttack, true}}, false}};
  report.cells[0].candidate_excerpts = {excerpt};
  const std::string page = to_html(report, kCharts);
  EXPECT_FALSE(contains(page, "<script>alert"));
  EXPECT_TRUE(contains(page, "this call:"));
  EXPECT_TRUE(contains(page, "candidate: get_weather, task "));
}

TEST(Html, SameReportSameBytes) {
  EXPECT_EQ(to_html(sample_grid(), kCharts), to_html(sample_grid(), kCharts));
}

TEST(Html, AnEmptyAuditIsStillAPage) {
  const std::string page = to_html(AuditReport{}, kCharts);
  EXPECT_TRUE(contains(page, "Nothing was compared."));
  EXPECT_TRUE(contains(page, "</html>"));
}

TEST(HtmlCharts, DrawNoIntervalsWhereNoneIsDefined) {
  InspectReport report = sample_inspect();
  EXPECT_NE(to_html(report, kCharts).find(R"("field":"lo","type")"), std::string::npos);
  for (CurvePoint& point : report.arm.budget.curve) point.ci95.reset();
  for (auto& [channel, summary] : report.arm.channels) summary.per_call.ci95.reset();
  EXPECT_EQ(to_html(report, kCharts).find(R"("field":"lo","type")"), std::string::npos);
}

TEST(Html, ShowsTheIntervalsOfTheCurvesAsNumbers) {
  const std::string page = to_html(sample_audit(), kCharts);
  EXPECT_NE(page.find("/baseline/budget/curve/2/ci95"), std::string::npos);
  EXPECT_NE(page.find("/candidate/budget/curve/2/success"), std::string::npos);
}

TEST(HtmlCharts, AnInfiniteRatioIsDrawnToTheEdgeAndStaysAbsentInTheData) {
  CellComparison cell = sample_cell();
  cell.channels[Channel::ToolName].amplification_ci95 =
      Interval{1.5, std::numeric_limits<double>::infinity()};
  const html::Chart chart = html::forest_chart(cell, "c0");
  EXPECT_TRUE(contains(chart.spec, "\"ratio_hi\": null"));
  EXPECT_FALSE(contains(chart.spec, "inf"));
}

}  // namespace
}  // namespace unmask
