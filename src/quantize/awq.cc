// The output error is the cost: 20 candidates x rows x samples x columns. Samples are kept
// transposed (column, sample), so that all samples advance together along a row of W: the inner
// loop runs over independent sums and vectorizes without changing the order of any of them.
#include "quantize/awq.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/parallel.h"

namespace unmask {
namespace {

constexpr int kGrid = 20;
constexpr double kSmallestScale = 1e-4;

std::vector<float> scales_of(std::span<const float> magnitude, double alpha) {
  std::vector<double> raw(magnitude.size());
  for (std::size_t c = 0; c < raw.size(); ++c)
    raw[c] = std::max(std::pow(static_cast<double>(magnitude[c]), alpha), kSmallestScale);
  const auto [low, high] = std::minmax_element(raw.begin(), raw.end());
  const double middle = std::sqrt(*high * *low);
  std::vector<float> scales(raw.size());
  for (std::size_t c = 0; c < raw.size(); ++c) scales[c] = static_cast<float>(raw[c] / middle);
  return scales;
}

void round_scaled(std::span<float> weights, MatrixShape shape, int bits, GroupSize group,
                  std::span<const float> scales) {
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] *= scales[i % shape.columns];
  round_asymmetric(weights, shape, bits, group);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] /= scales[i % shape.columns];
}

std::vector<double> transposed(std::span<const float> rows, std::size_t columns) {
  const std::size_t samples = rows.size() / columns;
  std::vector<double> result(rows.size());
  for (std::size_t n = 0; n < samples; ++n)
    for (std::size_t c = 0; c < columns; ++c) result[c * samples + n] = rows[n * columns + c];
  return result;
}

// One row of W against every sample: adds the squares of x . (w - v).
double row_error(std::span<const float> w, std::span<const float> v,
                 std::span<const double> by_column, std::span<double> sums) {
  std::fill(sums.begin(), sums.end(), 0.0);
  const std::size_t samples = sums.size();
  for (std::size_t c = 0; c < w.size(); ++c) {
    const double difference = static_cast<double>(w[c]) - static_cast<double>(v[c]);
    const double* x = by_column.data() + c * samples;
    for (std::size_t n = 0; n < samples; ++n) sums[n] += difference * x[n];
  }
  double error = 0;
  for (const double sum : sums) error += sum * sum;
  return error;
}

double error_by_column(std::span<const float> weights, std::span<const float> other,
                       MatrixShape shape, std::span<const double> by_column) {
  std::vector<double> sums(by_column.size() / shape.columns);
  double error = 0;
  for (std::size_t row = 0; row < shape.rows; ++row)
    error += row_error(weights.subspan(row * shape.columns, shape.columns),
                       other.subspan(row * shape.columns, shape.columns), by_column, sums);
  return error;
}

// The same as round_scaled on a copy and then error_by_column, a row at a time: groups never cross
// rows, and a copy of the matrix for each of the grid's threads is too much memory.
double error_of(std::span<const float> weights, MatrixShape shape, int bits, GroupSize group,
                std::span<const float> scales, std::span<const double> by_column) {
  std::vector<double> sums(by_column.size() / shape.columns);
  std::vector<float> rounded(shape.columns);
  double error = 0;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const std::span<const float> w = weights.subspan(row * shape.columns, shape.columns);
    std::copy(w.begin(), w.end(), rounded.begin());
    round_scaled(rounded, {1, shape.columns}, bits, group, scales);
    error += row_error(w, rounded, by_column, sums);
  }
  return error;
}

}  // namespace

double output_error(std::span<const float> weights, std::span<const float> other, MatrixShape shape,
                    std::span<const float> rows) {
  UNMASK_CHECK(weights.size() == other.size() && weights.size() == shape.rows * shape.columns);
  return error_by_column(weights, other, shape, transposed(rows, shape.columns));
}

AwqChoice round_awq(std::span<float> weights, MatrixShape shape, int bits, GroupSize group,
                    const InputSample& sample, int threads) {
  UNMASK_CHECK(weights.size() == shape.rows * shape.columns);
  UNMASK_CHECK(sample.mean_magnitude.size() == shape.columns);
  UNMASK_CHECK(sample.rows.size() % shape.columns == 0);
  AwqChoice choice;
  if (sample.rows.empty()) {
    choice.scales.assign(shape.columns, 1.0f);
    round_asymmetric(weights, shape, bits, group);
    return choice;
  }
  const std::vector<double> by_column = transposed(sample.rows, shape.columns);
  std::vector<double> errors(kGrid);
  parallel_for(kGrid, threads, [&](std::size_t step) {
    const double alpha = static_cast<double>(step) / kGrid;
    errors[step] =
        error_of(weights, shape, bits, group, scales_of(sample.mean_magnitude, alpha), by_column);
  });
  const auto best = std::min_element(errors.begin(), errors.end());
  choice.alpha = static_cast<double>(best - errors.begin()) / kGrid;
  choice.error = *best;
  choice.plain_error = errors[0];
  choice.scales = scales_of(sample.mean_magnitude, choice.alpha);
  round_scaled(weights, shape, bits, group, choice.scales);
  return choice;
}

}  // namespace unmask
