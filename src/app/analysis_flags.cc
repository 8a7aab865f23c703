#include "app/analysis_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <climits>
#include <map>

#include "app/command_line.h"
#include "app/nearest.h"
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

// A check for one of a few words.
std::function<std::string(std::string&)> one_of(std::vector<std::string> words) {
  return [words = std::move(words)](std::string& text) -> std::string {
    std::string list;
    for (const std::string& word : words) {
      if (word == text) return "";
      list += (list.empty() ? "" : ", ") + word;
    }
    return fmt::format("must be one of {}, not '{}'{}", list, text, did_you_mean(text, words));
  };
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
  std::vector<std::string> formats;
  for (const FormatDescription& format : log_formats()) formats.emplace_back(format.name);
  app.add_option("--format", flags.audit.read.format, formats_in_words())
      ->type_name("NAME")
      ->check(CLI::Validator(one_of(formats), "", ""))
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
      ->check(CLI::Validator(one_of({"all", "agent"}), "", ""))
      ->group(group);
  app.add_option_function<std::string>(
         "--budget-rule",
         choose(compare.rule, std::map<std::string, BudgetRule>{{"at_most", BudgetRule::AtMost},
                                                                {"live", BudgetRule::Live}}),
         "at_most (default): success with E <= K; live: E < K")
      ->type_name("RULE")
      ->check(CLI::Validator(one_of({"at_most", "live"}), "", ""))
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

void add_output_flags(CLI::App& app, AnalysisFlags& flags) {
  const std::string group = "results";
  app.add_option("--json", flags.json, "everything, as JSON; - is standard output")
      ->type_name("FILE|-")
      ->group(group);
  app.add_option("--markdown", flags.markdown, "a short report for a pull request")
      ->type_name("FILE|-")
      ->group(group);
  app.add_option_function<std::string>(
         "--color",
         choose(flags.color, std::map<std::string, ColorChoice>{{"auto", ColorChoice::Auto},
                                                                {"always", ColorChoice::Always},
                                                                {"never", ColorChoice::Never}}),
         "auto (default), always or never")
      ->type_name("WHEN")
      ->check(CLI::Validator(one_of({"auto", "always", "never"}), "", ""))
      ->group(group);
  app.add_flag("-q,--quiet", flags.quiet, "no progress and no warnings on standard error")
      ->group(group);
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

// One rendering to its place.
Result<Done> save(const std::string& place, const std::string& text) {
  if (place == "-") return write_standard_output(text);
  const HoldInterrupts whole_file;
  return write_file(place, text);
}

}  // namespace

void add_analysis_flags(CLI::App& app, AnalysisFlags& flags, bool compares) {
  add_output_flags(app, flags);
  add_measuring_flags(app, flags, compares);
  add_reading_flags(app, flags);
}

Result<Done> complete(AnalysisFlags& flags) {
  if (flags.json == "-" && flags.markdown == "-")
    return Error{ErrorKind::InvalidArgument,
                 "--json - and --markdown - cannot share standard output: give one of them a file",
                 ""};
  if (!flags.json.empty() && flags.json != "-" && flags.json == flags.markdown)
    return Error{ErrorKind::InvalidArgument, "--json and --markdown name the same file",
                 flags.json};
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

ExitStatus deliver(const AnalysisFlags& flags, const Renderings& renderings) {
  ExitStatus status = ExitStatus::Done;
  const auto put = [&](const std::string& place, const std::string& text) {
    const Result<Done> saved = save(place, text);
    if (!saved) status = fail(saved.error());
  };
  // Files before standard output, whose reader may be slow or gone.
  for (const bool to_file : {true, false}) {
    if (!flags.json.empty() && (flags.json != "-") == to_file) put(flags.json, renderings.json());
    if (!flags.markdown.empty() && (flags.markdown != "-") == to_file)
      put(flags.markdown, renderings.markdown());
  }
  if (flags.json != "-" && flags.markdown != "-")
    put("-", renderings.terminal(style_of_standard_output(flags.color)));
  return status;
}

void print_warnings(const AnalysisFlags& flags, const std::vector<Warning>& warnings,
                    const std::vector<Dropped>& dropped) {
  if (flags.quiet || (flags.json != "-" && flags.markdown != "-")) return;
  const auto print = [](const std::string& where, const std::string& message) {
    print_error("warning: " + safe_for_terminal(where.empty() ? message : where + ": " + message) +
                "\n");
  };
  for (const Warning& warning : warnings) print(warning.where, warning.message);
  for (const Dropped& record : dropped) print(record.where, "not read: " + record.reason);
}

}  // namespace unmask
