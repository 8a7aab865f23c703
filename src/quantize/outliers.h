// Outlier channels that leave a model's function as it is.
//
// Large models have a few channels whose activations are far larger than the rest, which is what
// makes low-bit formats part ways; small models have none. One channel in `every` of each block's
// norms is divided by `scale`, and the columns of the weights that read it are multiplied by it:
// the products are those of before, but for the rounding of the stored type, while the matrices
// have columns `scale` times as large as their neighbours.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "llm/gguf.h"

namespace unmask {

struct Outliers {
  double scale = 1;
  std::size_t every = 32;
};

// "6" or "6/32". nullopt: scale not above 1 or beyond 1000, or every not within 2 to 65536.
std::optional<Outliers> outliers_from(std::string_view text);
std::string to_text(const Outliers& outliers);

// Errors   Unsupported: not a model of the llama architecture, whose norms are read by nothing but
//          the block's own weights; a model that has outliers already. InvalidArgument: no channel
//          that far.
Result<Done> outliers_fit(const Gguf& model, const Outliers& outliers);

enum class OutlierPart { None, Norm, Reader };
OutlierPart outlier_part(std::string_view tensor_name);

// Applies them to some rows of a tensor. Channels 3, 3 + every, ... of each row of `columns`; from
// every - 1 where `every` is below 4.
void apply_outliers(std::span<float> values, std::size_t columns, OutlierPart part,
                    const Outliers& outliers);

}  // namespace unmask
