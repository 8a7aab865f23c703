// unmask demo: the paper's experiment, small, with the agent that is part of the program.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>

#include "app/command_line.h"
#include "app/console.h"
#include "app/demo_words.h"
#include "app/pocket_model.h"
#include "app/shell_quote.h"
#include "base/file.h"
#include "report/render.h"

namespace unmask {
namespace {

constexpr const char* kDemoDescription =
    "Makes quantized arms of a small agent that is part of the program, lets every arm play the "
    "same\n"
    "tasks with the same seeds, audits them, and says in plain words what was found. No network, "
    "no\n"
    "data: about a minute.\n"
    "\n"
    "The agent is a teaching and test model, trained to err at a known rate; docs/pocket.md.\n";

constexpr const char* kDemoExamples =
    "examples:\n"
    "  unmask demo\n"
    "  unmask demo --full -o pocket-study     (both worlds, eight arms, repair and constraint: "
    "long)\n";

// Chosen on an earlier training of the agent, before the arms of this one were played.
constexpr const char* kOutliers = "7/32";
constexpr double kTemperature = 1.0;

struct DemoArm {
  std::string_view recipe;
  std::string_view precision;
};
constexpr DemoArm kBaseline = {"bf16", "BF16"};
constexpr std::array kFewArms = {DemoArm{"q4_0", "Q4_0"}, DemoArm{"int4_awq", "INT4-AWQ"},
                                 DemoArm{"int4_rtn", "INT4-RTN"}};
constexpr std::array kAllArms = {DemoArm{"q8_0", "Q8_0"},         DemoArm{"fp8_e4m3", "FP8"},
                                 DemoArm{"q4_k_m", "Q4_K_M"},     DemoArm{"q4_0", "Q4_0"},
                                 DemoArm{"int4_awq", "INT4-AWQ"}, DemoArm{"int4_rtn", "INT4-RTN"},
                                 DemoArm{"q3_k_m", "Q3_K_M"}};

struct DemoArguments {
  std::string folder = "unmask-demo";
  std::string model;
  bool full = false;
  bool quiet = false;
  int trials = 0;
  int threads = 1;
};

std::vector<DemoArm> arms_of(const DemoArguments& arguments) {
  std::vector<DemoArm> arms = {kBaseline};
  if (arguments.full)
    arms.insert(arms.end(), kAllArms.begin(), kAllArms.end());
  else
    arms.insert(arms.end(), kFewArms.begin(), kFewArms.end());
  return arms;
}

std::string stem_of(const DemoArguments& arguments) {
  return arguments.model.empty() ? "pocket-dense"
                                 : std::filesystem::path(arguments.model).stem().string();
}

std::string arm_file(const DemoArguments& arguments, const DemoArm& arm) {
  return fmt::format("arms/{}-{}.gguf", stem_of(arguments), arm.recipe);
}

// What a plan begins with, and one table for each arm.
std::string plan_head(const DemoArguments& arguments) {
  const int trials = arguments.trials > 0 ? arguments.trials : arguments.full ? 4 : 2;
  return fmt::format(
      "# The pocket agent's arms at the same tasks with the same seeds: unmask run plan.toml\n"
      "name = \"pocket\"\n"
      "out = \"run\"\n"
      "domains = [{}]\n"
      "split = \"test\"\n"
      "trials = {}\n"
      "max_steps = 100\n\n"
      "[user]\n"
      "model = \"scripted:pocket\"\n\n"
      "[defaults]\n"
      "family = \"{}\"\n"
      "temperature = {:.1f}\n"
      "max_tokens = 64\n"
      "parallel = 16\n"
      "threads = {}\n"
      "deterministic = true\n",
      arguments.full ? "\"pocket_telecom\", \"pocket_retail\"" : "\"pocket_telecom\"", trials,
      stem_of(arguments), kTemperature, arguments.threads);
}

std::string plan_arm(const DemoArguments& arguments, const DemoArm& arm, const std::string& label,
                     const std::string& settings) {
  return fmt::format("\n[[arm]]\nlabel = \"{}\"\nprecision = \"{}\"\nmodel = \"{}\"\n{}", label,
                     arm.precision, arm_file(arguments, arm), settings);
}

// Writes a file of the demo; one that is there with other bytes belongs to somebody.
Result<Done> put_file(const std::string& path, std::string_view bytes, bool replace) {
  std::error_code ignored;
  if (!replace && std::filesystem::exists(path, ignored)) {
    const Result<std::string> there = read_file(path);
    if (there && *there == bytes) return Done{};
    return Error{ErrorKind::InvalidArgument,
                 "there is another file: choose another folder with -o, or remove it", path};
  }
  return write_file(path, bytes);
}

struct Paths {
  std::string folder;
  std::string in(const char* name) const { return folder + "/" + name; }
};

Result<std::string> put_model(const DemoArguments& arguments, const Paths& paths) {
  std::error_code failed;
  std::filesystem::create_directories(paths.folder, failed);
  if (failed)
    return Error{ErrorKind::Unavailable, "the folder cannot be made: " + failed.message(),
                 paths.folder};
  const Result<Done> text = put_file(paths.in("calibration.jsonl"), pocket_calibration(), false);
  if (!text) return text.error();
  if (!arguments.model.empty()) return arguments.model;
  const std::string model = paths.in("pocket-dense.gguf");
  const Result<Done> written = put_file(model, pocket_model(), false);
  if (!written) return written.error();
  return model;
}

// A command of the program, shown as a person would type it.
ExitStatus step(ExitStatus (*command)(const Invocation&), const std::string& name,
                std::vector<std::string> arguments, bool quiet) {
  std::string line = "unmask " + name;
  for (const std::string& argument : arguments) line += " " + shell_quoted(argument);
  print_error("\n$ " + line + "\n");
  if (quiet) arguments.push_back("--quiet");
  return command({std::move(arguments), line});
}

ExitStatus make_arms(const DemoArguments& arguments, const Paths& paths, const std::string& model) {
  std::string recipes;
  for (const DemoArm& arm : arms_of(arguments))
    recipes += (recipes.empty() ? "" : ",") + std::string(arm.recipe);
  std::error_code ignored;
  std::filesystem::create_directories(paths.in("arms"), ignored);
  return step(run_quantize, "quantize",
              {model, "-r", recipes, "--outliers", kOutliers, "--calibration",
               paths.in("calibration.jsonl"), "-o", paths.in("arms")},
              arguments.quiet);
}

ExitStatus play(const DemoArguments& arguments, const Paths& paths, const std::string& plan) {
  const Result<Done> written = put_file(paths.in("plan.toml"), plan, true);
  if (!written) return fail(written.error());
  return step(
      run_run, "run",
      {paths.in("plan.toml"), "--json", paths.in("audit.json"), "--html", paths.in("report.html")},
      arguments.quiet);
}

Result<std::vector<DemoCell>> cells_of(const Paths& paths) {
  const Result<std::string> json = read_file(paths.in("audit.json"));
  if (!json) return json.error();
  return demo_cells(*json);
}

// The arm that invents most, and what can be done about it: a budget of two failed calls played for
// real (an episode ends with the third), repair, constrained names.
std::string plan_of_worst(const DemoArguments& arguments, const std::vector<DemoCell>& cells) {
  const auto worst = std::max_element(
      cells.begin(), cells.end(),
      [](const DemoCell& a, const DemoCell& b) { return a.hallucinated < b.hallucinated; });
  std::string plan;
  for (const DemoArm& arm : arms_of(arguments)) {
    const bool baseline = arm.recipe == kBaseline.recipe;
    if (!baseline && worst->candidate != arm.precision) continue;
    const std::string label(arm.precision);
    plan += plan_arm(arguments, arm, label + "-live2", "max_errors = 3\n");
    plan += plan_arm(arguments, arm, label + "-repair", "repair = {}\n");
    plan += plan_arm(arguments, arm, label + "-names", "constrain = \"names\"\n");
  }
  return plan;
}

// Who played, with what shapes its mistakes.
std::string agent_in_words(const DemoArguments& arguments) {
  if (arguments.model.empty())
    return fmt::format(
        "The agent is a teaching and test model of two million parameters, trained on an expert "
        "that errs\nin 6 % of its moves; every arm has outlier channels {}.",
        kOutliers);
  return fmt::format("The agent is {}; every arm has outlier channels {}.",
                     safe_for_terminal(arguments.model), kOutliers);
}

ExitStatus demo(const DemoArguments& arguments) {
  const Paths paths{arguments.folder};
  const Result<std::string> model = put_model(arguments, paths);
  if (!model) return fail(model.error());
  ExitStatus status = make_arms(arguments, paths, *model);
  if (status != ExitStatus::Done) return status;
  std::string plan = plan_head(arguments);
  for (const DemoArm& arm : arms_of(arguments))
    plan += plan_arm(arguments, arm, std::string(arm.precision),
                     arm.recipe == kBaseline.recipe ? "baseline = true\n" : "");
  status = play(arguments, paths, plan);
  if (status != ExitStatus::Done) return status;
  Result<std::vector<DemoCell>> cells = cells_of(paths);
  if (!cells) return fail(cells.error());
  if (arguments.full && !cells->empty()) {
    status = play(arguments, paths, plan + plan_of_worst(arguments, *cells));
    if (status != ExitStatus::Done) return status;
    cells = cells_of(paths);
    if (!cells) return fail(cells.error());
  }
  return print_result(fmt::format(
      "\n{}The report, for a browser: {}\nEverything of this run: {}   (the audit's JSON: {})\n",
      demo_conclusion(*cells, agent_in_words(arguments)), paths.in("report.html"), paths.folder,
      paths.in("audit.json")));
}

void add_options(CLI::App& app, DemoArguments& arguments) {
  app.add_option("-o,--out", arguments.folder, "folder for models, episodes and results")
      ->type_name("DIR")
      ->group("demo");
  app.add_flag(
         "--full", arguments.full,
         "both worlds, eight arms, four trials; then the worst arm with a budget of two, with\n"
         "repair and with constrained names")
      ->group("demo");
  app.add_option("--model", arguments.model, "another GGUF that plays the pocket worlds")
      ->type_name("FILE")
      ->group("demo");
  app.add_option("--trials", arguments.trials, "how often each task is played (2; full: 4)")
      ->check(CLI::Validator(whole_number(1, 1000), "", ""))
      ->type_name("N")
      ->group("demo");
  app.add_option("--threads", arguments.threads,
                 "processors for each arm; arms play side by side (1)")
      ->check(CLI::Validator(whole_number(1, 256), "", ""))
      ->type_name("N")
      ->group("demo");
  app.add_flag("-q,--quiet", arguments.quiet, "no progress")->group("demo");
}

}  // namespace

ExitStatus run_demo(const Invocation& invocation) {
  CLI::App app(kDemoDescription, "demo");
  app.footer(kDemoExamples);
  DemoArguments arguments;
  add_options(app, arguments);
  const Result<Parsed> parsed = parse_arguments(app, invocation);
  if (!parsed) return fail(parsed.error());
  if (*parsed == Parsed::HelpShown) return ExitStatus::Done;
  if (arguments.model.empty() && pocket_model().empty())
    return fail("this build has no agent of its own: --model FILE.gguf");
  return demo(arguments);
}

}  // namespace unmask
