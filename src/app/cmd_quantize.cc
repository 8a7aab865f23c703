// unmask quantize: arms of a model, each in a file of its own.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/console.h"
#include "app/interrupt_watch.h"
#include "app/nearest.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "quantize/quantize.h"

namespace unmask {
namespace {

constexpr const char* kQuantizeDescription =
    "Makes arms of a model: for every recipe a GGUF that any llama.cpp runs, and a JSON that says\n"
    "what was done to each tensor. llama.cpp's own types are stored as such. The simulated "
    "recipes\n"
    "(FP8, INT4, INT3, AWQ) round the weights of the linear layers and write them back in the\n"
    "model's own type: they behave like the quantized model, and are as large as the full one.\n"
    "Activations are not quantized.\n";

constexpr const char* kQuantizeExamples =
    "examples:\n"
    "  unmask quantize model-BF16.gguf -r q8_0,q4_k_m,int4_rtn -o arms\n"
    "  unmask quantize model-BF16.gguf -r int4_awq,q4_0_imatrix --calibration prompts.jsonl -o "
    "arms\n"
    "  unmask quantize model-BF16.gguf -r int3_rtn_g64 -r fp8_e4m3_channel -o arms\n";

struct QuantizeArguments {
  std::string model;
  std::vector<std::string> recipes;
  std::string folder;
  std::string calibration;
  std::string calibration_tokens;
  std::string group;
  std::string outliers;
  std::string threads;
  std::string json;
  bool quiet = false;
};

// The names of a kind's rows in lines of a terminal's width.
std::string wrapped_names(RecipeKind kind) {
  constexpr std::size_t kWidth = 90;
  std::string text;
  std::string line = " ";
  for (const RecipeRow& row : recipe_rows()) {
    if (row.kind != kind) continue;
    if (line.size() + row.name.size() > kWidth) {
      text += line + "\n";
      line = " ";
    }
    line += fmt::format(" {}", row.name);
  }
  return text + line + "\n";
}

std::string footer() {
  std::string text = "simulated recipes (integers also with _g64, _g32 ... or _channel behind):\n";
  for (const RecipeRow& row : recipe_rows())
    if (is_simulated(row.kind)) text += fmt::format("  {:<18}{}\n", row.name, row.about);
  text += "llama.cpp's types (also with _imatrix behind, which needs --calibration):\n";
  text += wrapped_names(RecipeKind::Library);
  text += "only another stored type:\n" + wrapped_names(RecipeKind::Float);
  return text + "\n" + kQuantizeExamples;
}

std::string check_group(std::string& text) {
  if (text == "channel") return "";
  const std::optional<long long> value = to_whole_number(text);
  if (value && *value >= 1 && *value <= 65536) return "";
  return fmt::format("must be 'channel' or a whole number from 1 to 65536, not '{}'", text);
}

std::string check_outliers(std::string& text) {
  if (outliers_from(text)) return "";
  return fmt::format(
      "must be SCALE or SCALE/EVERY, above 1 and at least 2, as in 6 or 6/32, not '{}'", text);
}

void add_options(CLI::App& app, QuantizeArguments& arguments) {
  app.add_option("model", arguments.model, "a GGUF of F32, F16 or BF16 weights")
      ->type_name("MODEL.gguf");
  const char* group = "what and where";
  app.add_option("-r,--recipe", arguments.recipes,
                 "what to make, listed below: once each, or a comma list")
      ->type_name("RECIPE")
      ->check(suggested(recipe_names()))
      ->delimiter(',')
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(group);
  app.add_option("-o,--out", arguments.folder, "folder the arms go to; nothing is overwritten")
      ->type_name("DIR")
      ->group(group);
  app.add_option("--json", arguments.json, "also a summary of all arms as JSON; - is the output")
      ->type_name("FILE")
      ->group(group);
  group = "how";
  app.add_option("--calibration", arguments.calibration,
                 "text, or JSON Lines of prompts, for AWQ and importance matrices")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--calibration-tokens", arguments.calibration_tokens,
                 "evaluate at most this many tokens of it (32768)")
      ->type_name("N")
      ->check(CLI::Validator(whole_number(1, 100'000'000), ""))
      ->group(group);
  app.add_option("--group", arguments.group, "weights that share a scale: N or channel (128)")
      ->type_name("N")
      ->check(CLI::Validator(check_group, ""))
      ->group(group);
  app.add_option("--outliers", arguments.outliers,
                 "first give the model outlier channels (docs/quantize.md)")
      ->type_name("SCALE[/EVERY]")
      ->check(CLI::Validator(check_outliers, ""))
      ->group(group);
  app.add_option("--threads", arguments.threads, "processors to use (all)")
      ->type_name("N")
      ->check(CLI::Validator(whole_number(1, 1024), ""))
      ->group(group);
  app.add_flag("-q,--quiet", arguments.quiet, "no progress on standard error")->group(group);
}

Error usage(const std::string& message) {
  return Error{ErrorKind::InvalidArgument, message + "; see unmask quantize --help", ""};
}

Result<std::vector<Recipe>> recipes_of(const QuantizeArguments& arguments) {
  GroupSize group = kUsualGroup;
  if (!arguments.group.empty())
    group = static_cast<GroupSize>(to_whole_number(arguments.group).value_or(0));
  std::vector<Recipe> recipes;
  for (const std::string& name : arguments.recipes) {
    const std::optional<Recipe> recipe = recipe_named(name, group);
    if (!recipe)
      return usage(
          fmt::format("there is no recipe '{}'{}", name, did_you_mean(name, recipe_names())));
    const bool twice = std::any_of(recipes.begin(), recipes.end(),
                                   [&](const Recipe& r) { return r.name == recipe->name; });
    if (!twice) recipes.push_back(*recipe);
  }
  return recipes;
}

Result<QuantizeRequest> request_of(const QuantizeArguments& arguments,
                                   const Invocation& invocation) {
  if (arguments.model.empty()) return usage("quantize needs a model: MODEL.gguf");
  if (arguments.recipes.empty()) return usage("quantize needs a recipe: -r q4_k_m");
  if (arguments.folder.empty()) return usage("quantize needs a folder to write to: -o DIR");
  Result<std::vector<Recipe>> recipes = recipes_of(arguments);
  if (!recipes) return recipes.error();
  QuantizeRequest request;
  request.model = arguments.model;
  request.folder = arguments.folder;
  request.recipes = std::move(*recipes);
  request.calibration = arguments.calibration;
  if (const auto tokens = to_whole_number(arguments.calibration_tokens))
    request.calibrating.most_tokens = static_cast<std::uint64_t>(*tokens);
  if (!arguments.outliers.empty()) request.outliers = outliers_from(arguments.outliers);
  request.threads = static_cast<int>(to_whole_number(arguments.threads).value_or(0));
  request.version = UNMASK_VERSION;
  request.command = invocation.command_line;
  return request;
}

std::string line_of(const ArmOutcome& outcome) {
  const std::string path = safe_for_terminal(outcome.model_path);
  if (outcome.kept) return path + "  is there already, the same and whole: kept\n";
  std::string line =
      fmt::format("{}  {:.2f} bits a weight, relative error of the linear layers {:.2g}", path,
                  outcome.bits_per_weight, outcome.error.relative_rms());
  if (outcome.fallbacks > 0)
    line += fmt::format("; {} tensors have rows that do not fit the type: another was used",
                        outcome.fallbacks);
  if (outcome.unseen > 0)
    line += fmt::format("; {} matrices saw no calibration input: rounded without scaling",
                        outcome.unseen);
  return line + "\n";
}

std::string summary_json(const QuantizeRequest& request, const std::vector<ArmOutcome>& outcomes) {
  JsonWriter json(2);
  json.begin_object().field("schema", "unmask.quantize_summary/1").field("model", request.model);
  json.key("arms").begin_array();
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const ArmOutcome& outcome = outcomes[i];
    json.begin_object().field("recipe", request.recipes[i].name);
    json.field("path", outcome.model_path).field("json", outcome.json_path);
    json.field("kept", outcome.kept).key("bits_per_weight");
    if (outcome.kept)
      json.null().key("relative_rms").null();
    else
      json.value(outcome.bits_per_weight).field("relative_rms", outcome.error.relative_rms());
    json.end_object();
  }
  json.end_array().key("provenance").begin_object();
  json.field("version", request.version).field("command", request.command);
  json.end_object().end_object();
  return json.take() + "\n";
}

ExitStatus failed(const Error& error, const InterruptWatch& interrupts) {
  if (interrupts.count() == 0) return fail(error);
  print_error("unmask: interrupted; the arms named above are whole, and kept when run again\n");
  return ExitStatus::Interrupted;
}

}  // namespace

ExitStatus run_quantize(const Invocation& invocation) {
  CLI::App app(kQuantizeDescription, "quantize");
  app.footer(footer());
  QuantizeArguments arguments;
  add_options(app, arguments);
  const Result<Parsed> parsed = parse_arguments(app, invocation);
  if (!parsed) return fail(parsed.error());
  if (*parsed == Parsed::HelpShown) return ExitStatus::Done;
  Result<QuantizeRequest> request = request_of(arguments, invocation);
  if (!request) return fail(request.error());

  InterruptWatch interrupts([](int) {});
  Progress progress(arguments.quiet);
  request->stop = interrupts.once();
  request->step = [&progress](const std::string& text) { progress.step(text); };
  const Result<ArmMaker> maker = ArmMaker::open(*request);
  if (!maker) {
    progress.finish();
    return failed(maker.error(), interrupts);
  }
  const bool lines = arguments.json != "-";
  if (request->outliers && lines)
    print_result(fmt::format("outlier channels: {} (scale/every), the same function\n",
                             to_text(*request->outliers)));
  std::vector<ArmOutcome> outcomes;
  for (const Recipe& recipe : request->recipes) {
    progress.step("making " + recipe.name);
    const Result<ArmOutcome> outcome = maker->make(recipe);
    progress.finish();
    if (!outcome) return failed(outcome.error(), interrupts);
    outcomes.push_back(*outcome);
    if (lines && print_result(line_of(*outcome)) != ExitStatus::Done) return ExitStatus::Unusable;
  }
  if (arguments.json.empty()) return ExitStatus::Done;
  const std::string json = summary_json(*request, outcomes);
  if (!lines) return print_result(json);
  const Result<Done> written = write_file(arguments.json, json);
  return written ? ExitStatus::Done : fail(written.error());
}

}  // namespace unmask
