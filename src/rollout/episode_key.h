// Which episode of a run: its place in the grid, its seed, and the shard that plays it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace unmask {

struct EpisodeKey {
  std::string arm;
  std::string domain;
  std::string task;
  int trial = 0;  // 0-based

  auto operator<=>(const EpisodeKey&) const = default;
};

// "arm 'BF16', retail, task 12, trial 0"
std::string to_string(const EpisodeKey& key);

// The seed of an episode, the same for every arm, so that arms are paired; it depends on nothing
// but its arguments.
//
// Unit     in [0, 2^31): servers take signed 32 bits at least.
std::int64_t episode_seed(std::uint64_t plan_seed, std::string_view domain, std::string_view task,
                          int trial);

// Part `index` of `count`: index in [1, count].
struct Shard {
  int index = 1;
  int count = 1;

  bool whole() const { return count == 1; }
  // position: of a (domain, task, trial) among those of the plan, 0-based.
  bool takes(std::size_t position) const {
    return position % static_cast<std::size_t>(count) == static_cast<std::size_t>(index - 1);
  }
  std::string name() const;  // "all", "shard-2-of-4"

  bool operator==(const Shard&) const = default;
};

// A variable of the environment; nullptr: not set.
using EnvironmentVariable = std::function<const char*(const char* name)>;

// "2/4"; "auto": by SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT; "auto/4": by
// JOB_COMPLETION_INDEX (Kubernetes, 0-based) or SLURM_ARRAY_TASK_ID.
// Errors   InvalidArgument, in one sentence.
Result<Shard> parse_shard(std::string_view text, const EnvironmentVariable& variable);

}  // namespace unmask
