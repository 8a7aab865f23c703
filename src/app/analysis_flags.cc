#include "app/analysis_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <climits>
#include <filesystem>
#include <map>

#include "app/arm_argument.h"
#include "app/command_line.h"
#include "app/console.h"
#include "app/nearest.h"
#include "app/output_place.h"
#include "base/file.h"
#include "base/units.h"

namespace unmask {
namespace {

// The fields of an episode a reader of chat logs can be told the places of.
std::string formats_in_words() {
  std::string text = "format of the logs, instead of recognising it:";
  for (const FormatDescription& format : log_formats()) text += fmt::format(" {}", format.name);
  return text;
}

template <typename Value>
std::function<void(const std::string&)> choose(Value& target,
                                               std::map<std::string, Value> choices) {
  return [&target, choices = std::move(choices)](const std::string& text) {
    target = choices.at(text);
  };
}

}  // namespace

void add_reading_flags(CLI::App& app, AnalysisFlags& flags) {
  const std::string group = "reading";
  app.add_option("--format", flags.audit.read.format, formats_in_words())
      ->type_name("NAME")
      ->check(one_of(log_format_names()))
      ->group(group);
  app.add_option("--tools", flags.tools_path, "tools that were offered, as OpenAI schemas or names")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--label", flags.labels,
                 "name of an arm in the report; once for each arm, in order")
      ->type_name("TEXT")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(group);
  app.add_option("--max-errors", flags.audit.compare.assumed_max_errors,
                 "error budget to assume where the log states none")
      ->type_name("N")
      ->check(CLI::Validator(whole_number(1, 1000), "", ""))
      ->group(group);
  app.add_option("--map", flags.maps, "where a chat log keeps a field: ours=theirs (repeat)")
      ->type_name("OURS=THEIRS")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(group);
  app.add_option("--scorer", flags.audit.read.scorer, "Inspect logs: the scorer to take")
      ->type_name("NAME")
      ->group(group);
  app.add_option("--pass-threshold", flags.audit.read.pass_threshold,
                 "Inspect logs: the score from which an episode passes")
      ->type_name("X")
      ->check(CLI::Validator(number(-1e9, 1e9), "", ""))
      ->group(group);
}

namespace {

// The options of add_reading_flags as they were given, but for the arms' labels.
std::vector<std::string> reading_options(const AnalysisFlags& flags) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  const ReadOptions& read = flags.audit.read;
  add("--format", read.format);
  add("--tools", flags.tools_path);
  if (const int budget = flags.audit.compare.assumed_max_errors; budget > 0)
    add("--max-errors", std::to_string(budget));
  for (const std::string& map : flags.maps) add("--map", map);
  add("--scorer", read.scorer);
  if (read.pass_threshold) add("--pass-threshold", fmt::format("{}", *read.pass_threshold));
  return words;
}

// A file or folder of a name of its own; what a process's descriptors lead to is gone with it.
bool can_be_read_again(const std::string& path) {
  if (path == "-" || path.starts_with("/dev/") || path.starts_with("/proc/")) return false;
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  return std::filesystem::is_regular_file(status) || std::filesystem::is_directory(status);
}

}  // namespace

void note_reading(const AnalysisFlags& flags, AuditReport& report) {
  for (AuditedCell& cell : report.cells) {
    const std::vector<std::string>& files = cell.comparison.candidate.sources;
    cell.candidate_reading = {reading_options(flags),
                              std::all_of(files.begin(), files.end(), can_be_read_again)};
  }
}

namespace {

void add_measuring_flags(CLI::App& app, AnalysisFlags& flags, bool compares) {
  const std::string group = "measuring";
  CompareOptions& compare = flags.audit.compare;
  app.add_option("--k-tight", compare.k_tight,
                 "the tight budget: failed calls allowed (2); another is exploratory")
      ->type_name("K")
      ->check(CLI::Validator(whole_number(0, 1000), "", ""))
      ->group(group);
  app.add_option_function<std::string>(
         "--count",
         choose(compare.count, std::map<std::string, BudgetCount>{{"all", BudgetCount::All},
                                                                  {"agent", BudgetCount::Agent}}),
         "whose failed calls spend the budget: all (default) or agent")
      ->type_name("SIDE")
      ->check(one_of({"all", "agent"}))
      ->group(group);
  app.add_option_function<std::string>(
         "--budget-rule",
         choose(compare.rule, std::map<std::string, BudgetRule>{{"at_most", BudgetRule::AtMost},
                                                                {"live", BudgetRule::Live}}),
         "at_most (default): success with E <= K; live: E < K")
      ->type_name("RULE")
      ->check(one_of({"at_most", "live"}))
      ->group(group);
  if (compares)
    app.add_option("--equivalence-margin", flags.equivalence_margin_points,
                   "points within which two scores count as equal (7.5)")
        ->type_name("POINTS")
        ->check(CLI::Validator(number(0.1, 100), "", ""))
        ->group(group);
  app.add_option("--screen-low", flags.screen_low_percent,
                 "risk screen: low when the upper limit is under this percentage (1)")
      ->type_name("PERCENT")
      ->check(CLI::Validator(number(0, 100), "", ""))
      ->group(group);
  app.add_option("--screen-high", flags.screen_high_percent,
                 "risk screen: high when the lower limit is over this percentage (5)")
      ->type_name("PERCENT")
      ->check(CLI::Validator(number(0, 100), "", ""))
      ->group(group);
  app.add_option("--seed", compare.seed, "seed of the resampling (20260731)")
      ->type_name("N")
      ->check(CLI::Validator(whole_number(0, LLONG_MAX), "", ""))
      ->group(group);
  if (compares)
    app.add_option("--bootstrap", compare.resamples, "resamples for intervals and tests (10000)")
        ->type_name("N")
        ->check(CLI::Validator(whole_number(100, 10000000), "", ""))
        ->group(group);
  app.add_option("--threads", flags.audit.read.threads, "threads; 0: one per processor")
      ->type_name("N")
      ->check(CLI::Validator(whole_number(0, 4096), "", ""))
      ->group(group);
}

void add_text_flags(CLI::App& app, AnalysisFlags& flags) {
  const std::string group = "results";
  app.add_option("--json", flags.json, "everything, as JSON; - is standard output")
      ->type_name("FILE|-")
      ->group(group);
  app.add_option("--markdown", flags.markdown, "a short report for a pull request")
      ->type_name("FILE|-")
      ->group(group);
}

void add_file_flags(CLI::App& app, AnalysisFlags& flags, bool compares) {
  const std::string group = "results";
  if (compares)
    app.add_option("--junit", flags.junit, "the gate as a test report, one case a cell and channel")
        ->type_name("FILE|-")
        ->group(group);
  app.add_option("--csv", flags.csv, "tables for R, pandas or a spreadsheet, into a folder")
      ->type_name("FOLDER")
      ->group(group);
  app.add_option("--model-card", flags.model_card, "a block of Markdown for a model card")
      ->type_name("FILE|-")
      ->group(group);
  app.add_option("--html", flags.html, "a page with charts and the failed calls themselves")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--excerpts", flags.excerpts,
                 "failed calls shown in the page, for each channel and arm (3); 0: none")
      ->type_name("N")
      ->check(CLI::Validator(whole_number(0, 100), "", ""))
      ->group(group);
}

void add_screen_flags(CLI::App& app, AnalysisFlags& flags) {
  const std::string group = "results";
  add_color_option(app, flags.color, group);
  app.add_flag("-q,--quiet", flags.quiet, "no progress and no warnings on standard error")
      ->group(group);
}

// The texts that were asked for, with the option that asks and the place it names.
std::vector<std::pair<std::string_view, std::string>> places_of(const AnalysisFlags& flags) {
  std::vector<std::pair<std::string_view, std::string>> places = {
      {"--json", flags.json},
      {"--markdown", flags.markdown},
      {"--junit", flags.junit},
      {"--model-card", flags.model_card},
      {"--html", flags.html}};
  std::erase_if(places, [](const auto& place) { return place.second.empty(); });
  return places;
}

bool takes_standard_output(const AnalysisFlags& flags) {
  const auto places = places_of(flags);
  return std::any_of(places.begin(), places.end(),
                     [](const auto& place) { return place.second == "-"; });
}

bool is_standard_output(const std::string& place) {
  return place == "-" || place == "/dev/stdout" || place == "/dev/fd/1" ||
         place == "/proc/self/fd/1";
}

// Also of files that are not there yet.
bool is_same_place(const std::string& a, const std::string& b) {
  if (is_standard_output(a) || is_standard_output(b))
    return is_standard_output(a) && is_standard_output(b);
  std::error_code first, second;
  return is_same_file(a, b) ||
         std::filesystem::weakly_canonical(std::filesystem::absolute(a), first) ==
             std::filesystem::weakly_canonical(std::filesystem::absolute(b), second);
}

// The tables of --csv against the other results, and against folders of their names.
Result<Done> check_tables(const AnalysisFlags& flags) {
  if (flags.csv.empty()) return Done{};
  for (const std::string_view file : kCsvFiles) {
    const std::string table = (std::filesystem::path(flags.csv) / file).string();
    for (const auto& [option, place] : places_of(flags))
      if (place != "-" && is_same_place(place, table))
        return Error{ErrorKind::InvalidArgument,
                     fmt::format("{} and --csv, which writes {}, name the same file", option, file),
                     place};
    std::error_code ignored;
    if (std::filesystem::is_directory(table, ignored))
      return Error{ErrorKind::InvalidArgument,
                   fmt::format("--csv cannot be written: {} is a folder, not a file", file), table};
    if (!std::filesystem::is_directory(flags.csv, ignored)) continue;
    const Result<Done> writable = check_output_file("--csv", table);
    if (!writable) return writable;
  }
  return Done{};
}

Result<Done> check_places(const AnalysisFlags& flags) {
  const auto places = places_of(flags);
  for (std::size_t i = 0; i < places.size(); ++i)
    for (std::size_t j = i + 1; j < places.size(); ++j) {
      if (!is_same_place(places[i].second, places[j].second)) continue;
      if (is_standard_output(places[i].second))
        return Error{
            ErrorKind::InvalidArgument,
            fmt::format("{} {} and {} {} cannot share standard output: give one of them a "
                        "file",
                        places[i].first, places[i].second, places[j].first, places[j].second),
            ""};
      return Error{ErrorKind::InvalidArgument,
                   fmt::format("{} and {} name the same file", places[i].first, places[j].first),
                   places[i].second};
    }
  if (flags.csv == "-")
    return Error{ErrorKind::InvalidArgument, "--csv writes a folder, not standard output", ""};
  for (const auto& [option, place] : places) {
    const Result<Done> writable = check_output_file(option, place);
    if (!writable) return writable;
  }
  const Result<Done> apart = check_tables(flags);
  if (!apart) return apart;
  return check_output_folder("--csv", flags.csv);
}

// Whether writing `place` would replace `input` or, where that is a folder, a file in it.
bool would_replace(const std::string& place, const std::string& input) {
  if (is_same_file(place, input)) return true;
  std::error_code ignored;
  const std::filesystem::path path(place);
  return std::filesystem::is_directory(input, ignored) && std::filesystem::exists(path, ignored) &&
         is_same_file(path.has_parent_path() ? path.parent_path().string() : ".", input);
}

Result<Done> read_maps(AnalysisFlags& flags) {
  for (const std::string& map : flags.maps) {
    const std::size_t equals = map.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == map.size())
      return Error{ErrorKind::InvalidArgument,
                   fmt::format("--map must be OURS=THEIRS, not '{}'", map), ""};
    flags.audit.read.field_map[map.substr(0, equals)] = map.substr(equals + 1);
  }
  return Done{};
}

// Conversations are kept only for a page that shows them.
Result<Done> complete_page(AnalysisFlags& flags) {
  if (flags.html.empty()) return Done{};
  if (flags.html == "-")
    return Error{ErrorKind::InvalidArgument, "--html writes a file, not standard output", ""};
  flags.audit.excerpts_per_channel = flags.excerpts;
  return Done{};
}

// One rendering to its place.
Result<Done> save(const std::string& place, const std::string& text) {
  if (place == "-" && standard_output_was_closed())
    return Error{ErrorKind::Unavailable, "cannot write: it is closed", "standard output"};
  if (place == "-") return write_standard_output(text);
  const HoldInterrupts whole_file;
  return write_file(place, text);
}

// Every table is written whole; one that cannot be written leaves those before it.
Result<Done> save_tables(const std::string& folder, const std::vector<CsvTable>& tables) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    return Error{ErrorKind::Unavailable, "the folder cannot be made: " + failed.message(), folder};
  for (const CsvTable& table : tables) {
    const Result<Done> saved =
        save((std::filesystem::path(folder) / table.file).string(), table.text());
    if (!saved) return saved;
  }
  return Done{};
}

}  // namespace

void add_output_flags(CLI::App& app, AnalysisFlags& flags) {
  add_text_flags(app, flags);
  app.add_option("--html", flags.html, "a page with charts and tables")
      ->type_name("FILE")
      ->group("results");
  add_screen_flags(app, flags);
}

void add_analysis_flags(CLI::App& app, AnalysisFlags& flags, bool compares) {
  add_text_flags(app, flags);
  add_file_flags(app, flags, compares);
  add_screen_flags(app, flags);
  add_measuring_flags(app, flags, compares);
  add_reading_flags(app, flags);
}

Result<Done> complete(AnalysisFlags& flags) {
  const Result<Done> page = complete_page(flags);
  if (!page) return page.error();
  const Result<Done> apart = check_places(flags);
  if (!apart) return apart;
  flags.audit.keep_calls = !flags.csv.empty();
  if (flags.screen_low_percent > flags.screen_high_percent)
    return Error{ErrorKind::InvalidArgument, "--screen-low must not be above --screen-high", ""};
  const Result<Done> maps = read_maps(flags);
  if (!maps) return maps.error();
  CompareOptions& compare = flags.audit.compare;
  compare.equivalence_margin = from_points(flags.equivalence_margin_points);
  compare.screen_low = from_points(flags.screen_low_percent);
  compare.screen_high = from_points(flags.screen_high_percent);
  compare.threads = flags.audit.read.threads;
  if (flags.tools_path.empty()) return Done{};
  const Result<std::string> text = read_file(flags.tools_path);
  if (!text) return text.error();
  Result<ToolsFile> tools = parse_tools_file(*text, flags.tools_path);
  if (!tools) return tools.error();
  flags.audit.tools = std::move(*tools);
  return Done{};
}

Result<Done> check_inputs_kept(const AnalysisFlags& flags, const std::vector<std::string>& logs,
                               const std::vector<std::string>& more) {
  std::vector<std::string> inputs = logs;
  inputs.insert(inputs.end(), more.begin(), more.end());
  if (!flags.tools_path.empty()) inputs.push_back(flags.tools_path);
  std::erase_if(inputs, [](const std::string& input) { return input.empty() || input == "-"; });
  for (const std::string& input : inputs) {
    for (const auto& [option, place] : places_of(flags))
      if (place != "-" && would_replace(place, input))
        return Error{ErrorKind::InvalidArgument,
                     fmt::format("{} would replace what is read: give it another place", option),
                     place};
    const std::filesystem::path path(input);
    const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
    if (!flags.csv.empty() && path.extension() == ".csv" && is_same_file(folder, flags.csv))
      return Error{ErrorKind::InvalidArgument,
                   "--csv writes its tables beside what is read: give it another folder", input};
  }
  return Done{};
}

ExitStatus deliver(const AnalysisFlags& flags, const Renderings& renderings) {
  ExitStatus status = ExitStatus::Done;
  const auto put = [&](const std::string& place, const std::string& text) {
    const Result<Done> saved = save(place, text);
    if (!saved) status = fail(saved.error());
  };
  if (!flags.csv.empty()) {
    const Result<Done> saved = save_tables(flags.csv, renderings.csv);
    if (!saved) status = fail(saved.error());
  }
  if (!flags.html.empty()) put(flags.html, renderings.html());
  // Files before standard output, whose reader may be slow or gone.
  const std::pair<const std::string&, const std::function<std::string()>&> texts[] = {
      {flags.json, renderings.json},
      {flags.markdown, renderings.markdown},
      {flags.junit, renderings.junit},
      {flags.model_card, renderings.model_card}};
  for (const bool to_file : {true, false})
    for (const auto& [place, text] : texts)
      if (!place.empty() && (place != "-") == to_file) put(place, text());
  // The screen was asked for by nobody: where it is closed, nothing is lost.
  if (!takes_standard_output(flags) && !standard_output_was_closed())
    put("-", renderings.terminal(style_of_standard_output(flags.color)));
  return status;
}

void print_warnings(const AnalysisFlags& flags, const std::vector<Warning>& warnings,
                    const std::vector<Dropped>& dropped) {
  if (flags.quiet || !takes_standard_output(flags)) return;
  const auto print = [](const std::string& where, const std::string& message) {
    print_error("warning: " + safe_for_terminal(where.empty() ? message : where + ": " + message) +
                "\n");
  };
  for (const Warning& warning : warnings) print(warning.where, warning.message);
  for (const Dropped& record : dropped) print(record.where, "not read: " + record.reason);
}

}  // namespace unmask
