#include "report/next_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/shell_quote.h"
#include "base/units.h"
#include "base/utf8.h"
#include "report/display.h"
#include "report/render.h"
#include "report/sentences.h"

namespace unmask {
namespace {

constexpr std::size_t kMostFiles = 12;

// Quoted so that it is shown as it is.
std::string shell_word(std::string_view word) {
  return shell_quoted(word, safe_for_terminal(word) != word);
}

// A file whose name begins like an option.
std::string as_argument(const std::string& path) {
  return path.starts_with('-') ? "./" + path : path;
}

// How to see the failed calls behind a verdict.
NextStep look(const AuditedCell& cell) {
  const std::vector<std::string>& files = cell.comparison.candidate.sources;
  if (cell.comparison.candidate.failed_agent == 0) return {};
  if (!cell.candidate_reading.again)
    return {
        " Its failed calls are listed by unmask inspect; the candidate's log came through a "
        "pipe, so keep it in a file first.",
        {}};
  if (files.empty() || files.size() > kMostFiles)
    return {fmt::format(" Its failed calls are listed by unmask inspect, given {} of the "
                        "candidate as this audit was.",
                        files.empty() ? std::string("the log")
                                      : "the " + counted(static_cast<long>(files.size()), "file")),
            {}};
  NextStep step{" This lists its failed calls:", {"unmask", "inspect"}};
  for (const std::string& file : files) step.command.push_back(as_argument(file));
  step.command.insert(step.command.end(), cell.candidate_reading.options.begin(),
                      cell.candidate_reading.options.end());
  return step;
}

// After the sentence, the look.
NextStep with_look(const std::string& sentence, const AuditedCell& cell) {
  NextStep step = look(cell);
  step.sentence = sentence + step.sentence;
  return step;
}

NextStep after_inconclusive(const AuditedCell& cell) {
  const std::optional<NeededEvidence>& needed = cell.judgement.needed;
  if (needed && needed->tasks && needed->trials)
    return {fmt::format("Run about {} × {} in each arm{}; that many would settle it.",
                        counted(*needed->tasks, "task"), counted(*needed->trials, "trial"),
                        needed->trials_same_tasks
                            ? fmt::format(", or {} of the present tasks",
                                          counted(*needed->trials_same_tasks, "trial"))
                            : ""),
            {}};
  if (!cell.comparison.ran)
    return {"Find out what broke the episodes off, run them again, then audit again.", {}};
  if (!cell.comparison.graded) return {"Grade the episodes, then audit again.", {}};
  return with_look("Do not take this as a pass.", cell);
}

// A command laid out in lines, word by word.
class CommandLines {
 public:
  explicit CommandLines(std::size_t columns) : columns_(columns) {}

  void add(std::string_view word, bool last) {
    const std::string quoted = shell_word(word);
    const std::size_t behind = last ? 0 : kBetween.size();
    if (line_.empty()) {
      line_ = "    ";
    } else if (fits(line_ + " " + quoted, behind)) {
      line_ += " ";
    } else {
      break_with(kBetween);
      line_ = "        ";
    }
    // A word longer than a line, in pieces with nothing between them.
    while (!fits(line_ + shell_word(word), behind)) {
      const std::size_t piece = piece_that_fits(word);
      if (piece == word.size()) break;
      line_ += shell_word(word.substr(0, piece));
      break_with(kInside);
      word.remove_prefix(piece);
    }
    line_ += shell_word(word);
  }

  std::vector<std::string> take() {
    if (!line_.empty()) lines_.push_back(std::move(line_));
    return std::move(lines_);
  }

 private:
  static constexpr std::string_view kBetween = " \\";
  static constexpr std::string_view kInside = "\\";

  bool fits(const std::string& text, std::size_t behind) const {
    return display_width(text) + behind <= columns_;
  }

  void break_with(std::string_view end) {
    lines_.push_back(line_ + std::string(end));
    line_.clear();
  }

  // The longest beginning of `word` that fits behind line_; at least one character.
  std::size_t piece_that_fits(std::string_view word) const {
    std::size_t end = decode_utf8(word, 0).length;
    while (end < word.size()) {
      const std::size_t longer = end + decode_utf8(word, end).length;
      if (!fits(line_ + shell_word(word.substr(0, longer)), kBetween.size())) break;
      end = longer;
    }
    return end;
  }

  std::size_t columns_;
  std::vector<std::string> lines_;
  std::string line_;
};

}  // namespace

NextStep next_step(const AuditedCell& cell) {
  switch (cell.judgement.verdict) {
    case Verdict::Masked: {
      const bool names = leading_channel(cell.comparison) == Channel::ToolName;
      return with_look(
          fmt::format("Do not ship this candidate on its score: outside the benchmark the failed "
                      "calls are not forgiven. Try a recipe with more bits{}, and audit again.",
                      names ? ", or repair or constrain the tool names" : ""),
          cell);
    }
    case Verdict::DegradedAndMasked:
    case Verdict::Degraded:
      return with_look("Do not ship this candidate. Try a recipe with more bits.", cell);
    case Verdict::Amplified:
      return with_look(
          "Decide what one such call costs where you deploy: the benchmark does not price it. "
          "Rerun with more trials to see whether success suffers.",
          cell);
    case Verdict::Clean:
      return {
          "Nothing found that these logs could show. Keep the baseline log to audit the next "
          "candidate against.",
          {}};
    case Verdict::Inconclusive:
      break;
  }
  return after_inconclusive(cell);
}

std::string next_step_line(const AuditedCell& cell) {
  const NextStep step = next_step(cell);
  if (step.command.empty()) return step.sentence;
  std::string command;
  for (const std::string& word : step.command)
    command += (command.empty() ? "" : " ") + shell_word(word);
  return step.sentence + " `" + command + "`";
}

std::vector<std::string> command_lines(const std::vector<std::string>& words, std::size_t columns) {
  constexpr std::size_t kFewest = 24;
  CommandLines lines(std::max(columns, kFewest));
  for (std::size_t i = 0; i < words.size(); ++i) lines.add(words[i], i + 1 == words.size());
  return lines.take();
}

}  // namespace unmask
