#include "rollout/episode_key.h"

#include <charconv>

#include "base/rng.h"

namespace unmask {

namespace {

constexpr int kMostShards = 100000;

std::optional<int> whole(std::string_view text) {
  int value = 0;
  const std::from_chars_result read =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size())
    return std::nullopt;
  return value;
}

Error wrong(const std::string& message) {
  return Error{ErrorKind::InvalidArgument, message, ""};
}

Result<Shard> shard_of(std::optional<int> index, std::optional<int> count,
                       const std::string& source) {
  if (!index || !count || *count < 1 || *count > kMostShards || *index < 1 || *index > *count)
    return wrong("a shard is I/N with I from 1 to N, or auto, or auto/N; " + source +
                 " is none of these");
  return Shard{*index, *count};
}

std::optional<int> variable_value(const EnvironmentVariable& variable, const char* name) {
  const char* text = variable(name);
  return text ? whole(text) : std::nullopt;
}

// Array tasks are numbered from SLURM_ARRAY_TASK_MIN in steps of SLURM_ARRAY_TASK_STEP.
std::optional<int> slurm_index(const EnvironmentVariable& variable) {
  const std::optional<int> id = variable_value(variable, "SLURM_ARRAY_TASK_ID");
  if (!id) return std::nullopt;
  const int first = variable_value(variable, "SLURM_ARRAY_TASK_MIN").value_or(0);
  const int step = variable_value(variable, "SLURM_ARRAY_TASK_STEP").value_or(1);
  if (step < 1 || *id < first || (*id - first) % step != 0) return std::nullopt;
  return (*id - first) / step + 1;
}

Result<Shard> automatic_shard(std::optional<int> count, const EnvironmentVariable& variable) {
  if (const std::optional<int> index = slurm_index(variable)) {
    if (!count) count = variable_value(variable, "SLURM_ARRAY_TASK_COUNT");
    if (!count) return wrong("--shard auto needs SLURM_ARRAY_TASK_COUNT; say --shard auto/N");
    return shard_of(index, count, "what SLURM_ARRAY_TASK_ID and _COUNT say");
  }
  if (const std::optional<int> index = variable_value(variable, "JOB_COMPLETION_INDEX")) {
    if (!count) return wrong("--shard auto with JOB_COMPLETION_INDEX needs a number: auto/N");
    return shard_of(*index + 1, count, "JOB_COMPLETION_INDEX of that many");
  }
  return wrong("--shard auto needs SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX in the environment");
}

}  // namespace

std::string to_string(const EpisodeKey& key) {
  return "arm '" + key.arm + "', " + key.domain + ", task " + key.task + ", trial " +
         std::to_string(key.trial);
}

std::int64_t episode_seed(std::uint64_t plan_seed, std::string_view domain, std::string_view task,
                          int trial) {
  std::string name(domain);
  name += '\0';
  name += task;
  name += '\0';
  name += std::to_string(trial);
  return static_cast<std::int64_t>(Rng(plan_seed, std::string_view(name)).next() >> 33);
}

std::string Shard::name() const {
  if (whole()) return "all";
  return "shard-" + std::to_string(index) + "-of-" + std::to_string(count);
}

Result<Shard> parse_shard(std::string_view text, const EnvironmentVariable& variable) {
  const std::size_t slash = text.find('/');
  const std::string_view first = text.substr(0, slash);
  const std::string_view second =
      slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
  const std::string quoted = "'" + std::string(text) + "'";
  if (first != "auto") return shard_of(whole(first), whole(second), quoted);
  if (slash == std::string_view::npos) return automatic_shard(std::nullopt, variable);
  const std::optional<int> count = whole(second);
  if (!count) return shard_of(1, std::nullopt, quoted);
  return automatic_shard(count, variable);
}

}  // namespace unmask
