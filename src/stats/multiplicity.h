// Family-wise error over several tests.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace unmask {

// Holm's step-down adjusted p values, in the order given. An absent p takes no part in the family
// and stays absent. Source: Holm (1979).
std::vector<std::optional<double>> holm(std::span<const std::optional<double>> p);

}  // namespace unmask
