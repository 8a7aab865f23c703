#include "quantize/recipe.h"

#include <algorithm>
#include <charconv>

namespace unmask {
namespace {

constexpr ScaleSpan kNoSpan = ScaleSpan::Channel;

constexpr RecipeRow simulated(std::string_view name, RecipeKind kind, int bits,
                              std::string_view about, ScaleSpan span = kNoSpan) {
  return {name, kind, bits, span, -1, 1, false, about};
}
constexpr RecipeRow stored(std::string_view name, int bits, int file_type) {
  return {name, RecipeKind::Float, bits, kNoSpan, file_type, 1, false, "only the stored type"};
}
constexpr RecipeRow library(std::string_view name, int bits, int file_type, int block,
                            bool needs_importance = false) {
  return {name,
          RecipeKind::Library,
          bits,
          kNoSpan,
          file_type,
          block,
          needs_importance,
          "a type of llama.cpp"};
}

constexpr bool kNeedsImportance = true;

constexpr RecipeRow kRows[] = {
    simulated("fp8_e4m3", RecipeKind::Fp8, 8, "FP8 E4M3, one scale a tensor", ScaleSpan::Tensor),
    simulated("fp8_e4m3_channel", RecipeKind::Fp8, 8, "FP8 E4M3, one scale an output channel"),
    simulated("int4_rtn", RecipeKind::Symmetric, 4, "4-bit integers, round to nearest"),
    simulated("int4_rtn_asym", RecipeKind::Asymmetric, 4, "the same with a zero point"),
    simulated("int4_awq", RecipeKind::Awq, 4, "AWQ, 4 bits; needs --calibration"),
    simulated("int3_rtn", RecipeKind::Symmetric, 3, "3-bit integers, round to nearest"),
    simulated("int3_rtn_asym", RecipeKind::Asymmetric, 3, "the same with a zero point"),
    simulated("int3_awq", RecipeKind::Awq, 3, "AWQ, 3 bits; needs --calibration"),
    library("q8_0", 8, 7, 32),
    library("q6_k", 6, 18, 256),
    library("q5_k_m", 5, 17, 256),
    library("q5_k_s", 5, 16, 256),
    library("q5_1", 5, 9, 32),
    library("q5_0", 5, 8, 32),
    library("q4_k_m", 4, 15, 256),
    library("q4_k_s", 4, 14, 256),
    library("q4_1", 4, 3, 32),
    library("q4_0", 4, 2, 32),
    library("iq4_nl", 4, 25, 32),
    library("iq4_xs", 4, 30, 256),
    library("mxfp4_moe", 4, 38, 32),
    library("q3_k_l", 3, 13, 256),
    library("q3_k_m", 3, 12, 256),
    library("q3_k_s", 3, 11, 256),
    library("iq3_m", 3, 27, 256),
    library("iq3_s", 3, 26, 256),
    library("iq3_xs", 3, 22, 256, kNeedsImportance),
    library("iq3_xxs", 3, 23, 256, kNeedsImportance),
    library("q2_k", 2, 10, 256),
    library("q2_k_s", 2, 21, 256, kNeedsImportance),
    library("iq2_m", 2, 29, 256, kNeedsImportance),
    library("iq2_s", 2, 28, 256, kNeedsImportance),
    library("iq2_xs", 2, 20, 256, kNeedsImportance),
    library("iq2_xxs", 2, 19, 256, kNeedsImportance),
    library("iq1_m", 1, 31, 256, kNeedsImportance),
    library("iq1_s", 1, 24, 256, kNeedsImportance),
    library("tq2_0", 2, 37, 256),
    library("tq1_0", 2, 36, 256),
    stored("bf16", 16, 32),
    stored("f16", 16, 1),
    stored("f32", 32, 0),
};

constexpr std::string_view kImportance = "_imatrix";
constexpr std::string_view kWholeRow = "_channel";

const RecipeRow* row_named(std::string_view name) {
  for (const RecipeRow& row : kRows)
    if (row.name == name) return &row;
  return nullptr;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string group_suffix(GroupSize group) {
  if (group == kUsualGroup) return "";
  return group == 0 ? std::string(kWholeRow) : "_g" + std::to_string(group);
}

// "int4_rtn_g64" -> "int4_rtn" and 64.
std::optional<GroupSize> taken_group(std::string_view& name) {
  if (name.ends_with(kWholeRow)) {
    name.remove_suffix(kWholeRow.size());
    return 0;
  }
  const std::size_t at = name.rfind("_g");
  if (at == std::string_view::npos) return std::nullopt;
  GroupSize group = 0;
  const char* end = name.data() + name.size();
  const std::from_chars_result read = std::from_chars(name.data() + at + 2, end, group);
  if (read.ec != std::errc() || read.ptr != end || group == 0) return std::nullopt;
  name.remove_suffix(name.size() - at);
  return group;
}

}  // namespace

std::span<const RecipeRow> recipe_rows() {
  return kRows;
}

bool is_simulated(RecipeKind kind) {
  return kind != RecipeKind::Library && kind != RecipeKind::Float;
}

bool has_group(RecipeKind kind) {
  return is_simulated(kind) && kind != RecipeKind::Fp8;
}

bool needs_calibration(const Recipe& recipe) {
  return recipe.row->kind == RecipeKind::Awq || recipe.importance;
}

std::optional<Recipe> recipe_named(std::string_view name, GroupSize group) {
  const std::string lower = lower_case(name);
  std::string_view rest = lower;
  Recipe recipe;
  recipe.row = row_named(rest);
  recipe.group = group;
  if (!recipe.row && rest.ends_with(kImportance)) {
    rest.remove_suffix(kImportance.size());
    recipe.row = row_named(rest);
    if (!recipe.row || recipe.row->kind != RecipeKind::Library) return std::nullopt;
    recipe.importance = true;
  } else if (!recipe.row) {
    const std::optional<GroupSize> taken = taken_group(rest);
    recipe.row = row_named(rest);
    if (!taken || !recipe.row || !has_group(recipe.row->kind)) return std::nullopt;
    recipe.group = *taken;
  }
  recipe.importance = recipe.importance || recipe.row->needs_importance;
  recipe.name = recipe.row->name;
  if (has_group(recipe.row->kind)) recipe.name += group_suffix(recipe.group);
  if (recipe.importance) recipe.name += kImportance;
  return recipe;
}

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const RecipeRow& row : kRows) names.emplace_back(row.name);
  for (const RecipeRow& row : kRows)
    if (row.kind == RecipeKind::Library) names.push_back(std::string(row.name) + "_imatrix");
  return names;
}

double bits_per_weight(const Recipe& recipe, MatrixShape shape) {
  constexpr double kScaleBits = 16;
  const RecipeRow& row = *recipe.row;
  const double columns = static_cast<double>(shape.columns);
  if (row.kind == RecipeKind::Fp8) {
    const double rows = static_cast<double>(shape.rows);
    return row.bits + kScaleBits / (row.span == ScaleSpan::Tensor ? rows * columns : columns);
  }
  const GroupSize width = recipe.group == 0 ? shape.columns : recipe.group;
  const std::size_t whole_groups = (shape.columns + width - 1) / width;
  const double groups = static_cast<double>(whole_groups);
  const double group_bits = kScaleBits + (row.kind == RecipeKind::Symmetric ? 0 : row.bits);
  return row.bits + groups * group_bits / columns;
}

}  // namespace unmask
