// Many weighted sums of the same numbers: the inner loop of the bootstrap and of the permutation
// test.
//
// A weight matrix of small integers (how often a task was drawn; whether it was swapped) is stored
// in blocks of 32 draws, task-major inside a block, so that 32 draws advance together through the
// tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace unmask {

class LaneWeights {
 public:
  static constexpr int kLanes = 32;  // draws in a block

  // `fill` is called once a block, on up to `threads` threads: it gets the block's index, how many
  // of its lanes are wanted and the block's zeroed weights, element (task, lane) at task * kLanes +
  // lane.
  using Fill = std::function<void(std::size_t block, int lanes, std::span<std::uint8_t> weights)>;
  LaneWeights(int tasks, int draws, int threads, const Fill& fill);

  int tasks() const { return tasks_; }
  int draws() const { return draws_; }
  std::uint8_t weight(int draw, int task) const {
    return weights_[(static_cast<std::size_t>(draw / kLanes) * tasks_ + task) * kLanes +
                    draw % kLanes];
  }

  // result[c][b] = sum over tasks t of weight(b, t) * columns[c][t], added in the order of t in
  // double precision without fused multiply-add: the same bits on every machine, thread count and
  // compiler, and exactly those of the plain loop.
  std::vector<std::vector<double>> sums(std::span<const std::span<const double>> columns) const;

  // The same, a few columns at a time through memory that is used again, so that many columns cost
  // no more memory than few. `visit` gets every column's index and its sums, which it may reorder;
  // it is called from several threads, for different columns.
  using Visit = std::function<void(std::size_t column, std::span<double> sums)>;
  void visit_sums(std::span<const std::span<const double>> columns, const Visit& visit) const;

 private:
  void sum_into(std::span<const std::span<const double>> columns,
                std::span<double* const> rows) const;

  int tasks_;
  int draws_;
  int threads_;
  std::vector<std::uint8_t> weights_;
};

}  // namespace unmask
