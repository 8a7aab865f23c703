// The program's three channels: results on standard output, everything else on standard error, and
// the signals that end it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/command.h"
#include "base/result.h"
#include "report/render.h"
#include "trace/episode.h"

namespace unmask {

// Whether the program was started without a standard output, so that a result asked for there would
// be lost. Set once, by main.
void note_closed_standard_output();
bool standard_output_was_closed();

// Writes a result to standard output. A reader that went away (`unmask ... | head`) ends the
// program quietly with status 0: it has what it wanted.
ExitStatus print_result(std::string_view text);
// Errors   Unavailable: standard output cannot be written (full disk). A reader that went away is
//          no error.
Result<Done> write_standard_output(std::string_view text);

// Text of ours for standard error, as it is.
void print_error(std::string_view text);

// Text of several lines, each made safe for a terminal.
std::string safe_lines(const std::string& text);

// "unmask: warning: <where>: <message>", a line each, made safe for a terminal.
void print_warnings(const std::vector<Warning>& warnings);

// "unmask: <sentence>" on standard error, made safe for a terminal; returns Unusable.
ExitStatus fail(std::string_view sentence);
ExitStatus fail(const Error& error);

enum class ColorChoice { Auto, Always, Never };

// Auto: colour on a terminal, unless NO_COLOR is set or TERM is "dumb". The width is the
// terminal's, else COLUMNS, else 80; never above 100, where lines become hard to read.
TerminalStyle style_of_standard_output(ColorChoice choice);

// SIGINT and SIGTERM end the program with status 3 at once, or, inside a HoldInterrupts, when what
// is being written is complete.
void end_on_interrupt();
class HoldInterrupts {
 public:
  HoldInterrupts();
  ~HoldInterrupts();
  HoldInterrupts(const HoldInterrupts&) = delete;
  HoldInterrupts& operator=(const HoldInterrupts&) = delete;
};

// Progress on standard error: a bar that redraws itself on a terminal, one line a step elsewhere,
// nothing when quiet.
//
// Threads  bytes() and step() may be called from several at once.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress();  // clears the bar

  void step(const std::string& text);
  void bytes(std::uint64_t done, std::uint64_t total);
  // Takes the bar away, before results are printed.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace unmask
