// The options that `audit` and `inspect` share: how to read, what to count, where results go.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/console.h"
#include "audit.h"
#include "base/result.h"
#include "report/csv.h"

namespace CLI {
class App;
}

namespace unmask {

struct AnalysisFlags {
  AuditOptions audit;
  double equivalence_margin_points = 7.5;
  double screen_low_percent = 1;
  double screen_high_percent = 5;
  std::string tools_path;
  std::vector<std::string> maps;  // "task_id=meta/id"
  std::vector<std::string> labels;
  std::string json;  // file, "-", or empty: not asked for
  std::string markdown;
  std::string junit;  // only with two arms
  std::string model_card;
  std::string csv;  // a folder
  std::string html;
  int excerpts = 3;  // with html
  bool quiet = false;
  ColorChoice color = ColorChoice::Auto;
};

// `compares`: the options that only matter between two arms are offered too.
void add_analysis_flags(CLI::App& app, AnalysisFlags& flags, bool compares);

// Of these, only where results go: --json, --markdown, --html, --color and --quiet.
void add_output_flags(CLI::App& app, AnalysisFlags& flags);

// Of these, the ones that say how a log is read.
void add_reading_flags(CLI::App& app, AnalysisFlags& flags);

// After parsing: checks what one option cannot know of another, reads the tools file.
// Errors   InvalidArgument, NotFound, Malformed.
Result<Done> complete(AnalysisFlags& flags);

// No result takes the place of anything that is read: logs (files or folders), --tools, and `more`.
// Errors   InvalidArgument, with the place.
Result<Done> check_inputs_kept(const AnalysisFlags& flags, const std::vector<std::string>& logs,
                               const std::vector<std::string>& more);

// Tells the report how each candidate's log is read again: by the options that say how (--format,
// --map ...), and whether it can be, which standard input and pipes cannot.
void note_reading(const AnalysisFlags& flags, AuditReport& report);

struct Renderings {
  std::function<std::string()> json;
  std::function<std::string()> markdown;
  std::function<std::string()> html;
  std::function<std::string(const TerminalStyle&)> terminal;
  std::function<std::string()> junit;
  std::function<std::string()> model_card;
  std::vector<CsvTable> csv;
};

// Writes what was asked for: the files first, then standard output. One that cannot be written does
// not keep the others from being saved.
ExitStatus deliver(const AnalysisFlags& flags, const Renderings& renderings);

// On standard error where standard output belongs to a machine: what a reader would have seen on
// the screen.
void print_warnings(const AnalysisFlags& flags, const std::vector<Warning>& warnings,
                    const std::vector<Dropped>& dropped);

}  // namespace unmask
