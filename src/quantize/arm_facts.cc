#include "quantize/arm_facts.h"

#include "base/json_writer.h"
#include "quantize/library.h"

namespace unmask {
namespace {

constexpr std::string_view kPrefix = "unmask.";
constexpr std::string_view kVersionKey = "unmask.version";

std::string_view kind_name(RecipeKind kind) {
  switch (kind) {
    case RecipeKind::Float:
      return "float";
    case RecipeKind::Fp8:
      return "fp8_e4m3";
    case RecipeKind::Symmetric:
      return "integer_symmetric";
    case RecipeKind::Asymmetric:
      return "integer_asymmetric";
    case RecipeKind::Awq:
      return "awq";
    case RecipeKind::Library:
      return "llama.cpp";
  }
  return "";
}

void write_recipe(JsonWriter& json, const Recipe& recipe) {
  json.key("recipe").begin_object();
  json.field("name", recipe.name).field("kind", kind_name(recipe.row->kind));
  json.field("simulated", is_simulated(recipe.row->kind)).field("bits", recipe.row->bits);
  json.key("group");
  if (!has_group(recipe.row->kind))
    json.null();
  else if (recipe.group == 0)
    json.value("channel");
  else
    json.value(recipe.group);
  json.field("importance_matrix", recipe.importance);
  json.end_object();
}

void write_file_facts(JsonWriter& json, std::string_view key, const SourceFacts& file) {
  json.key(key).begin_object();
  json.field("path", file.path).field("bytes", file.bytes).field("sha256", file.sha256);
  json.end_object();
}

void write_calibration(JsonWriter& json, const QuantizeRequest& request, const Recipe& recipe,
                       const std::optional<Calibration>& calibration) {
  json.key("calibration");
  if (!needs_calibration(recipe) || !calibration) {
    json.null();
    return;
  }
  json.begin_object().field("path", request.calibration).field("sha256", calibration->sha256);
  json.field("records", calibration->records).field("tokens", calibration->tokens);
  json.field("cut", calibration->cut).end_object();
}

void write_tensor(JsonWriter& json, const TensorOutcome& tensor) {
  json.begin_object().field("name", tensor.name);
  json.key("shape").begin_array();
  for (const std::uint64_t extent : tensor.shape) json.value(extent);
  json.end_array().field("type", tensor.type).field("bits", tensor.bits);
  json.field("changed", tensor.error.has_value()).key("relative_rms");
  if (tensor.error)
    json.value(tensor.error->relative_rms()).field("max_abs", tensor.error->largest);
  else
    json.null().key("max_abs").null();
  if (!tensor.alphas.empty()) {
    json.key("awq_alpha").begin_array();
    for (const double alpha : tensor.alphas) json.value(alpha);
    json.end_array().field("unseen", tensor.unseen);
  }
  json.field("fallback", tensor.fallback).end_object();
}

}  // namespace

ArmFacts arm_facts(const QuantizeRequest& request, const SourceFacts& source, const Recipe& recipe,
                   const std::optional<Calibration>& calibration) {
  ArmFacts facts = {{"unmask.recipe", recipe.name},
                    {"unmask.source_sha256", source.sha256},
                    {std::string(kVersionKey), request.version.substr(0, 100)}};
  if (request.outliers) facts["unmask.outliers"] = to_text(*request.outliers);
  if (needs_calibration(recipe) && calibration) {
    facts["unmask.calibration_sha256"] = calibration->sha256;
    facts["unmask.calibration_tokens"] = std::to_string(calibration->tokens);
  }
  return facts;
}

bool same_facts(const Gguf& file, const ArmFacts& facts) {
  for (const GgufEntry& entry : file.entries()) {
    if (!entry.key.starts_with(kPrefix) || entry.key == kVersionKey) continue;
    const auto wanted = facts.find(std::string(entry.key));
    if (entry.key == "unmask.outliers" && wanted == facts.end()) continue;  // the source's own
    if (wanted == facts.end() || entry.value.text() != wanted->second) return false;
  }
  for (const auto& [key, text] : facts)
    if (key != kVersionKey && !file.find(key)) return false;
  return true;
}

std::string arm_json(const QuantizeRequest& request, const SourceFacts& source,
                     const Recipe& recipe, const std::optional<Calibration>& calibration,
                     const ArmOutcome& outcome, const SourceFacts& output) {
  JsonWriter json(2);
  json.begin_object().field("schema", "unmask.quantize/1");
  write_recipe(json, recipe);
  write_file_facts(json, "source", source);
  write_file_facts(json, "output", output);
  json.field("bits_per_weight", outcome.bits_per_weight);
  json.field("relative_rms", outcome.error.relative_rms()).field("max_abs", outcome.error.largest);
  json.field("fallbacks", outcome.fallbacks).field("unseen", outcome.unseen);
  write_calibration(json, request, recipe, calibration);
  json.key("outliers");
  if (request.outliers)
    json.begin_object()
        .field("scale", request.outliers->scale)
        .field("every", request.outliers->every)
        .end_object();
  else
    json.null();
  json.key("tensors").begin_array();
  for (const TensorOutcome& tensor : outcome.tensors) write_tensor(json, tensor);
  json.end_array().key("provenance").begin_object().field("version", request.version);
  json.key("library").value(library_version().empty()
                                ? std::optional<std::string>()
                                : std::optional<std::string>(library_version()));
  json.field("command", request.command).end_object().end_object();
  return json.take() + "\n";
}

}  // namespace unmask
