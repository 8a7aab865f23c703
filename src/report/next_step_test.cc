#include "report/next_step.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

#include "report/display.h"
#include "report/render.h"
#include "report/report_samples.h"

namespace unmask {
namespace {

AuditReport with_files(std::vector<std::string> files, Verdict verdict = Verdict::Masked) {
  AuditReport report = sample_audit(verdict);
  report.cells[0].comparison.candidate.sources = std::move(files);
  return report;
}

// What bash takes a pasted text for: its words, one a line.
std::string words_by_bash(const std::string& text) {
  const std::string script = "unmask() { printf '%s\\n' unmask \"$@\"; }\n" + text;
  const std::string path = ::testing::TempDir() + "/next_step.sh";
  std::FILE* file = std::fopen(path.c_str(), "w");
  std::fwrite(script.data(), 1, script.size(), file);
  std::fclose(file);
  std::FILE* shell = ::popen(("bash " + path).c_str(), "r");
  std::string out;
  std::array<char, 4096> bytes{};
  for (std::size_t n = 0; (n = std::fread(bytes.data(), 1, bytes.size(), shell)) > 0;)
    out.append(bytes.data(), n);
  ::pclose(shell);
  return out;
}

std::string one_a_line(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += word + "\n";
  return out;
}

TEST(NextStep, NamesEveryFileAndTheOptionsThatReadThem) {
  AuditReport report = with_files({"a.jsonl", "my logs/b,c.jsonl", "-x.jsonl"});
  report.cells[0].candidate_reading.options = {"--format", "openai", "--map", "task_id=meta/id"};
  EXPECT_EQ(
      next_step(report.cells[0]).command,
      (std::vector<std::string>{"unmask", "inspect", "a.jsonl", "my logs/b,c.jsonl", "./-x.jsonl",
                                "--format", "openai", "--map", "task_id=meta/id"}));
  EXPECT_NE(next_step_line(report.cells[0])
                .find(": `unmask inspect a.jsonl 'my logs/b,c.jsonl' ./-x.jsonl --format openai "
                      "--map task_id=meta/id`"),
            std::string::npos);
}

TEST(NextStep, QuotesWhatWouldBreakTheCode) {
  const std::string next = next_step_line(with_files({"my logs/a`b.json"}).cells[0]);
  EXPECT_NE(next.find("`unmask inspect $'my logs/a\\x60b.json'`"), std::string::npos) << next;
}

TEST(NextStep, SuggestsNoCommandThatCannotWork) {
  AuditReport piped = with_files({"-"});
  piped.cells[0].candidate_reading.again = false;
  EXPECT_TRUE(next_step(piped.cells[0]).command.empty());
  EXPECT_NE(next_step(piped.cells[0]).sentence.find("keep it in a file first"), std::string::npos);
  const AuditReport many = with_files(std::vector<std::string>(500, "shard.json"));
  EXPECT_TRUE(next_step(many.cells[0]).command.empty());
  EXPECT_NE(next_step(many.cells[0]).sentence.find("500 files"), std::string::npos);
  EXPECT_TRUE(next_step(with_files({}).cells[0]).command.empty());
}

TEST(NextStep, LooksForNoFailedCallWhereThereIsNone) {
  for (const Verdict verdict : {Verdict::Degraded, Verdict::Inconclusive}) {
    AuditReport report = with_files({"a.json"}, verdict);
    report.cells[0].judgement.needed.reset();
    EXPECT_FALSE(next_step(report.cells[0]).command.empty());
    report.cells[0].comparison.candidate.failed_agent = 0;
    EXPECT_TRUE(next_step(report.cells[0]).command.empty());
    EXPECT_EQ(next_step_line(report.cells[0]).find("inspect"), std::string::npos);
  }
}

TEST(CommandLines, AreReadAsOneCommandAtAnyWidth) {
  const std::vector<std::string> words = {
      "unmask",
      "inspect",
      "a.json",
      std::string(300, 'x') + "/" + std::string(40, 'y') + ".json",
      "it's a `folder`/\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E of \\ and $HOME/" +
          std::string(60, '\''),
      "\xE2\x80\xAEreversed \xFF broken\x1b[31m.json",
      "--format",
      "openai"};
  for (const std::size_t width : {24u, 25u, 31u, 40u, 60u, 79u, 80u, 132u, 1000u}) {
    std::string text;
    for (const std::string& line : command_lines(words, width)) {
      EXPECT_LE(display_width(line), width) << line;
      EXPECT_EQ(safe_for_terminal(line), line);
      text += line + "\n";
    }
    EXPECT_EQ(words_by_bash(text), one_a_line(words)) << width << "\n" << text;
  }
  EXPECT_EQ(command_lines({"unmask", "inspect", "a.json"}, 80),
            std::vector<std::string>{"    unmask inspect a.json"});
}

}  // namespace
}  // namespace unmask
