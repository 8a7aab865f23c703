#include "quantize/quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/mapped_file.h"
#include "base/parallel.h"
#include "quantize/arm_facts.h"
#include "quantize/library.h"
#include "quantize/sha256.h"

namespace unmask {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".gguf";
constexpr std::uint64_t kRowMemory = std::uint64_t{1} << 30;  // of the rows AWQ looks at

Error at(const std::string& path, ErrorKind kind, std::string message) {
  return Error{kind, std::move(message), path};
}

Error at(const std::string& path, const Error& error) {
  return Error{error.kind, error.message, error.where.empty() ? path : error.where};
}

Result<Done> check_float_model(const Gguf& model, const std::string& path) {
  const GgufValue* pieces = model.find("split.count");
  if (pieces && pieces->whole().value_or(0) > 1)
    return at(path, ErrorKind::Unsupported,
              "is one piece of several; join them with llama-gguf-split --merge first");
  const GgufValue* made = model.find("unmask.recipe");
  const std::string recipe(made ? made->text().value_or("") : "");
  const std::optional<Recipe> known = recipe_named(recipe);
  if (made && (!known || known->row->kind != RecipeKind::Float))
    return at(path, ErrorKind::Unsupported,
              fmt::format("is an arm already, made by the recipe '{}'; arms are made from the "
                          "model it was made from",
                          recipe));
  for (const GgufTensor& tensor : model.tensors()) {
    if (tensor.type->numbers > 1)
      return at(path, ErrorKind::Unsupported,
                fmt::format("is quantized already ({} is {}); arms are made from F32, F16 or BF16",
                            std::string(tensor.name), std::string(tensor.type->name)));
  }
  return Done{};
}

Result<SourceFacts> file_facts(const std::string& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  return SourceFacts{path, sha256_hex(file->bytes()), file->bytes().size()};
}

// Rows of inputs to keep so that all of them fit the memory for them; at least 8.
std::size_t rows_that_fit(const Gguf& model, std::size_t most) {
  constexpr std::uint64_t kLeast = 8;
  std::uint64_t bytes = 1;
  for (const GgufTensor& tensor : model.tensors()) {
    if (!is_linear_weight(tensor)) continue;
    const TensorMatrices all = matrices_of(tensor);
    bytes += all.shape.columns * all.count * sizeof(float);
  }
  return std::min<std::uint64_t>(most, std::max(kLeast, kRowMemory / bytes));
}

std::string stem_of(const std::string& model) {
  const std::string name = fs::path(model).filename().string();
  if (name.size() > kExtension.size() && name.ends_with(kExtension))
    return name.substr(0, name.size() - kExtension.size());
  return name;
}

// Whether the JSON beside an arm names the arm's bytes as they are.
bool json_names(const std::string& json_path, const std::string& model_path) {
  const Result<std::string> text = read_file(json_path);
  const Result<SourceFacts> facts = file_facts(model_path);
  if (!text || !facts) return false;
  const nlohmann::json json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("output") || !json["output"].is_object()) return false;
  return json["output"].value("sha256", nlohmann::json()) == facts->sha256;
}

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

}  // namespace

struct ArmMaker::State {
  QuantizeRequest request;
  SourceFacts facts;
  std::optional<UnfinishedFile> with_outliers;  // the model that arms are made from then
  std::string path;                             // of the model that arms are made from
  std::optional<Gguf> model;
  std::optional<Calibration> calibration;

  Result<Done> read_source();
  Result<Done> put_outliers();
  Result<Done> calibrate();
  Result<bool> is_there(const ArmOutcome& outcome, const ArmFacts& wanted) const;
  Result<Done> write(const Recipe& recipe, const ArmFacts& wanted, UnfinishedFile& file,
                     ArmOutcome& outcome) const;
  Result<Done> write_library(const Recipe& recipe, const ArmFacts& wanted, UnfinishedFile& file,
                             ArmOutcome& outcome) const;
  Result<TensorOutcome> library_outcome(const Gguf& arm, const GgufTensor& tensor,
                                        const Recipe& recipe) const;
};

Result<Done> ArmMaker::State::read_source() {
  path = request.model;
  request.step("reading " + path);
  Result<Gguf> read = Gguf::open(path);
  if (!read) return read.error();
  Result<Done> usable = check_float_model(*read, path);
  if (!usable) return usable;
  facts = {path, sha256_hex(read->bytes()), read->bytes().size()};
  model.emplace(std::move(*read));
  return usable;
}

Result<Done> ArmMaker::State::put_outliers() {
  if (!request.outliers) return Done{};
  const Result<Done> fit = outliers_fit(*model, *request.outliers);
  if (!fit) return at(path, fit.error());
  request.step("putting in outlier channels");
  const std::string place =
      (fs::path(request.folder) / (stem_of(request.model) + "-outliers.gguf")).string();
  Result<UnfinishedFile> file = UnfinishedFile::create(place);
  if (!file) return file.error();
  with_outliers.emplace(std::move(*file));
  FloatArm arm;
  arm.source = &*model;
  // Every tensor keeps its type: a recipe that rounds nothing.
  static constexpr RecipeRow kNothing = {
      "", RecipeKind::Library, 16, ScaleSpan::Tensor, -1, 1, false, ""};
  arm.recipe.row = &kNothing;
  arm.outliers = request.outliers;
  arm.threads = request.threads;
  const Result<std::vector<TensorOutcome>> written =
      write_float_arm(arm, *with_outliers, request.stop);
  if (!written) return at(path, written.error());
  path = with_outliers->temporary();
  Result<Gguf> read = Gguf::open(path);
  if (!read) return read.error();
  model.emplace(std::move(*read));
  return Done{};
}

Result<Done> ArmMaker::State::calibrate() {
  const bool needed =
      std::any_of(request.recipes.begin(), request.recipes.end(), needs_calibration);
  if (!needed) return Done{};
  const Result<MappedFile> file = MappedFile::open(request.calibration);
  if (!file) return file.error();
  const Result<std::vector<std::string>> texts =
      calibration_texts(file->bytes(), request.calibration);
  if (!texts) return texts.error();
  CalibrationOptions options = request.calibrating;
  options.threads = request.threads;
  const bool awq = std::any_of(request.recipes.begin(), request.recipes.end(),
                               [](const Recipe& r) { return r.row->kind == RecipeKind::Awq; });
  options.most_rows = awq ? rows_that_fit(*model, options.most_rows) : 0;
  std::uint64_t told = 0;  // tenths
  const auto tell = [&](std::uint64_t done, std::uint64_t all) {
    if (done * 10 / all == told) return;
    told = done * 10 / all;
    request.step(fmt::format("calibrating: {} of {} tokens", done, all));
  };
  Result<Calibration> watched = watch_inputs(path, *texts, options, request.stop, tell);
  if (!watched) return at(request.model, watched.error());
  watched->sha256 = sha256_hex(file->bytes());
  calibration.emplace(std::move(*watched));
  return Done{};
}

Result<ArmMaker> ArmMaker::open(const QuantizeRequest& request) {
  for (const Recipe& recipe : request.recipes) {
    if (needs_calibration(recipe) && request.calibration.empty())
      return Error{
          ErrorKind::InvalidArgument,
          fmt::format("{} needs a text to calibrate with: --calibration FILE", recipe.name), ""};
    if (recipe.row->kind == RecipeKind::Library && library_version().empty())
      return Error{ErrorKind::Unavailable,
                   fmt::format("{} is a type of llama.cpp, without which this unmask was built "
                               "(UNMASK_LLAMA=off)",
                               recipe.name),
                   ""};
  }
  auto state = std::make_unique<State>();
  state->request = request;
  state->request.threads = resolve_threads(request.threads);
  Result<Done> done = state->read_source();
  if (!done) return done.error();
  std::error_code error;
  fs::create_directory(request.folder, error);
  if (error)
    return at(request.folder, ErrorKind::Unavailable,
              "cannot create the folder: " + error.message());
  done = state->put_outliers();
  if (!done) return done.error();
  done = state->calibrate();
  if (!done) return done.error();
  return ArmMaker(std::move(state));
}

// True: the same is there and whole. An error: something else is.
Result<bool> ArmMaker::State::is_there(const ArmOutcome& outcome, const ArmFacts& wanted) const {
  const bool model_there = exists(outcome.model_path);
  if (!model_there && !exists(outcome.json_path)) return false;
  const std::string& path_there = model_there ? outcome.model_path : outcome.json_path;
  const Error other = at(path_there, ErrorKind::InvalidArgument,
                         "is there already, made from something else, and is never overwritten");
  if (!model_there) return other;
  const Result<Gguf> there = Gguf::open(outcome.model_path);
  if (!there || !same_facts(*there, wanted) || !json_names(outcome.json_path, outcome.model_path))
    return other;
  return true;
}

Result<TensorOutcome> ArmMaker::State::library_outcome(const Gguf& arm, const GgufTensor& tensor,
                                                       const Recipe& recipe) const {
  TensorOutcome outcome;
  outcome.name = tensor.name;
  outcome.shape = tensor.shape;
  outcome.type = tensor.type->name;
  outcome.bits = 8.0 * tensor.type->bytes / tensor.type->numbers;
  const GgufTensor* before = model->find_tensor(tensor.name);
  if (!before || before->shape != tensor.shape)
    return Error{ErrorKind::Unsupported, "llama.cpp changed the tensor " + outcome.name, ""};
  outcome.linear = is_linear_weight(*before);
  if (tensor.type == before->type) return outcome;
  outcome.fallback = tensor.shape[0] % static_cast<std::uint64_t>(recipe.row->block) != 0;
  const TensorMatrices all = matrices_of(tensor);
  std::vector<TensorError> errors(all.shape.rows * all.count);
  std::vector<char> readable(errors.size(), 1);
  const std::string_view old_bytes = model->data(*before);
  const std::string_view new_bytes = arm.data(tensor);
  const std::size_t old_row = old_bytes.size() / errors.size();
  const std::size_t new_row = new_bytes.size() / errors.size();
  parallel_for(errors.size(), request.threads, [&](std::size_t row) {
    std::vector<float> original(all.shape.columns);
    std::vector<float> stored(all.shape.columns);
    const std::string_view bytes = new_bytes.substr(row * new_row, new_row);
    read_floats(old_bytes.substr(row * old_row, old_row), *before->type, original);
    if (is_float_type(*tensor.type))
      read_floats(bytes, *tensor.type, stored);
    else
      readable[row] = read_quantized(bytes, *tensor.type, stored).has_value();
    errors[row].add(original, stored);
  });
  if (std::find(readable.begin(), readable.end(), 0) != readable.end()) return outcome;
  outcome.error.emplace();
  for (const TensorError& error : errors) outcome.error->add(error);
  return outcome;
}

Result<Done> ArmMaker::State::write_library(const Recipe& recipe, const ArmFacts& wanted,
                                            UnfinishedFile& file, ArmOutcome& outcome) const {
  LibraryJob job;
  job.source = path;
  job.destination = file.temporary();
  job.file_type = recipe.row->file_type;
  job.texts = wanted;
  job.threads = request.threads;
  ImportanceMatrix importance;
  if (recipe.importance) {
    for (const auto& [name, inputs] : calibration->inputs) importance[name] = inputs.importance();
    job.importance = &importance;
  }
  Result<Done> done = quantize_with_library(job);
  if (!done) {  // it speaks of temporary files
    const bool disk = done.error().kind == ErrorKind::Unavailable;
    return at(disk ? outcome.model_path : request.model, done.error().kind, done.error().message);
  }
  const Result<Gguf> arm = Gguf::open(file.temporary());
  if (!arm)
    return at(outcome.model_path, ErrorKind::Unavailable,
              "cannot write: llama.cpp's file came out short; is the disk full?");
  for (const GgufTensor& tensor : arm->tensors()) {
    Result<TensorOutcome> one = library_outcome(*arm, tensor, recipe);
    if (!one) return at(outcome.model_path, one.error());
    outcome.tensors.push_back(std::move(*one));
  }
  return done;
}

Result<Done> ArmMaker::State::write(const Recipe& recipe, const ArmFacts& wanted,
                                    UnfinishedFile& file, ArmOutcome& outcome) const {
  if (recipe.row->kind == RecipeKind::Library) return write_library(recipe, wanted, file, outcome);
  FloatArm arm;
  arm.source = &*model;
  arm.recipe = recipe;
  arm.calibration = calibration ? &*calibration : nullptr;
  arm.threads = request.threads;
  for (const auto& [key, text] : wanted) arm.fields.push_back(gguf_text(key, text));
  Result<std::vector<TensorOutcome>> written = write_float_arm(arm, file, request.stop);
  if (!written) return at(request.model, written.error());
  outcome.tensors = std::move(*written);
  return Done{};
}

namespace {

void add_up(ArmOutcome& outcome) {
  double bits = 0;
  double weights = 0;
  for (const TensorOutcome& tensor : outcome.tensors) {
    double numbers = 1;
    for (const std::uint64_t extent : tensor.shape) numbers *= static_cast<double>(extent);
    bits += tensor.bits * numbers;
    weights += numbers;
    if (tensor.error && tensor.linear) outcome.error.add(*tensor.error);
    if (tensor.fallback) ++outcome.fallbacks;
    outcome.unseen += tensor.unseen;
  }
  outcome.bits_per_weight = weights > 0 ? bits / weights : 0;
}

}  // namespace

Result<ArmOutcome> ArmMaker::make(const Recipe& recipe) const {
  const QuantizeRequest& request = state_->request;
  ArmOutcome outcome;
  const std::string base =
      (fs::path(request.folder) / (stem_of(request.model) + "-" + recipe.name)).string();
  outcome.model_path = base + std::string(kExtension);
  outcome.json_path = base + ".json";
  const ArmFacts wanted = arm_facts(request, state_->facts, recipe, state_->calibration);
  const Result<bool> there = state_->is_there(outcome, wanted);
  if (!there) return there.error();
  if (*there) {
    outcome.kept = true;
    return outcome;
  }
  Result<UnfinishedFile> file = UnfinishedFile::create(outcome.model_path);
  if (!file) return file.error();
  Result<Done> done = state_->write(recipe, wanted, *file, outcome);
  if (!done) return done.error();
  if (request.stop.stop_requested()) return Error{ErrorKind::Unavailable, "interrupted", ""};
  add_up(outcome);
  Result<SourceFacts> output = file_facts(file->temporary());
  if (!output) return output.error();
  output->path = outcome.model_path;
  Result<UnfinishedFile> json = UnfinishedFile::create(outcome.json_path);
  if (!json) return json.error();
  done =
      json->write(arm_json(request, state_->facts, recipe, state_->calibration, outcome, *output));
  if (done) done = file->publish();
  if (done) done = json->publish();
  if (!done) return done.error();
  return outcome;
}

const std::optional<Calibration>& ArmMaker::calibration() const {
  return state_->calibration;
}

ArmMaker::ArmMaker(std::unique_ptr<State> state) : state_(std::move(state)) {}
ArmMaker::ArmMaker(ArmMaker&&) noexcept = default;
ArmMaker& ArmMaker::operator=(ArmMaker&&) noexcept = default;
ArmMaker::~ArmMaker() = default;

}  // namespace unmask
