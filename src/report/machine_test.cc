// JUnit, CSV, the model card and the bounds of Markdown.
#include <gtest/gtest.h>

#include "report/csv.h"
#include "report/junit.h"
#include "report/markdown_parts.h"
#include "report/model_card.h"
#include "report/render.h"
#include "report/report_samples.h"
#include "report/sentences.h"

namespace unmask {
namespace {

AuditReport gated(AuditReport report, const GateCriteria& criteria = {}) {
  std::vector<CellGate> cells;
  for (const AuditedCell& cell : report.cells)
    cells.push_back(gate_of_cell(cell.comparison, cell.judgement, criteria));
  report.gate = gate_of_cells(criteria, std::move(cells));
  return report;
}

std::string table_of(const std::vector<CsvTable>& tables, const std::string& file) {
  for (const CsvTable& table : tables)
    if (table.file == file) return table.text();
  ADD_FAILURE() << "no table " << file;
  return "";
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++n;
  return n;
}

TEST(XmlText, EscapesMarkupAndReplacesWhatXmlCannotHold) {
  EXPECT_EQ(xml_text("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c'");
  EXPECT_EQ(xml_text("line\nbreak\t\r"), "line&#10;break&#9;&#13;");
  EXPECT_EQ(xml_text(std::string_view("\x1b\0\x0b", 3)), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(xml_text("\xEF\xBF\xBE"), "\xEF\xBF\xBD");  // U+FFFE
  EXPECT_EQ(xml_text("\xC2\x9B"), "\xC2\x9B");          // C1 controls are characters of XML
  EXPECT_EQ(xml_text("\xFFz"), "\xEF\xBF\xBDz");
}

TEST(CsvText, QuotesAsRfc4180SaysAndDisarmsFormulas) {
  EXPECT_EQ(csv_text("plain"), "plain");
  EXPECT_EQ(csv_text("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_text("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_text("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_text("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
  for (const char* text : {"+1", "-1", "@SUM(A1)", "\tx", "'quoted"})
    EXPECT_EQ(csv_text(text), "'" + std::string(text)) << text;
  EXPECT_EQ(csv_text("\rx"), "\"'\rx\"");
  EXPECT_EQ(csv_text(std::string_view("a\0b", 3)),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(csv_text("\x1b[2J\xC2\x9B\xFF"), "\xEF\xBF\xBD[2J\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(csv_text(""), "");
}

TEST(Csv, LeavesUndefinedFieldsEmptyAndCountsColumns) {
  AuditReport report = sample_audit();
  report.cells[0].comparison.channels[Channel::Schema].amplification = std::nullopt;
  const std::string table = table_of(to_csv(report), "comparisons.csv");
  EXPECT_NE(table.find("\ngemma dense telecom INT4,schema,0,0,0,0,,,,,,,0,"), std::string::npos)
      << table;
  EXPECT_EQ(count_of(table, "\n"), 1u + 5u + 1u);  // columns, five channels, argument
  std::size_t columns = 0;
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = table.find('\n', begin);
    const std::size_t commas = count_of(std::string_view(table).substr(begin, end - begin), ",");
    if (columns == 0) columns = commas;
    EXPECT_EQ(commas, columns);
    begin = end + 1;
  }
}

TEST(Junit, CountsWhatTheGateSays) {
  const std::string masked = to_junit(gated(sample_audit(Verdict::Masked)));
  EXPECT_EQ(count_of(masked, "<testcase "), 8u);
  EXPECT_EQ(count_of(masked, "<failure "), 3u);  // verdict, unmasked gap, tool_name
  EXPECT_NE(masked.find("<testsuites name=\"unmask\" tests=\"8\" failures=\"3\""),
            std::string::npos);
  EXPECT_EQ(count_of(to_junit(gated(sample_audit(Verdict::Inconclusive))), "<skipped "), 1u);
  EXPECT_EQ(count_of(to_junit(gated(sample_audit(Verdict::Clean))), "<failure "), 0u);
}

TEST(Junit, TakesTheDefaultCriteriaWithoutAGate) {
  EXPECT_EQ(to_junit(sample_audit(Verdict::Masked)),
            to_junit(gated(sample_audit(Verdict::Masked))));
}

TEST(Markdown, StaysShorterThanACommentMayBeWhateverTheGrid) {
  GateCriteria strict;
  for (const Channel channel : kFailureChannels) strict.max_amplification[channel] = 0.1;
  constexpr std::pair<std::size_t, std::size_t> kShapes[] = {
      {1, 200000}, {10, 20000}, {2000, 20}};  // cells, bytes of every text
  for (const auto& [cells, bytes] : kShapes) {
    AuditReport report = hostile_audit(std::string(bytes, '@'));
    const AuditedCell cell = report.cells[0];
    report.cells.resize(cells, cell);
    for (const bool with_gate : {false, true}) {
      const std::string text = to_markdown(with_gate ? gated(report, strict) : report);
      EXPECT_LE(text.size(), 65536u) << cells;
      EXPECT_NE(text.find("<sub>unmask"), std::string::npos);
      if (cells > 1) {
        EXPECT_NE(text.find("Cut to fit a comment"), std::string::npos);
      }
    }
  }
}

TEST(Markdown, TellsNoCallFromNoFailure) {
  AuditReport report = sample_audit(Verdict::Masked);
  CellComparison& cell = report.cells[0].comparison;
  for (auto& [channel, c] : cell.channels) c.baseline_count = c.candidate_count = 0;
  EXPECT_NE(to_markdown(report).find("No failed call in either arm."), std::string::npos);
  cell.baseline.agent_calls = cell.candidate.agent_calls = 0;
  EXPECT_NE(to_markdown(report).find("No call was made in either arm."), std::string::npos);
  cell.ran = false;
  EXPECT_NE(to_markdown(report).find("No episode that ran"), std::string::npos);
}

TEST(Markdown, SaysThatAScoreIsHigher) {
  AuditReport report = sample_audit(Verdict::Masked);
  report.cells[0].judgement.flatness = Flatness::Undetected;
  Outcome& outcome = report.cells[0].comparison.outcome;
  outcome.delta->mean = 0.08;
  outcome.p_holm = 0.001;
  EXPECT_NE(headline(report.cells[0]).find("The score is higher"), std::string::npos);
  outcome.p_holm = 0.2;
  EXPECT_NE(headline(report.cells[0]).find("no detectable change"), std::string::npos);
}

TEST(Markdown, ShowsNoUnadjustedValueUnderHolm) {
  AuditReport report = sample_audit(Verdict::Masked);
  for (auto& [channel, c] : report.cells[0].comparison.channels) {
    c.p = 0.0417;
    c.p_holm.reset();
  }
  report.cells[0].comparison.argument.p = 0.0417;
  for (const std::string& text : {to_markdown(report), to_terminal(report, {})})
    EXPECT_EQ(text.find("0.0417"), std::string::npos) << text;
}

TEST(Sentences, NameTheRuleThatMakesABudgetExploratory) {
  AuditReport report = sample_audit(Verdict::Masked);
  CellComparison& cell = report.cells[0].comparison;
  EXPECT_EQ(exploratory_in_words(cell), "");
  cell.budget.k_tight_is_primary = false;
  EXPECT_EQ(exploratory_in_words(cell), " (exploratory: K is not 2)");
  cell.baseline.budget.rule = BudgetRule::Live;
  EXPECT_NE(exploratory_in_words(cell).find("fewer than 2 failed calls"), std::string::npos);
}

TEST(Csv, WritesTheFilesThatAreCheckedBeforehand) {
  const AuditReport report = sample_audit();
  const std::vector<CsvTable> tables = to_csv(report);
  ASSERT_EQ(tables.size(), kCsvFiles.size());
  for (std::size_t i = 0; i < tables.size(); ++i) EXPECT_EQ(tables[i].file, kCsvFiles[i]);
}

TEST(Markdown, ShowsTheGateFirst) {
  const std::string text = to_markdown(gated(sample_audit(Verdict::Masked)));
  EXPECT_EQ(text.find("**The gate says no**"), 0u) << text.substr(0, 100);
}

TEST(Markdown, SaysAFindingThatCellsShareOnce) {
  AuditReport report = sample_audit(Verdict::Masked);
  report.cells.resize(5, report.cells[0]);
  for (std::size_t i = 0; i < report.cells.size(); ++i)
    report.cells[i].comparison.cell = "cell " + std::to_string(i);
  const std::string text = to_markdown(gated(report));
  const std::string section = text.substr(0, text.find("## unmask"));
  EXPECT_EQ(count_of(section, "the verdict 'masked' is one that fails"), 1u) << section;
  EXPECT_NE(section.find("(cell 0, cell 1, cell 2 and 2 more)"), std::string::npos) << section;
}

TEST(Markdown, MakesNoLinkOfWhatALogHolds) {
  const std::string text =
      "see #12, GH-7, https://a.example/x, WWW.b.example, ftp://c, @someone, o/r#3, $x$ and a.b # "
      "c";
  for (const std::string& page :
       {to_markdown(hostile_audit(text)), to_model_card(hostile_inspect(text))}) {
    const std::string cut_at_code = page.substr(0, page.find("\n    "));
    for (const char* link :
         {"#12", "GH-7", "https://a", "WWW.b", "ftp://c", "@someone", "r#3", " $x$"})
      EXPECT_EQ(cut_at_code.find(link), std::string::npos) << link;
    EXPECT_NE(page.find("a.b \\# c"), std::string::npos);  // what is no link is left as it is
  }
}

TEST(ModelCard, IsBoundedWhateverTheNamesAndTheGrid) {
  constexpr std::pair<std::size_t, std::size_t> kShapes[] = {{1, 200000}, {2000, 20}};
  for (const auto& [cells, bytes] : kShapes) {
    AuditReport report = hostile_audit(std::string(bytes, '<'));
    for (int k = 0; k <= 1000; ++k) {
      report.cells[0].comparison.baseline.budget.curve.push_back({k, 0.5, std::nullopt});
      report.cells[0].comparison.baseline.pass_hat_k[k] = 0.1;
    }
    const AuditedCell cell = report.cells[0];
    report.cells.resize(cells, cell);
    const std::string card = to_model_card(report);
    EXPECT_LE(card.size(), 65000u);
    EXPECT_NE(card.find("## Tool calls"), std::string::npos);
    EXPECT_EQ(card.find("Cut to 65,000 bytes") != std::string::npos, cells > 1);
    EXPECT_NE(card.find("Measured with unmask"), std::string::npos);
  }
  InspectReport single = hostile_inspect(std::string(200000, '<'));
  EXPECT_LE(to_model_card(single).size(), 65000u);
}

TEST(ModelCard, CountsByTheRuleOfItsVerdict) {
  AuditReport report = sample_audit();
  for (ArmSummary* arm :
       {&report.cells[0].comparison.baseline, &report.cells[0].comparison.candidate})
    arm->budget.rule = BudgetRule::Live;
  const std::string card = to_model_card(report);
  EXPECT_NE(card.find("fewer than K failed calls, K = | 1 |"), std::string::npos) << card;
  EXPECT_EQ(card.find("at most K failed calls"), std::string::npos) << card;
}

TEST(ModelCard, HasTheReportingStandard) {
  const std::string card = to_model_card(sample_audit());
  for (const char* part :
       {"task success [95%]", "`tool_name`", "`rejected`", "times as often", "K = | 0 |", "| 10 |",
        "recovery", "114 tasks × 3-4 trials", "4 excluded", "seed 18446744073709551615",
        "    unmask audit a.json b.json", "Verdict: **masked**"})
    EXPECT_NE(card.find(part), std::string::npos) << part << "\n" << card;
  const std::string single = to_model_card(sample_inspect());
  EXPECT_EQ(single.find("Verdict"), std::string::npos);
  EXPECT_NE(single.find("`tool_name`"), std::string::npos);
}

TEST(ModelCard, SurvivesHostileTexts) {
  for (const std::string& text : hostile_texts()) {
    const std::string card = to_model_card(hostile_audit(text));
    EXPECT_EQ(card.find('\x1b'), std::string::npos);
    EXPECT_EQ(card.find("<script>alert"), card.rfind("<script>alert"));  // only in the code block
  }
}

}  // namespace
}  // namespace unmask
