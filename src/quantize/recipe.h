// The recipes: one row each.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quantize/weight_rounding.h"

namespace unmask {

enum class RecipeKind {
  Float,       // no rounding but that of the stored type
  Fp8,         // simulated: E4M3 and back
  Symmetric,   // simulated: integers, round to nearest
  Asymmetric,  // simulated: integers with a zero point
  Awq,         // simulated: as Asymmetric, after the activation-aware scaling
  Library,     // one of llama.cpp's own types, stored as such
};

struct RecipeRow {
  std::string_view name;
  RecipeKind kind;
  int bits;                // of a rounded weight's code; Library: of its main type, nominal
  ScaleSpan span;          // Fp8
  int file_type;           // Library: GGUF's general.file_type; Float: likewise
  int block;               // Library: numbers in a block of its main type
  bool needs_importance;   // Library: refused by llama.cpp without an importance matrix
  std::string_view about;  // for --help
};

std::span<const RecipeRow> recipe_rows();

// A row, with what its name was given behind it.
struct Recipe {
  const RecipeRow* row = nullptr;
  GroupSize group = 128;    // Symmetric, Asymmetric, Awq; 0: a whole row
  bool importance = false;  // Library: weighed by an importance matrix
  std::string name;         // as in file names: "int4_rtn", "int4_awq_g64", "q4_k_m_imatrix"
};

inline constexpr GroupSize kUsualGroup = 128;

bool is_simulated(RecipeKind kind);
bool has_group(RecipeKind kind);
bool needs_calibration(const Recipe& recipe);

// "int4_rtn", "int4_rtn_g64", "int4_rtn_channel", "q4_k_m_imatrix"; upper case will do. `group`
// holds where the name says none. nullopt: there is no such recipe.
std::optional<Recipe> recipe_named(std::string_view name, GroupSize group = kUsualGroup);

// Every name a row may be asked by, for "did you mean".
std::vector<std::string> recipe_names();

// Bits a weight of a rounded matrix takes where it is stored as the recipe means it: its code, and
// its share of a 16-bit scale and, with a zero point, of that. Simulated recipes only.
double bits_per_weight(const Recipe& recipe, MatrixShape shape);

}  // namespace unmask
