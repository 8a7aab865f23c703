// What the program decides before any log is read.
#include <gtest/gtest.h>

#include <cstdio>

#include "app/arm_argument.h"
#include "app/grid.h"
#include "app/nearest.h"
#include "app/shell_quote.h"
#include "base/rng.h"

namespace unmask {
namespace {

TEST(PrecisionBits, AreReadFromTheNamesInUse) {
  const std::vector<std::pair<std::string, int>> known = {
      {"BF16", 16},    {"bf16", 16},   {"FP16", 16},
      {"float32", 32}, {"FP8", 8},     {"fp8_e4m3", 8},
      {"Q8_0", 8},     {"INT8", 8},    {"W8A8", 8},
      {"INT4-AWQ", 4}, {"AWQ", 4},     {"gptq", 4},
      {"Q4_K_M", 4},   {"IQ3_XXS", 3}, {"Q2_K", 2},
      {"NF4", 4},      {"MXFP4", 4},   {"nvfp4", 4},
      {"TQ1_0", 1},    {"w4a16", 4},   {"compressed-tensors-fp8", 8}};
  for (const auto& [name, bits] : known) EXPECT_EQ(precision_bits(name), bits) << name;
  for (const char* unknown : {"", "full", "K4", "16", "gemma4", "q", "q0", "q999999999999"})
    EXPECT_EQ(precision_bits(unknown), std::nullopt) << unknown;
}

TEST(ArmOfFileName, TakesTheNameApart) {
  const std::optional<GridArm> arm =
      arm_of_file_name("study/gemma-4-dense_telecom_int4-awq.json.zst");
  ASSERT_TRUE(arm);
  EXPECT_EQ(arm->family, "gemma-4");
  EXPECT_EQ(arm->architecture, "dense");
  EXPECT_EQ(arm->domain, "telecom");
  EXPECT_EQ(arm->precision, "int4-awq");
  EXPECT_EQ(arm->label, "gemma-4-dense_telecom_int4-awq");
  EXPECT_EQ(arm->files, std::vector<std::string>{"study/gemma-4-dense_telecom_int4-awq.json.zst"});
  EXPECT_TRUE(arm->rerun.empty());
}

TEST(ArmOfFileName, AllowsUnderscoresInThePrecision) {
  const std::optional<GridArm> arm = arm_of_file_name("qwen_retail_q4_k_m_rerun.json");
  ASSERT_TRUE(arm);
  EXPECT_EQ(arm->family, "qwen");
  EXPECT_EQ(arm->architecture, "");
  EXPECT_EQ(arm->precision, "q4_k_m");
  EXPECT_TRUE(arm->files.empty());
  EXPECT_EQ(arm->rerun.size(), 1u);
}

TEST(ArmOfFileName, PassesOverWhatSaysSomethingElse) {
  for (const char* name : {"notes.txt", "results.json", "a_b.json", "a_telecom_final.json",
                           "_telecom_bf16.json", "a__bf16.json", ""})
    EXPECT_FALSE(arm_of_file_name(name)) << name;
}

GridArm arm(const std::string& family, const std::string& precision) {
  GridArm out;
  out.family = family;
  out.domain = "telecom";
  out.precision = precision;
  out.label = family + " " + precision;
  out.files = {"/nowhere/" + family + precision};
  return out;
}

TEST(CellsOfGrid, CompareEveryArmWithTheOneOfMostBits) {
  const Result<std::vector<CellSources>> cells = cells_of_grid(
      {arm("g", "int4"), arm("q", "bf16"), arm("g", "bf16"), arm("g", "fp8"), arm("q", "q4_0")});
  ASSERT_TRUE(cells) << to_string(cells.error());
  std::vector<std::string> seen;
  for (const CellSources& cell : *cells)
    seen.push_back(cell.cell + ": " + cell.baseline.label + " / " + cell.candidate.label);
  EXPECT_EQ(seen, (std::vector<std::string>{"g telecom int4: g bf16 / g int4",
                                            "g telecom fp8: g bf16 / g fp8",
                                            "q telecom q4_0: q bf16 / q q4_0"}));
}

TEST(ParseArms, ResolvesFilesFromTheFolderOfTheToml) {
  const Result<std::vector<GridArm>> arms =
      parse_arms("[[arm]]\nfamily='g'\ndomain='d'\nprecision='bf16'\nfile=['a.json','/b.json']\n",
                 "x/arms.toml", "x");
  ASSERT_TRUE(arms) << to_string(arms.error());
  EXPECT_EQ((*arms)[0].files, (std::vector<std::string>{"x/a.json", "/b.json"}));
  EXPECT_EQ((*arms)[0].label, "g bf16");
}

TEST(ParseArms, KeepsCharactersBeyondAsciiInDoubleQuotes) {
  const Result<std::vector<GridArm>> arms =
      parse_arms("# é\n[[arm]]\nfamily=\"g日\"\ndomain='d'\nprecision='bf16'\nfile='a'\n", "t", "");
  ASSERT_TRUE(arms) << to_string(arms.error());
  EXPECT_EQ((*arms)[0].family, "g日");
  const Result<std::vector<GridArm>> bare = parse_arms("[[arm]]\nfÍamily='g'\n", "t", "");
  ASSERT_FALSE(bare);
  EXPECT_EQ(bare.error().where, "t:2");
}

TEST(ParseArms, RefusesWhatTheTomlLibraryWouldDieOf) {
  for (const char* text : {"[[+rm]]\n", "[+]\n", "a\xCD\x9E=1\n", "x = \xC3\xA9\n"})
    EXPECT_FALSE(parse_arms(text, "t", "")) << text;
}

TEST(ParseArms, NeverFailsOtherThanByAnError) {
  const std::string good =
      "[[arm]]\nfamily='g'\ndomain='d'\nprecision='bf16'\nfile='a'\nbaseline=true\n";
  Rng rng(3);
  int errors = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (std::uint32_t i = 0; i <= rng.below(4); ++i)
      text[rng.below(static_cast<std::uint32_t>(text.size()))] = static_cast<char>(rng.below(256));
    const Result<std::vector<GridArm>> arms = parse_arms(text, "t", "");
    if (arms) continue;
    ++errors;
    ASSERT_FALSE(arms.error().message.empty());
    ASSERT_EQ(arms.error().where.rfind("t", 0), 0u);
  }
  EXPECT_GT(errors, 1000);
}

std::string echoed_by_bash(const std::string& quoted) {
  FILE* shell = ::popen(("exec bash -c " + shell_quoted("printf %s " + quoted)).c_str(), "r");
  if (shell == nullptr) return "";
  std::string out;
  for (int c = std::fgetc(shell); c != EOF; c = std::fgetc(shell)) out += static_cast<char>(c);
  ::pclose(shell);
  return out;
}

TEST(ShellQuoted, ReadsBackAsTheSameWord) {
  for (const std::string word : {"a.json", "b c.json", "it's", "$HOME`x`\"\\",
                                 "new\nline\x1b[31m'q'", "日本", "*?[a]", "~", "\x7f", "#x"})
    EXPECT_EQ(echoed_by_bash(shell_quoted(word)), word);
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("plain/path-1.json"), "plain/path-1.json");
}

TEST(QuotedCommand, LeavesOutTheNumberOfThreads) {
  EXPECT_EQ(quoted_command({"audit", "a", "--threads", "4", "b c", "--threads=2"}),
            "unmask audit a 'b c'");
}

TEST(Nearest, IsWithinATypingMistake) {
  const std::vector<std::string> names = {"audit", "inspect", "plant"};
  EXPECT_EQ(nearest("audti", names), "audit");
  EXPECT_EQ(nearest("inspct", names), "inspect");
  EXPECT_EQ(nearest("plan", names), "plant");
  EXPECT_EQ(nearest("benchmark", names), std::nullopt);
  EXPECT_EQ(nearest("", names), std::nullopt);
  EXPECT_EQ(nearest(std::string(100000, 'a'), names), std::nullopt);
}

TEST(ArmPaths, SplitsAtCommasUnlessTheNameExists) {
  EXPECT_EQ(*arm_paths("/none/a,/none/b"), (std::vector<std::string>{"/none/a", "/none/b"}));
  EXPECT_EQ(*arm_paths("-"), std::vector<std::string>{"-"});
  EXPECT_FALSE(arm_paths(""));
  EXPECT_FALSE(arm_paths("/none/a,"));
}

}  // namespace
}  // namespace unmask
