// unmask plant: two logs with a known truth.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "app/command_line.h"
#include "app/console.h"
#include "app/plant_flags.h"
#include "app/shell_quote.h"
#include "base/units.h"
#include "plant/plant.h"
#include "plant/replay.h"
#include "trace/replay_writer.h"
#include "trace/tau2_writer.h"

namespace unmask {
namespace {

constexpr const char* kPlantDescription =
    "Writes a baseline and a candidate log, in tau2-bench's format, whose truth is known: to try "
    "the\n"
    "audit, to teach, to see what a study of a given size would find. No model runs. With "
    "--replay,\n"
    "a replay of decisions whose margins follow a known noise model.\n";

constexpr const char* kPlantExamples =
    "examples:\n"
    "  unmask plant --preset damaged --exact --out demo/\n"
    "  unmask plant --preset damaged --tasks 30 --trials 2 --out pilot/\n"
    "  unmask plant --replay --noise 1.2 --shrink 0.8 --out replay.jsonl\n"
    "  unmask plant --tool-name-rate 0.05,0.10 --success 0.7 --seed 7 --out mine\n";

struct PlantArguments {
  std::string preset;
  bool exact = false;
  bool replay = false;
  std::string out;
  bool directory_form = false;
  bool quiet = false;
  std::vector<std::string> labels;
  PlantFlags flags;
};

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const PlantedPreset& preset : planted_presets()) names.emplace_back(preset.name);
  return names;
}

std::string preset_help() {
  return fmt::format("start from a named cell: {}", fmt::join(preset_names(), " "));
}

void add_options(CLI::App& app, PlantArguments& arguments) {
  const char* group = "what and where";
  app.add_option("-o,--out", arguments.out,
                 "folder (existing, or ending in /), or prefix of the two files' names")
      ->type_name("FOLDER|PREFIX")
      ->group(group);
  app.add_option("--preset", arguments.preset, preset_help())
      ->type_name("NAME")
      ->check(one_of(preset_names()))
      ->group(group);
  app.add_flag("--exact", arguments.exact, "meet counts exactly instead of drawing at random")
      ->group(group);
  app.add_flag("--replay", arguments.replay, "write a replay of decisions: --out is a file")
      ->group(group);
  app.add_flag("--directory-form", arguments.directory_form,
               "write each log as a folder: results.json and simulations/")
      ->group(group);
  app.add_option("--label", arguments.labels, "name of an arm; once for each, baseline first")
      ->type_name("TEXT")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(group);
  app.add_flag("-q,--quiet", arguments.quiet, "no progress on standard error")->group(group);
  add_plant_flags(app, arguments.flags);
}

template <typename Options>
void set_labels(const std::vector<std::string>& labels, Options& options) {
  if (!labels.empty()) options.baseline.label = labels[0];
  if (labels.size() > 1) options.candidate.label = labels[1];
  if (options.baseline.label.empty()) options.baseline.label = "baseline";
  if (options.candidate.label.empty()) options.candidate.label = "candidate";
}

Result<PlantedPair> planted(const PlantArguments& arguments, Progress& progress) {
  if (arguments.exact) {
    Result<ExactOptions> options = exact_preset(arguments.preset);
    if (!options) return options.error();
    const Result<Done> applied = apply(arguments.flags, *options);
    if (!applied) return applied.error();
    set_labels(arguments.labels, *options);
    progress.step("building logs that meet the counts");
    return plant_exact(*options);
  }
  PlantOptions options;
  if (!arguments.preset.empty()) {
    const Result<PlantOptions> preset = random_preset(arguments.preset);
    if (!preset) return preset.error();
    options = *preset;
  }
  const Result<Done> applied = apply(arguments.flags, options);
  if (!applied) return applied.error();
  set_labels(arguments.labels, options);
  progress.step("drawing episodes");
  return plant_random(options);
}

Result<Done> check_usage(const PlantArguments& arguments) {
  const auto usage = [](const std::string& message) {
    return Error{ErrorKind::InvalidArgument, message + "; see unmask plant --help", ""};
  };
  if (arguments.out.empty()) return usage("plant needs a place to write to: --out FOLDER/");
  if (arguments.labels.size() > 2) return usage("--label is given more than twice for two arms");
  if (arguments.replay && (arguments.exact || arguments.directory_form ||
                           !arguments.preset.empty() || !arguments.labels.empty()))
    return usage("--replay goes with none of --exact, --preset, --label and --directory-form");
  if (!arguments.replay && !arguments.flags.replay.empty())
    return usage("--" + arguments.flags.replay.begin()->first + " needs --replay");
  if (arguments.exact && arguments.preset.empty())
    return usage("--exact needs a --preset to take its counts from");
  return Done{};
}

// Where the log of an arm goes: inside the folder, or PREFIX_arm.
Result<std::string> place_of(const PlantArguments& arguments, const std::string& arm) {
  namespace fs = std::filesystem;
  std::error_code error;
  const std::string name = arguments.directory_form ? arm : arm + ".json";
  if (arguments.out.back() != '/' && !fs::is_directory(arguments.out, error))
    return arguments.out + "_" + name;
  fs::create_directories(arguments.out, error);
  if (error)
    return Error{ErrorKind::Unavailable, "cannot create the folder: " + error.message(),
                 arguments.out};
  return (fs::path(arguments.out) / name).string();
}

Result<std::string> write_arm(const PlantArguments& arguments, const std::string& arm,
                              const Run& run, Progress& progress) {
  Result<std::string> place = place_of(arguments, arm);
  if (!place) return place;
  progress.step("writing " + *place);
  const HoldInterrupts whole_log;
  const Result<Done> written =
      arguments.directory_form ? write_tau2_directory(run, *place) : write_tau2_file(run, *place);
  if (!written) return written.error();
  return place;
}

std::string episodes_of(const Run& run) {
  return counted(static_cast<long>(run.episodes.size()), "episode");
}

ExitStatus write_planted_replay(const PlantArguments& arguments) {
  PlantedReplayOptions options;
  const Result<Done> applied = apply(arguments.flags, options);
  if (!applied) return fail(applied.error());
  const Result<Replay> replay = plant_replay(options);
  if (!replay) return fail(replay.error());
  const HoldInterrupts whole_file;
  const Result<Done> written = write_replay_file(*replay, arguments.out);
  if (!written) return fail(written.error());
  if (arguments.out == "-") return ExitStatus::Done;
  return print_result(fmt::format("{}  {} of {}\n\nnext: unmask margins {}\n",
                                  safe_for_terminal(arguments.out),
                                  counted(static_cast<long>(replay->contexts.size()), "decision"),
                                  counted(options.tasks, "task"), shell_quoted(arguments.out)));
}

}  // namespace

ExitStatus run_plant(const Invocation& invocation) {
  CLI::App app(kPlantDescription, "plant");
  app.footer(kPlantExamples);
  PlantArguments arguments;
  add_options(app, arguments);
  const Result<Parsed> parsed = parse_arguments(app, invocation);
  if (!parsed) return fail(parsed.error());
  if (*parsed == Parsed::HelpShown) return ExitStatus::Done;
  const Result<Done> usable = check_usage(arguments);
  if (!usable) return fail(usable.error());
  if (arguments.replay) return write_planted_replay(arguments);

  Progress progress(arguments.quiet);
  const Result<PlantedPair> pair = planted(arguments, progress);
  progress.finish();
  if (!pair) return fail(pair.error());
  const Result<std::string> baseline = write_arm(arguments, "baseline", pair->baseline, progress);
  const Result<std::string> candidate =
      baseline ? write_arm(arguments, "candidate", pair->candidate, progress) : baseline.error();
  progress.finish();
  if (!candidate) return fail(candidate.error());
  return print_result(fmt::format("{}  {} of {}\n{}  {} of {}\n\nnext: unmask audit {} {}\n",
                                  safe_for_terminal(*baseline), episodes_of(pair->baseline),
                                  safe_for_terminal(pair->baseline.info.model),
                                  safe_for_terminal(*candidate), episodes_of(pair->candidate),
                                  safe_for_terminal(pair->candidate.info.model),
                                  shell_quoted(*baseline), shell_quoted(*candidate)));
}

}  // namespace unmask
