// The front door: a float model and recipes in, one GGUF and one JSON a recipe out.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "quantize/float_arm.h"

namespace unmask {

struct QuantizeRequest {
  std::string model;   // a GGUF of F32, F16 and BF16 weights
  std::string folder;  // where arms go; created if its parent is there
  std::vector<Recipe> recipes;
  std::string calibration;  // a file of text or JSON Lines; empty: none
  CalibrationOptions calibrating;
  std::optional<Outliers> outliers;
  int threads = 1;
  std::string version;  // of this program
  std::string command;  // as typed
  std::stop_token stop;
  std::function<void(const std::string&)> step = [](const std::string&) {};
};

struct ArmOutcome {
  std::string model_path;
  std::string json_path;
  bool kept = false;  // it was there, whole and the same: nothing below is filled in
  double bits_per_weight = 0;
  TensorError error;  // of the blocks' linear layers, which every recipe rounds
  std::vector<TensorOutcome> tensors;
  std::size_t fallbacks = 0;  // tensors whose rows do not fit the recipe's type
  std::size_t unseen = 0;     // matrices that the calibration never used
};

// What is common to a model's arms: the source read and hashed, its outliers put in, its inputs
// watched.
class ArmMaker {
 public:
  // Errors   those of reading the model. Unsupported: it is quantized already, or one piece of
  //          several. InvalidArgument: recipes need a calibration and there is none; an unreadable
  //          calibration file. Unavailable: this build has no llama.cpp and a recipe needs it.
  static Result<ArmMaker> open(const QuantizeRequest& request);

  // Writes DIR/STEM-RECIPE.gguf and .json. Neither is there before it is whole; neither is ever
  // overwritten: one made from the same model by the same recipe is kept, anything else refused.
  // Errors   InvalidArgument: something else is there. Unsupported: llama.cpp refuses. Unavailable:
  //          disk full, interrupted.
  Result<ArmOutcome> make(const Recipe& recipe) const;

  const std::optional<Calibration>& calibration() const;

  ArmMaker(ArmMaker&&) noexcept;
  ArmMaker& operator=(ArmMaker&&) noexcept;
  ~ArmMaker();

 private:
  struct State;
  explicit ArmMaker(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace unmask
