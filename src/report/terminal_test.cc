// What reaches a terminal: never wider than asked, never a control byte of the log's.
#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <cwchar>
#include <sstream>

#include "base/rng.h"
#include "base/utf8.h"
#include "report/chart.h"
#include "report/display.h"
#include "report/render.h"
#include "report/report_samples.h"
#include "report/screen.h"

namespace unmask {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The page without our own colours, which are ESC [ digits and ; m.
std::string without_colors(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
      const std::size_t end = text.find_first_not_of("0123456789;", i + 2);
      if (end != std::string::npos && text[end] == 'm') {
        i = end;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

// Columns by the C library's own table, an oracle that shares nothing with display.cc.
int columns_by_libc(const std::string& line) {
  int columns = 0;
  for (std::size_t i = 0; i < line.size();) {
    const Utf8Step step = decode_utf8(line, i);
    columns += std::max(0, ::wcwidth(static_cast<wchar_t>(step.code_point)));
    i += step.length;
  }
  return columns;
}

std::vector<std::string> all_screens(const TerminalStyle& style) {
  std::vector<std::string> screens = {
      to_terminal(AuditReport{}, style), to_terminal(InspectReport{}, style),
      to_terminal(sample_grid(), style), to_terminal(sample_inspect(), style)};
  AuditReport bare;
  bare.cells.emplace_back();
  screens.push_back(to_terminal(bare, style));
  for (const AuditedCell& cell : sample_grid().cells)
    screens.push_back(to_terminal(sample_audit(cell.judgement.verdict), style));
  for (const std::string& text : hostile_texts()) {
    screens.push_back(to_terminal(hostile_audit(text), style));
    screens.push_back(to_terminal(hostile_inspect(text), style));
    AuditReport grid = sample_grid();
    grid.cells[0].comparison = hostile_audit(text).cells[0].comparison;
    screens.push_back(to_terminal(grid, style));
  }
  return screens;
}

class OnATerminal : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr); }
};

TEST_F(OnATerminal, NoLineIsWiderThanAsked) {
  for (const int width : {1, 2, 7, 20, 40, 60, 79, 80, 100, 132, 250})
    for (const bool color : {false, true})
      for (const std::string& screen : all_screens({color, width}))
        for (const std::string& line : lines_of(without_colors(screen)))
          ASSERT_LE(columns_by_libc(line), width) << line;
}

TEST_F(OnATerminal, NothingOfTheLogControlsIt) {
  for (const bool color : {false, true}) {
    for (const std::string& screen : all_screens({color, 80})) {
      const std::string text = without_colors(screen);
      ASSERT_TRUE(is_utf8(text));
      for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        ASSERT_TRUE(byte == '\n' || (byte >= 0x20 && byte != 0x7F)) << int{byte};
      }
      ASSERT_EQ(text.find("\xC2\x9B"), std::string::npos);
      ASSERT_EQ(text.find("\xE2\x80\xAE"), std::string::npos);
    }
  }
}

TEST_F(OnATerminal, ColorIsOnlyThereWhenAskedFor) {
  const std::string plain = to_terminal(sample_audit(), {false, 80});
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  const std::string colored = to_terminal(sample_audit(), {true, 80});
  EXPECT_NE(colored.find("\x1b["), std::string::npos);
  EXPECT_EQ(without_colors(colored), plain);
}

TEST_F(OnATerminal, NoLineEndsInSpaces) {
  for (const std::string& screen : all_screens({false, 80}))
    for (const std::string& line : lines_of(screen))
      ASSERT_FALSE(!line.empty() && line.back() == ' ') << line;
}

TEST_F(OnATerminal, TheVerdictComesFirstInPlainWords) {
  const std::string screen = to_terminal(sample_audit(), {false, 80});
  EXPECT_EQ(screen.rfind("MASKED  gemma dense telecom INT4\n", 0), 0u);
  const std::string wide = to_terminal(sample_audit(), {false, 250});
  EXPECT_NE(
      wide.find("The score is flat (−1.3 points, equivalent within ±7.5), but the error budget "
                "hides damage: allowed at most 2 failed calls, the candidate succeeds 16.7 "
                "points less often. Hallucinated tool names are 1.96 times as frequent (19.5% "
                "→ 38.3% of calls)."),
      std::string::npos);
}

TEST_F(OnATerminal, EachVerdictHasItsHeadlineAndNextStep) {
  const std::vector<std::pair<Verdict, std::string>> expected = {
      {Verdict::DegradedAndMasked, "The score is lower: −1.3 points"},
      {Verdict::Degraded, "The score is lower: −1.3 points"},
      {Verdict::Amplified, "but failed calls have: hallucinated tool names"},
      {Verdict::Clean, "No damage found: the score is equivalent or better (−1.3 points)"},
      {Verdict::Inconclusive, "Run about 200 tasks × 4 trials in each arm"}};
  for (const auto& [verdict, text] : expected)
    EXPECT_NE(to_terminal(sample_audit(verdict), {false, 250}).find(text), std::string::npos)
        << text;
}

TEST_F(OnATerminal, UngradedLogsGetNoWordOnSuccess) {
  AuditReport report = sample_audit(Verdict::Inconclusive);
  report.cells[0].comparison.graded = false;
  report.cells[0].comparison.outcome = {};
  report.cells[0].comparison.budget = {};
  report.cells[0].judgement.needed.reset();
  const std::string screen = to_terminal(report, {false, 250});
  EXPECT_NE(screen.find("The logs carry no grades"), std::string::npos);
  EXPECT_EQ(screen.find("0.0 points"), std::string::npos);
}

TEST_F(OnATerminal, LogsThatNeverRanAreNotCalledUngraded) {
  AuditReport report = sample_audit(Verdict::Inconclusive);
  CellComparison& cell = report.cells[0].comparison;
  cell.ran = cell.graded = false;
  cell.baseline.episodes_excluded = cell.baseline.episodes_total;
  cell.outcome = {};
  cell.budget = {};
  report.cells[0].judgement.needed.reset();
  const std::string screen = to_terminal(report, {false, 250});
  EXPECT_NE(screen.find("Nothing was evaluated: 460 of 460 episodes of the baseline"),
            std::string::npos);
  EXPECT_NE(screen.find("Find out what broke the episodes off"), std::string::npos);
  EXPECT_EQ(screen.find("no grades"), std::string::npos);
}

TEST_F(OnATerminal, TellsTasksOfOneArmFromTasksWithoutAGradedEpisode) {
  AuditReport report = sample_audit();
  CellComparison& cell = report.cells[0].comparison;
  cell.paired_tasks = 114;
  cell.evaluated_tasks = 112;
  cell.unpaired_tasks = {"only in baseline: 17", "no graded episode in baseline: 3",
                         "no graded episode in either arm: 4"};
  const std::string both =
      "114 tasks compared by their calls, 112 of them in the outcome; 1 task in one arm only is "
      "left out: 17; 2 tasks without a graded episode in an arm are left out of the outcome: 3, 4";
  EXPECT_NE(to_terminal(report, {false, 250}).find(both), std::string::npos);
  cell.unpaired_tasks.erase(cell.unpaired_tasks.begin());
  EXPECT_EQ(to_terminal(report, {false, 250}).find("in one arm only"), std::string::npos);
}

TEST_F(OnATerminal, AllWarningsBeyondTheFirstAreCounted) {
  AuditReport report = sample_audit();
  report.dropped.clear();
  report.cells[0].comparison.warnings.clear();
  for (int i = 0; i < 20; ++i)
    report.warnings.push_back({"code", "warning number " + std::to_string(i), "", 1});
  const std::string screen = to_terminal(report, {false, 80});
  EXPECT_NE(screen.find("and 13 more"), std::string::npos);  // 21 less the 8 shown
}

TEST(SafeForTerminal, ShowsWhatItTakesAway) {
  EXPECT_EQ(safe_for_terminal("plain"), "plain");
  EXPECT_EQ(safe_for_terminal("\x1b[31m"), "␛[31m");
  EXPECT_EQ(safe_for_terminal(std::string_view("\0\x07\x7f", 3)), "␀␇␡");
  EXPECT_EQ(safe_for_terminal("a\nb\tc\r\nd\re"), "a b c d␍e");
  EXPECT_EQ(safe_for_terminal("\xC2\x9B"), "<U+009B>");
  EXPECT_EQ(safe_for_terminal("\xE2\x80\xAE"), "<U+202E>");
  EXPECT_EQ(safe_for_terminal("\xE2\x80\x8B\xEF\xBB\xBF"), "<U+200B><U+FEFF>");
  EXPECT_EQ(safe_for_terminal("\xF3\xA0\x80\x81"), "<U+E0001>");
  EXPECT_EQ(safe_for_terminal("\xFFz"), "\xEF\xBF\xBDz");
  EXPECT_EQ(safe_for_terminal("日本 é"), "日本 é");
}

TEST(SafeForTerminal, IsSafeForAnyBytesAndChangesNothingTwice) {
  Rng rng(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    const std::uint32_t length = rng.below(40);
    for (std::uint32_t i = 0; i < length; ++i)
      bytes += static_cast<char>(rng.bernoulli(0.5) ? rng.below(256) : 0x80 + rng.below(0x80));
    const std::string safe = safe_for_terminal(bytes);
    ASSERT_TRUE(is_utf8(safe));
    ASSERT_EQ(safe_for_terminal(safe), safe);
    for (const char c : safe) ASSERT_GE(static_cast<unsigned char>(c), 0x20);
  }
}

TEST(Fit, CutsToTheColumnsItHas) {
  EXPECT_EQ(fit("abcdef", 6), "abcdef");
  EXPECT_EQ(fit("abcdef", 4), "abc…");
  EXPECT_EQ(fit("日本語", 5), "日本…");
  EXPECT_EQ(fit("日本語", 4), "日…");
  EXPECT_EQ(fit("abc", 1), "…");
  EXPECT_EQ(fit("abc", 0), "");
}

TEST(Wrap, KeepsEveryWordAndEveryLineWithinItsColumns) {
  EXPECT_EQ(wrap("", 10), std::vector<std::string>{""});
  EXPECT_EQ(wrap("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap("abcdefgh", 3), (std::vector<std::string>{"abc", "def", "gh"}));
  Rng rng(11);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    std::string letters;
    const std::uint32_t length = rng.below(80);
    for (std::uint32_t i = 0; i < length; ++i) {
      const char* piece = rng.below(4) == 0 ? " " : rng.below(6) == 0 ? "語" : "x";
      text += piece;
      if (*piece != ' ') letters += piece;
    }
    const std::size_t columns = 2 + rng.below(20);
    std::string joined;
    for (const std::string& line : wrap(text, columns)) {
      ASSERT_LE(display_width(line), columns);
      for (const char c : line)
        if (c != ' ') joined += c;
    }
    ASSERT_EQ(joined, letters);
  }
}

TEST(Tables, GiveUpColumnsInTheOrderNamedBeforeTheyAreCut) {
  Table table;
  table.columns = {{"name", false, 0, true}, {"keep"}, {"second", true, 1}, {"first", true, 2}};
  table.rows = {{{std::string(30, 'n')}, {"1"}, {"2"}, {"3"}}};
  const auto at = [&](int width) {
    Screen screen({false, width});
    screen.table(table);
    return screen.take();
  };
  EXPECT_NE(at(80).find("first"), std::string::npos);
  EXPECT_NE(at(80).find(std::string(30, 'n')), std::string::npos);
  EXPECT_EQ(at(44).find("first"), std::string::npos);
  EXPECT_NE(at(44).find("second"), std::string::npos);
  EXPECT_EQ(at(34).find("second"), std::string::npos);
  EXPECT_NE(at(34).find("keep"), std::string::npos);
  EXPECT_NE(at(20).find("keep"), std::string::npos);
}

std::string drawn(const std::vector<ChartPoint>& points, int k_tight, int width = 80) {
  Screen screen({false, width});
  draw_curves(screen, points, k_tight);
  return screen.take();
}

TEST(Curves, KeepTheTightBudgetAndTheLastPointHoweverManyThereAre) {
  std::vector<ChartPoint> points;
  for (int k = 0; k <= 200; ++k) points.push_back({k, 0.5, 0.4, 0.1});
  const std::string chart = drawn(points, 3);
  EXPECT_NE(chart.find("▲3"), std::string::npos);
  EXPECT_NE(chart.find("200"), std::string::npos);
  for (const std::string& line : lines_of(chart)) EXPECT_LE(display_width(line), 80u);
}

TEST(Curves, ShadeTheGapBetweenThem) {
  const std::string apart = drawn({{0, 0.9, 0.3, 0.6}}, 0);
  EXPECT_NE(apart.find("━"), std::string::npos);
  EXPECT_NE(apart.find("░"), std::string::npos);
  EXPECT_NE(apart.find("+60.0"), std::string::npos);
  const std::string together = drawn({{0, 0.5, 0.5, 0.0}}, 0);
  EXPECT_NE(together.find("══"), std::string::npos);
  EXPECT_EQ(together.find("░"), std::string::npos);
}

TEST(Curves, AreEmptyWithoutPoints) {
  EXPECT_EQ(drawn({}, 2), "");
}

TEST(Bar, FillsItsShareInEighths) {
  EXPECT_EQ(bar(0, 10), "");
  EXPECT_EQ(bar(1, 3), "███");
  EXPECT_EQ(bar(0.5, 1), "▌");
  EXPECT_EQ(bar(7, 2), "██");
}

TEST(Terminal, TellsOfRepairOnlyWhereACallWasHandedBack) {
  InspectReport inspect = sample_inspect();
  EXPECT_EQ(to_terminal(inspect, {}).find("repaired"), std::string::npos);
  inspect.arm.repair = {40, 30, 6, 4};
  EXPECT_NE(to_terminal(inspect, {}).find("30 repaired"), std::string::npos);
  AuditReport audit = sample_audit();
  EXPECT_EQ(to_terminal(audit, {}).find("repaired"), std::string::npos);
  audit.cells[0].comparison.candidate.repair = {40, 30, 6, 4};
  EXPECT_NE(to_terminal(audit, {}).find("30 repaired"), std::string::npos);
}

}  // namespace
}  // namespace unmask
