// A page of coloured text that never exceeds its width, whatever is put on it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/render.h"

namespace unmask {

enum class Paint { Plain, Strong, Dim, Good, Warn, Bad, Baseline, Candidate };

struct Span {
  std::string text;  // already safe for a terminal
  Paint paint = Paint::Plain;
};

struct Column {
  std::string title;
  bool right = true;   // numbers to the right, words to the left
  int drop_order = 0;  // where the table is too wide, the highest goes first; 0 stays
  // May be cut with "…": to 24 columns before anything is dropped, to 8 where that is not enough.
  bool flexible = false;
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Span>> rows;  // (row, column)
};

class Screen {
 public:
  explicit Screen(const TerminalStyle& style);

  void blank();
  void rule();  // a line across the page
  void heading(std::string_view text);
  // One line; what is beyond the width is cut with "…".
  void line(const std::vector<Span>& spans);
  // Wrapped; the first line starts with `lead`, the others are indented to match.
  void paragraph(std::string_view lead, std::string_view text, Paint paint = Paint::Plain);
  // A command that a shell reads as one when it is pasted, whatever the width (next_step.h).
  void command(const std::vector<std::string>& words);
  // Rows indented by two; columns two apart.
  // Which of its columns had room.
  std::vector<bool> table(const Table& table);

  std::size_t width() const { return width_; }
  std::string take() { return std::move(out_); }

 private:
  bool color_;
  std::size_t width_;
  std::string out_;
};

}  // namespace unmask
